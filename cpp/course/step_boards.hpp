// Version 11 of a step: eight boards at once, by the library's own generator for a batch.
#pragma once
#include "step_lanes.hpp"

namespace rungs::steps {

// Version 11: eight boards at once. A register holds the same bitboard of eight boards (of four,
// where it has 256 bits) instead of eight directions of one. So what has no eight directions, such
// as playing the action, castling and the check mask, takes all lanes, too, and nothing is combined
// across lanes. The cost: boards take their branches together, and a single board gains nothing.
namespace together {

using V = chess::Widest;

struct Group {
  static constexpr int kBoards = chess::kWidth<V>;

  chess::Boards<V> boards{};  // those that are missing in the last group of a batch have no piece

  void place(int board, const chess::Position& position) {
    chess::Position positions[kBoards];
    store_boards(boards, positions);
    positions[board] = position;
    boards = chess::load_boards<V>(positions);
  }

  void play(const std::int16_t (&actions)[kBoards]) {
    boards = chess::play(boards, chess::plies_of(chess::widened<V>(actions)));
  }

  // Writes the masks of the first `number` boards, the first on a cache line, and their outcomes.
  void write_legal(int number, std::uint8_t* masks, std::int8_t* outcomes) const {
    V legal[chess::kPlanes];
    const auto found =
        chess::generate(boards, [&](int plane, V squares) { legal[plane] = squares; });
    env::write_masks(legal, number, env::MaskFormat::BOOL, RUNGS_CAN_STREAM, masks);
    const auto active = chess::boards_with(found.any), checked = chess::boards_with(found.check);
    for (int i = 0; i < number; ++i)
      outcomes[i] = static_cast<std::int8_t>(outcome(active >> i & 1, checked >> i & 1));
  }
};

}  // namespace together

}  // namespace rungs::steps
