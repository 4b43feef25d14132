// A position's legal actions: their scores, how likely each is, and which is chosen.
#pragma once
#include "../chess/action.hpp"
#include "network.hpp"
#include "vectors.hpp"

namespace rungs::learn {

// Room for a position's actions, in whole vectors.
constexpr int kRoom = (kMaxLegal + 15) / 16 * 16;

// Which piece moves and which it takes: the row of the capture keys; -1 where the action is none,
// or leaves the board.
inline int capture_of(const std::int8_t* observation, int action) {
  if (action < 0 || action >= kActions) return -1;
  const int to = chess::to_square(action);
  if (to < 0 || to >= 64) return -1;
  return (observation[chess::from_square(action)] + kEmpty) * kPieces + observation[to] + kEmpty;
}

// Scores of `count` actions, by the position's query, (64,); and their rows of the capture keys.
// Returns false at the first action that has none.
template <class T>
inline bool score_actions(const T* weights, const T* query, const std::int8_t* observation,
                          const std::int16_t* action, int count, T* score, std::int16_t* capture) {
  constexpr int kParts = kKeys / kLanes<T>;
  Vector<T> part[kParts];
  for (int p = 0; p < kParts; ++p) part[p] = load(query + p * kLanes<T>);
  for (int i = 0; i < count; ++i) {
    const int row = capture_of(observation, action[i]);
    if (row < 0) return false;
    capture[i] = static_cast<std::int16_t>(row);
    const T* const own = weights + kActionKeys + action[i] * kKeys;
    const T* const taking = weights + kCaptureKeys + row * kKeys;
    Vector<T> dot = {};
    for (int p = 0; p < kParts; ++p)
      dot = multiply_add(part[p], load(own + p * kLanes<T>) + load(taking + p * kLanes<T>), dot);
    score[i] = sum(dot);
  }
  return true;
}

// The gradient with respect to the query, from those of the scores: the keys' sum, each times its.
template <class T>
inline void query_gradient(const T* weights, const std::int16_t* action,
                           const std::int16_t* capture, const T* score, int count, T* query) {
  constexpr int kParts = kKeys / kLanes<T>;
  Vector<T> part[kParts] = {};
  for (int i = 0; i < count; ++i) {
    const T* const own = weights + kActionKeys + action[i] * kKeys;
    const T* const taking = weights + kCaptureKeys + capture[i] * kKeys;
    const Vector<T> by = everywhere(score[i]);
    for (int p = 0; p < kParts; ++p)
      part[p] = multiply_add(by, load(own + p * kLanes<T>) + load(taking + p * kLanes<T>), part[p]);
  }
  for (int p = 0; p < kParts; ++p) store(part[p], query + p * kLanes<T>);
}

// How likely a position's actions are.
template <class T>
struct Likely {
  alignas(64) T probability[kRoom];  // 0 beyond the last
  T log_total;                       // an action's log-probability is its score less this
};

// The softmax of `count` scores, which have room for `kRoom`, and are -inf beyond the last from
// then on.
template <class T>
inline void softmax(T* score, int count, Likely<T>& likely) {
  const int whole = (count + kLanes<T> - 1) / kLanes<T> * kLanes<T>;
  for (int i = count; i < whole; ++i) score[i] = -INFINITY;
  Vector<T> top = load(score), total = {};
  for (int i = kLanes<T>; i < whole; i += kLanes<T>) {
    const Vector<T> next = load(score + i);
    top = next > top ? next : top;
  }
  const T most = highest(top);
  for (int i = 0; i < whole; i += kLanes<T>) {
    const Vector<T> power = exponential(load(score + i) - most);
    total += power;
    store<T>(power, likely.probability + i);
  }
  const T whole_total = sum(total);
  for (int i = 0; i < whole; i += kLanes<T>)
    store<T>(load(likely.probability + i) / whole_total, likely.probability + i);
  likely.log_total = most + std::log(whole_total);
}

// The action below which a share `uniform` of the probability lies, from 0 to less than 1.
template <class T>
inline int choose(const Likely<T>& likely, int count, double uniform) {
  double below = 0;
  for (int i = 0; i < count - 1; ++i)
    if ((below += likely.probability[i]) > uniform) return i;
  return count - 1;
}

}  // namespace rungs::learn
