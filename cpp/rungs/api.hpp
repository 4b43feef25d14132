// What Python calls: plain functions over addresses and numbers, the same whether Cling compiles
// this header as it is loaded or g++ did so ahead of time (include it once). Templates and classes
// stay behind them, as the interpreter lock can be released only around plain functions.
#pragma once
#include <cstring>

#include "../chess/fen.hpp"
#include "../chess/perft.hpp"
#include "serial.hpp"

extern "C" {

// Sizes that Python checks before it trusts its picture of the structs.
std::int64_t rungs_chess_batch_bytes() { return sizeof(rungs::ChessBatch); }
std::int64_t rungs_chess_env_bytes() { return sizeof(rungs::env::ChessEnv); }

void rungs_chess_serial_reset(std::uintptr_t batch, std::int64_t episode) {
  rungs::serial::reset(*reinterpret_cast<const rungs::ChessBatch*>(batch), episode);
}

std::int64_t rungs_chess_serial_step(std::uintptr_t batch, std::uintptr_t actions) {
  return rungs::serial::step(*reinterpret_cast<const rungs::ChessBatch*>(batch),
                             reinterpret_cast<const std::int64_t*>(actions));
}

// Writes the FEN of board `i`, of at most 127 characters.
void rungs_chess_fen(std::uintptr_t batch, std::int64_t i, std::uintptr_t out) {
  const auto& boards = *reinterpret_cast<const rungs::ChessBatch*>(batch);
  const std::string fen = rungs::chess::to_fen(boards.env[i].game.position);
  std::memcpy(reinterpret_cast<char*>(out), fen.c_str(), fen.size() + 1);
}

// Perft of the FEN at `fen`. Where that is refused, writes why to `out`, of at most 255 characters,
// and returns -1.
std::int64_t rungs_chess_perft(std::uintptr_t fen, std::int64_t depth, std::uintptr_t out) {
  rungs::chess::Position position;
  const std::string why =
      rungs::chess::parse_fen(reinterpret_cast<const char*>(fen), position).substr(0, 255);
  std::memcpy(reinterpret_cast<char*>(out), why.c_str(), why.size() + 1);
  if (!why.empty()) return -1;
  return static_cast<std::int64_t>(rungs::chess::perft(position, static_cast<int>(depth)));
}

}  // extern "C"
