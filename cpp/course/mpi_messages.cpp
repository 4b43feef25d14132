// How long a message between two ranks takes, and an agreement of all ranks, for notebook 05.
// Every rank calls each function; the times are rank 0's.
#include <mpi.h>

#include <cstdint>
#include <vector>

namespace {

int own_rank() {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

void send(const std::vector<char>& message, int to) {
  MPI_Send(message.data(), static_cast<int>(message.size()), MPI_BYTE, to, 0, MPI_COMM_WORLD);
}

void receive(std::vector<char>& message, int from) {
  MPI_Recv(message.data(), static_cast<int>(message.size()), MPI_BYTE, from, 0, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
}

}  // namespace

extern "C" {

// Seconds of a message from rank 0 to rank 1 or back: half of the mean of `trips` there and back.
double rungs_mpi_ping_pong(std::int64_t bytes, std::int64_t trips) {
  std::vector<char> message(bytes, 1);
  const int rank = own_rank();
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (std::int64_t trip = 0; trip < trips; ++trip) {
    if (rank == 0) send(message, 1), receive(message, 1);
    if (rank == 1) receive(message, 0), send(message, 0);
  }
  return (MPI_Wtime() - start) / (2.0 * static_cast<double>(trips));
}

// Seconds that rank 0 spends in MPI_Send where rank 1 computes for `late` seconds before it
// receives.
double rungs_mpi_send_early(std::int64_t bytes, double late) {
  std::vector<char> message(bytes, 1);
  const int rank = own_rank();
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  if (rank == 0) send(message, 1);
  const double sent = MPI_Wtime() - start;
  if (rank == 1) {
    while (MPI_Wtime() < start + late) continue;
    receive(message, 0);
  }
  return sent;
}

// Mean seconds of an agreement of all ranks on one number, of `times` in a row.
double rungs_mpi_agree(std::int64_t times) {
  std::int64_t number = 1;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (std::int64_t i = 0; i < times; ++i)
    MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
  return (MPI_Wtime() - start) / static_cast<double>(times);
}

}  // extern "C"
