// The MPI rung: every rank steps its share of the boards, with threads inside.
//
// Rank 0 leads: it tells the others what to do, deals out the actions and gathers the outputs. Or
// each rank goes its own way with its own boards (`Ranks::gather` 0), and all they tell each
// other is whether an action was illegal, so that all of them step or none does.
#pragma once
#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <thread>

// Threads are started through these functions, compiled already: Cling compiles OpenMP right in the
// first code that has any, and wrongly from then on.
#include "api.hpp"

namespace rungs::mpi {

enum class Task : std::int64_t { RESET, STEP, CALL };

// What rank 0 wants done. CALL is left to the callers of `follow`.
struct Order {
  Task task;
  std::int64_t episode;  // of a reset
  std::uint64_t seed;    // likewise
  std::int64_t partial;  // a reset of some boards; a step with the caller's replies
};

// One rank's view. `boards` and `first` say how many boards each rank has and where they start.
struct Ranks {
  std::int64_t communicator;  // Fortran's number for it, which all implementations translate
  const std::int32_t* boards;
  const std::int32_t* first;
  std::int64_t gather;    // 0: not at all; 1: by messages; 2: all arrays are rank 0's
  std::int64_t* actions;  // rank 0: of all boards; others: of their own. Likewise:
  std::int64_t* replies;
  bool* which;

  MPI_Comm comm() const { return MPI_Comm_f2c(static_cast<MPI_Fint>(communicator)); }
  int rank() const {
    int number;
    MPI_Comm_rank(comm(), &number);
    return number;
  }
};

namespace detail {

// Waits awake for a millisecond, as the next step may come at once; then mostly asleep, to leave
// the core to whoever learns meanwhile.
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

template <class T>
std::uintptr_t address(const T& object) {
  return reinterpret_cast<std::uintptr_t>(&object);
}
template <class T>
std::uintptr_t address(T* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

// Rank 0 keeps the head of `array` and sends the others their parts.
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

inline void gather_outputs(const Ranks& ranks, const ChessBatch& batch) {
  const std::int64_t seen = env::observation_bytes(batch.config.observation);
  MPI_Request requests[] = {
      gather(ranks, batch.observation, seen),
      gather(ranks, batch.mask, env::mask_bytes(batch.config.mask)),
      gather(ranks, batch.reward, sizeof(float)),
      gather(ranks, batch.terminated, 1),
      gather(ranks, batch.truncated, 1),
      gather(ranks, batch.ended, 1),
      gather(ranks, batch.reason, 1),
      gather(ranks, batch.player, 1),
      gather(ranks, batch.final_observation, seen),
  };
  MPI_Waitall(sizeof requests / sizeof *requests, requests, MPI_STATUSES_IGNORE);
}

inline void reset(const Ranks& ranks, ChessBatch& batch, const openmp::Team& team,
                  const Order& order) {
  batch.config.seed = order.seed;
  // What a step left behind is not gathered again.
  for (std::int64_t i = 0; i < batch.num_envs; ++i) batch.reason[i] = 0;
  if (ranks.gather == 1 && order.partial) scatter(ranks, ranks.which, MPI_BYTE);
  rungs_chess_openmp_reset(address(batch), address(order.partial ? ranks.which : nullptr),
                           order.episode, address(team));
  if (ranks.gather == 1) gather_outputs(ranks, batch);
  if (ranks.gather == 2) MPI_Barrier(ranks.comm());
}

// As serial::step, for the boards of all ranks. Without gathering, the count of ended episodes is
// of this rank's boards.
inline std::int64_t step(const Ranks& ranks, const ChessBatch& batch, const openmp::Team& team,
                         const Order& order) {
  if (ranks.gather == 1) {
    scatter(ranks, ranks.actions, MPI_INT64_T);
    if (order.partial) scatter(ranks, ranks.replies, MPI_INT64_T);
  }
  const std::int64_t own =
      rungs_chess_openmp_first_illegal(address(batch), ranks.actions, address(team));
  const int rank = ranks.rank();
  std::int64_t illegal = own < batch.num_envs ? ranks.first[rank] + own : INT64_MAX;
  MPI_Allreduce(MPI_IN_PLACE, &illegal, 1, MPI_INT64_T, MPI_MIN, ranks.comm());
  if (illegal != INT64_MAX) return -1 - illegal;
  std::int64_t ended = rungs_chess_openmp_step_legal(
      address(batch), ranks.actions, address(order.partial ? ranks.replies : nullptr),
      address(team));
  if (ranks.gather == 1) gather_outputs(ranks, batch);
  if (ranks.gather) {
    // Rank 0 hears of all only when all have written.
    MPI_Allreduce(MPI_IN_PLACE, &ended, 1, MPI_INT64_T, MPI_SUM, ranks.comm());
  }
  return ended;
}

inline std::int64_t carry_out(const Ranks& ranks, ChessBatch& batch, const openmp::Team& team,
                              const Order& order) {
  switch (order.task) {
    case Task::RESET:
      reset(ranks, batch, team, order);
      return 0;
    case Task::STEP:
      return step(ranks, batch, team, order);
    default:
      return 0;
  }
}

}  // namespace detail

// On rank 0, and on all ranks where nothing is gathered: does what is ordered, with the others.
inline std::int64_t lead(const Ranks& ranks, ChessBatch& batch, const openmp::Team& team,
                         Order order) {
  if (ranks.gather) {
    MPI_Request request;
    MPI_Ibcast(&order, sizeof order, MPI_BYTE, 0, ranks.comm(), &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  return detail::carry_out(ranks, batch, team, order);
}

// On the other ranks: does what rank 0 orders, until it orders a CALL.
inline void follow(const Ranks& ranks, ChessBatch& batch, const openmp::Team& team) {
  for (;;) {
    Order order;
    MPI_Request request;
    MPI_Ibcast(&order, sizeof order, MPI_BYTE, 0, ranks.comm(), &request);
    detail::wait_politely(request);
    if (order.task == Task::CALL) return;
    detail::carry_out(ranks, batch, team, order);
  }
}

}  // namespace rungs::mpi
