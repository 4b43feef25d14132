// Chess environments: what reinforcement learning adds to games.
#pragma once
#include "games.hpp"
#include "outputs.hpp"

namespace rungs::env {

// As many neighbouring boards of a batch as V holds, for the time of one call.
template <class V>
class ChessEnvs {
 public:
  static constexpr int kBoards = Games<V>::kBoards;

  // `number` is the number in the batch of the group's first board.
  ChessEnvs(const ChessOutputs& outputs, std::int64_t number, const Group<V>& group)
      : outputs_(outputs),
        config_(outputs.config),
        number_(number),
        block_(group.block),
        first_(group.first),
        games_(group) {}

  // Plays legal actions on the first `count` boards, and their opponents' replies, and writes
  // every output. Where an episode ends, config.autoreset decides when the next begins. Returns how
  // many ended.
  int step(int count, const std::int16_t (&actions)[kBoards]) {
    const BoardSet all = chess::first_boards(count), beginning = all & ended();
    const BoardSet playing = all & ~beginning;
    play(playing, actions);
    BoardSet replying = 0;
    if (config_.opponent != Opponent::NONE && (replying = playing & ~games_.over()))
      reply(replying);
    const BoardSet ending = playing & (games_.over() | truncated());
    clear_step_outputs(count);
    chess::each_of(ending, [&](int k) { end(k, replying >> k & 1); });
    chess::each_of(beginning, [&](int k) { begin_next(k); });
    write(count);
    return chess::count(chess::Bitboard{ending});
  }

  // Starts the next episode on board `k`.
  void begin_next(int k) {
    if constexpr (kBoards == 1) {
      ++block_.episode[first_];
      begin();
    } else {
      ChessEnvs<chess::Bitboard> alone(outputs_, number_ + k, {block_, first_ + k});
      alone.begin_next(0);
      games_.take(alone.games_, k);
    }
  }

  // Starts the current episode.
  void begin()
    requires(kBoards == 1)
  {
    block_.ply[first_] = block_.ended[first_] = 0;
    games_.place(config_.starts[draw(0, Purpose::START, config_.num_starts)], 0);
    if (outputs_.history) outputs_.history[number_].clear();
    record(0);
    const std::uint32_t opening =
        config_.opening_min +
        draw(0, Purpose::OPENING_LENGTH, config_.opening_max - config_.opening_min + 1);
    while (block_.ply[first_] < opening && begin_with(random_action(0, Purpose::OPENING))) {
    }
    block_.ply[first_] = 0;
    const bool black = agent_is_black(block_.board[first_], block_.episode[first_]);
    if (config_.opponent == Opponent::RANDOM && games_.position(0).black != black)
      begin_with(random_action(0, Purpose::OPPONENT));
  }

  // Plays a ply before the agent's first, unless it would end the game; returns whether it was
  // played. The board must have been examined.
  bool begin_with(chess::Action action)
    requires(kBoards == 1)
  {
    const chess::Position before = games_.position(0);
    const std::uint8_t num_past = block_.num_past[first_];
    const std::int16_t actions[1] = {static_cast<std::int16_t>(action)};
    games_.play(1, actions);
    if (games_.over()) {
      games_.place(before, num_past);
      return false;
    }
    ++block_.ply[first_];
    record(0);
    return true;
  }

  // Examines boards that have not been stepped in this call, for the functions below.
  void examine() {
    games_.examine();
    chess::each_of(ended(), [&](int k) { fill_if_ended(k); });
  }

  // A random legal action of board `k`, for play without an agent. An ended board accepts any.
  chess::Action any_action(int k) const {
    return block_.ended[first_ + k] ? 0 : random_action(k, Purpose::AGENT);
  }

  // The actions that a step accepts on board `k`, how many there are, and the `rank`-th of them, in
  // order of id from 0. An ended board accepts (and ignores) any action; a list has the first.
  chess::LegalActions legal(int k) const { return games_.legal(k); }
  int num_actions(int k) const {
    const int taken = games_.num_legal(k);
    return block_.ended[first_ + k] && config_.mask == MaskFormat::LIST ? taken > 0 : taken;
  }

  chess::Action nth_action(int k, int rank) const { return games_.nth_legal(k, rank); }

  // Writes observation, mask, its count and player of the first `count` boards.
  void write(int count) const {
    write_observations(count);
    for (int k = 0; k < count; ++k)
      outputs_.player[number_ + k] = static_cast<std::int8_t>(games_.position(k).black);
    if (config_.mask == MaskFormat::LIST)
      write_lists(count);
    else
      write_masks(games_.planes(), count, config_.mask,
                  streams(outputs_.mask, outputs_.num_envs, mask_bytes(config_.mask),
                          written_together<V>(config_.mask)),
                  outputs_.mask + number_ * mask_bytes(config_.mask));
  }

 private:
  template <class Other>
  friend class ChessEnvs;
  using BoardSet = chess::BoardSet;

