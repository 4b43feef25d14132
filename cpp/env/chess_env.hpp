// One chess environment: what reinforcement learning adds to a game.
#pragma once
#include "../chess/game.hpp"
#include "mask.hpp"
#include "observation.hpp"
#include "random.hpp"

namespace rungs::env {

enum class Opponent : std::int32_t { NONE, RANDOM };

// The reason where an episode is truncated, after those by which a game ends.
constexpr std::int8_t kMaxPlies = static_cast<std::int8_t>(chess::Reason::THREEFOLD_REPETITION) + 1;

struct ChessConfig {
  std::uint64_t seed;
  Opponent opponent;
  MaskFormat mask;
  std::uint32_t max_plies;  // an episode is truncated once it has this many; 0: never
  std::uint32_t opening_least, opening_most;  // random plies before an episode begins
  std::uint32_t num_starts;
  const chess::Position* starts;
};

// Where one environment writes its outputs; the caller owns the memory.
struct ChessOutputs {
  std::int8_t* observation;        // kObservationSize
  std::uint8_t* mask;              // mask_bytes(config.mask)
  float* reward;                   // +1, 0, -1 from the agent's side
  bool* terminated;                // the game is over
  bool* truncated;                 // it isn't, but has reached config.max_plies
  std::int8_t* reason;             // why this step ended an episode: chess::Reason, or kMaxPlies
  std::int8_t* player;             // side to move: 0 White, 1 Black
  std::int8_t* final_observation;  // the last observation of an episode that this step ended
};

struct ChessEnv {
  chess::Game game;
  std::uint32_t board;    // this environment's number among all, whoever steps it
  std::uint32_t episode;  // counts from 0
  std::uint32_t ply;      // of the episode after its opening, both sides counted

  // Starts the current episode.
  void begin(const ChessConfig& config) {
    ply = 0;
    chess::start(game, config.starts[draw(config, Stream::START, config.num_starts)]);
    const std::uint32_t opening =
        config.opening_least +
        draw(config, Stream::OPENING_LENGTH, config.opening_most - config.opening_least + 1);
    while (ply < opening && begin_with_random_ply(config, Stream::OPENING)) {
    }
    ply = 0;
    if (config.opponent == Opponent::RANDOM && game.position.black != agent_is_black())
      begin_with_random_ply(config, Stream::OPPONENT);
  }

  // Plays a legal action (and the opponent's reply), writes every output, and where that ends the
  // episode begins the next one in the same step.
  void step(const ChessConfig& config, chess::Action action, const ChessOutputs& out) {
    advance(action);
    float sign = 1;  // whoever mates has just moved
    if (config.opponent == Opponent::RANDOM && !game.over()) {
      random_ply(config, Stream::OPPONENT);
      sign = -1;
    }
    const bool over = game.over();
    *out.reward = game.reason == chess::Reason::CHECKMATE ? sign : 0;
    const bool truncated = !over && config.max_plies && ply >= config.max_plies;
    *out.terminated = over;
    *out.truncated = truncated;
    *out.reason = truncated ? kMaxPlies : static_cast<std::int8_t>(game.reason);
    if (over || truncated) {
      observe(game, out.final_observation);
      ++episode;
      begin(config);
    }
    write(config, out);
  }

  // Writes observation, mask and player of the position at hand.
  void write(const ChessConfig& config, const ChessOutputs& out) const {
    observe(game, out.observation);
    write_mask(game.legal, config.mask, out.mask);
    *out.player = static_cast<std::int8_t>(game.position.black);
  }

 private:
  // Colours alternate by episode, and neighbours have opposite ones, so that any batch is balanced.
  bool agent_is_black() const { return (board + episode) & 1; }

  void advance(chess::Action action) {
    chess::advance(game, action);
    ++ply;
  }

  // An integer in [0, n), a function of where it is drawn alone.
  std::uint32_t draw(const ChessConfig& config, Stream stream, std::uint32_t n) const {
    return below(philox(config.seed, board, episode, ply, stream), n);
  }

  void random_ply(const ChessConfig& config, Stream stream) {
    const auto moves = static_cast<std::uint32_t>(chess::count(game.legal));
    advance(nth_action(game.legal, static_cast<int>(draw(config, stream, moves))));
  }

  // Plays a random ply unless it would end the game before the agent's first; says whether it did.
  bool begin_with_random_ply(const ChessConfig& config, Stream stream) {
    const chess::Game before = game;
    random_ply(config, stream);
    if (!game.over()) return true;
    game = before;
    --ply;
    return false;
  }
};
static_assert(sizeof(ChessEnv) <= 1536, "a board with its history fits in 1.5 KB");

}  // namespace rungs::env
