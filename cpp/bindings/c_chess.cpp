// The C API's batches of chess environments: the memory of a `ChessBatch`, and the loops over it,
// behind a handle.
#include "c_api.hpp"
#include "chess.cpp"

// The settings that both configurations have.
#define RUNGS_CHESS_COMMON_SETTINGS(SETTING) \
  RUNGS_CHESS_GAME_SETTINGS(SETTING) RUNGS_CHESS_FORMAT_SETTINGS(SETTING)

// For callers that are not compiled with the header: WebAssembly's, where sizes differ.
#define RUNGS_SETTING_MEMBER(type, name, ...) \
  rungs::abi::values_of<decltype(rungs::env::ChessConfig::name)>(name),
RUNGS_STRUCTURE(rungs_chess_config, RUNGS_CHESS_COMMON_SETTINGS(RUNGS_SETTING_MEMBER) size,
                num_envs, num_threads, start_fens, num_start_fens, first_env)
#undef RUNGS_SETTING_MEMBER
RUNGS_STRUCTURE(rungs_chess_outputs, size, observation, observation_bytes, mask, mask_bytes,
                action_count, player, reward, terminated, truncated, ended, reason,
                final_observation)

// Pointers to the elements of each format of observations, in order.
#define RUNGS_FIELD(type, name, count) const type* name;
struct rungs_observations {
  RUNGS_OBSERVATIONS(RUNGS_FIELD)
};
#undef RUNGS_FIELD
RUNGS_STRUCTURE(rungs_observations, RUNGS_OBSERVATIONS(RUNGS_LISTED_MEMBER))

using namespace rungs;

struct rungs_chess {
  c::Memory memory;
  c::Pool pool;
  ChessBatch batch{};
  std::uint64_t* seeds = nullptr;  // (N,), where they are given
  Payoff payoff{};
  std::uint64_t starts_hash = 0;
  bool begun = false;

  std::int64_t num_envs() const { return batch.num_envs; }

  void reset(const std::uint8_t* which, std::int64_t episode) {
    const auto* marks = reinterpret_cast<const bool*>(which);
    if (pool.get())
      threads::reset(batch, marks, episode, *pool.get(), pool.threads());
    else
      serial::reset(batch, marks, episode);
    begun = true;
    const auto count = static_cast<std::size_t>(num_envs());
    std::memset(batch.reward, 0, count * sizeof *batch.reward);
    std::memset(batch.terminated, 0, count);
    std::memset(batch.truncated, 0, count);
    std::memset(batch.reason, 0, count);
    for (std::size_t i = 0; i < count; ++i) batch.ended[i] = batch.ended[i] && which && !which[i];
  }

  void draw_by(std::uint64_t seed, const std::uint64_t* own) {
    if (own) std::memcpy(seeds, own, static_cast<std::size_t>(num_envs()) * sizeof *seeds);
    batch.seeds = own ? seeds : nullptr;
    batch.config.seed = seed;
  }

  void save(const std::int64_t* which, std::int64_t count, env::SavedBoard* saved,
            env::History* past) const {
    serial::save(batch, which, count, saved, past);
  }
  // Returns "", or why a board is invalid, and sets `invalid` to its number.
  std::string validate(std::int64_t count, env::SavedBoard* saved, const env::History* past,
                       std::int64_t& invalid) const {
    std::string why;
    invalid = serial::restore(batch.config, count, saved, past, why);
    return invalid < count ? why : "";
  }
  void put(const std::int64_t* which, std::int64_t count, const env::SavedBoard* saved,
           const env::History* past) {
    serial::put(batch, which, count, saved, past, 0);
  }
};

