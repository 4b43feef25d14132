// The forward pass, and inference: sampling actions, scoring legal actions, and values.
#pragma once
#include <algorithm>
#include <atomic>

#include "../chess/action.hpp"
#include "amx.hpp"
#include "network.hpp"

namespace rungs::learn {

// Positions per forward pass: their activations stay in the L2 cache.
constexpr int kChunk = 64;

// Rows of a chunk's operands after packing to bfloat16 pairs; 1 where nothing is packed.
template <class U>
constexpr int kPackedRows = std::is_same_v<U, bf16x2> ? kChunk / 2 : 1;

// Activations of a chunk, one row per position.
template <class T>
struct Activations {
  T* stream;               // 128
  T* normal[kBlocks + 1];  // 128, the normalised stream, before each block and the head
  T* scale[kBlocks + 1];   // 1, 1 / standard deviation of it
  T* hidden[kBlocks];      // 128
  T* head;                 // kHead: query, value
};

// Whether all 64 squares hold piece codes, -6 to 6.
inline bool has_pieces(const std::int8_t* observation) {
  bool invalid = false;
  for (int square = 0; square < 64; ++square)
    invalid |= static_cast<std::uint8_t>(observation[square] + kEmpty) >= kPieces;
  return !invalid;
}

// The row of the first layer's weights for a piece on a square.
inline int input_of(int square, std::int8_t piece) { return square * kPieces + kEmpty + piece; }

// The row of attacks for a square, the piece on it (0: none) and its `Attacks::state`.
inline int attack_row(int square, std::int8_t piece, int state) {
  return input_of(square, piece) * kAttackStates + state;
}

// The first layer, a sum of at most 32 piece rows, 64 rows of attacks, and 8 scalar rows; of a
// frozen network with products of bfloat16, the first two are one row per square.
template <class U, class T = Accum<U>>
inline void embed(const Model<U>& model, const std::int8_t* observation, const Attacks& attacks,
                  T* stream) {
  const Prepared<U>& weights = *model.prepared;
  const T* const attacked = model.parameters.weights + kAttackRows;
  constexpr int kParts = kWidth / kLanes<T>;
  Vector<T> part[kParts];
  for (int i = 0; i < kParts; ++i) part[i] = load(weights.base + i * kLanes<T>);
  const bool rounded = std::is_same_v<U, bf16x2> && model.square_rows;
  for (std::uint64_t left = rounded ? 0 : attacks.occupied; left; left &= left - 1) {
    const int square = __builtin_ctzll(left);
    const T* const row = weights.piece[input_of(square, observation[square])];
    for (int i = 0; i < kParts; ++i) part[i] += load(row + i * kLanes<T>);
  }
  for (std::uint64_t left = attacks.relevant(); left; left &= left - 1) {
    const int square = __builtin_ctzll(left);
    const int number = attack_row(square, observation[square], attacks.state(square));
    if constexpr (std::is_same_v<U, bf16x2>)
      if (rounded) {
        const bf16x2* const row = model.square_rows + number * (kWidth / 2);
        for (int i = 0; i < kParts; i += 2) {
          const Vector<bf16x2> both = load(row + i / 2 * kLanes<T>);
          part[i] += (Vector<T>)(both << 16);
          part[i + 1] += (Vector<T>)(both & 0xFFFF0000);
        }
        continue;
      }
    const T* const row = attacked + number * kWidth;
    for (int i = 0; i < kParts; ++i) part[i] += load(row + i * kLanes<T>);
  }
  for (int scalar = 0; scalar < kScalars; ++scalar) {
    if (!observation[64 + scalar]) continue;
    const Vector<T> number = broadcast(static_cast<T>(observation[64 + scalar]));
    for (int i = 0; i < kParts; ++i)
      part[i] = multiply_add(number, load(weights.scalars[scalar] + i * kLanes<T>), part[i]);
  }
  for (int i = 0; i < kParts; ++i) store(part[i], stream + i * kLanes<T>);
}

// LayerNorm (Ba et al., 2016, arXiv:1607.06450) without gamma and beta. Returns 1 / standard
// deviation.
template <class T>
inline T layer_norm(const T* x, T* normal) {
  constexpr int kParts = kWidth / kLanes<T>;
  Vector<T> part[kParts], total = {}, squares = {};
  for (int i = 0; i < kParts; ++i) total += part[i] = load(x + i * kLanes<T>);
  const T mean = reduce_add(total) / kWidth;
  for (int i = 0; i < kParts; ++i) {
    part[i] -= mean;
    squares = multiply_add(part[i], part[i], squares);
  }
  const T scale = 1 / std::sqrt(reduce_add(squares) / kWidth + static_cast<T>(1e-5));
  for (int i = 0; i < kParts; ++i) store<T>(part[i] * scale, normal + i * kLanes<T>);
  return scale;
}

// Computes queries and values, `head`, of `rows` observations, (rows, 72), and the attacks on each,
// and all activations before them. Not inlined: within a longer function compilers run out of
// registers.
template <class U, class T = Accum<U>>
[[gnu::noinline]] void forward(const Model<U>& model, int rows, const std::int8_t* observation,
                               const Attacks* attacks, const Activations<T>& saved) {
  const Prepared<U>& weights = *model.prepared;
  constexpr int kDepth = packed_size<U>(kWidth);
  alignas(64) U copy[kPackedRows<U> * kWidth];
  const Tiles tiles(model.amx);
  const auto operands = [&](const T* at) {
    return Left<U>{pack_contiguous<U>(at, rows * kWidth, copy), kDepth, 1};
  };
  const auto norm = [&](int number) {
    for (int row = 0; row < rows; ++row)
      saved.scale[number][row] =
          layer_norm(saved.stream + row * kWidth, saved.normal[number] + row * kWidth);
  };
  for (int row = 0; row < rows; ++row)
    embed(model, observation + row * kObservation, attacks[row], saved.stream + row * kWidth);
  for (int block = 0; block < kBlocks; ++block) {
    norm(block);
    const auto& first = weights.block[2 * block];
    product(tiles, operands(saved.normal[block]), rows, first.forward, kDepth, kWidth,
            [&](int row, int column, const Vector<T>& sum) {
              const Vector<T> x = sum + load(first.bias + column);
              store<T>(x > Vector<T>{} ? x : Vector<T>{},
                       saved.hidden[block] + row * kWidth + column);
            });
    const auto& second = weights.block[2 * block + 1];
    product(tiles, operands(saved.hidden[block]), rows, second.forward, kDepth, kWidth,
            [&](int row, int column, const Vector<T>& sum) {
              T* const x = saved.stream + row * kWidth + column;
              store<T>(load(x) + (sum + load(second.bias + column)), x);
            });
  }
  norm(kBlocks);
  product(tiles, operands(saved.normal[kBlocks]), rows, weights.head.forward, kDepth, kHead,
          [&](int row, int column, const Vector<T>& sum) {
            store<T>(sum + load(weights.head.bias + column), saved.head + row * kHead + column);
          });
}

// Calls `work(chunk, first, rows)` for every chunk of `rows` positions, in parallel.
template <class Work>
void for_each_chunk(const Workers& workers, std::int64_t rows, const Work& work) {
  workers((rows + kChunk - 1) / kChunk, [&](std::int64_t chunk) {
    const std::int64_t first = chunk * kChunk;
    work(chunk, first, static_cast<int>(std::min<std::int64_t>(kChunk, rows - first)));
  });
}

// The lowest index of a position that is invalid; several threads add to it.
class InvalidPositions {
 public:
  void add(std::int64_t position) {
    std::int64_t first = first_;
    while (position < first && !first_.compare_exchange_weak(first, position)) {
    }
  }
  // The lowest index, or -1 if all positions are valid.
  std::int64_t first() const { return first_ == kNone ? -1 : first_.load(); }

