// Which edge a simulation takes, and what a search makes of its visits. Each sum is added up in the
// order of the edges, as in lib/rungs/search/twin.py.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "settings.hpp"
#include "tree.hpp"

namespace rungs::search {

constexpr double kMinSpan = 1e-8, kMinScore = -1e9;

// The values of a node's actions, completed where there are no visits, and sigma of them (Danihelka
// et al., "Policy improvement by planning with Gumbel", ICLR 2022, equation 10 and appendix D).
struct Completed {
  double low, factor;  // sigma(q) = (q - low) * factor
  double top;          // the highest sigma
  double mixed;        // the value of actions without visits
  double rest;         // the sum of their priors
  bool all_visited;    // there are none

  double sigma(double q) const { return (q - low) * factor; }
  double sigma_of(const Edge& edge) const {
    return sigma(edge.visits ? edge.value_sum / edge.visits : mixed);
  }
};

// Of a node whose visited edges are among the first `limit`, which is either all of its edges or
// `opened` and one more.
//
// The priors of actions without visits are added up, not taken from 1: where they are small,
// rounding would leave nothing of them, and with a high sigma they can weigh most.
inline Completed completed(const Node& node, const Edge* edges, int limit,
                           const Settings& settings) {
  double probability = 0, weighted = 0, rest = 0;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  std::int32_t visited = 0, most = 0;
  for (int i = 0; i < limit; ++i) {
    const Edge& edge = edges[i];
    if (!edge.visits) {
      rest += edge.prior;
      continue;
    }
    const double q = edge.value_sum / edge.visits;
    probability += edge.prior;
    weighted += edge.prior * q;
    low = std::min(low, q);
    high = std::max(high, q);
    most = std::max(most, edge.visits);
    ++visited;
  }
  Completed values{};
  const std::int32_t visits = node.visits - 1;
  values.mixed = node.raw_value;
  if (visited) {
    const double mean = weighted / probability;
    values.mixed = (node.raw_value + visits * mean) / (visits + 1);
  }
  values.all_visited = visited == node.count;
  if (!values.all_visited) {
    low = std::min(low, values.mixed);
    high = std::max(high, values.mixed);
    values.rest = limit < node.count ? node.rest : rest;
  }
  const double scale = (settings.maxvisit_init + most) * settings.value_scale, span = high - low;
  values.low = low;
  values.factor = scale / std::max(span, kMinSpan);
  values.top = span * values.factor;
  return values;
}

// The improved policy, softmax(logits + sigma(completed q)) (equation 11): writes a weight for each
// of the first `limit` edges, all that were visited among them, and returns what to divide it by.
// A weight is prior * exp(sigma - the highest sigma), so that no logit is needed.
inline double improve(const Node& node, const Edge* edges, int limit, const Settings& settings,
                      double* weight) {
  const Completed values = completed(node, edges, limit, settings);
  const double unvisited = values.all_visited ? 0 : exp_of(values.sigma(values.mixed) - values.top);
  double mass = 0;
  for (int i = 0; i < limit; ++i) {
    if (!edges[i].visits) {
      weight[i] = edges[i].prior * unvisited;
      continue;
    }
    weight[i] = edges[i].prior * exp_of(values.sigma_of(edges[i]) - values.top);
    mass += weight[i];
  }
  return mass + values.rest * unvisited;
}

// Below the root (its section 5): visits follow the improved policy as closely as they can.
inline int select_gumbel(const Node& node, const Edge* edges, int limit, const Settings& settings) {
  double weight[env::kMaxLegal];
  const double mass = improve(node, edges, limit, settings, weight);
  int best = 0;
  double highest = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < limit; ++i) {
    const double score = weight[i] / mass - static_cast<double>(edges[i].visits) / node.visits;
    if (score > highest) {
      highest = score;
      best = i;
    }
  }
  return best;
}

// At the root: the best of the edges that this search has visited so often. `base` has an edge's
// logit and noise, `before` its visits before the search.
inline int best_of_visited(const Node& root, const Edge* edges, const Settings& settings,
                           const double* base, const std::int32_t* before, std::int32_t visits) {
  const Completed values = completed(root, edges, root.count, settings);
  int best = 0;
  double highest = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < root.count; ++i) {
    if (edges[i].visits - before[i] != visits) continue;
    const double score = std::max(kMinScore, base[i] + values.sigma_of(edges[i]));
    if (score > highest) {
      highest = score;
      best = i;
    }
  }
  return best;
}

// PUCT as in AlphaZero (Silver et al., Science 2018), over the first `limit` edges, whose priors
// `prior(i)` says: the first of those that score highest.
template <class Prior>
inline int select_puct(const Node& node, const Edge* edges, int limit, const Settings& settings,
                       Prior prior) {
  double reach = log_of((1.0 + node.visits + settings.c_base) / settings.c_base) + settings.c_init;
  reach *= std::sqrt(static_cast<double>(node.visits));
  int best = 0;
  double highest = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < limit; ++i) {
    const Edge& edge = edges[i];
    const double value = edge.visits ? edge.value_sum / edge.visits : 0.0;
    const double score = value + reach * prior(i) / (1 + edge.visits);
    if (score > highest) {
      highest = score;
      best = i;
    }
  }
  return best;
}

}  // namespace rungs::search
