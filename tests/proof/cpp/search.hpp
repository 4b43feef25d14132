// Searches of many games: what holds of every tree, and that threads change nothing.
#pragma once
#include <vector>

#include "boards.hpp"
#include "search/tree_batch.hpp"
#include "self_play.hpp"

namespace rungs {

// A batch in memory of exactly its size.
class Trees {
 public:
  Trees(std::int64_t games, const search::Settings& settings, const std::int32_t* schedule)
      : games_(games),
        histories_(settings.observation == env::ObservationFormat::BOARD ? 0 : games),
        nodes_(2 * games * settings.nodes),
        priors_(2 * games * settings.edges),
        edge_actions_(2 * games * settings.edges),
        stats_(2 * games * settings.edges),
        observation_(games * env::observation_bytes(settings.observation)),
        actions_(games * env::kMaxLegal),
        counts_(games),
        batch{settings,
              games,
              games_.data(),
              histories_.empty() ? nullptr : histories_.data(),
              {nodes_.data(), priors_.data(), edge_actions_.data(), stats_.data()},
              schedule,
              observation_.data(),
              actions_.data(),
              counts_.data()} {}
  Trees(const Trees&) = delete;

 private:
  std::vector<search::GameTree> games_;
  std::vector<env::History> histories_;
  std::vector<search::Node> nodes_;
  std::vector<float> priors_;
  std::vector<std::int16_t> edge_actions_;
  std::vector<search::Stats> stats_;
  std::vector<std::uint8_t> observation_;
  std::vector<std::int16_t> actions_, counts_;