 private:
  static constexpr std::int64_t kNone = INT64_MAX;
  std::atomic<std::int64_t> first_ = kNone;
};

// Adds those of `rows` observations, (rows, 72), that hold something else than piece codes; returns
// whether there are any. `position(row)` is the index to add for a row.
template <class Position>
bool find_invalid(const std::int8_t* observation, int rows, InvalidPositions& all,
                  const Position& position) {
  bool any = false;
  for (int row = 0; row < rows; ++row)
    if (!has_pieces(observation + row * kObservation)) {
      all.add(position(row));
      any = true;
    }
  return any;
}

// The policy over a position's legal actions: scores, softmax, sampling.

// The longest list of legal actions, padded to whole vectors.
constexpr int kLegalPadded = (kMaxLegal + 15) / 16 * 16;

// The row of the capture keys for an action, given by the moving and the captured piece and the
// attacks on its target; -1 if the action doesn't exist or leaves the board.
inline int capture_of(const std::int8_t* observation, const Attacks& attacks, int action) {
  if (action < 0 || action >= kActions) return -1;
  const int to = chess::to_square(action);
  if (to < 0 || to >= 64) return -1;
  const int moved = observation[chess::from_square(action)] + kEmpty;
  return (moved * kPieces + observation[to] + kEmpty) * kAttackStates + attacks.state(to);
}

// Computes the scores of `count` actions by the position's query, (64,), and their rows of the
// capture keys. Returns false at the first action that doesn't exist.
template <class T>
inline bool score_actions(const T* weights, const T* query, const std::int8_t* observation,
                          const Attacks& attacks, const std::int16_t* action, int count, T* score,
                          std::int16_t* capture) {
  constexpr int kParts = kKeys / kLanes<T>;
  Vector<T> part[kParts];
  for (int p = 0; p < kParts; ++p) part[p] = load(query + p * kLanes<T>);
  for (int i = 0; i < count; ++i) {
    const int row = capture_of(observation, attacks, action[i]);
    if (row < 0) return false;
    capture[i] = static_cast<std::int16_t>(row);
    const T* const action_key = weights + kActionKeys + action[i] * kKeys;
    const T* const capture_key = weights + kCaptureKeys + row * kKeys;
    Vector<T> dot = {};
    for (int p = 0; p < kParts; ++p)
      dot = multiply_add(part[p],
                         load(action_key + p * kLanes<T>) + load(capture_key + p * kLanes<T>), dot);
    score[i] = reduce_add(dot);
  }
  return true;
}

// The gradient of the query from the gradients of the scores: the sum of the actions' keys,
// weighted by them.
template <class T>
inline void query_gradient(const T* weights, const std::int16_t* action,
                           const std::int16_t* capture, const T* score, int count, T* query) {
  constexpr int kParts = kKeys / kLanes<T>;
  Vector<T> part[kParts] = {};
  for (int i = 0; i < count; ++i) {
    const T* const action_key = weights + kActionKeys + action[i] * kKeys;
    const T* const capture_key = weights + kCaptureKeys + capture[i] * kKeys;
    const Vector<T> by = broadcast(score[i]);
    for (int p = 0; p < kParts; ++p)
      part[p] = multiply_add(
          by, load(action_key + p * kLanes<T>) + load(capture_key + p * kLanes<T>), part[p]);
  }
  for (int p = 0; p < kParts; ++p) store(part[p], query + p * kLanes<T>);
}

// The softmax over a position's legal actions.
template <class T>
struct Softmax {
  alignas(64) T probability[kLegalPadded];  // 0 in the padding
  T log_sum_exp;                            // an action's log-probability is its score minus this
};

// Computes the softmax of `count` scores. The array is kLegalPadded long; the padding is set to
// -inf.
template <class T>
inline void softmax(T* score, int count, Softmax<T>& policy) {
  const int padded = (count + kLanes<T> - 1) / kLanes<T> * kLanes<T>;
  for (int i = count; i < padded; ++i) score[i] = -INFINITY;
  Vector<T> top = load(score), total = {};
  for (int i = kLanes<T>; i < padded; i += kLanes<T>) {
    const Vector<T> next = load(score + i);
    top = next > top ? next : top;
  }
  const T max_score = reduce_max(top);
  for (int i = 0; i < padded; i += kLanes<T>) {
    const Vector<T> power = exponential(load(score + i) - max_score);
    total += power;
    store<T>(power, policy.probability + i);
  }
  const T total_mass = reduce_add(total);
  for (int i = 0; i < padded; i += kLanes<T>)
    store<T>(load(policy.probability + i) / total_mass, policy.probability + i);
  policy.log_sum_exp = max_score + std::log(total_mass);
}

// Samples an action by inverting the cumulative distribution at `uniform`, in [0, 1). Returns its
// index.
template <class T>
inline int sample_action(const Softmax<T>& policy, int count, double uniform) {
  double below = 0;
  for (int i = 0; i < count - 1; ++i)
    if ((below += policy.probability[i]) > uniform) return i;
  return count - 1;
}

// Inference: sampled actions, scores of legal actions, and values.

// Arguments and results of `sample`.
template <class T>
struct Sampling {
  const std::int8_t* observation;  // (rows, 72)
  const std::int16_t* action;      // (rows, 218), the legal ones
  const std::int16_t* count;       // (rows,), their number, at least one
  const double* uniform;           // (rows,), uniform random numbers in [0, 1)
  std::int64_t* chosen;            // (rows,), the sampled action
  std::int64_t* choice;            // (rows,), its index among the legal ones
  T* log_probability;              // (rows,)
  T* value;                        // (rows,)
  std::int64_t rows;
};

namespace detail {

// Activations of a chunk that are not kept for a backward pass.
template <class T>
struct Scratch {
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

// Computes queries and values of observations, (rows, 72), and calls `use(i, observation, attacks,
// head)` for each position. Returns the index of a position that is invalid, or for which `use`
// returns false, the same with any number of threads; or -1.
template <class U, class T = Accum<U>, class Use>
std::int64_t infer(const Model<U>& model, const std::int8_t* observation, std::int64_t rows,
                   const Workers& workers, const Use& use) {
  InvalidPositions invalid;
  for_each_chunk(workers, rows, [&](std::int64_t, std::int64_t first, int chunk_rows) {
    Scratch<T> scratch;
    const std::int8_t* const own = observation + first * kObservation;
    if (find_invalid(own, chunk_rows, invalid, [&](int row) { return first + row; })) return;
    Attacks attacks[kChunk] = {};
    for (int row = 0; row < chunk_rows; ++row) attacks[row] = attacks_on(own + row * kObservation);
    forward(model, chunk_rows, own, attacks, scratch.activations());
    for (int row = 0; row < chunk_rows; ++row)
      if (!use(first + row, own + row * kObservation, attacks[row], scratch.head + row * kHead))
        return invalid.add(first + row);
  });
  return invalid.first();
}

}  // namespace detail

// Samples an action in each position. Returns the index of an invalid position, or -1.
template <class U, class T = Accum<U>>
std::int64_t sample(const Model<U>& model, const Sampling<T>& in, const Workers& workers) {
  const auto use = [&](std::int64_t i, const std::int8_t* observation, const Attacks& attacks,
                       const T* head) {
    const std::int16_t* const action = in.action + i * kMaxLegal;
    alignas(64) T score[kLegalPadded] = {};
    std::int16_t capture[kLegalPadded];
    Softmax<T> policy;
    if (in.count[i] < 1 || in.count[i] > kMaxLegal ||
        !score_actions(model.parameters.weights, head, observation, attacks, action, in.count[i],
                       score, capture))
      return false;
    softmax(score, in.count[i], policy);
    const int choice = sample_action(policy, in.count[i], in.uniform[i]);
    in.choice[i] = choice;
    in.chosen[i] = action[choice];
    in.log_probability[i] = score[choice] - policy.log_sum_exp;
    in.value[i] = head[kKeys];
    return true;
  };
  return detail::infer(model, in.observation, in.rows, workers, use);
}

// Writes the scores of positions' legal actions, (rows, width), and their values, (rows,). In each
// row the first `count` scores are written, 0 to `width` of them; the others are left alone.
// Returns the index of an invalid position, or -1.
template <class U, class T = Accum<U>>
std::int64_t evaluate(const Model<U>& model, const std::int8_t* observation,
                      const std::int16_t* action, const std::int16_t* count, std::int64_t rows,
                      std::int64_t width, T* score, T* value, const Workers& workers) {
  const auto use = [&](std::int64_t i, const std::int8_t* own, const Attacks& attacks,
                       const T* head) {
    std::int16_t capture[kLegalPadded];
    if (count[i] < 0 || count[i] > std::min<std::int64_t>(width, kMaxLegal) ||
        !score_actions(model.parameters.weights, head, own, attacks, action + i * kMaxLegal,
                       count[i], score + i * width, capture))
      return false;
    value[i] = head[kKeys];
    return true;
  };
  return detail::infer(model, observation, rows, workers, use);
}

// Writes the values, (rows,), of observations, (rows, 72). Returns the index of the first invalid
// one, or -1.
template <class U, class T = Accum<U>>
std::int64_t values(const Model<U>& model, const std::int8_t* observation, std::int64_t rows,
                    T* value, const Workers& workers) {
  const auto use = [&](std::int64_t i, const std::int8_t*, const Attacks&, const T* head) {
    value[i] = head[kKeys];
    return true;
  };
  return detail::infer(model, observation, rows, workers, use);
}

}  // namespace rungs::learn
