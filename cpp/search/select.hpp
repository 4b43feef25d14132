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

constexpr double kMinSpan = 1e-8, kMinScore = -1e9;

// Completed q-values of a node and sigma of them (Danihelka et al., "Policy improvement by planning
// with Gumbel", ICLR 2022, equation 10 and appendix D); mctx: qtransform_completed_by_mix_value.
struct CompletedQ {
  double low, factor;      // sigma(q) = (q - low) * factor
  double max_sigma;        // highest sigma of any action
  double mixed_value;      // value of unvisited actions
  double unvisited_prior;  // sum of their priors
  bool all_visited;        // no action is unvisited

  double sigma(double q) const { return (q - low) * factor; }
  double sigma_of(const Stats& found) const {
    return sigma(found.visits ? found.value_sum / found.visits : mixed_value);
  }
};

// Computes them from the first `limit` edges: all edges, or the visited ones and one more.
//
// The priors of unvisited actions are summed, not taken as 1 - the others: where they are small,
// rounding would leave nothing of them, and with a large sigma they can dominate.
inline CompletedQ complete_q_values(const Node& node, const Edges& edges, int limit,
                                    const Settings& settings) {
  double probability = 0, weighted = 0, unvisited_prior = 0;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  std::int32_t visited = 0, max_visits = 0;
  for (int i = 0; i < limit; ++i) {
    const Stats& found = edges.stats[i];
    if (!found.visits) {
      unvisited_prior += edges.prior[i];
      continue;
    }
    const double q = found.value_sum / found.visits;
    probability += edges.prior[i];
    weighted += edges.prior[i] * q;
    low = std::min(low, q);
    high = std::max(high, q);
    max_visits = std::max(max_visits, found.visits);
    ++visited;
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
    low = std::min(low, values.mixed_value);
    high = std::max(high, values.mixed_value);
    values.unvisited_prior = limit < node.count ? node.unvisited_prior : unvisited_prior;
  }
  const double scale = (settings.maxvisit_init + max_visits) * settings.value_scale,
               span = high - low;
  values.low = low;
  values.factor = scale / std::max(span, kMinSpan);
  values.max_sigma = span * values.factor;
  return values;
}

// The improved policy, softmax(logits + sigma(completed q)) (equation 11): writes unnormalised
// weights of the first `limit` edges, which include all visited ones, and returns the sum over all
// edges. A weight is prior * exp(sigma - max sigma), so that no logits are needed.
inline double improved_policy(const Node& node, const Edges& edges, int limit,
                              const Settings& settings, double* weight) {
  const CompletedQ values = complete_q_values(node, edges, limit, settings);
  const double unvisited =
      values.all_visited ? 0 : portable_exp(values.sigma(values.mixed_value) - values.max_sigma);
  double mass = 0;
  for (int i = 0; i < limit; ++i) {
    if (!edges.stats[i].visits) {
      weight[i] = edges.prior[i] * unvisited;
      continue;
    }
    weight[i] = edges.prior[i] * portable_exp(values.sigma_of(edges.stats[i]) - values.max_sigma);
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
  int best = 0;
  double highest = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < limit; ++i) {
    const double score =
        weight[i] / mass - static_cast<double>(edges.stats[i].visits) / node.visits;
    if (score > highest) {
      highest = score;
      best = i;
    }
  }
  return best;
}

// Selection at the root by sequential halving: the best of the edges that this search has visited
// `visits` times. `noisy_prior` is an edge's log prior plus Gumbel noise, `visits_before` its
// visits before this search.
inline int best_considered(const Node& root, const Edges& edges, const Settings& settings,
                           const double* noisy_prior, const std::int32_t* visits_before,
                           std::int32_t visits) {
  const CompletedQ values = complete_q_values(root, edges, root.count, settings);
  int best = 0;
  double highest = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < root.count; ++i) {
    if (edges.stats[i].visits - visits_before[i] != visits) continue;
    const double score = std::max(kMinScore, noisy_prior[i] + values.sigma_of(edges.stats[i]));
    if (score > highest) {
      highest = score;
      best = i;
    }
  }
  return best;
}

// PUCT as in AlphaZero (Silver et al., Science 2018) over the first `limit` edges, with priors
// `prior(i)`. Of equal scores the first wins.
template <class Prior>
inline int select_puct(const Node& node, const Edges& edges, int limit, const Settings& settings,
                       Prior prior) {
  double reach =
      portable_log((1.0 + node.visits + settings.c_base) / settings.c_base) + settings.c_init;
  reach *= std::sqrt(static_cast<double>(node.visits));
  int best = 0;
  double highest = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < limit; ++i) {
    const Stats& found = edges.stats[i];
    const double value = found.visits ? found.value_sum / found.visits : 0.0;
    const double score = value + reach * prior(i) / (1 + found.visits);
    if (score > highest) {
      highest = score;
      best = i;
    }
  }
  return best;
}

}  // namespace rungs::search