  BoardSet ended() const { return group().where(block_.ended); }
  BoardSet truncated() const {
    BoardSet boards = 0;
    if (config_.max_plies)
      for (int k = 0; k < kBoards; ++k)
        boards |= BoardSet{block_.ply[first_ + k] >= config_.max_plies} << k;
    return boards;
  }
  Group<V> group() const { return {block_, first_}; }

  void play(BoardSet boards, const std::int16_t (&actions)[kBoards]) {
    games_.play(boards, actions);
    for (int k = 0; k < kBoards; ++k) block_.ply[first_ + k] += boards >> k & 1;
    if (outputs_.history) chess::each_of(boards, [&](int k) { record(k); });
  }

  // Adds board `k`'s position to its history, if observations show one.
  void record(int k) const {
    if (outputs_.history)
      outputs_.history[number_ + k].add(games_.position(k), games_.repetitions(k));
  }

  void observe(int k, bool streamed, std::uint8_t* out) const {
    env::observe(games_.position(k), games_.repetitions(k),
                 outputs_.history ? outputs_.history + number_ + k : nullptr, config_.observation,
                 streamed, out);
  }

  void write_observations(int count) const {
    const std::int64_t bytes = observation_bytes(config_.observation);
    std::uint8_t* out = outputs_.observation + number_ * bytes;
    if (config_.observation == ObservationFormat::BOARD) {
      const V numbers =
          board_numbers(group().boards(), chess::widened<V>(block_.repetitions + first_));
      for (int k = 0; k < count; ++k, out += bytes)
        write_board(games_.position(k), chess::word_of(numbers, k),
                    reinterpret_cast<std::int8_t*>(out));
    } else {
      const bool streamed = streams(outputs_.observation, outputs_.num_envs, bytes);
      for (int k = 0; k < count; ++k, out += bytes) observe(k, streamed, out);
    }
  }

  void reply(BoardSet boards) {
    std::int16_t replies[kBoards] = {};
    chess::each_of(boards, [&](int k) {
      replies[k] = static_cast<std::int16_t>(config_.opponent == Opponent::ENGINE
                                                 ? outputs_.replies[number_ + k]
                                                 : random_action(k, Purpose::OPPONENT));
    });
    play(boards, replies);
  }

  void clear_step_outputs(int count) const {
    const auto clear = [&](auto* output) {
      if (count == kBoards)  // a length that the compiler knows takes an instruction
        std::memset(output + number_, 0, kBoards * sizeof *output);
      else
        std::memset(output + number_, 0, static_cast<std::size_t>(count) * sizeof *output);
    };
    clear(outputs_.reward);
    clear(outputs_.terminated);
    clear(outputs_.truncated);
    clear(outputs_.ended);
    clear(outputs_.reason);
  }

  // Ends the episode of board `k`. The last mover mates: the agent, or its opponent by a reply.
  void end(int k, bool replied) {
    const std::int64_t i = number_ + k;
    const auto reason = static_cast<chess::Reason>(block_.reason[first_ + k]);
    const bool over = reason != chess::Reason::ONGOING;
    outputs_.reward[i] = reason != chess::Reason::CHECKMATE ? 0.0F : replied ? -1.0F : 1.0F;
    outputs_.terminated[i] = over;
    outputs_.truncated[i] = !over;
    outputs_.ended[i] = true;
    outputs_.reason[i] = over ? static_cast<std::int8_t>(reason) : kMaxPlies;
    if (config_.autoreset == Autoreset::SAME_STEP) {
      observe(k, false, outputs_.final_observation + i * observation_bytes(config_.observation));
      begin_next(k);
    } else {
      block_.ended[first_ + k] = 1;
      fill_if_ended(k);
    }
  }

  // With NEXT_STEP any action of an ended board is legal, as the next `step` ignores it; else none
  // is until a reset.
  void fill_if_ended(int k) { games_.fill(k, config_.autoreset == Autoreset::NEXT_STEP); }

  // An ended board accepts (and ignores) any action; a list has the first.
  void write_lists(int count) const {
    const auto all = games_.by_board();
    for (int k = 0; k < count; ++k) {
      const bool ended = block_.ended[first_ + k];
      auto* list = reinterpret_cast<std::int16_t*>(outputs_.mask) + (number_ + k) * kMaxLegal;
      const int legal = write_list(all.legal[k], ended ? 1 : kMaxLegal, list);
      outputs_.action_count[number_ + k] = static_cast<std::int16_t>(ended ? legal > 0 : legal);
    }
  }

  // An integer in [0, n): a pure function of seed, board, episode, ply and purpose.
  std::uint32_t draw(int k, Purpose purpose, std::uint32_t n) const {
    const int i = first_ + k;
    return below(philox(block_.seed[i], block_.board[i], block_.episode[i], block_.ply[i], purpose),
                 n);
  }

  chess::Action random_action(int k, Purpose purpose) const {
    const auto actions = static_cast<std::uint32_t>(games_.num_legal(k));
    return games_.nth_legal(k, static_cast<int>(draw(k, purpose, actions)));
  }

  const ChessOutputs& outputs_;
  const ChessConfig& config_;
  std::int64_t number_;
  Block& block_;
  int first_;
  Games<V> games_;
};

}  // namespace rungs::env
