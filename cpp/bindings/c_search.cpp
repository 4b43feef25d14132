// The C API's searches: the memory of a `TreeBatch`, and the search over it, behind a handle.
#include "c_api.hpp"
#include "search.cpp"

// For callers that are not compiled with the header: WebAssembly's, where sizes differ.
RUNGS_STRUCTURE(rungs_search_config, rungs::abi::values_of<rungs::search::Policy>(policy),
                rungs::abi::values_of<rungs::env::ObservationFormat>(observation), size, num_games,
                seed, simulations, nodes, keep, num_threads, considered, scale, value_scale,
                maxvisit_init, c_init, c_base, alpha, fraction, temperature)
RUNGS_STRUCTURE(rungs_search_outputs, size, observation, observation_bytes, leaf_actions,
                leaf_counts, reason, actions, counts, visits, policy, priors, action_values, value,
                raw_value, chosen, nodes)

using namespace rungs;

struct rungs_search {
  c::Memory memory;
  c::Pool pool;
  search::TreeBatch batch{};
  search::GameResult results{};
  std::int32_t simulations = 0;
  std::int32_t* schedule = nullptr;
  std::uint32_t* episode = nullptr;  // (G,) of each game's next episode
  std::uint8_t* begun = nullptr;     // (G,)
  std::int8_t* reason = nullptr;     // (G,)
  std::int32_t* nodes = nullptr;     // (G,)
  float* logits = nullptr;           // (G, K) of the leaves that rungs_search_run evaluates
  float* leaf_values = nullptr;      // (G,) of these leaves
  std::int64_t* chosen = nullptr;    // (G,) the games that are searched, `num_chosen`
  std::int64_t num_chosen = 0;
  // The stage of a search: not started; being simulated, with `leaves` leaves that wait; or done.
  enum { NONE, STARTED, DONE } stage = NONE;
  std::int64_t leaves = 0;

  search::Helpers helpers() const { return {pool.get(), pool.threads()}; }

  // Called after games have changed: the last search is not of these games any more.
  void update() {
    for (std::int64_t i = 0; i < batch.num_games; ++i)
      reason[i] = static_cast<std::int8_t>(batch.game[i].game.reason);
    stage = NONE;
  }
};

