// Chess games by libchess (Mk-Chan), in a batch whose arrays Python owns: a `Position` and its list
// of legal moves for each, which engines built on it keep as well. What is included is `Position.h`
// of the user's clone, whose folder is passed to the compiler.
#include <cstdint>
#include <string>
#include <vector>

#include "Position.h"

#define RUNGS_LIBCHESS extern "C" __attribute__((visibility("default")))

using namespace libchess;
using State = Position::GameState;

namespace {

constexpr int kWords = 9, kMostMoves = 256;

struct Batch {
  Position start;
  std::vector<Position> games;
  std::vector<MoveList> legal;
  // Rows of the arrays are games'.
  std::uint64_t* words;  // a bitboard for each kind of piece, for each side; who moves
  std::uint16_t* moves;  // from, plus 64 times to, plus 4096 times what a pawn becomes, or 0
  int* counts;           // of legal moves
  std::uint8_t* states;  // the last step's `State`
  float* white;          // what White got of the game that it ended

  void begin(std::size_t i) {
    games[i] = start;
    write(i);
  }

  void step(std::size_t i, int action) {
    games[i].make_move(legal[i].values()[action]);
    write(i);
    const State state = state_of(i);
    states[i] = static_cast<std::uint8_t>(state);
    const bool white_moves = games[i].side_to_move() == constants::WHITE;
    white[i] = state != State::CHECKMATE ? 0.0F : white_moves ? -1.0F : 1.0F;
    if (state != State::IN_PROGRESS) begin(i);
  }

 private:
  // As `Position::game_state`, by the list that is there.
  State state_of(std::size_t i) const {
    const Position& game = games[i];
    if (legal[i].empty()) return game.in_check() ? State::CHECKMATE : State::STALEMATE;
    if (game.is_repeat(2)) return State::THREEFOLD_REPETITION;
    return game.halfmoves() >= 100 ? State::FIFTY_MOVES : State::IN_PROGRESS;
  }

  void write(std::size_t i) {
    const Position& game = games[i];
    std::uint64_t* word = words + kWords * i;
    for (const PieceType type : constants::PIECE_TYPES) *word++ = game.piece_type_bb(type);
    for (const Color color : constants::COLORS) *word++ = game.color_bb(color);
    *word = game.side_to_move() == constants::BLACK;
    legal[i] = game.legal_move_list();
    counts[i] = legal[i].size();
    std::uint16_t* to = moves + kMostMoves * i;
    for (const Move move : legal[i].values()) {
      const auto piece = move.promotion_piece_type();
      *to++ = move.from_square() + 64 * move.to_square() + 4096 * (piece ? piece->value() : 0);
    }
  }
};

}  // namespace

// Makes games, to be begun by reset.
RUNGS_LIBCHESS Batch* rungs_libchess_open(int num_envs, std::uint64_t* words, std::uint16_t* moves,
                                          int* counts, std::uint8_t* states, float* white) {
  const Position start{constants::STARTPOS_FEN};
  const auto games = static_cast<std::size_t>(num_envs);
  return new Batch{start,
                   std::vector<Position>(games, start),
                   std::vector<MoveList>(games),
                   words,
                   moves,
                   counts,
                   states,
                   white};
}

RUNGS_LIBCHESS void rungs_libchess_reset(Batch* batch) {
  for (std::size_t i = 0; i < batch->games.size(); ++i) batch->begin(i);
}

// Begins every game with a position, as all of its next ones.
RUNGS_LIBCHESS void rungs_libchess_begin(Batch* batch, const char* fen) {
  batch->start = Position{fen};
  rungs_libchess_reset(batch);
}

// Plays in every game the legal move of this place in its list, and begins the next where it ended.
RUNGS_LIBCHESS void rungs_libchess_step(Batch* batch, const int* actions) {
  for (std::size_t i = 0; i < batch->games.size(); ++i) batch->step(i, actions[i]);
}

RUNGS_LIBCHESS void rungs_libchess_close(Batch* batch) { delete batch; }
