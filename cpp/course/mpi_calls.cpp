// Records when a rank calls MPI and for how long, by the standard's profiling interface: each
// function has a second name that begins with P, and a library may define the first name and call
// the second. LD_PRELOAD loads this library before MPI's.
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

struct Note {
  const char* call;
  double begin, end;  // seconds on the machine's clock, the same for all its ranks
};
std::vector<Note> notes;
double asked = 0;  // since when a request is being tested

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class Call>
int noted(const char* name, Call call) {
  const double begin = now();
  const int code = call();
  notes.push_back({name, begin, now()});
  return code;
}

}  // namespace

extern "C" {

int MPI_Ibcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm,
               MPI_Request* request) {
  return noted("MPI_Ibcast", [&] { return PMPI_Ibcast(data, count, type, root, comm, request); });
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  return noted("MPI_Wait", [&] { return PMPI_Wait(request, status); });
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  return noted("MPI_Waitall", [&] { return PMPI_Waitall(count, requests, statuses); });
}

// Tests that fail are recorded as one note together with the one that succeeds.
int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  if (!asked) asked = now();
  const int code = PMPI_Test(request, done, status);
  if (*done) {
    notes.push_back({"MPI_Test", asked, now()});
    asked = 0;
  }
  return code;
}

int MPI_Allreduce(const void* sent, void* received, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  return noted("MPI_Allreduce",
               [&] { return PMPI_Allreduce(sent, received, count, type, op, comm); });
}

int MPI_Barrier(MPI_Comm comm) {
  return noted("MPI_Barrier", [&] { return PMPI_Barrier(comm); });
}

int MPI_Scatterv(const void* sent, const int* counts, const int* first, MPI_Datatype sent_type,
                 void* received, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  return noted("MPI_Scatterv", [&] {
    return PMPI_Scatterv(sent, counts, first, sent_type, received, count, type, root, comm);
  });
}

int MPI_Igatherv(const void* sent, int count, MPI_Datatype type, void* received, const int* counts,
                 const int* first, MPI_Datatype received_type, int root, MPI_Comm comm,
                 MPI_Request* request) {
  return noted("MPI_Igatherv", [&] {
    return PMPI_Igatherv(sent, count, type, received, counts, first, received_type, root, comm,
                         request);
  });
}

// Writes this rank's notes as CSV, to a file whose name begins as the environment variable says.
int MPI_Finalize() {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string path = std::getenv("RUNGS_MPI_CALLS") + std::to_string(rank) + ".csv";
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (!file) MPI_Abort(MPI_COMM_WORLD, 1);
  std::fprintf(file, "call,begin,end\n");
  for (const Note& note : notes)
    std::fprintf(file, "%s,%.9f,%.9f\n", note.call, note.begin, note.end);
  if (std::fclose(file)) MPI_Abort(MPI_COMM_WORLD, 1);
  return PMPI_Finalize();
}

}  // extern "C"