namespace {

static_assert(static_cast<int>(env::Opponent::RANDOM) == RUNGS_OPPONENT_RANDOM);
#define RUNGS_SAME_NUMBER(type, name, count) \
  static_assert(static_cast<int>(env::ObservationFormat::name) == RUNGS_OBSERVATION_##name);
RUNGS_OBSERVATIONS(RUNGS_SAME_NUMBER)
#undef RUNGS_SAME_NUMBER
static_assert(static_cast<int>(env::MaskFormat::LIST) == RUNGS_MASK_LIST);
static_assert(static_cast<int>(env::Autoreset::DISABLED) == RUNGS_AUTORESET_DISABLED);
static_assert(env::kMaxPlies == RUNGS_REASON_MAX_PLIES);
static_assert(chess::kActions == RUNGS_CHESS_ACTIONS && chess::kMaxLegal == RUNGS_CHESS_MAX_LEGAL);
static_assert(sizeof(bool) == 1);

rungs_chess_config chess_defaults() {
  rungs_chess_config config{};
  config.size = sizeof config;
  config.num_envs = 1;
  config.num_threads = 1;
  return config;
}

rungs_status check(const rungs_chess_config& config) {
#define RUNGS_RANGE(type, name, low, high) \
  {#name, config.name, low, static_cast<std::int64_t>(high)},
  return c::check_ranges({{"num_envs", config.num_envs, 1, c::kMaxInt},
                          {"num_threads", config.num_threads, 1, c::kMaxThreads},
                          {"num_start_fens", config.num_start_fens, config.start_fens ? 1 : 0,
                           config.start_fens ? c::kMaxInt : 0},
                          {"first_env", config.first_env, 0, c::kMaxInt},
                          RUNGS_CHESS_COMMON_SETTINGS(RUNGS_RANGE)});
#undef RUNGS_RANGE
}

rungs_status parse_starts(const rungs_chess_config& config, chess::Position* starts) {
  const bool listed = config.mask == RUNGS_MASK_LIST;
  if (!config.start_fens) return c::parse_start(c::kClassicalStart, listed, starts[0]);
  for (std::int64_t i = 0; i < config.num_start_fens; ++i) {
    if (!config.start_fens[i]) return c::null_argument("start_fens");
    if (const auto status = c::parse_start(config.start_fens[i], listed, starts[i])) return status;
  }
  return RUNGS_OK;
}

// FNV-1a of the FENs: a position has a byte of padding, which nothing defines.
std::uint64_t hash_of(const chess::Position* starts, std::int64_t count) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (std::int64_t i = 0; i < count; ++i)
    for (const char c : chess::to_fen(starts[i]) + '\n')
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

rungs_status fill(const rungs_chess_config& given, rungs_chess& envs) {
  const std::int64_t num_envs = given.num_envs;
  const std::int64_t num_starts = given.start_fens ? given.num_start_fens : 1;
  c::Memory& memory = envs.memory;
  ChessBatch& batch = envs.batch;
  auto* starts = memory.array<chess::Position>(num_starts);
  env::ChessConfig& config = batch.config;
#define RUNGS_SET(type, name, ...) config.name = static_cast<decltype(config.name)>(given.name);
  RUNGS_CHESS_COMMON_SETTINGS(RUNGS_SET)
#undef RUNGS_SET
  config.num_starts = static_cast<std::uint32_t>(num_starts);
  config.starts = starts;
  batch.num_envs = num_envs;
  batch.first_board = given.first_env;
  if (config.observation != env::ObservationFormat::BOARD)
    batch.history = memory.array<env::History>(num_envs);
#define RUNGS_ALLOCATE(type, name, count) \
  if ((count) != 0) batch.name = memory.array<type>(num_envs, count);
  RUNGS_CHESS_OUTPUTS(RUNGS_ALLOCATE)
#undef RUNGS_ALLOCATE
  batch.blocks = memory.array<env::Block>(batch.num_blocks());
  batch.chosen = memory.array<std::int16_t>(num_envs);
  envs.seeds = memory.array<std::uint64_t>(num_envs);
  if (!memory.complete())
    return c::fail(RUNGS_ERROR_MEMORY, "there is too little memory for %lld environments",
                   static_cast<long long>(num_envs));
  if (const auto status = parse_starts(given, starts)) return status;
  envs.starts_hash = hash_of(starts, num_starts);
  return envs.pool.start(useful_threads(given.num_threads, num_envs));
}

rungs_status check_begun(const char* function, const rungs_chess* envs) {
  if (!envs) return c::null_argument(function);
  if (envs->begun) return RUNGS_OK;
  return c::fail(RUNGS_ERROR_ORDER, "%s: rungs_chess_reset comes first", function);
}

rungs_status check_env(const char* function, const rungs_chess* envs, std::int64_t env) {
  if (const auto status = check_begun(function, envs)) return status;
  return c::check_range("env", env, 0, envs->num_envs() - 1);
}

// The head of a saved state: what it is a state of. Seeds, boards and histories follow, N each.
struct [[gnu::packed]] StateHead {
  char magic[8];
  std::uint32_t version, board_bytes;
  std::int64_t num_envs;
  std::uint64_t seed;
  std::uint32_t has_seeds, history_bytes;
#define RUNGS_FIELD(type, name, ...) decltype(env::ChessConfig::name) name;
  RUNGS_CHESS_GAME_SETTINGS(RUNGS_FIELD)
#undef RUNGS_FIELD
  std::uint32_t num_starts;
  std::int64_t first_env;
  std::uint64_t starts_hash;
};

StateHead head_of(const rungs_chess& envs) {
  const env::ChessConfig& config = envs.batch.config;
#define RUNGS_VALUE(type, name, ...) config.name,
  return {{'R', 'U', 'N', 'G', 'S', ' ', 'C', '\n'},
          RUNGS_ABI_VERSION,
          sizeof(env::SavedBoard),
          envs.num_envs(),
          config.seed,
          envs.batch.seeds != nullptr,
          envs.batch.history ? static_cast<std::uint32_t>(sizeof(env::History)) : 0,
          RUNGS_CHESS_GAME_SETTINGS(RUNGS_VALUE) config.num_starts,
          envs.batch.first_board,
          envs.starts_hash};
#undef RUNGS_VALUE
}

}  // namespace

namespace rungs::c {

rungs_status Boards::allocate(std::int64_t num_envs, bool shown) {
  which = memory.array<std::int64_t>(num_envs);
  saved = memory.array<env::SavedBoard>(num_envs);
  if (shown) past = memory.array<env::History>(num_envs);
  if (!memory.complete())
    return fail(RUNGS_ERROR_MEMORY, "there is too little memory for a copy of the boards");
  for (count = 0; count < num_envs; ++count) which[count] = count;
  return RUNGS_OK;
}

rungs_status Boards::save(const rungs_chess& envs, std::int64_t num_envs, const std::uint8_t* marks,
                          bool shown) {
  if (const auto status = check_begun("envs", &envs)) return status;
  if (envs.num_envs() != num_envs)
    return fail(RUNGS_ERROR_ARGUMENT, "envs: %lld environments for %lld games",
                static_cast<long long>(envs.num_envs()), static_cast<long long>(num_envs));
  if (shown && !envs.batch.history)
    return fail(RUNGS_ERROR_ARGUMENT, "envs: they keep no history, which planes show");
  if (const auto status = allocate(num_envs, shown)) return status;
  count = 0;
  for (std::int64_t i = 0; i < num_envs; ++i)
    if (!marks || marks[i]) which[count++] = i;
  envs.save(which, count, saved, past);
  return RUNGS_OK;
}

}  // namespace rungs::c

void rungs_chess_config_init(rungs_chess_config* config, std::size_t size) {
  c::write_structure(chess_defaults(), size, config);
}

rungs_status rungs_chess_create(const rungs_chess_config* config, rungs_chess** envs) {
  return c::create("rungs_chess", config, chess_defaults(), check, fill, envs);
}

void rungs_chess_destroy(rungs_chess* envs) { delete envs; }

rungs_status rungs_chess_get_outputs(const rungs_chess* envs, rungs_chess_outputs* outputs) {
  if (!envs || !outputs) return c::null_argument("rungs_chess_get_outputs");
  if (const auto status = c::check_size(outputs->size)) return status;
  const ChessBatch& batch = envs->batch;
  rungs_chess_outputs now{};
  now.observation = batch.observation;
  now.observation_bytes =
      static_cast<std::size_t>(env::observation_bytes(batch.config.observation));
  now.mask = batch.mask;
  now.mask_bytes = static_cast<std::size_t>(env::mask_bytes(batch.config.mask));
  now.action_count = batch.action_count;
  now.player = batch.player;
  now.reward = batch.reward;
  now.terminated = c::as_bytes(batch.terminated);
  now.truncated = c::as_bytes(batch.truncated);
  now.ended = c::as_bytes(batch.ended);
  now.reason = batch.reason;
  now.final_observation = batch.final_observation;
  c::write_structure(now, outputs->size, outputs);
  return RUNGS_OK;
}

rungs_status rungs_chess_reset(rungs_chess* envs, std::uint64_t seed) {
  if (!envs) return c::null_argument("rungs_chess_reset");
  envs->draw_by(seed, nullptr);
  envs->reset(nullptr, 0);
  return RUNGS_OK;
}

rungs_status rungs_chess_reset_seeds(rungs_chess* envs, const std::uint64_t* seeds) {
  if (!envs || !seeds) return c::null_argument("rungs_chess_reset_seeds");
  envs->draw_by(0, seeds);
  envs->reset(nullptr, 0);
  return RUNGS_OK;
}

rungs_status rungs_chess_reset_some(rungs_chess* envs, const std::uint8_t* which) {
  if (const auto status = check_begun("rungs_chess_reset_some", envs)) return status;
  if (const auto status = c::check_marks(which, envs->num_envs())) return status;
  envs->reset(which, -1);
  return RUNGS_OK;
}

rungs_status rungs_chess_step(rungs_chess* envs, const std::int64_t* actions,
                              std::int64_t* num_ended) {
  if (const auto status = check_begun("rungs_chess_step", envs)) return status;
  if (!actions) return c::null_argument("rungs_chess_step");
  ThreadPool* const pool = envs->pool.get();
  const std::int64_t ended =
      pool ? threads::step(envs->batch, actions, *pool, envs->pool.threads(), envs->payoff, {})
           : serial::step(envs->batch, actions);
  if (ended < 0) {
    const std::int64_t i = -1 - ended;
    char fen[RUNGS_FEN_BYTES];
    if (const auto status = rungs_chess_get_fen(envs, i, fen, sizeof fen)) return status;
    return c::fail(RUNGS_ERROR_ILLEGAL_ACTION, "environment %lld: action %lld is not legal in %s",
                   static_cast<long long>(i), static_cast<long long>(actions[i]), fen);
  }
  if (num_ended) *num_ended = ended;
  return RUNGS_OK;
}

rungs_status rungs_chess_count_actions(const rungs_chess* envs, std::int64_t* counts) {
  if (const auto status = check_begun("rungs_chess_count_actions", envs)) return status;
  if (!counts) return c::null_argument("rungs_chess_count_actions");
  serial::count_actions(envs->batch, counts);
  return RUNGS_OK;
}

rungs_status rungs_chess_choose_actions(const rungs_chess* envs, const std::int64_t* ranks,
                                        std::int64_t* actions) {
  if (const auto status = check_begun("rungs_chess_choose_actions", envs)) return status;
  if (!ranks || !actions) return c::null_argument("rungs_chess_choose_actions");
  c::Memory memory;
  auto* chosen = memory.array<std::int64_t>(2, envs->num_envs());
  if (!chosen) return c::fail(RUNGS_ERROR_MEMORY, "there is too little memory for the ranks");
  const auto bytes = static_cast<std::size_t>(envs->num_envs()) * sizeof *chosen;
  std::int64_t* const counts = chosen + envs->num_envs();
  std::memcpy(chosen, ranks, bytes);
  serial::count_actions(envs->batch, counts);
  for (std::int64_t i = 0; i < envs->num_envs(); ++i)
    if (chosen[i] < 0 || chosen[i] >= counts[i])
      return c::fail(RUNGS_ERROR_ARGUMENT, "environment %lld: rank %lld of %lld actions",
                     static_cast<long long>(i), static_cast<long long>(chosen[i]),
                     static_cast<long long>(counts[i]));
  serial::rank_to_action(envs->batch, chosen);
  std::memcpy(actions, chosen, bytes);
  return RUNGS_OK;
}

rungs_status rungs_chess_get_fen(const rungs_chess* envs, std::int64_t env, char* fen,
                                 std::size_t size) {
  if (const auto status = check_env("rungs_chess_get_fen", envs, env)) return status;
  if (!fen) return c::null_argument("rungs_chess_get_fen");
  env::SavedBoard saved;
  envs->save(&env, 1, &saved, nullptr);
  return c::write_fen("rungs_chess_get_fen", saved.position, fen, size);
}

rungs_status rungs_chess_set_fen(rungs_chess* envs, std::int64_t env, const char* fen) {
  if (const auto status = check_env("rungs_chess_set_fen", envs, env)) return status;
  if (!fen) return c::null_argument("rungs_chess_set_fen");
  const bool listed = envs->batch.config.mask == env::MaskFormat::LIST;
  chess::Position position;
  if (const auto status = c::parse_start(fen, listed, position)) return status;
  const bool shown = envs->batch.history;
  env::SavedBoard saved;
  env::History past{};
  envs->save(&env, 1, &saved, nullptr);
  saved.position = position;
  saved.ply = 0;
  saved.num_past = saved.ended = 0;
  past.add(position, 0);
  envs->put(&env, 1, &saved, shown ? &past : nullptr);
  return RUNGS_OK;
}

std::size_t rungs_chess_state_bytes(const rungs_chess* envs) {
  if (!envs) return 0;
  const std::size_t history = envs->batch.history ? sizeof(env::History) : 0;
  return sizeof(StateHead) + static_cast<std::size_t>(envs->num_envs()) *
                                 (sizeof(std::uint64_t) + sizeof(env::SavedBoard) + history);
}

rungs_status rungs_chess_save(const rungs_chess* envs, void* state) {
  if (const auto status = check_begun("rungs_chess_save", envs)) return status;
  if (!state) return c::null_argument("rungs_chess_save");
  c::Boards boards;
  if (const auto status = boards.save(*envs, envs->num_envs(), nullptr, envs->batch.history))
    return status;
  const StateHead head = head_of(*envs);
  const auto count = static_cast<std::size_t>(envs->num_envs());
  auto* to = static_cast<char*>(state);
  const auto append = [&](const void* from, std::size_t bytes) {
    if (from) std::memcpy(to, from, bytes), to += bytes;
  };
  append(&head, sizeof head);
  append(envs->seeds, count * sizeof *envs->seeds);
  append(boards.saved, count * sizeof *boards.saved);
  append(boards.past, count * sizeof *boards.past);
  return RUNGS_OK;
}

rungs_status rungs_chess_restore(rungs_chess* envs, const void* state, std::size_t bytes) {
  if (!envs || !state) return c::null_argument("rungs_chess_restore");
  if (bytes != rungs_chess_state_bytes(envs))
    return c::fail(RUNGS_ERROR_STATE, "a state of this batch has %zu bytes, not %zu",
                   rungs_chess_state_bytes(envs), bytes);
  StateHead head, ours = head_of(*envs);
  std::memcpy(&head, state, sizeof head);
  ours.seed = head.seed;
  ours.has_seeds = head.has_seeds;
  if (std::memcmp(&head, &ours, sizeof head) != 0 || head.has_seeds > 1)
    return c::fail(RUNGS_ERROR_STATE, "the state is not of a batch with this configuration");
  c::Boards boards;
  if (const auto status = boards.allocate(envs->num_envs(), envs->batch.history)) return status;
  const auto count = static_cast<std::size_t>(envs->num_envs());
  const auto* seeds = static_cast<const char*>(state) + sizeof head;
  const auto* saved = seeds + count * sizeof *envs->seeds;
  std::memcpy(boards.saved, saved, count * sizeof *boards.saved);
  if (boards.past)
    std::memcpy(boards.past, saved + count * sizeof *boards.saved, count * sizeof *boards.past);
  std::int64_t invalid;
  const std::string why = envs->validate(envs->num_envs(), boards.saved, boards.past, invalid);
  if (!why.empty())
    return c::fail(RUNGS_ERROR_STATE, "environment %lld of the state: %s",
                   static_cast<long long>(invalid), why.c_str());
  std::memcpy(envs->seeds, seeds, count * sizeof *envs->seeds);
  envs->batch.seeds = head.has_seeds ? envs->seeds : nullptr;
  envs->batch.config.seed = head.seed;
  envs->put(boards.which, envs->num_envs(), boards.saved, boards.past);
  envs->begun = true;
  return RUNGS_OK;
}

rungs_status rungs_perft(const char* fen, std::int32_t depth, std::int32_t num_threads,
                         std::int64_t* leaves) {
  if (!fen || !leaves) return c::null_argument("rungs_perft");
  if (const auto status = c::check_range("depth", depth, 0, 100)) return status;
  if (const auto status = c::check_range("num_threads", num_threads, 1, c::kMaxThreads))
    return status;
  chess::Position position;
  if (const std::string why = chess::parse_fen(fen, position); !why.empty())
    return c::fail(RUNGS_ERROR_FEN, "%.200s: %s", fen, why.c_str());
  c::Pool pool;
  if (const auto status = pool.start(num_threads)) return status;
  *leaves = perft(position, depth, pool.get(), pool.threads());
  return RUNGS_OK;
}
