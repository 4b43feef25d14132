// A search tree in memory that is allocated once: nodes and edges in the order in which they were
// made. What it is about are sums over edges; a node's position is kept so that a walk down the
// tree plays one move, its last.
#pragma once
#include "../chess/game.hpp"
#include "real.hpp"

namespace rungs::search {

constexpr std::int32_t kNone = -1;

// An action that is legal at a node, and what was found of it: P, N and W of AlphaZero's papers.
struct Edge {
  double value_sum;  // what its visits were worth to the side that chooses
  float prior;
  std::int32_t visits;
  std::int32_t child;  // a node's number, or kNone
  std::int16_t action;
  std::int16_t unused;
};

// A position that was evaluated, or in which the game is over.
struct Node {
  chess::Position position;
  std::uint64_t key;
  double rest;                // the sum of the priors of its edges from `opened` on
  float raw_value;            // the evaluator's; of a game that is over, what is true
  std::int32_t visits;        // its own evaluation included: 1 + those of its edges
  std::int32_t parent, edge;  // by which the parent leads here; kNone of the root
  std::int32_t first;         // its edges are `count` from there on
  std::int16_t count;
  // Edges that were visited come first, and next the one with the highest prior of all others, as
  // that is the one that may be visited next. At the root, where noise decides, it is not so,
  // and neither `opened` nor `rest` is used.
  std::int16_t opened;
  std::int8_t reason;  // chess::Reason
  std::uint8_t repetitions;

  bool over() const { return reason != 0; }
};

// The memory of one tree.
struct Memory {
  Node* node;
  Edge* edge;

  Edge* edges(const Node& of) const { return edge + of.first; }
};

// The least prior: the smallest normal float, so that its logarithm is a number.
constexpr float kMinPrior = 1.1754943508222875e-38F;

// Has the edges that were visited followed by the one with the highest prior, of equals the one
// with the lowest action: the others stay in their order. Sums up the priors of all of these.
inline void put_best_next(Node& node, Edge* edges) {
  node.rest = 0;
  if (node.opened == node.count) return;
  int best = node.opened;
  for (int i = node.opened + 1; i < node.count; ++i)
    if (edges[i].prior > edges[best].prior) best = i;
  const Edge moved = edges[best];
  for (int i = best; i > node.opened; --i) edges[i] = edges[i - 1];
  edges[node.opened] = moved;
  for (int i = node.opened; i < node.count; ++i) node.rest += edges[i].prior;
}

// Makes edges for the actions of a list.
inline void list_edges(const std::int16_t* actions, int count, Edge* edges) {
  for (int i = 0; i < count; ++i) edges[i] = {0, 0, 0, kNone, actions[i], 0};
}

// Turns logits, of edges in the order in which they were listed, into priors.
inline void set_priors(const float* logits, int count, Edge* edges) {
  double weight[256], most = logits[0], total = 0;
  for (int i = 1; i < count; ++i) most = logits[i] > most ? logits[i] : most;
  for (int i = 0; i < count; ++i) weight[i] = exp_of(logits[i] - most);
  for (int i = 0; i < count; ++i) total += weight[i];
  for (int i = 0; i < count; ++i) {
    const auto prior = static_cast<float>(weight[i] / total);
    edges[i].prior = prior > kMinPrior ? prior : kMinPrior;
  }
}

// Adds what a leaf is worth to the side to move there to all edges that lead to it, from `edge` of
// node number `parent` up.
inline void back_up(const Memory& tree, std::int32_t parent, std::int32_t edge, double value) {
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

struct Size {
  std::int32_t nodes, edges;
};

// Copies the tree below node number `root` to other memory, breadth first, as far as it has room.
// What was below an edge and finds none is forgotten; the edge keeps its visits.
inline Size copy_below(const Memory& from, std::int32_t root, const Memory& to, Size room) {
  Size used = {0, 0};
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
          used.nodes < room.nodes && used.edges + from.node[child].count <= room.edges;
      child = fits ? copy(child, number, e) : kNone;
    }
  }
  return used;
}

}  // namespace rungs::search
