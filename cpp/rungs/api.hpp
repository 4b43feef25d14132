// What Python calls: plain functions over addresses and numbers, the same whether Cling compiles
// this header as it is loaded or g++ did so ahead of time (include it once). Templates and classes
// stay behind them, as the interpreter lock can be released only around plain functions.
#pragma once
#include <cstring>

#include "../chess/fen.hpp"
#include "../chess/perft.hpp"
#include "openmp.hpp"
#include "serial.hpp"

extern "C" {

// Sizes that Python checks before it trusts its picture of the structs.
std::int64_t rungs_chess_batch_bytes() { return sizeof(rungs::ChessBatch); }
std::int64_t rungs_chess_env_bytes() { return sizeof(rungs::env::ChessEnv); }

std::int64_t rungs_chess_history_bytes() { return sizeof(rungs::env::History); }

void rungs_chess_serial_reset(std::uintptr_t batch, std::uintptr_t which, std::int64_t episode) {
  rungs::serial::reset(*reinterpret_cast<const rungs::ChessBatch*>(batch),
                       reinterpret_cast<const bool*>(which), episode);
}

// `actions` is another array each time, and a pointer to one is found faster than its address.
std::int64_t rungs_chess_serial_step(std::uintptr_t batch, const std::int64_t* actions,
                                     std::uintptr_t replies) {
  return rungs::serial::step(*reinterpret_cast<const rungs::ChessBatch*>(batch), actions,
                             reinterpret_cast<const std::int64_t*>(replies));
}

void rungs_chess_serial_begin_with(std::uintptr_t batch, std::uintptr_t replies) {
  rungs::serial::begin_with(*reinterpret_cast<const rungs::ChessBatch*>(batch),
                            reinterpret_cast<const std::int64_t*>(replies));
}

// The version of OpenMP these functions were compiled for, 0 where the compiler ignored it.
std::int64_t rungs_openmp_version() {
#ifdef _OPENMP
  return _OPENMP;
#else
  return 0;
#endif
}

std::int64_t rungs_openmp_team_size(std::int64_t threads) {
  return rungs::openmp::team_size(static_cast<std::int32_t>(threads));
}

void rungs_chess_openmp_reset(std::uintptr_t batch, std::uintptr_t which, std::int64_t episode,
                              std::uintptr_t team) {
  rungs::openmp::reset(*reinterpret_cast<const rungs::ChessBatch*>(batch),
                       reinterpret_cast<const bool*>(which), episode,
                       *reinterpret_cast<const rungs::openmp::Team*>(team));
}

std::int64_t rungs_chess_openmp_step(std::uintptr_t batch, const std::int64_t* actions,
                                     std::uintptr_t replies, std::uintptr_t team) {
  return rungs::openmp::step(*reinterpret_cast<const rungs::ChessBatch*>(batch), actions,
                             reinterpret_cast<const std::int64_t*>(replies),
                             *reinterpret_cast<const rungs::openmp::Team*>(team));
}

std::int64_t rungs_chess_openmp_first_illegal(std::uintptr_t batch, const std::int64_t* actions,
                                              std::uintptr_t team) {
  return rungs::openmp::first_illegal(*reinterpret_cast<const rungs::ChessBatch*>(batch), actions,
                                      *reinterpret_cast<const rungs::openmp::Team*>(team));
}

std::int64_t rungs_chess_openmp_step_legal(std::uintptr_t batch, const std::int64_t* actions,
                                           std::uintptr_t replies, std::uintptr_t team) {
  return rungs::openmp::step_legal(*reinterpret_cast<const rungs::ChessBatch*>(batch), actions,
                                   reinterpret_cast<const std::int64_t*>(replies),
                                   *reinterpret_cast<const rungs::openmp::Team*>(team));
}

void rungs_chess_serial_write(std::uintptr_t batch) {
  rungs::serial::write(*reinterpret_cast<const rungs::ChessBatch*>(batch));
}

std::int64_t rungs_chess_episode(std::uintptr_t batch, std::int64_t i) {
  return reinterpret_cast<const rungs::ChessBatch*>(batch)->env[i].episode;
}

// Where board `i`'s position is.
std::uintptr_t rungs_chess_position(std::uintptr_t batch, std::int64_t i) {
  const auto& boards = *reinterpret_cast<const rungs::ChessBatch*>(batch);
  return reinterpret_cast<std::uintptr_t>(&boards.env[i].game.position);
}

// Writes the FEN of the position at `position`, of at most 127 characters.
void rungs_chess_fen(std::uintptr_t position, std::uintptr_t out) {
  const std::string fen =
      rungs::chess::to_fen(*reinterpret_cast<const rungs::chess::Position*>(position));
  std::memcpy(reinterpret_cast<char*>(out), fen.c_str(), fen.size() + 1);
}

// Sets the position at `position` from the text at `fen`, or writes why not to `why`, of at most
// 255 characters; "" where it is set.
void rungs_chess_parse_fen(std::uintptr_t fen, std::uintptr_t position, std::uintptr_t why) {
  const std::string reason =
      rungs::chess::parse_fen(reinterpret_cast<const char*>(fen),
                              *reinterpret_cast<rungs::chess::Position*>(position))
          .substr(0, 255);
  std::memcpy(reinterpret_cast<char*>(why), reason.c_str(), reason.size() + 1);
}

std::int64_t rungs_chess_perft(std::uintptr_t position, std::int64_t depth) {
  const auto& root = *reinterpret_cast<const rungs::chess::Position*>(position);
  return static_cast<std::int64_t>(rungs::chess::perft(root, static_cast<int>(depth)));
}

}  // extern "C"