namespace {

constexpr std::int32_t kMaxSimulations = 100'000, kEdgesPerNode = 40;

rungs_search_config search_defaults() {
  rungs_search_config config{};
  config.size = sizeof config;
  config.num_games = 1;
  config.simulations = 32;
  config.keep = 1;
  config.num_threads = 1;
  config.considered = 16;
  config.scale = 1;
  config.value_scale = 1;
  config.maxvisit_init = 50;
  config.c_init = 1.25;
  config.c_base = 19652;
  config.alpha = 0.3;
  config.fraction = 0.25;
  config.temperature = 1;
  return config;
}

rungs_status check(const rungs_search_config& config) {
  const rungs_status status = c::check_ranges({
      {"num_games", config.num_games, 1, c::kMaxInt},
      {"simulations", config.simulations, 1, kMaxSimulations},
      {"nodes", config.nodes, config.nodes ? config.simulations + 1 : 0, 4 * kMaxSimulations},
      {"policy", config.policy, 0, RUNGS_POLICY_PUCT},
      {"observation", config.observation, 0, env::kObservationFormats - 1},
      {"keep", config.keep, 0, 1},
      {"num_threads", config.num_threads, 1, c::kMaxThreads},
      {"considered", config.considered, 1, RUNGS_CHESS_MAX_LEGAL},
  });
  if (status) return status;
  const struct {
    const char* name;
    double value, low, high;
  } reals[] = {
      {"scale", config.scale, 0, 1e3},
      {"value_scale", config.value_scale, 1e-6, 1e3},
      {"maxvisit_init", config.maxvisit_init, 0, 1e6},
      {"c_init", config.c_init, 0, 1e3},
      {"c_base", config.c_base, 1, 1e9},
      {"alpha", config.alpha, 1e-2, 1e3},
      {"fraction", config.fraction, 0, 1},
      {"temperature", config.temperature, 0, 1e3},
  };
  for (const auto& [name, value, low, high] : reals)
    if (!(low <= value && value <= high))
      return c::fail(RUNGS_ERROR_ARGUMENT, "%s: %g is not from %g to %g", name, value, low, high);
  return RUNGS_OK;
}

search::Settings settings_of(const rungs_search_config& given) {
  search::Settings s{};
  const auto edges = [](std::int32_t nodes) {
    return kEdgesPerNode * nodes + RUNGS_CHESS_MAX_LEGAL;
  };
  s.seed = given.seed;
  s.policy = static_cast<search::Policy>(given.policy);
  s.observation = static_cast<env::ObservationFormat>(given.observation);
  s.nodes = given.nodes ? given.nodes : 2 * given.simulations + 1;
  s.edges = edges(s.nodes);
  s.kept_nodes = s.nodes - given.simulations;
  s.kept_edges = edges(s.kept_nodes);
  s.keep = given.keep;
  s.considered = given.considered;
  s.scale = given.scale;
  s.value_scale = given.value_scale;
  s.maxvisit_init = given.maxvisit_init;
  s.c_init = given.c_init;
  s.c_base = given.c_base;
  s.alpha = given.alpha;
  s.fraction = given.fraction;
  s.temperature = given.temperature;
  return s;
}

rungs_status fill(const rungs_search_config& given, rungs_search& made) {
  const std::int64_t games = given.num_games;
  c::Memory& memory = made.memory;
  search::TreeBatch& batch = made.batch;
  const search::Settings& settings = batch.settings = settings_of(given);
  batch.num_games = games;
  batch.game = memory.array<search::GameTree>(games);
  if (settings.observation != env::ObservationFormat::BOARD)
    batch.history = memory.array<env::History>(games);
  // A second tree per game is what a kept subtree is copied to.
  const std::int64_t edges = settings.edges, trees = settings.keep ? 2 * games : games;
  batch.trees = {memory.array<search::Node>(trees, settings.nodes),
                 memory.array<float>(trees, edges), memory.array<std::int16_t>(trees, edges),
                 memory.array<search::Stats>(trees, edges)};
  batch.observation =
      memory.array<std::uint8_t>(games, env::observation_bytes(settings.observation));
  batch.actions = memory.array<std::int16_t>(games, env::kMaxLegal);
  batch.counts = memory.array<std::int16_t>(games);
  const auto lists = [&]<class T>(T*& array) { array = memory.array<T>(games, env::kMaxLegal); };
  const auto values = [&]<class T>(T*& array) { array = memory.array<T>(games); };
  search::GameResult& results = made.results;
  lists(results.actions);
  values(results.counts);
  lists(results.visits);
  lists(results.policy);
  lists(results.priors);
  lists(results.action_values);
  values(results.value);
  values(results.raw_value);
  values(results.chosen);
  values(made.episode);
  values(made.begun);
  values(made.reason);
  values(made.nodes);
  values(made.chosen);
  lists(made.logits);
  values(made.leaf_values);
  made.simulations = given.simulations;
  if (settings.policy == search::Policy::GUMBEL)
    made.schedule = memory.array<std::int32_t>(settings.considered + 1, given.simulations);
  batch.schedule = made.schedule;
  if (!memory.complete())
    return c::fail(RUNGS_ERROR_MEMORY, "there is too little memory for %lld trees of %d nodes",
                   static_cast<long long>(games), settings.nodes);
  std::fill_n(batch.actions, games * env::kMaxLegal, std::int16_t{-1});
  return made.pool.start(given.num_threads);
}

rungs_status check_game(const char* function, const rungs_search* search, std::int64_t game) {
  if (!search) return c::null_argument(function);
  return c::check_range("game", game, 0, search->batch.num_games - 1);
}

rungs_status not_begun(const char* function, std::int64_t game) {
  return c::fail(RUNGS_ERROR_ORDER, "%s: game %lld has not begun", function,
                 static_cast<long long>(game));
}

// Clears the results of `games` games, from that of `results` on.
void clear(const search::GameResult& results, std::int64_t games) {
  const std::int64_t lists = games * env::kMaxLegal;
  std::fill_n(results.actions, lists, std::int16_t{-1});
  std::fill_n(results.visits, lists, 0);
  std::fill_n(results.policy, lists, 0.0F);
  std::fill_n(results.priors, lists, 0.0F);
  std::fill_n(results.action_values, lists, 0.0F);
  std::fill_n(results.counts, games, std::int16_t{0});
  std::fill_n(results.value, games, 0.0F);
  std::fill_n(results.raw_value, games, 0.0F);
  std::fill_n(results.chosen, games, std::int64_t{-1});
}

}  // namespace

void rungs_search_config_init(rungs_search_config* config, std::size_t size) {
  c::write_structure(search_defaults(), size, config);
}

