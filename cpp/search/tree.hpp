// A search tree in memory that is allocated once: nodes and edges in order of creation. Statistics
// live on edges. A node stores its position, so that a walk down the tree plays only the last move.
#pragma once
#include <algorithm>

#include "../chess/game.hpp"
#include "numerics.hpp"

namespace rungs::search {

constexpr std::int32_t kNone = -1;

// What the visits of a legal action at a node found: N and W of AlphaZero's papers.
struct Stats {
  double value_sum;  // sum of its visits' values, to the side to move at the node
  std::int32_t visits;
  std::int32_t child;  // index of a node, or kNone
};

// An evaluated position, or one in which the game is over. Its legal actions are its edges.
struct Node {
  chess::Position position;
  std::uint64_t key;
  double unvisited_prior;  // sum of the priors of its unvisited edges
  float raw_value;         // the evaluator's; exact where the game is over
  std::int32_t visits;     // 1 (its own evaluation) + those of its edges
  // The edge that leads here: its node, and the index of its statistics; kNone at the root.
  std::int32_t parent, edge;
  std::int32_t first;  // index of its first edge, of `count`
  std::int32_t stats;  // index of that one's statistics; kNone until the node is opened
  std::int16_t count;
  // Visited edges come first, then the unvisited edge with the highest prior, the only one of these
  // that can be selected next. Not so at the root, where noise decides: there neither `num_visited`
  // nor `unvisited_prior` is used.
  std::int16_t num_visited;
  std::int8_t reason;  // chess::Reason
  std::uint8_t repetitions;

  bool over() const { return reason != 0; }
  bool open() const { return stats != kNone; }
};

// The edges of a node.
struct Edges {
  float* prior;
  std::int16_t* action;
  Stats* stats;  // of an open node
};

// The memory of one tree. Most nodes are leaves for ever, so a leaf is cheap: its edges have
// logits, not priors, and no statistics, until the first simulation that goes on from it opens it.
struct TreeMemory {
  Node* node;
  float* prior;
  std::int16_t* action;
  Stats* stats;

  Edges edges(const Node& of) const {
    return {prior + of.first, action + of.first, of.open() ? stats + of.stats : nullptr};
  }
};

// Priors are at least the smallest normal float, so that their logarithm is finite.
constexpr float kMinPrior = 1.1754943508222875e-38F;

// Moves the unvisited edge with the highest prior (of equals the one with the lowest action) to
// just after the visited ones; the others keep their order. Sums the priors of all unvisited edges.
inline void put_best_unvisited_next(Node& node, const Edges& edges) {
  node.unvisited_prior = 0;
  const int next = node.num_visited, count = node.count;
  if (next == count) return;
  const auto [prior, action, stats] = edges;
  const int best = static_cast<int>(first_max(prior + next, count - next) - prior);
  const float best_prior = prior[best];
  const std::int16_t best_action = action[best];
  std::copy_backward(prior + next, prior + best, prior + best + 1);
  std::copy_backward(action + next, action + best, action + best + 1);
  prior[next] = best_prior;
  action[next] = best_action;
  for (int i = next; i < count; ++i) node.unvisited_prior += prior[i];
}

// Replaces `count` logits by their softmax.
inline void set_priors(int count, float* logits) {
  double weight[256], total = 0;
  const double max_logit = *first_max(logits, count);
  for (int i = 0; i < count; ++i) weight[i] = portable_exp(logits[i] - max_logit);
  for (int i = 0; i < count; ++i) total += weight[i];
  for (int i = 0; i < count; ++i) {
    const auto prior = static_cast<float>(weight[i] / total);
    logits[i] = prior > kMinPrior ? prior : kMinPrior;
  }
}

// Backs up a leaf's value, to the side to move there, along the path to the root, from `edge` of
// node `parent` up.
inline void backup(const TreeMemory& tree, std::int32_t parent, std::int32_t edge, double value) {
  while (edge != kNone) {
    value = -value;
    ++tree.stats[edge].visits;
    tree.stats[edge].value_sum += value;
    Node& node = tree.node[parent];
    ++node.visits;
    parent = node.parent;
    edge = node.edge;
  }
}

struct TreeSize {
  std::int32_t nodes, edges, stats;
};

// Opens a node, unless it is open or the game is over there.
inline void open(const TreeMemory& tree, Node& node, TreeSize& used) {
  if (node.open() || node.over()) return;
  node.stats = used.stats;
  used.stats += node.count;
  const Edges edges = tree.edges(node);
  std::fill_n(edges.stats, node.count, Stats{0, 0, kNone});
  set_priors(node.count, edges.prior);
  put_best_unvisited_next(node, edges);
}

// Copies the subtree below node `root`, breadth first, as far as `capacity` allows, and opens its
// root. A child that doesn't fit is dropped; its edge keeps its visits.
inline TreeSize copy_subtree(const TreeMemory& from, std::int32_t root, const TreeMemory& to,
                             TreeSize capacity) {
  TreeSize used = {0, 0, 0};
  const auto copy = [&](std::int32_t number, std::int32_t parent, std::int32_t edge) {
    const Node& source = from.node[number];
    Node& target = to.node[used.nodes];
    target = source;
    target.parent = parent;
    target.edge = edge;
    target.first = used.edges;
    if (source.open()) target.stats = used.stats;
    const Edges edges = from.edges(source), copies = to.edges(target);
    std::copy_n(edges.prior, source.count, copies.prior);
    std::copy_n(edges.action, source.count, copies.action);
    used.edges += source.count;
    if (source.open()) {
      std::copy_n(edges.stats, source.count, copies.stats);
      used.stats += source.count;
    }
    return used.nodes++;
  };
  copy(root, kNone, kNone);
  open(to, to.node[0], used);
  for (std::int32_t number = 0; number < used.nodes; ++number) {
    const Node& node = to.node[number];
    if (!node.open()) continue;
    for (std::int32_t e = node.stats; e < node.stats + node.count; ++e) {
      std::int32_t& child = to.stats[e].child;
      if (child == kNone) continue;
      const bool fits =
          used.nodes < capacity.nodes && used.edges + from.node[child].count <= capacity.edges;
      child = fits ? copy(child, number, e) : kNone;
    }
  }
  return used;
}

}  // namespace rungs::search
