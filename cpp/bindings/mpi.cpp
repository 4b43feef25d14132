// The functions of the MPI rung that Python calls; not in chess.cpp, as they need <mpi.h>.
#include "../rungs/mpi.hpp"

#include "abi.hpp"

RUNGS_STRUCTURE(rungs::mpi::Ranks, communicator, boards, first)
RUNGS_STRUCTURE(rungs::mpi::Order, task, episode, partial)
RUNGS_STRUCTURE(rungs::mpi::Gathering, ranks, shared, actions, replies, which)

RUNGS_FUNCTION(std::int64_t, rungs_chess_mpi_step, std::uintptr_t ranks, std::uintptr_t batch,
               std::uintptr_t settings, const std::int64_t* actions) {
  return rungs::mpi::step_if_all_can(rungs::at<const rungs::mpi::Ranks>(ranks),
                                     rungs::at<const rungs::ChessBatch>(batch), actions,
                                     rungs::at<const rungs::openmp::LoopSettings>(settings));
}

RUNGS_FUNCTION(std::int64_t, rungs_chess_mpi_lead, std::uintptr_t all, std::uintptr_t batch,
               std::uintptr_t settings, std::uintptr_t order) {
  return rungs::mpi::lead(rungs::at<const rungs::mpi::Gathering>(all),
                          rungs::at<rungs::ChessBatch>(batch),
                          rungs::at<const rungs::openmp::LoopSettings>(settings),
                          rungs::at<const rungs::mpi::Order>(order));
}

RUNGS_FUNCTION(void, rungs_chess_mpi_follow, std::uintptr_t all, std::uintptr_t batch,
               std::uintptr_t settings) {
  rungs::mpi::follow(rungs::at<const rungs::mpi::Gathering>(all),
                     rungs::at<rungs::ChessBatch>(batch),
                     rungs::at<const rungs::openmp::LoopSettings>(settings));
}
