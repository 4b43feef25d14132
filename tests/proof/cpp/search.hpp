// Searches of many games: trees stay in their memory, and threads change nothing.
#pragma once
#include <memory>
#include <vector>

#include "boards.hpp"
#include "search/tree_batch.hpp"
#include "self_play.hpp"

namespace rungs {

// A batch in memory of exactly its size.
class Trees {
  template <class T>
  T* array(std::int64_t count) {
    const auto made = std::make_shared<std::vector<T>>(count);
    memory_.push_back(made);
    return made->data();
  }

  std::vector<std::shared_ptr<void>> memory_;

 public:
  Trees(std::int64_t games, const search::Settings& settings, const std::int32_t* schedule)
      : batch{settings,
              games,
              array<search::GameTree>(games),
              settings.observation == env::ObservationFormat::BOARD ? nullptr
                                                                    : array<env::History>(games),
              {array<search::Node>(2 * games * settings.nodes),
               array<float>(2 * games * settings.edges),
               array<std::int16_t>(2 * games * settings.edges),
               array<search::Stats>(2 * games * settings.edges)},
              schedule,
              array<std::uint8_t>(games * env::observation_bytes(settings.observation)),
              array<std::int16_t>(games * env::kMaxLegal),
              array<std::int16_t>(games)} {}
  Trees(const Trees&) = delete;

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
        search::open_all(view);
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
