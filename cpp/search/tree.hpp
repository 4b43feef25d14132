// A search tree in memory that is allocated once: nodes and edges in order of creation. Statistics
// live on edges. A node stores its position, so that a walk down the tree plays only the last move.
#pragma once
#include "../chess/game.hpp"
#include "numerics.hpp"

namespace rungs::search {

constexpr std::int32_t kNone = -1;

// A legal action at a node and its statistics: P, N and W of AlphaZero's papers.
struct Edge {
  double value_sum;  // sum of its visits' values, to the side to move at the node
  float prior;
  std::int32_t visits;
  std::int32_t child;  // index of a node, or kNone
  std::int16_t action;
  std::int16_t padding;
};

// An evaluated position, or one in which the game is over.
struct Node {
  chess::Position position;
  std::uint64_t key;
  double unvisited_prior;     // sum of the priors of its unvisited edges
  float raw_value;            // the evaluator's; exact where the game is over
  std::int32_t visits;        // 1 (its own evaluation) + those of its edges
  std::int32_t parent, edge;  // the edge that leads here, of node `parent`; kNone at the root
  std::int32_t first;         // index of its first edge, of `count`
  std::int16_t count;
  // Visited edges come first, then the unvisited edge with the highest prior, the only one of these
  // that can be selected next. Not so at the root, where noise decides: there neither `num_visited`
  // nor `unvisited_prior` is used.
  std::int16_t num_visited;
  std::int8_t reason;  // chess::Reason
  std::uint8_t repetitions;

  bool over() const { return reason != 0; }
};

// The memory of one tree.
struct TreeMemory {
  Node* node;
  Edge* edge;

  Edge* edges(const Node& of) const { return edge + of.first; }
};

// Priors are at least the smallest normal float, so that their logarithm is finite.
constexpr float kMinPrior = 1.1754943508222875e-38F;

// Moves the unvisited edge with the highest prior (of equals the one with the lowest action) to
// just after the visited ones; the others keep their order. Sums the priors of all unvisited edges.
inline void put_best_unvisited_next(Node& node, Edge* edges) {
  node.unvisited_prior = 0;
  if (node.num_visited == node.count) return;
  int best = node.num_visited;
  for (int i = node.num_visited + 1; i < node.count; ++i)
    if (edges[i].prior > edges[best].prior) best = i;
  const Edge moved = edges[best];
  for (int i = best; i > node.num_visited; --i) edges[i] = edges[i - 1];
  edges[node.num_visited] = moved;
  for (int i = node.num_visited; i < node.count; ++i) node.unvisited_prior += edges[i].prior;
}

// Writes an edge for each of `count` actions.
inline void make_edges(const std::int16_t* actions, int count, Edge* edges) {
  for (int i = 0; i < count; ++i) edges[i] = {0, 0, 0, kNone, actions[i], 0};
}

// Sets priors to the softmax of `count` logits, in the edges' order.
inline void set_priors(const float* logits, int count, Edge* edges) {
  double weight[256], max_logit = logits[0], total = 0;
  for (int i = 1; i < count; ++i) max_logit = logits[i] > max_logit ? logits[i] : max_logit;
  for (int i = 0; i < count; ++i) weight[i] = portable_exp(logits[i] - max_logit);
  for (int i = 0; i < count; ++i) total += weight[i];
  for (int i = 0; i < count; ++i) {
    const auto prior = static_cast<float>(weight[i] / total);
    edges[i].prior = prior > kMinPrior ? prior : kMinPrior;
  }
}

// Backs up a leaf's value, to the side to move there, along the path to the root, from `edge` of
// node `parent` up.
inline void backup(const TreeMemory& tree, std::int32_t parent, std::int32_t edge, double value) {
  while (edge != kNone) {
    value = -value;
    ++tree.edge[edge].visits;
    tree.edge[edge].value_sum += value;
    Node& node = tree.node[parent];
    ++node.visits;
    parent = node.parent;
    edge = node.edge;
  }
}

struct TreeSize {
  std::int32_t nodes, edges;
};

// Copies the subtree below node `root`, breadth first, as far as `capacity` allows. A child that
// doesn't fit is dropped; its edge keeps its visits.
inline TreeSize copy_subtree(const TreeMemory& from, std::int32_t root, const TreeMemory& to,
                             TreeSize capacity) {
  TreeSize used = {0, 0};
  const auto copy = [&](std::int32_t number, std::int32_t parent, std::int32_t edge) {
    const Node& source = from.node[number];
    Node& target = to.node[used.nodes];
    target = source;
    target.parent = parent;
    target.edge = edge;
    target.first = used.edges;
    for (int i = 0; i < source.count; ++i) to.edges(target)[i] = from.edges(source)[i];
    used.edges += source.count;
    return used.nodes++;
  };
  copy(root, kNone, kNone);
  for (std::int32_t number = 0; number < used.nodes; ++number) {
    const Node& node = to.node[number];
    for (std::int32_t e = node.first; e < node.first + node.count; ++e) {
      std::int32_t& child = to.edge[e].child;
      if (child == kNone) continue;
      const bool fits =
          used.nodes < capacity.nodes && used.edges + from.node[child].count <= capacity.edges;
      child = fits ? copy(child, number, e) : kNone;
    }
  }
  return used;
}

}  // namespace rungs::search