rungs_status rungs_search_create(const rungs_search_config* config, rungs_search** search) {
  return c::create("rungs_search", config, search_defaults(), check, fill, search);
}

void rungs_search_destroy(rungs_search* search) { delete search; }

rungs_status rungs_search_get_outputs(const rungs_search* search, rungs_search_outputs* outputs) {
  if (!search || !outputs) return c::null_argument("rungs_search_get_outputs");
  if (const auto status = c::check_size(outputs->size)) return status;
  const search::TreeBatch& batch = search->batch;
  const search::GameResult& results = search->results;
  rungs_search_outputs now{};
  now.observation = batch.observation;
  now.observation_bytes =
      static_cast<std::size_t>(env::observation_bytes(batch.settings.observation));
  now.leaf_actions = batch.actions;
  now.leaf_counts = batch.counts;
  now.reason = search->reason;
  now.actions = results.actions;
  now.counts = results.counts;
  now.visits = results.visits;
  now.policy = results.policy;
  now.priors = results.priors;
  now.action_values = results.action_values;
  now.value = results.value;
  now.raw_value = results.raw_value;
  now.chosen = results.chosen;
  now.nodes = search->nodes;
  c::write_structure(now, outputs->size, outputs);
  return RUNGS_OK;
}

rungs_status rungs_search_begin(rungs_search* search, std::int64_t game, const char* fen) {
  if (const auto status = check_game("rungs_search_begin", search, game)) return status;
  if (!fen) return c::null_argument("rungs_search_begin");
  chess::Position position;
  if (const auto status = c::parse_start(fen, true, position)) return status;
  search::begin(search->batch, game, position, search->episode[game]++);
  search->begun[game] = 1;
  search->update();
  return RUNGS_OK;
}

rungs_status rungs_search_begin_envs(rungs_search* search, const rungs_chess* envs,
                                     const std::uint8_t* which) {
  if (!search || !envs) return c::null_argument("rungs_search_begin_envs");
  if (const auto status = c::check_marks(which, search->batch.num_games)) return status;
  c::Boards boards;
  const bool shown = search->batch.history;
  if (const auto status = boards.save(*envs, search->batch.num_games, which, shown)) return status;
  const std::int64_t wrong =
      search::begin(search->batch, boards.which, boards.count, boards.saved, boards.past);
  if (wrong)
    return c::fail(RUNGS_ERROR_FEN, "environment %lld has more pieces than promotions make",
                   static_cast<long long>(boards.which[-1 - wrong]));
  for (std::int64_t k = 0; k < boards.count; ++k) search->begun[boards.which[k]] = 1;
  search->update();
  return RUNGS_OK;
}

rungs_status rungs_search_start(rungs_search* search, const std::uint8_t* which,
                                std::int32_t simulations) {
  if (!search) return c::null_argument("rungs_search_start");
  if (const auto status = c::check_range("simulations", simulations, 0, search->simulations))
    return status;
  if (const auto status = c::check_marks(which, search->batch.num_games)) return status;
  const std::int64_t games = search->batch.num_games;
  for (std::int64_t i = 0; i < games; ++i)
    if ((!which || which[i]) && !search->begun[i]) return not_begun("rungs_search_start", i);
  search->num_chosen = 0;
  for (std::int64_t i = 0; i < games; ++i)
    if ((!which || which[i]) && !search->reason[i]) search->chosen[search->num_chosen++] = i;
  if (!simulations) simulations = search->simulations;
  if (search->schedule)
    search::write_halving(search->batch.settings.considered, simulations, search->schedule);
  search::start(search->batch, search->chosen, search->num_chosen, simulations);
  search->stage = rungs_search::STARTED;
  search->leaves = 0;
  return RUNGS_OK;
}

