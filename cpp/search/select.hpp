// Selection: which edge a simulation follows, and the improved policy. Each sum adds its terms in
// the order of the edges, as in lib/rungs/_src/search/reference.py.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "../env/observation.hpp"
#include "tree.hpp"

namespace rungs::search {

enum class Policy : std::int32_t { GUMBEL, PUCT };

// Settings of a search; lib/rungs/_src/search/settings.py explains them.
struct Settings {
  std::uint64_t seed;
  Policy policy;
  env::ObservationFormat observation;
  // Capacity of a tree, and of the subtree that is kept after a move.
  std::int32_t nodes, edges, kept_nodes, kept_edges;
  std::int32_t keep;        // whether a subtree is kept after a move
  std::int32_t considered;  // Gumbel's, as are the next three
  double scale, value_scale, maxvisit_init;
  double c_init, c_base, alpha, fraction, temperature;  // PUCT's
};

constexpr double kMinScore = -1e9;

// Writes the mean values of the first `limit` edges, 0 of those without visits.
inline void mean_values(const Edges& edges, int limit, double* q) {
  for (int i = 0; i < limit; ++i)
    q[i] = edges.stats[i].value_sum / std::max(edges.stats[i].visits, 1);
}

// Completed q-values of a node and sigma of them (Danihelka et al., "Policy improvement by planning
// with Gumbel", ICLR 2022, equations 8 and 10 and appendix D); mctx:
// qtransform_completed_by_mix_value without rescaled values.
struct CompletedQ {
  double factor;           // sigma(q) = q * factor
  double max_sigma;        // highest sigma of any action
  double mixed_value;      // value of unvisited actions
  double unvisited_prior;  // sum of their priors
  bool all_visited;        // no action is unvisited

  double sigma(double q) const { return q * factor; }
};

// Computes them from the first `limit` edges: all edges, or the visited ones and one more. Writes
// these edges' mean values to `q`.
//
// The priors of unvisited actions are summed, not taken as 1 - the others: where they are small,
// rounding would leave nothing of them, and with a large sigma they can dominate.
inline CompletedQ complete_q_values(const Node& node, const Edges& edges, int limit,
                                    const Settings& settings, double* q) {
  mean_values(edges, limit, q);
  double probability = 0, weighted = 0, unvisited_prior = 0;
  double high = -std::numeric_limits<double>::infinity();
  std::int32_t visited = 0, max_visits = 0;
  for (int i = 0; i < limit; ++i) {  // without a branch, as it would be unpredictable
    const std::int32_t visits = edges.stats[i].visits;
    const double prior = edges.prior[i];
    probability += visits ? prior : 0;
    unvisited_prior += visits ? 0 : prior;
    weighted += prior * q[i];
    high = std::max(high, visits ? q[i] : high);
    max_visits = std::max(max_visits, visits);
    visited += visits != 0;
  }
  CompletedQ values{};
  const std::int32_t visits = node.visits - 1;
  values.mixed_value = node.raw_value;
  if (visited) {
    const double mean = weighted / probability;
    values.mixed_value = (node.raw_value + visits * mean) / (visits + 1);
  }
  values.all_visited = visited == node.count;
  if (!values.all_visited) {
    high = std::max(high, values.mixed_value);
    values.unvisited_prior = limit < node.count ? node.unvisited_prior : unvisited_prior;
  }
  // The paper's q is (value + 1) / 2. Without the constant the policy is the same.
  values.factor = (settings.maxvisit_init + max_visits) * settings.value_scale / 2;
  values.max_sigma = values.sigma(high);
  return values;
}

// The improved policy, softmax(logits + sigma(completed q)) (equation 11): writes unnormalised
// weights of the first `limit` edges, which include all visited ones, and returns the sum over all
// edges. A weight is prior * exp(sigma - max sigma), so that no logits are needed.
inline double improved_policy(const Node& node, const Edges& edges, int limit,
                              const Settings& settings, double* weight) {
  double q[env::kMaxLegal];
  const CompletedQ values = complete_q_values(node, edges, limit, settings, q);
  const double unvisited =
      values.all_visited ? 0 : portable_exp(values.sigma(values.mixed_value) - values.max_sigma);
  double mass = 0;
  for (int i = 0; i < limit; ++i) {
    if (!edges.stats[i].visits) {
      weight[i] = edges.prior[i] * unvisited;
      continue;
    }
    weight[i] = edges.prior[i] * portable_exp(values.sigma(q[i]) - values.max_sigma);
    mass += weight[i];
  }
  return mass + values.unvisited_prior * unvisited;
}

// Gumbel MuZero's deterministic selection below the root (section 5): visits follow the improved
// policy as closely as they can.
inline int select_gumbel_interior(const Node& node, const Edges& edges, int limit,
                                  const Settings& settings) {
  double weight[env::kMaxLegal];
  const double mass = improved_policy(node, edges, limit, settings, weight);
  for (int i = 0; i < limit; ++i)
    weight[i] = weight[i] / mass - static_cast<double>(edges.stats[i].visits) / node.visits;
  return static_cast<int>(first_max(weight, limit) - weight);
}

// Selection at the root by sequential halving: the best of the edges that this search has visited
// `visits` times. `noisy_prior` is an edge's log prior plus Gumbel noise, `visits_before` its
// visits before this search.
inline int best_considered(const Node& root, const Edges& edges, const Settings& settings,
                           const double* noisy_prior, const std::int32_t* visits_before,
                           std::int32_t visits) {
  double q[env::kMaxLegal], score[env::kMaxLegal];
  const CompletedQ values = complete_q_values(root, edges, root.count, settings, q);
  for (int i = 0; i < root.count; ++i) {
    const std::int32_t found = edges.stats[i].visits;
    const double sigma = values.sigma(found ? q[i] : values.mixed_value);
    score[i] = found - visits_before[i] == visits ? std::max(kMinScore, noisy_prior[i] + sigma)
                                                  : -std::numeric_limits<double>::infinity();
  }
  return static_cast<int>(first_max(score, root.count) - score);
}

// PUCT as in AlphaZero (Silver et al., Science 2018) over the first `limit` edges, with priors
// `prior(i)`. Of equal scores the first wins.
template <class Prior>
inline int select_puct(const Node& node, const Edges& edges, int limit, const Settings& settings,
                       Prior prior) {
  double reach =
      portable_log((1.0 + node.visits + settings.c_base) / settings.c_base) + settings.c_init;
  reach *= std::sqrt(static_cast<double>(node.visits));
  double score[env::kMaxLegal];
  mean_values(edges, limit, score);
  for (int i = 0; i < limit; ++i) score[i] += reach * prior(i) / (1 + edges.stats[i].visits);
  return static_cast<int>(first_max(score, limit) - score);
}

}  // namespace rungs::search
