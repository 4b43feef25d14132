// Declarations of the functions for Python on which the C API (`include/rungs.h`) is built. Their
// definitions say what they do.
#pragma once
#include <cstdint>

namespace rungs::calls {

// chess.cpp
void rungs_chess_serial_reset(std::uintptr_t batch, std::uintptr_t which, std::int64_t episode);
std::int64_t rungs_chess_serial_step(std::uintptr_t batch, std::uintptr_t actions);
void rungs_chess_threads_reset(std::uintptr_t batch, std::uintptr_t which, std::int64_t episode,
                               std::uintptr_t pool, std::int64_t threads);
std::int64_t rungs_chess_threads_step(std::uintptr_t batch, const std::int64_t* actions,
                                      std::uintptr_t pool, std::int64_t threads,
                                      std::uintptr_t payoff);
void rungs_chess_count_actions(std::uintptr_t batch, std::uintptr_t counts);
void rungs_chess_rank_to_action(std::uintptr_t batch, std::uintptr_t ranks);
std::int64_t rungs_chess_restore(std::uintptr_t batch, std::int64_t count, std::uintptr_t saved,
                                 std::uintptr_t past, std::uintptr_t why);
void rungs_chess_save(std::uintptr_t batch, std::uintptr_t which, std::int64_t count,
                      std::uintptr_t saved, std::uintptr_t past);
void rungs_chess_put(std::uintptr_t batch, std::uintptr_t which, std::int64_t count,
                     std::uintptr_t saved, std::uintptr_t past, std::int64_t own);
std::int64_t rungs_chess_perft(std::uintptr_t position, std::int64_t depth, std::uintptr_t pool,
                               std::int64_t threads);

// cartpole.cpp
void rungs_cartpole_reset(std::uintptr_t address, std::uintptr_t which, std::int64_t episode);
std::int64_t rungs_cartpole_step(std::uintptr_t address, const std::int64_t* actions,
                                 std::int64_t threads, std::uintptr_t pool);
std::int64_t rungs_cartpole_useful_threads(std::int64_t threads, std::int64_t steps);

// search.cpp
void rungs_search_begin_position(std::uintptr_t batch, std::int64_t i, std::uintptr_t position,
                                 std::int64_t episode);
std::int64_t rungs_search_begin_boards(std::uintptr_t batch, std::uintptr_t which,
                                       std::int64_t count, std::uintptr_t saved,
                                       std::uintptr_t past);
void rungs_search_start(std::uintptr_t batch, std::uintptr_t which, std::int64_t count,
                        std::int64_t simulations);
std::int64_t rungs_search_simulate(std::uintptr_t batch, std::int64_t first, std::int64_t last,
                                   std::uintptr_t logits, std::int64_t stride,
                                   std::uintptr_t values, std::uintptr_t pool,
                                   std::int64_t threads);
void rungs_search_finish(std::uintptr_t batch, std::uintptr_t which, std::int64_t count,
                         std::uintptr_t results, std::uintptr_t pool, std::int64_t threads);
std::int64_t rungs_search_look(std::uintptr_t batch, std::int64_t i, std::uintptr_t path,
                               std::int64_t length, std::uintptr_t results);
std::int64_t rungs_search_advance(std::uintptr_t batch, const std::int64_t* actions,
                                  std::uintptr_t pool, std::int64_t threads);

// thread_pool.cpp
std::int64_t rungs_useful_threads(std::int64_t threads, std::int64_t boards);
std::int64_t rungs_pool_start(std::int64_t threads);
void rungs_pool_end(std::uintptr_t pool);
std::uintptr_t rungs_pool_runner();

}  // namespace rungs::calls
