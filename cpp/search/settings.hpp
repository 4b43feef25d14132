// What all games of a search share; lib/rungs/search/settings.py says what it means.
#pragma once
#include "../env/observation.hpp"

namespace rungs::search {

enum class Policy : std::int32_t { GUMBEL, PUCT };

struct Settings {
  std::uint64_t seed;
  Policy policy;
  env::ObservationFormat observation;
  // Room of a tree, and how much of it a tree that is kept may fill.
  std::int32_t nodes, edges, kept_nodes, kept_edges;
  std::int32_t keep;        // whether trees are kept at all
  std::int32_t considered;  // Gumbel's, as the next three
  double scale, value_scale, maxvisit_init;
  double c_init, c_base, alpha, fraction, temperature;  // PUCT's
};

}  // namespace rungs::search
