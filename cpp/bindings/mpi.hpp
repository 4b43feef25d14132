// What Python calls of the MPI rung; apart from api.hpp, as it needs <mpi.h>.
#pragma once
#include "../rungs/mpi.hpp"
#include "at.hpp"

extern "C" {

// What Python compares with its picture of the structs; at most 4095 characters.
void rungs_mpi_layout(std::uintptr_t out) {
  using namespace rungs;
  using namespace rungs::mpi;
  std::string text = layout("Order", sizeof(Order),
                            {RUNGS_MIRRORED(Order, task), RUNGS_MIRRORED(Order, episode),
                             RUNGS_MIRRORED(Order, seed), RUNGS_MIRRORED(Order, partial)});
  text += layout("Gathering", sizeof(Gathering),
                 {RUNGS_MIRRORED(Gathering, ranks.communicator),
                  RUNGS_MIRRORED(Gathering, ranks.boards), RUNGS_MIRRORED(Gathering, ranks.first),
                  RUNGS_MIRRORED(Gathering, shared), RUNGS_MIRRORED(Gathering, actions),
                  RUNGS_MIRRORED(Gathering, replies), RUNGS_MIRRORED(Gathering, which)});
  write_text(text, out, 4096);
}

std::int64_t rungs_chess_mpi_step(std::uintptr_t ranks, std::uintptr_t batch, std::uintptr_t team,
                                  const std::int64_t* actions) {
  return rungs::mpi::step_if_all_can(rungs::at<const rungs::mpi::Ranks>(ranks),
                                     rungs::at<const rungs::ChessBatch>(batch), actions,
                                     rungs::at<const rungs::openmp::Team>(team));
}

std::int64_t rungs_chess_mpi_lead(std::uintptr_t all, std::uintptr_t batch, std::uintptr_t team,
                                  std::uintptr_t order) {
  return rungs::mpi::lead(
      rungs::at<const rungs::mpi::Gathering>(all), rungs::at<rungs::ChessBatch>(batch),
      rungs::at<const rungs::openmp::Team>(team), rungs::at<const rungs::mpi::Order>(order));
}

void rungs_chess_mpi_follow(std::uintptr_t all, std::uintptr_t batch, std::uintptr_t team) {
  rungs::mpi::follow(rungs::at<const rungs::mpi::Gathering>(all),
                     rungs::at<rungs::ChessBatch>(batch),
                     rungs::at<const rungs::openmp::Team>(team));
}

}  // extern "C"