 public:
  const search::TreeBatch batch;
};

// Logits and values of leaves in rows, any function of what is seen of them.
inline void make_up(const search::TreeBatch& batch, std::int64_t first, std::int64_t leaves,
                    std::vector<float>& logits, std::vector<float>& values) {
  logits.assign(leaves * env::kMaxLegal, 0);
  values.assign(leaves, 0);
  const std::int64_t bytes = env::observation_bytes(batch.settings.observation);
  for (std::int64_t row = 0; row < leaves; ++row) {
    std::uint32_t seen = 0;
    for (std::int64_t i = 0; i < bytes; ++i)
      seen = seen * 1664525 + batch.observation[(first + row) * bytes + i] + 1013904223;
    values[row] = static_cast<float>(seen >> 24) / 128 - 1;
    for (int k = 0; k < batch.counts[first + row]; ++k) {
      seen = seen * 1664525 + batch.actions[(first + row) * env::kMaxLegal + k];
      logits[row * env::kMaxLegal + k] = static_cast<float>(seen >> 28) / 8;
    }
  }
}

// What holds of a tree: sums over edges, and that each node is where its edge leads.
inline void check_tree(const search::TreeView& view) {
  using namespace search;
  const TreeMemory& tree = view.tree();
  open_all(view);
  const TreeSize used = view.state.used;
  if (used.nodes > view.settings.nodes || used.edges > view.settings.edges ||
      used.stats != used.edges)
    fail("a tree is larger than its fits");
  for (std::int32_t number = 0; number < used.nodes; ++number) {
    const Node& node = tree.node[number];
    if (node.first < 0 || node.first + node.count > used.edges) fail("edges are not the tree's");
    if (node.over()) {
      if (node.count || node.open()) fail("a game that is over goes on");
      continue;
    }
    const Edges edges = tree.edges(node);
    std::int32_t visits = 1;
    float prior = 0;
    double unvisited_prior = 0;
    for (int i = 0; i < node.count; ++i) {
      const Stats& edge = edges.stats[i];
      visits += edge.visits;
      prior += edges.prior[i];
      if (i >= node.num_visited) unvisited_prior += edges.prior[i];
      if (std::abs(edge.value_sum) > edge.visits) fail("a visit was worth more than a win");
      if (number && (edge.visits != 0) != (i < node.num_visited)) fail("visited edges come first");
      if (number && i > node.num_visited && edges.prior[i] > edges.prior[node.num_visited])
        fail("another has a higher prior");
      if (edge.child == kNone) continue;
      const Node& child = tree.node[edge.child];
      chess::Position next = node.position;
      chess::play(next, edges.action[i]);
      next.en_passant = child.position.en_passant;  // named only where it can be captured
      if (next != child.position) fail("a node is not where its edge leads");
      if (child.parent != number || child.edge != node.stats + i)
        fail("a child has another parent");
    }
    if (visits != node.visits) fail("visits do not add up");
    if (number && unvisited_prior != node.unvisited_prior)
      fail("priors of unvisited edges do not add up");
    if (std::abs(prior - 1) > 1e-3) fail("priors do not add up");
  }
}

inline void search_games(search::Policy policy, env::ObservationFormat observation,
                         std::int32_t nodes, std::int32_t threads,
                         const std::vector<chess::Position>& starts, int plies) {
  constexpr std::int32_t kSimulations = 24, kConsidered = 5;
  const std::int64_t games = 21;
  const std::int32_t kept = nodes - kSimulations;
  const search::Settings settings = {.seed = 7,
                                     .policy = policy,
                                     .observation = observation,
                                     .nodes = nodes,
                                     .edges = 40 * nodes + 218,
                                     .kept_nodes = kept,
                                     .kept_edges = 40 * kept + 218,
                                     .keep = 1,
                                     .considered = kConsidered,
                                     .scale = 1.0,
                                     .value_scale = 1,
                                     .maxvisit_init = 50.0,
                                     .c_init = 1.25,
                                     .c_base = 19652.0,
                                     .alpha = 0.3,
                                     .fraction = 0.25,
                                     .temperature = 1.0};
  // Each action that is considered in turn.
  std::vector<std::int32_t> schedule((kConsidered + 1) * kSimulations);
  for (std::int32_t m = 1; m <= kConsidered; ++m)
    for (std::int32_t n = 0; n < kSimulations; ++n) schedule[m * kSimulations + n] = n / m;
  Trees ours(games, settings, schedule.data()), theirs(games, settings, schedule.data());
  ThreadPool pool(threads);
  std::vector<float> logits, values;
  for (std::int64_t i = 0; i < games; ++i)
    for (const Trees* trees : {&ours, &theirs})
      search::begin(trees->batch, i, starts[i % starts.size()], 0);
  for (int ply = 0; ply < plies; ++ply) {
    for (const Trees* trees : {&ours, &theirs}) {
      const search::TreeBatch& batch = trees->batch;
      const search::Helpers helpers = {trees == &ours ? &pool : nullptr, threads};
      for (std::int64_t i = 0; i < games; ++i)
        search::start(batch.view(i), batch.game[i].game.over() ? 0 : kSimulations);
      std::int64_t leaves = 0;
      do {
        make_up(batch, 0, leaves, logits, values);
        leaves = search::simulate(batch, 0, games, {logits.data(), env::kMaxLegal, values.data()},
                                  helpers);
      } while (leaves > 0);
      for (std::int64_t i = 0; i < games; ++i) {
        const search::TreeView view = batch.view(i);
        if (view.state.game.over()) continue;
        check_tree(view);
        std::int16_t actions[env::kMaxLegal], count;
        std::int32_t visits[env::kMaxLegal] = {};
        float shares[env::kMaxLegal], priors[env::kMaxLegal], means[env::kMaxLegal];
        float value, raw_value;
        std::int64_t chosen = -1;
        search::finish(
            view, {actions, &count, visits, shares, priors, means, &value, &raw_value, &chosen});
        if (!view.state.game.legal.contains(chosen)) fail("what was chosen is not legal");
        search::advance(view, static_cast<chess::Action>(chosen));
      }
    }
    for (std::int64_t i = 0; i < games; ++i) {
      const search::TreeView one = ours.batch.view(i), other = theirs.batch.view(i);
      const search::TreeSize used = one.state.used;
      if (one.state.game.position != other.state.game.position ||
          used.nodes != other.state.used.nodes ||
          std::memcmp(one.tree().prior, other.tree().prior, used.edges * sizeof(float)) ||
          std::memcmp(one.tree().stats, other.tree().stats, used.stats * sizeof(search::Stats)))
        fail("threads made another tree");
    }
  }
}

// Searches and plays games from a file's positions, in every way.
inline int check_search(int plies, const char* path) {
  const std::vector<chess::Position> starts = read_starts(path);
  for (const auto policy : {search::Policy::GUMBEL, search::Policy::PUCT})
    for (const auto observation :
         {env::ObservationFormat::BOARD, env::ObservationFormat::BITPLANES})
      for (const std::int32_t nodes : {25, 49})
        search_games(policy, observation, nodes, nodes == 25 ? 2 : 3, starts, plies);
  std::printf("searched\n");
  return 0;
}

}  // namespace rungs
