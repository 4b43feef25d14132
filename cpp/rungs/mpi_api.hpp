// What Python calls of the MPI rung; apart from api.hpp, as it needs <mpi.h>.
#pragma once
#include "mpi.hpp"

extern "C" {

std::int64_t rungs_chess_mpi_lead(std::uintptr_t ranks, std::uintptr_t batch, std::uintptr_t team,
                                  std::uintptr_t order) {
  return rungs::mpi::lead(*reinterpret_cast<const rungs::mpi::Ranks*>(ranks),
                          *reinterpret_cast<rungs::ChessBatch*>(batch),
                          *reinterpret_cast<const rungs::openmp::Team*>(team),
                          *reinterpret_cast<const rungs::mpi::Order*>(order));
}

void rungs_chess_mpi_follow(std::uintptr_t ranks, std::uintptr_t batch, std::uintptr_t team) {
  rungs::mpi::follow(*reinterpret_cast<const rungs::mpi::Ranks*>(ranks),
                     *reinterpret_cast<rungs::ChessBatch*>(batch),
                     *reinterpret_cast<const rungs::openmp::Team*>(team));
}

}  // extern "C"