rungs_status rungs_search_simulate(rungs_search* search, const float* logits, std::int64_t stride,
                                   const float* values, std::int64_t* num_leaves) {
  if (!search || !num_leaves) return c::null_argument("rungs_search_simulate");
  if (search->stage != rungs_search::STARTED)
    return c::fail(RUNGS_ERROR_ORDER, "rungs_search_simulate: rungs_search_start comes first");
  std::int64_t most = 0;
  for (std::int64_t k = 0; k < search->leaves; ++k)
    most = std::max<std::int64_t>(most, search->batch.counts[k]);
  if (search->leaves && (!logits || !values))
    return c::fail(RUNGS_ERROR_ARGUMENT, "rungs_search_simulate: %lld leaves wait for evaluation",
                   static_cast<long long>(search->leaves));
  if (search->leaves && stride < most)
    return c::fail(RUNGS_ERROR_ARGUMENT, "stride: %lld is less than the %lld actions of a leaf",
                   static_cast<long long>(stride), static_cast<long long>(most));
  const std::int64_t leaves = search::simulate(search->batch, 0, search->batch.num_games,
                                               {logits, stride, values}, search->helpers());
  if (leaves < 0)
    return c::fail(RUNGS_ERROR_ARGUMENT,
                   "game %lld: its evaluation holds NaN, infinity or a value beyond -1 to 1",
                   static_cast<long long>(-1 - leaves));
  *num_leaves = search->leaves = leaves;
  if (!leaves) search->stage = rungs_search::DONE;
  return RUNGS_OK;
}

rungs_status rungs_search_finish(rungs_search* search) {
  if (!search) return c::null_argument("rungs_search_finish");
  if (search->stage != rungs_search::DONE)
    return c::fail(RUNGS_ERROR_ORDER, "rungs_search_finish: simulations are left");
  clear(search->results, search->batch.num_games);
  search::finish(search->batch, search->chosen, search->num_chosen, search->results,
                 search->helpers());
  for (std::int64_t i = 0; i < search->batch.num_games; ++i)
    search->nodes[i] = search->batch.game[i].used.nodes;
  return RUNGS_OK;
}

rungs_status rungs_search_run(rungs_search* search, rungs_network* network,
                              const std::uint8_t* which, std::int32_t simulations) {
  if (!search || !network) return c::null_argument("rungs_search_run");
  const search::TreeBatch& batch = search->batch;
  if (batch.settings.observation != env::ObservationFormat::BOARD)
    return c::fail(RUNGS_ERROR_ARGUMENT, "rungs_search_run: the search does not observe boards");
  if (const auto status = rungs_search_start(search, which, simulations)) return status;
  for (std::int64_t leaves = 0;;) {
    if (const auto status = rungs_search_simulate(search, search->logits, env::kMaxLegal,
                                                  search->leaf_values, &leaves))
      return status;
    if (!leaves) return rungs_search_finish(search);
    const auto* boards = reinterpret_cast<const std::int8_t*>(batch.observation);
    if (const auto status =
            rungs_network_evaluate(network, boards, batch.actions, batch.counts, leaves,
                                   search->logits, env::kMaxLegal, search->leaf_values))
      return status;
  }
}

rungs_status rungs_search_look(rungs_search* search, std::int64_t game, const std::int16_t* path,
                               std::int64_t length) {
  if (const auto status = check_game("rungs_search_look", search, game)) return status;
  if (const auto status = c::check_range("length", length, 0, c::kMaxInt)) return status;
  if (length && !path) return c::null_argument("rungs_search_look");
  if (!search->begun[game]) return not_begun("rungs_search_look", game);
  clear(search->results.of(game), 1);
  search::look(search->batch.view(game), path, length, search->results.of(game));
  search->nodes[game] = search->batch.game[game].used.nodes;
  return RUNGS_OK;
}

rungs_status rungs_search_advance(rungs_search* search, const std::int64_t* actions) {
  if (!search || !actions) return c::null_argument("rungs_search_advance");
  for (std::int64_t i = 0; i < search->batch.num_games; ++i)
    if (actions[i] != -1 && !search->begun[i]) return not_begun("rungs_search_advance", i);
  const std::int64_t illegal = search::advance(search->batch, actions, search->helpers());
  if (illegal < 0) {
    const std::int64_t i = -1 - illegal;
    char fen[RUNGS_FEN_BYTES];
    if (const auto status = rungs_search_get_fen(search, i, fen, sizeof fen)) return status;
    return c::fail(RUNGS_ERROR_ILLEGAL_ACTION, "game %lld: action %lld is not legal in %s",
                   static_cast<long long>(i), static_cast<long long>(actions[i]), fen);
  }
  search->update();
  return RUNGS_OK;
}

rungs_status rungs_search_get_fen(const rungs_search* search, std::int64_t game, char* fen,
                                  std::size_t size) {
  if (const auto status = check_game("rungs_search_get_fen", search, game)) return status;
  if (!fen) return c::null_argument("rungs_search_get_fen");
  if (!search->begun[game]) return not_begun("rungs_search_get_fen", game);
  return c::write_fen("rungs_search_get_fen", search->batch.game[game].game.position, fen, size);
}
