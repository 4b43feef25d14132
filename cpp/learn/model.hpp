// A network in memory of its caller's, and how its work is shared out (play.hpp, learn.hpp).
//
// Work is shared out in tasks that are the same for any number of threads, and no number is added
// up by two of them: so are all results, bit for bit.
#pragma once
#include <atomic>

#include "adam.hpp"
#include "forward.hpp"
#include "workers.hpp"

namespace rungs::learn {

// All that a network consists of, whose products take `U`.
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

// Makes the weights ready for products.
template <class U>
void prepare(const Model<U>& model, const Workers& workers) {
  model.prepared->remembers = false;
  workers(Prepared<U>::kParts, [&](std::int64_t part) {
    model.prepared->make(static_cast<int>(part), model.parameters.weights);
  });
}

// The same for weights that may have been changed by anybody since; a comparison where they
// haven't. `sample`, `evaluate` and `values` need it.
template <class U>
void refresh(const Model<U>& model, const Workers& workers) {
  if (model.prepared->made_of(model.parameters.weights)) return;
  prepare(model, workers);
  model.prepared->remember(model.parameters.weights);
}

// Which of some positions can't be read: several threads look for them at once.
class Unreadable {
 public:
  void add(std::int64_t position) {
    std::int64_t first = first_;
    while (position < first && !first_.compare_exchange_weak(first, position)) {
    }
  }
  // The first of them, or -1 where there is none.
  std::int64_t first() const { return first_ == kNone ? -1 : first_.load(); }

 private:
  static constexpr std::int64_t kNone = INT64_MAX;
  std::atomic<std::int64_t> first_ = kNone;
};

// Adds those of `rows` observations, (rows, 72), whose pieces are none; returns whether there are
// any. `position(row)` is what a row is called.
template <class Position>
bool unreadable(const std::int8_t* observation, int rows, Unreadable& all,
                const Position& position) {
  bool any = false;
  for (int row = 0; row < rows; ++row)
    if (!has_pieces(observation + row * kObservation)) {
      all.add(position(row));
      any = true;
    }
  return any;
}

}  // namespace rungs::learn
