// The MPI rung: every rank steps its share of the boards, with threads inside.
//
// Gathered, rank 0 leads: it broadcasts orders, scatters the actions and gathers the outputs.
// Otherwise each rank steps its own boards for its own caller, and ranks exchange only whether an
// action was illegal, so that all of them step or none does.
#pragma once
#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "chess_loops.hpp"

namespace rungs::mpi {

// The ranks and their shares: rank r has `boards[r]` boards, from number `first[r]` on.
struct Ranks {
  std::int64_t communicator;  // Fortran's number for it, which all implementations translate
  const std::int32_t* boards;
  const std::int32_t* first;

  MPI_Comm comm() const { return MPI_Comm_f2c(static_cast<MPI_Fint>(communicator)); }
  int rank() const {
    int number;
    MPI_Comm_rank(comm(), &number);
    return number;
  }
};

// Plays actions of this rank's boards if all ranks' are legal; returns how many episodes ended
// here. For the first board whose action is not legal, number `i` among all ranks', returns -1 - i.
inline std::int64_t step_if_all_can(const Ranks& ranks, const ChessBatch& batch,
                                    const std::int64_t* actions,
                                    const openmp::LoopSettings& settings) {
  const std::int64_t own = openmp::first_illegal(batch, actions, settings);
  std::int64_t illegal = own < batch.num_envs ? ranks.first[ranks.rank()] + own : INT64_MAX;
  MPI_Allreduce(MPI_IN_PLACE, &illegal, 1, MPI_INT64_T, MPI_MIN, ranks.comm());
  return illegal != INT64_MAX ? -1 - illegal : openmp::step_accepted(batch, settings);
}

enum class Task : std::int64_t { RESET, STEP, CALL };

// An order of rank 0's. CALL is carried out by the caller of `follow`.
struct Order {
  Task task;
  std::int64_t episode;  // of a reset
  std::int64_t partial;  // whether a reset is of some boards only
};

// What rank 0 scatters and gathers. Its arrays have all boards, those of any other rank its own.
struct Gathering {
  Ranks ranks;
  std::int64_t shared;  // every rank sees rank 0's arrays (shared memory): nothing is sent
  std::int64_t* actions;
  std::int64_t* replies;  // null where no engine plays
  bool* which;
};

namespace detail {

// Spins for a millisecond, as the next step may come at once; then sleeps between tests, to leave
// the core to the learner.
inline void wait_politely(MPI_Request& request) {
  using std::chrono::steady_clock;
  const auto awake_until = steady_clock::now() + std::chrono::milliseconds(1);
  for (int done = 0;;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done) return;
    if (steady_clock::now() > awake_until)
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

// Rank 0 keeps the head of `array` and sends the other ranks their parts.
inline void scatter(const Ranks& ranks, void* array, MPI_Datatype type) {
  const int rank = ranks.rank(), own = ranks.boards[rank];
  if (rank == 0)
    MPI_Scatterv(array, ranks.boards, ranks.first, type, MPI_IN_PLACE, own, type, 0, ranks.comm());
  else
    MPI_Scatterv(nullptr, ranks.boards, ranks.first, type, array, own, type, 0, ranks.comm());
}

// The reverse, for rows of `bytes` bytes; returns before it is done.
inline MPI_Request gather(const Ranks& ranks, void* array, std::int64_t bytes) {
  const int rank = ranks.rank(), own = ranks.boards[rank];
  MPI_Datatype row;
  MPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &row);
  MPI_Type_commit(&row);
  MPI_Request request;
  if (rank == 0)
    MPI_Igatherv(MPI_IN_PLACE, own, row, array, ranks.boards, ranks.first, row, 0, ranks.comm(),
                 &request);
  else
    MPI_Igatherv(array, own, row, nullptr, ranks.boards, ranks.first, row, 0, ranks.comm(),
                 &request);
  MPI_Type_free(&row);  // freed once the request no longer needs it
  return request;
}

// Gathers the outputs: all, or after a reset only those of the position.
inline void gather_outputs(const Ranks& ranks, const ChessBatch& batch, bool all) {
  const env::ChessConfig& config = batch.config;
  std::vector<MPI_Request> requests;
  const auto gathered = [&](void* array, std::int64_t bytes) {
    if (bytes) requests.push_back(gather(ranks, array, bytes));
  };
#define RUNGS_GATHER(type, name, count) gathered(batch.name, sizeof(type) * (count));
  RUNGS_CHESS_POSITION_OUTPUTS(RUNGS_GATHER)
  if (all) {
    RUNGS_CHESS_STEP_OUTPUTS(RUNGS_GATHER)
  }
#undef RUNGS_GATHER
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

inline void reset(const Gathering& all, ChessBatch& batch, const openmp::LoopSettings& settings,
                  const Order& order) {
  if (!all.shared && order.partial) scatter(all.ranks, all.which, MPI_BYTE);
  openmp::reset(batch, order.partial ? all.which : nullptr, order.episode, settings);
  if (all.shared)
    MPI_Barrier(all.ranks.comm());
  else
    gather_outputs(all.ranks, batch, false);
}

// As serial::step, for the boards of all ranks.
inline std::int64_t step(const Gathering& all, const ChessBatch& batch,
                         const openmp::LoopSettings& settings) {
  if (!all.shared) {
    scatter(all.ranks, all.actions, MPI_INT64_T);
    if (all.replies) scatter(all.ranks, all.replies, MPI_INT64_T);
  }
  std::int64_t ended = step_if_all_can(all.ranks, batch, all.actions, settings);
  if (ended < 0) return ended;
  if (!all.shared) gather_outputs(all.ranks, batch, true);
  // Also a barrier: rank 0 goes on only when all ranks have written.
  MPI_Allreduce(MPI_IN_PLACE, &ended, 1, MPI_INT64_T, MPI_SUM, all.ranks.comm());
  return ended;
}

inline std::int64_t carry_out(const Gathering& all, ChessBatch& batch,
                              const openmp::LoopSettings& settings, const Order& order) {
  switch (order.task) {
    case Task::RESET:
      reset(all, batch, settings, order);
      return 0;
    case Task::STEP:
      return step(all, batch, settings);
    default:
      return 0;
  }
}

}  // namespace detail

// On rank 0: broadcasts an order and carries it out, with the other ranks.
inline std::int64_t lead(const Gathering& all, ChessBatch& batch,
                         const openmp::LoopSettings& settings, Order order) {
  MPI_Request request;
  MPI_Ibcast(&order, sizeof order, MPI_BYTE, 0, all.ranks.comm(), &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return detail::carry_out(all, batch, settings, order);
}

// On the other ranks: carries out rank 0's orders until it orders a CALL.
inline void follow(const Gathering& all, ChessBatch& batch, const openmp::LoopSettings& settings) {
  for (;;) {
    Order order;
    MPI_Request request;
    MPI_Ibcast(&order, sizeof order, MPI_BYTE, 0, all.ranks.comm(), &request);
    detail::wait_politely(request);
    if (order.task == Task::CALL) return;
    detail::carry_out(all, batch, settings, order);
  }
}

}  // namespace rungs::mpi
