// Eight boards side by side: the state of a batch is an array of these.
//
// Each word of the state, of all eight boards, is a row (structure of arrays). So a register holds
// the same bitboard of as many boards as it has words, and on a GPU, where a thread steps one
// board, eight threads read 64 bytes that lie together.
//
// Legal actions are not stored: a step writes them to the outputs, and `chess::Legality` is enough
// to check the next action.
#pragma once
#include <cstring>

#include "../chess/game.hpp"
#include "../chess/legality.hpp"

namespace rungs::env {

constexpr int kBlock = 8;

struct alignas(64) Block {
  using Row = std::uint64_t[kBlock];

  Row position[8];  // the words of a chess::Position
  Row legality[8];  // the words of a chess::Legality
  Row now;          // the positions' keys
  // What random numbers are a function of: a board's own seed and number; in a copy, its source's.
  Row seed;
  std::uint32_t board[kBlock];
  std::uint32_t episode[kBlock];  // counts from 0
  std::uint32_t ply[kBlock];      // of the episode after its opening, both sides counted
  std::uint8_t ended[kBlock];     // 1 if the episode has ended and the next has not begun
  std::uint8_t num_past[kBlock], repetitions[kBlock];
  std::uint8_t reason[kBlock];   // chess::Reason
  Row past[chess::kFiftyMoves];  // keys of the positions since the last irreversible ply
};

// One board of a block, as copies and saved states hold it.
struct SavedBoard {
  chess::Position position;
  std::uint64_t now, seed;
  std::uint32_t board, episode, ply;
  std::uint8_t ended, num_past, repetitions;
  std::uint8_t reason;                     // chess::Reason
  std::uint64_t past[chess::kFiftyMoves];  // the first `num_past`; others may be anything
};

// Whether neither side has more pieces than promotions could have made. This then holds for every
// later position, so that no list of legal actions overflows.
inline bool fits_list(const chess::Position& p) {
  using namespace chess;
  constexpr int kAtFirst[] = {0, 2, 2, 2, 1};  // all pawns may have been promoted, or none
  const Bitboard sides[] = {p.own, p.theirs()};
  for (const Bitboard side : sides) {
    int pawns = count(p.piece[PAWN] & side);
    for (int type = KNIGHT; type <= QUEEN; ++type) {
      const int promoted = count(p.piece[type] & side) - kAtFirst[type];
      if (promoted > 0) pawns += promoted;
    }
    if (pawns > 8) return false;
  }
  return true;
}

// The agent's colour alternates by episode and by board, so that any batch is balanced.
inline bool agent_is_black(std::uint32_t board, std::uint32_t episode) {
  return (board + episode) & 1;
}

// As many neighbouring boards of a block as V holds, from board `first` of the block on.
template <class V>
struct Group {
  static constexpr int kBoards = chess::kWidth<V>;

  Block& block;
  int first;

  V load(const Block::Row& row) const {
    V words;
    std::memcpy(&words, row + first, sizeof words);
    return words;
  }
  void store(V words, Block::Row& row) const { std::memcpy(row + first, &words, sizeof words); }

  chess::Boards<V> boards() const {
    const auto word = [&](int w) { return load(block.position[w]); };
    return {{word(0), word(1), word(2), word(3), word(4), word(5)}, word(6), word(7)};
  }
  void set_boards(const chess::Boards<V>& b) const {
    for (int type = 0; type < 6; ++type) store(b.piece[type], block.position[type]);
    store(b.own, block.position[6]);
    store(b.state, block.position[7]);
  }

  chess::Legality<V> legality() const {
    const auto word = [&](int w) { return load(block.legality[w]); };
    return {word(0), word(1), {word(2), word(3), word(4), word(5)}, word(6), word(7)};
  }
  void set_legality(const chess::Legality<V>& l) const {
    const V words[8] = {l.check_mask, l.attacks, l.pins[0],  l.pins[1],
                        l.pins[2],    l.pins[3], l.castling, l.en_passant};
    for (int w = 0; w < 8; ++w) store(words[w], block.legality[w]);
  }

  // The boards whose byte is not 0.
  chess::BoardSet where(const std::uint8_t (&bytes)[kBlock]) const {
    return chess::boards_with(chess::widened<V>(bytes + first));
  }
};

// Copies board `i` of a block.
inline void get_board(const Block& block, int i, SavedBoard& saved) {
  std::uint64_t words[8];
  for (int w = 0; w < 8; ++w) words[w] = block.position[w][i];
  std::memcpy(static_cast<void*>(&saved.position), words, sizeof words);
  saved.now = block.now[i];
  saved.seed = block.seed[i];
  saved.board = block.board[i];
  saved.episode = block.episode[i];
  saved.ply = block.ply[i];
  saved.ended = block.ended[i];
  saved.num_past = block.num_past[i];
  saved.repetitions = block.repetitions[i];
  saved.reason = block.reason[i];
  for (int k = 0; k < saved.num_past; ++k) saved.past[k] = block.past[k][i];
}

// A saved board's game, with all that follows from its position and past.
inline chess::Game game_of(const SavedBoard& saved) {
  chess::Game game;
  for (int k = 0; k < saved.num_past; ++k) game.past[k] = saved.past[k];
  chess::resume(game, saved.position, saved.num_past);
  return game;
}

// Replaces board `i` of a block, but for what follows from its position and past.
inline void put_board(const SavedBoard& saved, Block& block, int i) {
  std::uint64_t words[8];
  std::memcpy(words, &saved.position, sizeof words);
  for (int w = 0; w < 8; ++w) block.position[w][i] = words[w];
  block.seed[i] = saved.seed;
  block.board[i] = saved.board;
  block.episode[i] = saved.episode;
  block.ply[i] = saved.ply;
  block.ended[i] = saved.ended;
  block.num_past[i] = saved.num_past;
  for (int k = 0; k < saved.num_past; ++k) block.past[k][i] = saved.past[k];
}

}  // namespace rungs::env
