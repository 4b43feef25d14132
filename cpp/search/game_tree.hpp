// One game and its tree: a simulation walks down to a leaf, which waits for its evaluation or where
// the game is over, and what that is worth is added to all edges on the path.
#pragma once
#include "noise.hpp"
#include "select.hpp"

namespace rungs::search {

// A leaf that was walked to. Where the tree has room, its node and edges lie behind all others, and
// belong to it as soon as they have been evaluated.
struct Leaf {
  std::int32_t parent, edge;  // kNone, where it is the root
  std::int32_t count;         // its legal actions
  bool room;
};

// One game's state beside its nodes and edges.
struct GameTree {
  chess::Game game;  // at the root
  Draws draws;
  Size used;                       // of the memory of a tree
  std::int32_t half;               // of the game's memory that its tree is in
  std::int32_t simulations, left;  // of this search
  bool waits, prepared;            // for an evaluation; to select at the root
  Leaf leaf;                       // that waits,
  std::int64_t row;                // and the row of its evaluation
  // Of each edge of the root: what its score begins with, and its visits before this search.
  double base[env::kMaxLegal];
  std::int32_t before[env::kMaxLegal];
};

// Where a leaf is written for the evaluator.
struct Row {
  std::uint8_t* observation;
  std::int16_t* actions;
  std::int16_t* count;
};

// Where a game writes what its search found; see `Result` in lib/rungs/search/result.py.
struct Found {
  std::int16_t* actions;
  std::int16_t* counts;
  std::int32_t* visits;
  float* policy;
  float* priors;
  float* action_values;
  float* value;
  float* raw_value;
  std::int64_t* chosen;
};

// All there is of one game: references to it.
struct Searched {
  const Settings& settings;
  const std::int32_t* schedule;  // of sequential halving: (considered + 1, simulations)
  GameTree& own;
  env::History* history;  // null where observations don't show any
  Memory halves[2];

  const Memory& tree() const { return halves[own.half]; }
  const Node& root() const { return tree().node[0]; }
  Edge* root_edges() const { return tree().edges(root()); }
};

namespace detail {

// The game on a walk down the tree, with all that repetition and observations need.
struct Path {
  chess::Game game;
  env::History past;
  bool shows;

  Path(const chess::Game& root, const env::History* history) : shows(history) {
    game.position = root.position;
    game.now = root.now;
    game.num_past = root.num_past;
    for (int i = 0; i < root.num_past; ++i) game.past[i] = root.past[i];
    if (shows) past = *history;
  }

  // Goes on to a position that was found before.
  void enter(const Node& node) {
    game.past[game.num_past++] = game.now;
    if (node.position.halfmove == 0) game.num_past = 0;
    game.position = node.position;
    game.now = node.key;
    game.repetitions = node.repetitions;
    if (shows) past.add(game);
  }

