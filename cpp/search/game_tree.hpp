// One game and its tree. A simulation selects a leaf, which waits for its evaluation or ends the
// game, and backs its value up along the path.
#pragma once
#include "select.hpp"

namespace rungs::search {

// A selected leaf. If it fits into the tree, its node and edges are already written after all
// others, and join the tree when they are evaluated.
struct Leaf {
  std::int32_t parent, edge;  // kNone for the root
  std::int32_t count;         // number of legal actions
  bool fits;
};

// The state of one game, apart from its nodes and edges.
struct GameTree {
  chess::Game game;  // at the root
  Draws draws;
  TreeSize used;                               // size of the tree
  std::int32_t active_buffer;                  // which of its two buffers holds the tree
  std::int32_t simulations, simulations_left;  // of this search
  bool waiting, root_noise_drawn;              // for an evaluation; since the search began
  Leaf leaf;                                   // that waits for its evaluation,
  std::int64_t evaluation_row;                 // and the row of that
  // For each edge of the root: with Gumbel log prior + noise, with PUCT the prior mixed with noise;
  // and its visits before this search.
  double noisy_prior[env::kMaxLegal];
  std::int32_t visits_before[env::kMaxLegal];
};

// Buffers of one leaf for the evaluator.
struct LeafBuffers {
  std::uint8_t* observation;
  std::int16_t* actions;
  std::int16_t* count;
};

// Buffers of games' results, a row each: `Result` in lib/rungs/_src/search/result.py.
struct GameResult {
  std::int16_t* actions;
  std::int16_t* counts;
  std::int32_t* visits;
  float* policy;
  float* priors;
  float* action_values;
  float* value;
  float* raw_value;
  std::int64_t* chosen;

  // The result of game `i`.
  GameResult of(std::int64_t i) const {
    const std::int64_t lists = i * env::kMaxLegal;
    return {actions + lists,       counts + i, visits + lists, policy + lists, priors + lists,
            action_values + lists, value + i,  raw_value + i,  chosen + i};
  }
};

// References to everything of one game.
struct TreeView {
  const Settings& settings;
  const std::int32_t* schedule;  // (considered + 1, simulations), of sequential halving
  GameTree& state;
  env::History* history;  // null where observations show none
  TreeMemory buffers[2];

  const TreeMemory& tree() const { return buffers[state.active_buffer]; }
  const Node& root() const { return tree().node[0]; }
  Edges root_edges() const { return tree().edges(root()); }
};

namespace detail {

// The game along a path down the tree, with the past that repetitions and observations need.
struct Path {
  chess::Game game;
  env::History past;
  bool keeps_history;

  Path(const chess::Game& root, const env::History* history) : keeps_history(history) {
    game.position = root.position;
    game.now = root.now;
    game.num_past = root.num_past;
    for (int i = 0; i < root.num_past; ++i) game.past[i] = root.past[i];
    if (keeps_history) past = *history;
  }

  // Enters a node that is in the tree.
  void enter(const Node& node) {
    game.past[game.num_past++] = game.now;
    if (node.position.halfmove == 0) game.num_past = 0;
    game.position = node.position;
    game.now = node.key;
    game.repetitions = node.repetitions;
    if (keeps_history) past.add(game.position, game.repetitions);
  }

