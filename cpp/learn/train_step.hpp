// A training step: the gradients of a minibatch's mean loss, and an update by Adam.
#pragma once
#include "backward.hpp"

namespace rungs::learn {

namespace detail {

// Bump allocator whose blocks begin on cache lines. Without memory it only counts bytes.
class Arena {
 public:
  explicit Arena(std::byte* memory) : memory_(memory) {}

  template <class U>
  U* operator()(std::int64_t count) {
    std::byte* const block = memory_ ? memory_ + used_ : nullptr;
    used_ += (count * static_cast<std::int64_t>(sizeof(U)) + 63) / 64 * 64;
    return reinterpret_cast<U*>(block);
  }
  std::int64_t used() const { return used_; }

 private:
  std::byte* memory_;
  std::int64_t used_ = 0;
};

// The tasks of the layers' gradients: kOutputsPerTask outputs of one layer each.
struct LayerTask {
  int layer, first;
};
constexpr int num_tasks(int number) {
  return (layer(number).outputs + kOutputsPerTask - 1) / kOutputsPerTask;
}
constexpr int count_layer_tasks() {
  int count = 0;
  for (int number = 0; number < kLayers; ++number) count += num_tasks(number);
  return count;
}
constexpr int kLayerTasks = count_layer_tasks();
constexpr LayerTask layer_task(std::int64_t task) {
  int number = 0;
  for (; task >= num_tasks(number); ++number) task -= num_tasks(number);
  return {number, static_cast<int>(task) * kOutputsPerTask};
}

// The memory of a minibatch.
template <class T>
struct Workspace {
  SavedActivations<T> saved;
  LossTerms* terms;        // one per chunk
  NormGradient<T>* norms;  // one per task of the layers
};

template <class T>
Workspace<T> workspace(std::int64_t rows, Arena& arena) {
  Workspace<T> space;
  SavedActivations<T>& saved = space.saved;
  saved.rows = rows;
  saved.activations.stream = nullptr;  // not kept: every chunk has its own
  for (T*& each : saved.activations.normal) each = arena.template operator()<T>(rows * kWidth);
  for (T*& each : saved.activations.scale) each = arena.template operator()<T>(rows);
  for (T*& each : saved.activations.hidden) each = arena.template operator()<T>(rows * kWidth);
  saved.activations.head = arena.template operator()<T>(rows * kHead);
  saved.deltas.head = arena.template operator()<T>(rows * kHead);
  for (T*& each : saved.deltas.stream) each = arena.template operator()<T>(rows * kWidth);
  for (T*& each : saved.deltas.hidden) each = arena.template operator()<T>(rows * kWidth);
  saved.score = arena.template operator()<T>(rows * kLegalPadded);
  saved.capture = arena.operator()<std::int16_t>(rows * kLegalPadded);
  saved.observation = arena.operator()<std::int8_t>(rows * kObservation);
  saved.attacks = arena.operator()<Attacks>(rows);
  space.terms = arena.operator()<LossTerms>((rows + kChunk - 1) / kChunk);
  space.norms = arena.template operator()<NormGradient<T>>(kLayerTasks);
  return space;
}

// The rows of a chunk, which begins at `row`, in arrays of the whole minibatch.
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

// Runs a chunk of a minibatch forward, through the loss, and backward to the activations.
template <class U, class Loss, class T = Accum<U>>
LossTerms forward_backward_chunk(const Model<U>& model, const BatchPositions& batch,
                                 const Loss& loss, const SavedActivations<T>& saved,
                                 std::int64_t first, int rows, InvalidPositions& invalid) {
  alignas(64) T stream[kChunk * kWidth], scratch[kChunk * kWidth];
  Activations<T> activations = from_row(saved.activations, first);
  activations.stream = stream;
  const Deltas<T> deltas = from_row(saved.deltas, first);
  for (int row = 0; row < rows; ++row) {
    const std::int64_t from = batch.row[first + row];
    std::int8_t* const own = saved.observation + (first + row) * kObservation;
    std::memcpy(own, batch.observation + from * kObservation, kObservation);
    // Prefetched, as the policy reads it after the forward pass.
    for (int i = 0; i < batch.count[from]; i += 32)
      __builtin_prefetch(batch.action + from * kMaxLegal + i);
  }
  const std::int8_t* const observation = saved.observation + first * kObservation;
  const auto position = [&](int row) { return batch.row[first + row]; };
  if (find_invalid(observation, rows, invalid, position)) return {};
  Attacks* const attacks = saved.attacks + first;
  for (int row = 0; row < rows; ++row) attacks[row] = attacks_on(observation + row * kObservation);
  forward(model, rows, observation, attacks, activations);
  LossTerms terms;
  for (int row = 0; row < rows; ++row) {
    const std::int64_t from = batch.row[first + row];
    const T* const head = activations.head + row * kHead;
    T* const score = saved.score + (first + row) * kLegalPadded;
    T* const delta = deltas.head + row * kHead;
    const int count = batch.count[from];
    const std::int16_t* const action = batch.action + from * kMaxLegal;
    std::int16_t* const capture = saved.capture + (first + row) * kLegalPadded;
    if (count < 1 || count > kMaxLegal ||
        !score_actions(model.parameters.weights, head, observation + row * kObservation,
                       attacks[row], action, count, score, capture)) {
      invalid.add(from);
      return {};
    }
    Softmax<T> policy;
    softmax(score, count, policy);
    delta[kKeys] = loss(from, count, head[kKeys], policy, score, terms);
    query_gradient(model.parameters.weights, action, capture, score, count, delta);
  }
  backward(model, rows, activations, deltas, scratch);
  return terms;
}

}  // namespace detail

// How many bytes the workspace of a minibatch of `rows` positions needs.
template <class T>
std::int64_t workspace_bytes(std::int64_t rows) {
  detail::Arena count(nullptr);
  detail::workspace<T>(rows, count);
  return count.used();
}

// Computes the gradients of a minibatch's mean loss, and the means of its terms. Returns the index
// of an invalid position, or -1; if there is one, nothing is written.
template <class U, class Loss, class T = Accum<U>>
std::int64_t gradients(const Model<U>& model, const BatchPositions& batch, const Loss& loss,
                       LossTerms& terms, const Workers& workers) {
  const Parameters<T>& parameters = model.parameters;
  prepare(model, workers);
  detail::Arena arena(model.workspace);
  const detail::Workspace<T> space = detail::workspace<T>(batch.rows, arena);
  const SavedActivations<T>& saved = space.saved;
  InvalidPositions invalid;
  for_each_chunk(workers, batch.rows, [&](std::int64_t chunk, std::int64_t first, int rows) {
    space.terms[chunk] =
        detail::forward_backward_chunk(model, batch, loss, saved, first, rows, invalid);
  });
  if (invalid.first() >= 0) return invalid.first();

  // The longest tasks first: keys, of actions and of captures; squares, a task for each rank of the
  // board; one for the scalars; layers.
  constexpr std::int64_t kKeyTasks = 2, kSquareTasks = 8;
  workers(kKeyTasks + kSquareTasks + 1 + detail::kLayerTasks, [&](std::int64_t task) {
    if (task < kKeyTasks) return keys_gradient(task == 1, batch, saved, parameters);
    task -= kKeyTasks;
    if (task < kSquareTasks) return squares_gradient(static_cast<int>(task), saved, parameters);
    if (task == kSquareTasks) return scalars_gradient(saved, parameters.gradient);
    task -= kSquareTasks + 1;
    const auto [number, first] = detail::layer_task(task);
    const Activations<T>& activations = saved.activations;
    const bool in_head = number >= kQueryLayer;
    const T* const input = in_head           ? activations.normal[kBlocks]
                           : number % 2 == 0 ? activations.normal[number / 2]
                                             : activations.hidden[number / 2];
    const T* const delta = number == kQueryLayer   ? saved.deltas.head
                           : number == kValueLayer ? saved.deltas.head + kKeys
                           : number % 2 == 0       ? saved.deltas.hidden[number / 2]
                                                   : saved.deltas.stream[number / 2 + 1];
    layer_gradient(model, layer(number), first, delta, in_head ? kHead : kWidth, input, batch.rows,
                   space.norms[task]);
  });

  empty_squares_gradient(parameters.gradient);
  for (int task = 0; task < detail::kLayerTasks; ++task) {
    const auto [number, first] = detail::layer_task(task);
    if (layer(number).norm < 0) continue;
    T* const norm = parameters.gradient + layer(number).norm;
    const bool begins = first == 0 && number != kValueLayer;  // query and value share a LayerNorm
    for (int i = 0; i < kWidth; ++i) {
      norm[i] = (begins ? 0 : norm[i]) + space.norms[task].gamma[i];
      norm[kWidth + i] = (begins ? 0 : norm[kWidth + i]) + space.norms[task].beta[i];
    }
  }
  LossTerms total;
  for (std::int64_t chunk = 0; chunk < (batch.rows + kChunk - 1) / kChunk; ++chunk)
    total += space.terms[chunk];
  const auto rows = static_cast<double>(batch.rows);
  terms = {total.policy / rows, total.value / rows, total.entropy / rows, total.divergence / rows};
  return -1;
}

// Adam (Kingma and Ba, 2015, arXiv:1412.6980), as PyTorch computes it, after clipping the
// gradients' global norm.

struct AdamSettings {
  double learning_rate, eps, max_grad_norm;
  std::int64_t step;  // counts from 1
};

// Units per task.
constexpr std::int64_t kUnitsPerTask = 256,
                       kAdamTasks = (kUnits + kUnitsPerTask - 1) / kUnitsPerTask;

// The sum of a task's squared gradients. Marks units whose gradient isn't 0 as touched; cleared
// ones aren't read.
template <class T>
inline double squared_norm(const Parameters<T>& all, std::int64_t task) {
  double total = 0;
  const std::int64_t end = std::min((task + 1) * kUnitsPerTask, kUnits);
  for (std::int64_t unit = task * kUnitsPerTask; unit < end; ++unit) {
    if (all.cleared[unit]) continue;
    Vector<T> squares = {};
    for (int i = 0; i < kUnit; i += kLanes<T>) {
      const Vector<T> x = load(all.gradient + unit * kUnit + i);
      squares = multiply_add(x, x, squares);
    }
    const T here = reduce_add(squares);
    if (here != 0) all.touched[unit] = true;
    total += here;
  }
  return total;
}

// Marks exactly the units that have moments as touched, after moments were loaded.
template <class T>
inline void mark_touched(const Parameters<T>& all) {
  for (std::int64_t unit = 0; unit < kUnits; ++unit) {
    all.touched[unit] = false;
    for (std::int64_t i = unit * kUnit; i < (unit + 1) * kUnit; ++i)
      all.touched[unit] |= all.first_moment[i] != 0 || all.second_moment[i] != 0;
  }
}

// Updates a task's weights; `norm` is that of all gradients.
template <class T>
inline void adam_update(const Parameters<T>& all, const AdamSettings& settings, double norm,
                        std::int64_t task) {
  constexpr double kBeta1 = 0.9, kBeta2 = 0.999;
  const auto steps = static_cast<double>(settings.step);
  const auto rate = static_cast<T>(-settings.learning_rate / (1 - std::pow(kBeta1, steps)));
  const auto scale = static_cast<T>(1 / std::sqrt(1 - std::pow(kBeta2, steps)));
  const auto clip_scale = static_cast<T>(std::min(1.0, settings.max_grad_norm / (norm + 1e-6)));
  const Vector<T> eps = broadcast(static_cast<T>(settings.eps));
  const auto beta2 = static_cast<T>(kBeta2), one_minus_beta1 = static_cast<T>(1 - kBeta1),
             one_minus_beta2 = static_cast<T>(1 - kBeta2);
  const std::int64_t end = std::min((task + 1) * kUnitsPerTask, kUnits);
  for (std::int64_t unit = task * kUnitsPerTask; unit < end; ++unit) {
    if (!all.touched[unit]) continue;
    for (std::int64_t i = unit * kUnit; i < (unit + 1) * kUnit; i += kLanes<T>) {
      const Vector<T> gradient = load(all.gradient + i) * clip_scale;
      Vector<T> first = load(all.first_moment + i), second = load(all.second_moment + i);
      first = multiply_add(gradient - first, broadcast(one_minus_beta1), first);
      second = multiply_add(gradient * one_minus_beta2, gradient, second * beta2);
      const Vector<T> denominator = multiply_add(square_root(second), broadcast(scale), eps);
      store(first, all.first_moment + i);
      store(second, all.second_moment + i);
      store<T>(load(all.weights + i) + first * rate / denominator, all.weights + i);
    }
  }
}

// Clips the gradients by their norm and updates the weights. Returns whether the norm is finite; if
// it isn't, nothing is updated.
template <class U, class T = Accum<U>>
bool adam_step(const Model<U>& model, const AdamSettings& settings, const Workers& workers) {
  double squares[kAdamTasks], total = 0;
  workers(kAdamTasks,
          [&](std::int64_t task) { squares[task] = squared_norm(model.parameters, task); });
  for (const double each : squares) total += each;
  if (!std::isfinite(total)) return false;
  workers(kAdamTasks, [&](std::int64_t task) {
    adam_update(model.parameters, settings, std::sqrt(total), task);
  });
  return true;
}

}  // namespace rungs::learn
