// A network that plays: actions chosen as likely as it says, scores of all, and values.
#pragma once
#include "model.hpp"
#include "policy.hpp"

namespace rungs::learn {

// Positions to choose actions in.
template <class T>
struct Sampling {
  const std::int8_t* observation;  // (rows, 72)
  const std::int16_t* action;      // (rows, 218), the legal ones
  const std::int16_t* count;       // (rows,), how many those are, at least one
  const double* uniform;           // (rows,), random numbers from 0 to less than 1
  std::int64_t* chosen;            // (rows,), the action,
  std::int64_t* choice;            // its place among the legal ones,
  T* log_probability;              // its log-probability,
  T* value;                        // and the position's value
  std::int64_t rows;
};

namespace detail {

// Memory of a chunk that goes through the network and of which nothing is kept.
template <class T>
struct Passing {
  alignas(64) T stream[kChunk * kWidth], normal[kChunk * kWidth], hidden[kChunk * kWidth];
  alignas(64) T head[kChunk * kHead], scale[kChunk];

  Activations<T> activations() {
    Activations<T> all;
    all.stream = stream;
    for (T*& each : all.normal) each = normal;
    for (T*& each : all.scale) each = scale;
    for (T*& each : all.hidden) each = hidden;
    all.head = head;
    return all;
  }
};

}  // namespace detail

// Chooses an action in each position. Returns the first position that can't be read, or -1.
template <class U, class T = Sum<U>>
std::int64_t sample(const Model<U>& model, const Sampling<T>& in, const Workers& workers) {
  Unreadable wrong;
  for_chunks(workers, in.rows, [&](std::int64_t, std::int64_t first, int rows) {
    detail::Passing<T> passing;
    const std::int8_t* const observation = in.observation + first * kObservation;
    if (unreadable(observation, rows, wrong, [&](int row) { return first + row; })) return;
    forward(*model.prepared, rows, observation, passing.activations());
    for (int row = 0; row < rows; ++row) {
      const std::int64_t i = first + row;
      const std::int16_t* const action = in.action + i * kMostLegal;
      const T* const head = passing.head + row * kHead;
      alignas(64) T score[kRoom] = {};
      std::int16_t capture[kRoom];
      Likely<T> likely;
      if (in.count[i] < 1 || in.count[i] > kMostLegal ||
          !score_actions(model.parameters.weights, head, observation + row * kObservation, action,
                         in.count[i], score, capture))
        return wrong.add(i);
      softmax(score, in.count[i], likely);
      const int choice = choose(likely, in.count[i], in.uniform[i]);
      in.choice[i] = choice;
      in.chosen[i] = action[choice];
      in.log_probability[i] = score[choice] - likely.log_total;
      in.value[i] = head[kKeys];
    }
  });
  return wrong.first();
}

// Writes the scores, (rows, width), of positions' legal actions, and the positions' values,
// (rows,). The first `count` of a row are written, 0 to `width` of them; the others stay. Returns
// the first position that can't be read, or -1.
template <class U, class T = Sum<U>>
std::int64_t evaluate(const Model<U>& model, const std::int8_t* observation,
                      const std::int16_t* action, const std::int16_t* count, std::int64_t rows,
                      std::int64_t width, T* score, T* value, const Workers& workers) {
  Unreadable wrong;
  for_chunks(workers, rows, [&](std::int64_t, std::int64_t first, int chunk_rows) {
    detail::Passing<T> passing;
    const std::int8_t* const own = observation + first * kObservation;
    if (unreadable(own, chunk_rows, wrong, [&](int row) { return first + row; })) return;
    forward(*model.prepared, chunk_rows, own, passing.activations());
    for (int row = 0; row < chunk_rows; ++row) {
      const std::int64_t i = first + row;
      const T* const head = passing.head + row * kHead;
      std::int16_t capture[kRoom];
      if (count[i] < 0 || count[i] > std::min<std::int64_t>(width, kMostLegal) ||
          !score_actions(model.parameters.weights, head, own + row * kObservation,
                         action + i * kMostLegal, count[i], score + i * width, capture))
        return wrong.add(i);
      value[i] = head[kKeys];
    }
  });
  return wrong.first();
}

// Writes the values, (rows,), of positions, (rows, 72). Returns the first that can't be read, or
// -1.
template <class U, class T = Sum<U>>
std::int64_t values(const Model<U>& model, const std::int8_t* observation, std::int64_t rows,
                    T* value, const Workers& workers) {
  Unreadable wrong;
  for_chunks(workers, rows, [&](std::int64_t, std::int64_t first, int chunk_rows) {
    detail::Passing<T> passing;
    const std::int8_t* const own = observation + first * kObservation;
    if (unreadable(own, chunk_rows, wrong, [&](int row) { return first + row; })) return;
    forward(*model.prepared, chunk_rows, own, passing.activations());
    for (int row = 0; row < chunk_rows; ++row)
      value[first + row] = passing.head[row * kHead + kKeys];
  });
  return wrong.first();
}

}  // namespace rungs::learn
