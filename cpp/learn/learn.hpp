// A network that learns: the gradients of a minibatch's loss, and a step of Adam.
#pragma once
#include "gradient.hpp"
#include "model.hpp"

namespace rungs::learn {

namespace detail {

// Memory handed out piece after piece, each on cache lines of its own. Without memory it counts.
class Pieces {
 public:
  explicit Pieces(std::byte* memory) : memory_(memory) {}

  template <class U>
  U* operator()(std::int64_t count) {
    std::byte* const piece = memory_ ? memory_ + used_ : nullptr;
    used_ += (count * static_cast<std::int64_t>(sizeof(U)) + 63) / 64 * 64;
    return reinterpret_cast<U*>(piece);
  }
  std::int64_t used() const { return used_; }

 private:
  std::byte* memory_;
  std::int64_t used_ = 0;
};

// Layers' tasks of `kOutputs` outputs, by number.
struct LayerTask {
  int layer, first;
};
constexpr int tasks_of(int number) { return (layer(number).outputs + kOutputs - 1) / kOutputs; }
constexpr int count_layer_tasks() {
  int count = 0;
  for (int number = 0; number < kLayers; ++number) count += tasks_of(number);
  return count;
}
constexpr int kLayerTasks = count_layer_tasks();
constexpr LayerTask layer_task(std::int64_t task) {
  int number = 0;
  for (; task >= tasks_of(number); ++number) task -= tasks_of(number);
  return {number, static_cast<int>(task) * kOutputs};
}

// What a minibatch needs memory for.
template <class T>
struct Workspace {
  Kept<T> kept;
  Parts* parts;        // a chunk's each
  NormPart<T>* norms;  // a layer's task's each
};

template <class T>
Workspace<T> workspace(std::int64_t rows, Pieces& take) {
  Workspace<T> made;
  Kept<T>& kept = made.kept;
  kept.rows = rows;
  kept.activations.stream = nullptr;  // a chunk's own
  for (T*& each : kept.activations.normal) each = take.template operator()<T>(rows * kWidth);
  for (T*& each : kept.activations.scale) each = take.template operator()<T>(rows);
  for (T*& each : kept.activations.hidden) each = take.template operator()<T>(rows * kWidth);
  kept.activations.head = take.template operator()<T>(rows * kHead);
  kept.deltas.head = take.template operator()<T>(rows * kHead);
  for (T*& each : kept.deltas.stream) each = take.template operator()<T>(rows * kWidth);
  for (T*& each : kept.deltas.hidden) each = take.template operator()<T>(rows * kWidth);
  kept.score = take.template operator()<T>(rows * kRoom);
  kept.capture = take.operator()<std::int16_t>(rows * kRoom);
  kept.observation = take.operator()<std::int8_t>(rows * kObservation);
  kept.occupied = take.operator()<std::uint64_t>(rows);
  made.parts = take.operator()<Parts>((rows + kChunk - 1) / kChunk);
  made.norms = take.template operator()<NormPart<T>>(kLayerTasks);
  return made;
}

// The rows of a chunk among those of all.
template <class T>
Activations<T> from_row(const Activations<T>& all, std::int64_t row) {
  Activations<T> own = all;
  for (T*& each : own.normal) each += row * kWidth;
  for (T*& each : own.scale) each += row;
  for (T*& each : own.hidden) each += row * kWidth;
  own.head += row * kHead;
  return own;
}
template <class T>
Deltas<T> from_row(const Deltas<T>& all, std::int64_t row) {
  Deltas<T> own = all;
  own.head += row * kHead;
  for (T*& each : own.stream) each += row * kWidth;
  for (T*& each : own.hidden) each += row * kWidth;
  return own;
}

// A chunk of a minibatch: forward, loss, backward.
template <class U, class Loss, class T = Sum<U>>
Parts learn_chunk(const Model<U>& model, const Rows& batch, const Loss& loss, const Kept<T>& kept,
                  std::int64_t first, int rows, Unreadable& wrong) {
  alignas(64) T stream[kChunk * kWidth], scratch[kChunk * kWidth];
  Activations<T> activations = from_row(kept.activations, first);
  activations.stream = stream;
  const Deltas<T> deltas = from_row(kept.deltas, first);
  for (int row = 0; row < rows; ++row) {
    const std::int64_t from = batch.row[first + row];
    std::int8_t* const own = kept.observation + (first + row) * kObservation;
    std::memcpy(own, batch.observation + from * kObservation, kObservation);
    kept.occupied[first + row] = occupied(own);
    // By when the policy reads it, it is here.
    for (int i = 0; i < batch.count[from]; i += 32)
      __builtin_prefetch(batch.action + from * kMaxLegal + i);
  }
  const std::int8_t* const observation = kept.observation + first * kObservation;
  const auto position = [&](int row) { return batch.row[first + row]; };
  if (unreadable(observation, rows, wrong, position)) return {};
  forward(*model.prepared, rows, observation, activations);
  Parts parts;
  for (int row = 0; row < rows; ++row) {
    const std::int64_t from = batch.row[first + row];
    const T* const head = activations.head + row * kHead;
    T* const score = kept.score + (first + row) * kRoom;
    T* const delta = deltas.head + row * kHead;
    const int count = batch.count[from];
    const std::int16_t* const action = batch.action + from * kMaxLegal;
    std::int16_t* const capture = kept.capture + (first + row) * kRoom;
    if (count < 1 || count > kMaxLegal ||
        !score_actions(model.parameters.weights, head, observation + row * kObservation, action,
                       count, score, capture)) {
      wrong.add(from);
      return {};
    }
    Likely<T> likely;
    softmax(score, count, likely);
    delta[kKeys] = loss(from, count, head[kKeys], likely, score, parts);
    delta[kKeys + 1] = 0;  // beside it in a pair
    query_gradient(model.parameters.weights, action, capture, score, count, delta);
  }
  backward(*model.prepared, rows, activations, deltas, scratch);
  return parts;
}

}  // namespace detail

// How much memory a minibatch of so many rows needs.
template <class T>
std::int64_t workspace_bytes(std::int64_t rows) {
  detail::Pieces count(nullptr);
  detail::workspace<T>(rows, count);
  return count.used();
}

// Writes the gradients of a minibatch's mean loss, and the means of its parts. Returns the first
// position that can't be read, or -1; where there is one nothing is written.
template <class U, class Loss, class T = Sum<U>>
std::int64_t gradients(const Model<U>& model, const Rows& batch, const Loss& loss, Parts& parts,
                       const Workers& workers) {
  const Parameters<T>& parameters = model.parameters;
  prepare(model, workers);
  detail::Pieces take(model.workspace);
  const detail::Workspace<T> space = detail::workspace<T>(batch.rows, take);
  const Kept<T>& kept = space.kept;
  Unreadable wrong;
  for_chunks(workers, batch.rows, [&](std::int64_t chunk, std::int64_t first, int rows) {
    space.parts[chunk] = detail::learn_chunk(model, batch, loss, kept, first, rows, wrong);
  });
  if (wrong.first() >= 0) return wrong.first();

  // The longest first: keys, squares, layers.
  workers(kKeySlices + 9 + detail::kLayerTasks, [&](std::int64_t task) {
    T* const gradient = parameters.gradient;
    if (task < kKeySlices) return keys_gradient(static_cast<int>(task), batch, kept, gradient);
    task -= kKeySlices;
    if (task < 8) return squares_gradient(static_cast<int>(task), kept, gradient);
    if (task == 8) return others_gradient(kept, gradient);
    task -= 9;
    const auto [number, first] = detail::layer_task(task);
    const Activations<T>& activations = kept.activations;
    const bool in_head = number >= kQueryLayer;
    const T* const input = in_head           ? activations.normal[kBlocks]
                           : number % 2 == 0 ? activations.normal[number / 2]
                                             : activations.hidden[number / 2];
    const T* const delta = number == kQueryLayer   ? kept.deltas.head
                           : number == kValueLayer ? kept.deltas.head + kKeys
                           : number % 2 == 0       ? kept.deltas.hidden[number / 2]
                                                   : kept.deltas.stream[number / 2 + 1];
    layer_gradient<U>(layer(number), first, delta, in_head ? kHead : kWidth, input, batch.rows,
                      parameters.weights, gradient, space.norms[task]);
  });

  for (int task = 0; task < detail::kLayerTasks; ++task) {
    const auto [number, first] = detail::layer_task(task);
    if (layer(number).norm < 0) continue;
    T* const norm = parameters.gradient + layer(number).norm;
    const bool begins =
        first == 0 && number != kValueLayer;  // the query's norm is the value's, too
    for (int i = 0; i < kWidth; ++i) {
      norm[i] = (begins ? 0 : norm[i]) + space.norms[task].gamma[i];
      norm[kWidth + i] = (begins ? 0 : norm[kWidth + i]) + space.norms[task].beta[i];
    }
  }
  Parts total;
  for (std::int64_t chunk = 0; chunk < (batch.rows + kChunk - 1) / kChunk; ++chunk)
    total += space.parts[chunk];
  const auto rows = static_cast<double>(batch.rows);
  parts = {total.policy / rows, total.value / rows, total.entropy / rows, total.divergence / rows};
  return -1;
}

// Clips the gradients by their norm, and moves the weights. Returns whether the norm is finite;
// where it isn't nothing is moved.
template <class U, class T = Sum<U>>
bool step(const Model<U>& model, const AdamSettings& settings, const Workers& workers) {
  double squares[kAdamTasks], total = 0;
  workers(kAdamTasks,
          [&](std::int64_t task) { squares[task] = squared_norm(model.parameters, task); });
  for (const double each : squares) total += each;
  if (!std::isfinite(total)) return false;
  workers(kAdamTasks,
          [&](std::int64_t task) { move(model.parameters, settings, std::sqrt(total), task); });
  return true;
}

}  // namespace rungs::learn