  void play(chess::Action action) {
    chess::play(game, action);
    if (shows) past.add(game);
  }
};

// Puts a leaf with its value into the tree, where there is room, and adds the value to its path.
inline void add_leaf(const Searched& s, const Leaf& leaf, float value) {
  GameTree& own = s.own;
  const Memory& tree = s.tree();
  if (leaf.room) {
    Node& node = tree.node[own.used.nodes];
    node.raw_value = value;
    node.visits = 1;
    if (leaf.edge != kNone) tree.edge[leaf.edge].child = own.used.nodes;
    ++own.used.nodes;
    own.used.edges += leaf.count;
  }
  if (leaf.edge == kNone) return;
  --own.left;
  if (leaf.parent != 0 && !tree.edge[leaf.edge].visits) {
    Node& parent = tree.node[leaf.parent];
    ++parent.opened;
    put_best_next(parent, tree.edges(parent));
  }
  back_up(tree, leaf.parent, leaf.edge, value);
}

// Makes the position that a path has come to a leaf, with edges for `actions`.
inline Leaf make_leaf(const Searched& s, const Path& path, std::int32_t parent, std::int32_t edge,
                      const std::int16_t* actions, std::int32_t count) {
  const Size used = s.own.used;
  const bool room = used.nodes < s.settings.nodes && used.edges + count <= s.settings.edges;
  if (room) {
    Node& node = s.tree().node[used.nodes];
    node = {path.game.position,
            path.game.now,
            0,
            0,
            0,
            parent,
            edge,
            used.edges,
            static_cast<std::int16_t>(count),
            0,
            static_cast<std::int8_t>(path.game.reason),
            path.game.repetitions};
    list_edges(actions, count, s.tree().edges(node));
  }
  return {parent, edge, count, room};
}

// Has a leaf wait for its evaluation, written to a row.
inline void wait_for(const Searched& s, const Path& path, std::int32_t parent, std::int32_t edge,
                     const Row& row) {
  const env::History* past = path.shows ? &path.past : nullptr;
  env::observe(path.game, past, s.settings.observation, false, row.observation);
  const int count = env::write_list(path.game.legal, env::kMaxLegal, row.actions);
  *row.count = static_cast<std::int16_t>(count);
  s.own.leaf = make_leaf(s, path, parent, edge, row.actions, count);
  s.own.waits = true;
}

// Draws the noise of a search: what an edge's score at the root begins with.
inline void prepare(const Searched& s) {
  GameTree& own = s.own;
  const Settings& settings = s.settings;
  const Edge* edges = s.root_edges();
  const int count = s.root().count;
  for (int i = 0; i < count; ++i) own.before[i] = edges[i].visits;
  if (settings.policy == Policy::GUMBEL) {
    for (int i = 0; i < count; ++i) {
      const auto action = static_cast<std::uint32_t>(edges[i].action);
      own.base[i] = log_of(edges[i].prior) +
                    (settings.scale != 0 ? settings.scale * own.draws.gumbel(action) : 0.0);
    }
  } else if (settings.fraction != 0) {
    double total = 0;
    for (int i = 0; i < count; ++i) {
      const auto action = static_cast<std::uint32_t>(edges[i].action);
      total += own.base[i] = own.draws.gamma(action, settings.alpha);
    }
    for (int i = 0; i < count; ++i)
      own.base[i] =
          (1.0 - settings.fraction) * edges[i].prior + settings.fraction * (own.base[i] / total);
  } else {
    for (int i = 0; i < count; ++i) own.base[i] = edges[i].prior;
  }
  own.prepared = true;
}

inline int select_root(const Searched& s) {
  const Settings& settings = s.settings;
  const GameTree& own = s.own;
  const Node& root = s.root();
  const Edge* edges = s.root_edges();
  if (settings.policy == Policy::PUCT)
    return select_puct(root, edges, root.count, settings, [&](int i) { return own.base[i]; });
  const std::int32_t considered = std::min<std::int32_t>(settings.considered, root.count);
  const std::int32_t done = own.simulations - own.left;
  return best_of_visited(root, edges, settings, own.base, own.before,
                         s.schedule[considered * own.simulations + done]);
}

inline int select(const Node& node, const Edge* edges, const Settings& settings) {
  const int reachable = std::min(node.opened + 1, static_cast<int>(node.count));
  if (settings.policy == Policy::GUMBEL) return select_gumbel(node, edges, reachable, settings);
  return select_puct(node, edges, reachable, settings,
                     [&](int i) { return static_cast<double>(edges[i].prior); });
}

// One simulation, or the first half of it: its leaf may have to wait.
inline void simulate(const Searched& s, const Row& row) {
  GameTree& own = s.own;
  Path path(own.game, s.history);
  if (!own.used.nodes) {
    path.game.legal = own.game.legal;
    path.game.repetitions = own.game.repetitions;
    path.game.reason = own.game.reason;
    return wait_for(s, path, kNone, kNone, row);
  }
  if (!own.prepared) prepare(s);
  const Memory& tree = s.tree();
  for (std::int32_t number = 0;;) {
    const Node& node = tree.node[number];
    const int chosen = number ? select(node, tree.edges(node), s.settings) : select_root(s);
    const std::int32_t edge = node.first + chosen, child = tree.edge[edge].child;
    if (child == kNone) {
      path.play(tree.edge[edge].action);
      if (!path.game.over()) return wait_for(s, path, number, edge, row);
      const float value = path.game.reason == chess::Reason::CHECKMATE ? -1 : 0;
      return add_leaf(s, make_leaf(s, path, number, edge, nullptr, 0), value);
    }
    if (tree.node[child].over()) {
      ++tree.node[child].visits;
      --own.left;
      return back_up(tree, number, edge, tree.node[child].raw_value);
    }
    path.enter(tree.node[child]);
    number = child;
  }
}

// The place among edges in order of action of one drawn with probability N^(1 / temperature).
inline int draw_by_visits(const Searched& s, const std::int32_t* visits, int count) {
  const std::int32_t most = *std::max_element(visits, visits + count);
  if (s.settings.temperature == 0)
    return static_cast<int>(std::find(visits, visits + count, most) - visits);
  double end[env::kMaxLegal], total = 0;
  int last = 0;
  for (int i = 0; i < count; ++i) {
    if (visits[i]) {
      total += exp_of((log_of(visits[i]) - log_of(most)) / s.settings.temperature);
      last = i;
    }
    end[i] = total;
  }
  const double drawn = s.own.draws.choice() * total;
  const double* found = std::find_if(end, end + count, [&](double each) { return drawn < each; });
  return found == end + count ? last : static_cast<int>(found - end);
}

}  // namespace detail

// Forgets the tree, as where a game begins.
inline void begin(const Searched& s, const Draws& draws) {
  GameTree& own = s.own;
  own.draws = draws;
  own.used = {0, 0};
  own.half = 0;
  own.left = 0;
  own.waits = false;
}

// Gives so many simulations to a tree.
inline void start(const Searched& s, std::int32_t simulations) {
  GameTree& own = s.own;
  own.simulations = own.left = simulations;
  own.waits = own.prepared = false;
}

// Takes the evaluation of the leaf that waits for it.
inline void absorb(const Searched& s, const float* logits, float value) {
  GameTree& own = s.own;
  if (own.leaf.room) {
    Node& node = s.tree().node[own.used.nodes];
    set_priors(logits, node.count, s.tree().edges(node));
    put_best_next(node, s.tree().edges(node));
  }
  own.waits = false;
  detail::add_leaf(s, own.leaf, value);
}

// Goes on until a leaf waits, written to a row, or there are no simulations left.
inline void grow(const Searched& s, const Row& row) {
  while (s.own.left > 0 && !s.own.waits) detail::simulate(s, row);
}

// Writes what was found.
inline void finish(const Searched& s, const Found& out) {
  const Settings& settings = s.settings;
  const Node& root = s.root();
  const Edge* edges = s.root_edges();
  const int count = env::write_list(s.own.game.legal, env::kMaxLegal, out.actions);
  *out.counts = static_cast<std::int16_t>(count);
  const bool gumbel = settings.policy == Policy::GUMBEL;
  double weight[env::kMaxLegal];
  const double mass = gumbel ? improve(root, edges, count, settings, weight) : 0;
  double value = root.raw_value;
  for (int i = 0; i < count; ++i) {
    const Edge& edge = edges[i];
    const auto k = std::lower_bound(out.actions, out.actions + count, edge.action) - out.actions;
    value += edge.value_sum;
    out.visits[k] = edge.visits;
    out.priors[k] = edge.prior;
    if (edge.visits) out.action_values[k] = static_cast<float>(edge.value_sum / edge.visits);
    const double share =
        gumbel ? weight[i] / mass : static_cast<double>(edge.visits) / (root.visits - 1);
    out.policy[k] = static_cast<float>(share);
  }
  *out.value = static_cast<float>(value / root.visits);
  *out.raw_value = root.raw_value;
  if (!gumbel) {
    *out.chosen = out.actions[detail::draw_by_visits(s, out.visits, count)];
    return;
  }
  std::int32_t most = 0;
  for (int i = 0; i < count; ++i) most = std::max(most, edges[i].visits - s.own.before[i]);
  const int best = best_of_visited(root, edges, settings, s.own.base, s.own.before, most);
  *out.chosen = edges[best].action;
}

// Plays a legal action, and keeps what lies below it as far as it leaves room for a search.
inline void advance(const Searched& s, chess::Action action) {
  GameTree& own = s.own;
  std::int32_t child = kNone;
  for (int i = 0; own.used.nodes && i < s.root().count; ++i)
    if (s.root_edges()[i].action == action) child = s.root_edges()[i].child;
  chess::play(own.game, action);
  if (s.history) s.history->add(own.game);
  ++own.draws.ply;
  own.left = 0;
  own.waits = false;
  if (child == kNone || !s.settings.keep || own.game.over()) {
    own.used = {0, 0};
    return;
  }
  const Size room = {s.settings.kept_nodes, s.settings.kept_edges};
  own.used = copy_below(s.halves[own.half], child, s.halves[1 - own.half], room);
  own.half = 1 - own.half;
}

}  // namespace rungs::search
