// The games on some boards of a block: plays plies on all of them at once, and knows what is legal.
#pragma once
#include "block.hpp"
#include "observation.hpp"

namespace rungs::env {

using chess::BoardSet;

// The boards on which an action is legal. If the episode has ended, any action is, or none.
template <class V>
inline BoardSet legal_on(const Group<V>& group, const std::int64_t (&actions)[Group<V>::kBoards],
                         bool any_if_ended) {
  using namespace chess;
  V action;
  std::memcpy(&action, actions, sizeof action);
  const V in_range = more(V{} + kActions, action);  // as unsigned numbers
  const BoardSet legal =
      boards_with(in_range & legal_from(group.boards(), group.legality(), action & in_range));
  const BoardSet ended = group.where(group.block.ended);
  return (legal & ~ended) | (any_if_ended ? ended & boards_with(in_range) : 0);
}

template <class V>
class Games {
 public:
  static constexpr int kBoards = chess::kWidth<V>;

  explicit Games(const Group<V>& group) : group_(group) {}

  // The boards whose game is over.
  BoardSet over() const { return group_.where(group_.block.reason); }

  // What `play`, `examine` and `place` find: positions, how often they occurred before, and what is
  // legal.
  const chess::Position& position(int k) const { return position_[k]; }
  int repetitions(int k) const { return group_.block.repetitions[group_.first + k]; }
  chess::LegalActions legal(int k) const {
    chess::LegalActions actions;
    for (int plane = 0; plane < chess::kPlanes; ++plane)
      actions.plane[plane] = chess::word_of(planes_[plane], k);
    return actions;
  }
  // Without a copy: how many there are, and the `rank`-th of them.
  int num_legal(int k) const {
    int number = 0;
    for (const V& plane : planes_) number += chess::count(chess::word_of(plane, k));
    return number;
  }
  chess::Action nth_legal(int k, int rank) const {
    return nth_action([&](int i) { return chess::word_of(planes_[i], k); }, rank);
  }
  const V (&planes() const)[chess::kPlanes] { return planes_; }
  struct ByBoard {
    chess::LegalActions legal[kBoards];
  };
  ByBoard by_board() const {
    ByBoard all;
    write_bits(planes_, reinterpret_cast<std::uint8_t*>(all.legal));
    return all;
  }

  // Plays `actions`, which are legal, on some boards, and examines all.
  void play(BoardSet boards, const std::int16_t (&actions)[kBoards]) {
    Block& block = group_.block;
    chess::Boards<V> now = group_.boards();
    if (boards) now = played(now, boards, actions);
    const BoardSet irreversible = ~chess::boards_with(now.state & chess::kClock);
    chess::each_of(boards, [&](int k) {
      const int i = group_.first + k;
      block.past[block.num_past[i]++][i] = block.now[i];
      if (irreversible >> k & 1) block.num_past[i] = 0;
    });
    examine(now);
  }

  // Examines all boards as they are.
  void examine() { examine(group_.boards()); }

  // Puts the group's only board at a position, with the first `num_past` of its past keys.
  void place(const chess::Position& position, std::uint8_t num_past)
    requires(kBoards == 1)
  {
    group_.block.num_past[group_.first] = num_past;
    examine(chess::load_boards<V>(&position));
  }

  // Takes over what was found for board `k` alone.
  void take(const Games<chess::Bitboard>& alone, int k) {
    position_[k] = alone.position(0);
    for (int plane = 0; plane < chess::kPlanes; ++plane)
      set_word(planes_[plane], k, alone.planes()[plane]);
  }

  // Makes all actions legal on board `k`, or none.
  void fill(int k, bool legal) {
    for (V& plane : planes_) set_word(plane, k, legal ? chess::kAll : 0);
  }

 private:
  static void set_word(V& words, [[maybe_unused]] int k, chess::Bitboard word) {
    if constexpr (kBoards == 1)
      words = word;
    else
      words[k] = word;
  }

  static chess::Boards<V> played(const chess::Boards<V>& now, BoardSet boards,
                                 const std::int16_t (&actions)[kBoards]) {
    using namespace chess;
    const V moving = squares_of<V>(boards);
    Boards<V> next = chess::play(now, plies_of(widened<V>(actions) & moving));
    const auto keep = [&](V before, V& after) { after = (before & ~moving) | (after & moving); };
    for (int type = PAWN; type <= KING; ++type) keep(now.piece[type], next.piece[type]);
    keep(now.own, next.own);
    keep(now.state, next.state);
    return next;
  }

  // Stores boards whose past is already stored, with all that follows: what is legal, keys,
  // repetitions, and whether and why games are over.
  RUNGS_NOINLINE_ON_GPU void examine(chess::Boards<V> boards) {
    using namespace chess;
    const Found<V> found =
        generate(boards, [&](int plane, V squares) { planes_[plane] = squares; });
    const V capturable = found.legality.en_passant, file = V{} + (Bitboard{255} << kEnPassantBit);
    boards.state =
        where(capturable, boards.state) |
        unless(capturable, (boards.state & ~file) | (Bitboard{kNoFile} << kEnPassantBit));
    group_.set_boards(boards);
    group_.set_legality(found.legality);
    store_boards(boards, position_);
    const V now = key(boards);
    group_.store(now, group_.block.now);
    find_reasons(boards, found, count_repetitions(now));
  }

  // Stores how often positions with the keys `now` occurred before.
  V count_repetitions(V now) const {
    using namespace chess;
    const std::uint8_t* num_past = group_.block.num_past + group_.first;
    int most = 0;
    for (int k = 0; k < kBoards; ++k) most = num_past[k] > most ? num_past[k] : most;
    const V number = widened<V>(num_past);
    V repetitions{}, ago{};
    for (int at = 0; at <= most - 4; ++at, ago += 1)  // none comes again in less than four plies
      repetitions -= unless(group_.load(group_.block.past[at]) ^ now, more(number, ago));
    narrow(repetitions, group_.block.repetitions + group_.first);
    return repetitions;
  }

  void find_reasons(const chess::Boards<V>& boards, const chess::Found<V>& found, V repetitions) {
    using namespace chess;
    std::uint8_t* reason = group_.block.reason + group_.first;
    std::memset(reason, static_cast<int>(Reason::ONGOING), kBoards);
    const BoardSet active = boards_with(found.any), checked = boards_with(found.check);
    const BoardSet heavy =
        boards_with(boards.piece[PAWN] | boards.piece[ROOK] | boards.piece[QUEEN]);
    const V drawn = more(boards.state & kClock, V{} + (Bitboard{kFiftyMoves - 1} << kClockBit)) |
                    more(repetitions, V{} + 1);
    const BoardSet ongoing = active & heavy & ~boards_with(drawn);
    each_of(first_boards(kBoards) & ~ongoing, [&](int k) {
      reason[k] = static_cast<std::uint8_t>(
          reason_of(position_[k], active >> k & 1, checked >> k & 1, this->repetitions(k)));
    });
  }

  Group<V> group_;
  chess::Position position_[kBoards];
  V planes_[chess::kPlanes];  // legal actions
};

}  // namespace rungs::env
