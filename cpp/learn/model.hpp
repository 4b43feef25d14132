// A network in memory of its caller's, and how its work is shared out (play.hpp, learn.hpp).
//
// Work is shared out in tasks that are the same for any number of threads, and no number is added
// up by two of them: so are all results, bit for bit.
#pragma once
#include "adam.hpp"
#include "forward.hpp"
#include "workers.hpp"

namespace rungs::learn {

// All that a network consists of, whose products take `U`. Mirrored by
// lib/rungs/train/learners/native.py.
template <class U>
struct Model {
  std::int64_t precision;  // bytes of a number that products take
  Parameters<Sum<U>> parameters;
  Prepared<U>* prepared;  // of the weights as they were when `prepare` was called last
  std::byte* workspace;   // of `workspace_bytes`
};

// Calls `work(chunk, first, rows)` for all chunks of so many rows.
template <class Work>
void for_chunks(const Workers& workers, std::int64_t rows, const Work& work) {
  workers((rows + kChunk - 1) / kChunk, [&](std::int64_t chunk) {
    const std::int64_t first = chunk * kChunk;
    work(chunk, first, static_cast<int>(std::min<std::int64_t>(kChunk, rows - first)));
  });
}

// Makes the weights ready for `sample` and `values`; whoever has changed them calls it.
template <class U>
void prepare(const Model<U>& model, const Workers& workers) {
  workers(Prepared<U>::kParts, [&](std::int64_t part) {
    model.prepared->make(static_cast<int>(part), model.parameters.weights);
  });
}

}  // namespace rungs::learn