  void play(chess::Action action) {
    chess::play(game, action);
    if (keeps_history) past.add(game.position, game.repetitions);
  }
};

// Inserts a leaf with its value into the tree, if it fits, and backs the value up.
inline void insert_and_backup(const TreeView& view, const Leaf& leaf, float value) {
  GameTree& state = view.state;
  const TreeMemory& tree = view.tree();
  if (leaf.fits) {
    Node& node = tree.node[state.used.nodes];
    node.raw_value = value;
    node.visits = 1;
    if (leaf.edge != kNone) tree.stats[leaf.edge].child = state.used.nodes;
    ++state.used.nodes;
    state.used.edges += leaf.count;
  }
  if (leaf.edge == kNone) return;
  --state.simulations_left;
  if (leaf.parent != 0 && !tree.stats[leaf.edge].visits) {
    Node& parent = tree.node[leaf.parent];
    ++parent.num_visited;
    put_best_unvisited_next(parent, tree.edges(parent));
  }
  backup(tree, leaf.parent, leaf.edge, value);
}

// Writes the node that a path has reached, with edges for `actions`, after all others, if it fits.
inline Leaf make_leaf(const TreeView& view, const Path& path, std::int32_t parent,
                      std::int32_t edge, const std::int16_t* actions, std::int32_t count) {
  const TreeSize used = view.state.used;
  const bool fits = used.nodes < view.settings.nodes && used.edges + count <= view.settings.edges;
  if (fits) {
    Node& node = view.tree().node[used.nodes];
    node = {path.game.position,
            path.game.now,
            0,
            0,
            0,
            parent,
            edge,
            used.edges,
            kNone,
            static_cast<std::int16_t>(count),
            0,
            static_cast<std::int8_t>(path.game.reason),
            path.game.repetitions};
    std::copy_n(actions, count, view.tree().edges(node).action);
  }
  return {parent, edge, count, fits};
}

// Makes a path's end the leaf that waits for evaluation, and writes it to buffers.
inline void request_evaluation(const TreeView& view, const Path& path, std::int32_t parent,
                               std::int32_t edge, const LeafBuffers& out) {
  const env::History* past = path.keeps_history ? &path.past : nullptr;
  env::observe(path.game.position, path.game.repetitions, past, view.settings.observation, false,
               out.observation);
  const int count = env::write_list(path.game.legal, env::kMaxLegal, out.actions);
  *out.count = static_cast<std::int16_t>(count);
  view.state.leaf = make_leaf(view, path, parent, edge, out.actions, count);
  view.state.waiting = true;
}

// Prepares selection at the root: draws the noise.
inline void draw_root_noise(const TreeView& view) {
  GameTree& state = view.state;
  const Settings& settings = view.settings;
  const Edges edges = view.root_edges();
  const int count = view.root().count;
  for (int i = 0; i < count; ++i) state.visits_before[i] = edges.stats[i].visits;
  if (settings.policy == Policy::GUMBEL) {
    double* noisy = state.noisy_prior;
    for (int i = 0; i < count; ++i) noisy[i] = portable_log(edges.prior[i]);
    if (settings.scale != 0) {
      double uniform[env::kMaxLegal];
      for (int i = 0; i < count; ++i)
        uniform[i] = state.draws.noise(static_cast<std::uint32_t>(edges.action[i]));
      for (int i = 0; i < count; ++i) noisy[i] += settings.scale * gumbel(uniform[i]);
    }
  } else if (settings.fraction != 0) {
    double total = 0;
    for (int i = 0; i < count; ++i) {
      const auto action = static_cast<std::uint32_t>(edges.action[i]);
      total += state.noisy_prior[i] = state.draws.gamma(action, settings.alpha);
    }
    for (int i = 0; i < count; ++i)
      state.noisy_prior[i] = (1.0 - settings.fraction) * edges.prior[i] +
                             settings.fraction * (state.noisy_prior[i] / total);
  } else {
    for (int i = 0; i < count; ++i) state.noisy_prior[i] = edges.prior[i];
  }
  state.root_noise_drawn = true;
}

inline int select_root(const TreeView& view) {
  const Settings& settings = view.settings;
  const GameTree& state = view.state;
  const Node& root = view.root();
  const Edges edges = view.root_edges();
  if (settings.policy == Policy::PUCT)
    return select_puct(root, edges, root.count, settings,
                       [&](int i) { return state.noisy_prior[i]; });
  const std::int32_t considered = std::min<std::int32_t>(settings.considered, root.count);
  const std::int32_t done = state.simulations - state.simulations_left;
  return best_considered(root, edges, settings, state.noisy_prior, state.visits_before,
                         view.schedule[considered * state.simulations + done]);
}

inline int select(const Node& node, const Edges& edges, const Settings& settings) {
  const int reachable = std::min(node.num_visited + 1, static_cast<int>(node.count));
  if (settings.policy == Policy::GUMBEL)
    return select_gumbel_interior(node, edges, reachable, settings);
  return select_puct(node, edges, reachable, settings,
                     [&](int i) { return static_cast<double>(edges.prior[i]); });
}

// One simulation, or its first half: up to a leaf that must be evaluated.
inline void simulate_once(const TreeView& view, const LeafBuffers& out) {
  GameTree& state = view.state;
  Path path(state.game, view.history);
  if (!state.used.nodes) {
    path.game.legal = state.game.legal;
    path.game.repetitions = state.game.repetitions;
    path.game.reason = state.game.reason;
    return request_evaluation(view, path, kNone, kNone, out);
  }
  const TreeMemory& tree = view.tree();
  open(tree, tree.node[0], state.used);
  if (!state.root_noise_drawn) draw_root_noise(view);
  for (std::int32_t number = 0;;) {
    const Node& node = tree.node[number];
    const Edges edges = tree.edges(node);
    const int chosen = number ? select(node, edges, view.settings) : select_root(view);
    const std::int32_t edge = node.stats + chosen, child = edges.stats[chosen].child;
    if (child == kNone) {
      path.play(edges.action[chosen]);
      if (!path.game.over()) return request_evaluation(view, path, number, edge, out);
      const float value = path.game.reason == chess::Reason::CHECKMATE ? -1 : 0;
      return insert_and_backup(view, make_leaf(view, path, number, edge, nullptr, 0), value);
    }
    if (tree.node[child].over()) {
      ++tree.node[child].visits;
      --state.simulations_left;
      return backup(tree, number, edge, tree.node[child].raw_value);
    }
    path.enter(tree.node[child]);
    open(tree, tree.node[child], state.used);
    number = child;
  }
}

// Samples an action with probability proportional to N^(1 / temperature). Returns its index, in
// order of action.
inline int sample_by_visits(const TreeView& view, const std::int32_t* visits, int count) {
  const std::int32_t max_visits = *std::max_element(visits, visits + count);
  if (view.settings.temperature == 0)
    return static_cast<int>(std::find(visits, visits + count, max_visits) - visits);
  double end[env::kMaxLegal], total = 0;
  int last = 0;
  for (int i = 0; i < count; ++i) {
    if (visits[i]) {
      total += portable_exp((portable_log(visits[i]) - portable_log(max_visits)) /
                            view.settings.temperature);
      last = i;
    }
    end[i] = total;
  }
  const double drawn = view.state.draws.choice() * total;
  const double* found = std::find_if(end, end + count, [&](double each) { return drawn < each; });
  return found == end + count ? last : static_cast<int>(found - end);
}

}  // namespace detail

// Begins a game: discards the tree.
inline void begin(const TreeView& view, const Draws& draws) {
  GameTree& state = view.state;
  state.draws = draws;
  state.used = {0, 0, 0};
  state.active_buffer = 0;
  state.simulations_left = 0;
  state.waiting = false;
}

// Begins a search of `simulations` simulations.
inline void start(const TreeView& view, std::int32_t simulations) {
  GameTree& state = view.state;
  state.simulations = state.simulations_left = simulations;
  state.waiting = state.root_noise_drawn = false;
}

// Expands the leaf that waits with its evaluation, and backs its value up.
inline void expand_and_backup(const TreeView& view, const float* logits, float value) {
  GameTree& state = view.state;
  if (state.leaf.fits) {
    const Node& node = view.tree().node[state.used.nodes];
    std::copy_n(logits, node.count, view.tree().edges(node).prior);
  }
  state.waiting = false;
  detail::insert_and_backup(view, state.leaf, value);
}

// Simulates until a leaf waits, which is written to buffers, or no simulations are left.
inline void simulate(const TreeView& view, const LeafBuffers& out) {
  while (view.state.simulations_left > 0 && !view.state.waiting) detail::simulate_once(view, out);
}

namespace detail {

// Writes what the visits of an open node found: all of a result but policy and choice. Calls
// `use(i, k)` for each edge `i`, whose action is number `k` in ascending order.
template <class Use>
inline void write_found(const Node& node, const Edges& edges, const GameResult& out,
                        const Use& use) {
  const int count = node.count;
  std::copy_n(edges.action, count, out.actions);
  std::sort(out.actions, out.actions + count);
  *out.counts = static_cast<std::int16_t>(count);
  double value = node.raw_value;
  for (int i = 0; i < count; ++i) {
    const Stats& found = edges.stats[i];
    const auto k =
        std::lower_bound(out.actions, out.actions + count, edges.action[i]) - out.actions;
    value += found.value_sum;
    out.visits[k] = found.visits;
    out.priors[k] = edges.prior[i];
    if (found.visits) out.action_values[k] = static_cast<float>(found.value_sum / found.visits);
    use(i, k);
  }
  *out.value = static_cast<float>(value / node.visits);
  *out.raw_value = node.raw_value;
}

}  // namespace detail

// Writes the result of the search.
inline void finish(const TreeView& view, const GameResult& out) {
  const Settings& settings = view.settings;
  const Node& root = view.root();
  const Edges edges = view.root_edges();
  const int count = root.count;
  const bool gumbel = settings.policy == Policy::GUMBEL;
  double weight[env::kMaxLegal];
  const double mass = gumbel ? improved_policy(root, edges, count, settings, weight) : 0;
  detail::write_found(root, edges, out, [&](int i, std::ptrdiff_t k) {
    const double share =
        gumbel ? weight[i] / mass : static_cast<double>(edges.stats[i].visits) / (root.visits - 1);
    out.policy[k] = static_cast<float>(share);
  });
  if (!gumbel) {
    *out.chosen = out.actions[detail::sample_by_visits(view, out.visits, count)];
    return;
  }
  std::int32_t max_visits = 0;
  for (int i = 0; i < count; ++i)
    max_visits = std::max(max_visits, edges.stats[i].visits - view.state.visits_before[i]);
  const int best = best_considered(root, edges, settings, view.state.noisy_prior,
                                   view.state.visits_before, max_visits);
  *out.chosen = edges.action[best];
}

// Writes what the visits of the node at the end of a path found, if any has gone on from it.
inline void look(const TreeView& view, const std::int16_t* path, std::int64_t length,
                 const GameResult& out) {
  const TreeMemory& tree = view.tree();
  std::int32_t number = view.state.used.nodes ? 0 : kNone;
  for (std::int64_t i = 0; i < length && number != kNone; ++i) {
    const Node& node = tree.node[number];
    const Edges edges = tree.edges(node);
    const auto k = std::find(edges.action, edges.action + node.count, path[i]) - edges.action;
    number = node.open() && k < node.count ? edges.stats[k].child : kNone;
  }
  if (number == kNone || !tree.node[number].open()) return;
  detail::write_found(tree.node[number], tree.edges(tree.node[number]), out,
                      [](int, std::ptrdiff_t) {});
}

// Opens every leaf, to look at the tree.
inline void open_all(const TreeView& view) {
  for (std::int32_t number = 0; number < view.state.used.nodes; ++number)
    open(view.tree(), view.tree().node[number], view.state.used);
}

// Plays a legal action and keeps the subtree below it, as far as it leaves room for the next
// search.
inline void advance(const TreeView& view, chess::Action action) {
  GameTree& state = view.state;
  std::int32_t child = kNone;
  if (state.used.nodes && view.root().open()) {
    const Edges edges = view.root_edges();
    const auto* found = std::find(edges.action, edges.action + view.root().count, action);
    child = edges.stats[found - edges.action].child;
  }
  chess::play(state.game, action);
  if (view.history) view.history->add(state.game.position, state.game.repetitions);
  ++state.draws.ply;
  state.simulations_left = 0;
  state.waiting = false;
  if (child == kNone || !view.settings.keep || state.game.over()) {
    state.used = {0, 0, 0};
    return;
  }
  const TreeSize capacity = {view.settings.kept_nodes, view.settings.kept_edges, 0};
  state.used = copy_subtree(view.buffers[state.active_buffer], child,
                            view.buffers[1 - state.active_buffer], capacity);
  state.active_buffer = 1 - state.active_buffer;
}

}  // namespace rungs::search
