// The learner by itself, under sanitizers: with any number of threads it chooses the same actions,
// and learns the same weights, bit for bit, in the memory that it is given.
//   learner ROUNDS      minibatches learnt from, in float, in double, and in float with products of
//                       bfloat16, by each unit that is here
//   learner ROUNDS 1    only in float and on one thread, for a tool that counts; prints for how
//                       many positions
#include <random>

#include "bindings/thread_pool.cpp"
#include "boards.hpp"
#include "learn/train_step.hpp"

using namespace rungs;
using namespace rungs::learn;

// Memory as Python gives it, between canaries, for products that take `U`.
template <class U>
struct Memory {
  using T = Accum<U>;
  static constexpr bool kHalf = std::is_same_v<U, bf16x2>;

  Memory(std::int64_t rows, bool amx)
      : numbers(4 * kUnits * kUnit * sizeof(T)),
        touched(kUnits),
        cleared(kUnits),
        prepared(sizeof(Prepared<U>)),
        workspace(workspace_bytes<T>(rows)) {
    T* const flat = zeroed<T>(numbers, 4 * kUnits * kUnit);
    const auto part = [&](int i) { return flat + i * kUnits * kUnit; };
    std::mt19937 random(1);
    for (std::int64_t i = 0; i < kWeights; ++i)
      flat[i] = static_cast<T>(random()) / static_cast<T>(4e10) - static_cast<T>(0.05);
    model = {kHalf ? 2 : sizeof(T),
             amx,
             {part(0), part(1), part(2), part(3), zeroed<std::uint8_t>(touched, kUnits),
              zeroed<std::uint8_t>(cleared, kUnits)},
             reinterpret_cast<Prepared<U>*>(zeroed<std::byte>(prepared, sizeof(Prepared<U>))),
             workspace.template as<std::byte>(),
             nullptr};
  }

  void check_fences() const {
    for (const Fenced* each : {&numbers, &touched, &cleared, &prepared, &workspace}) each->check();
  }

  Fenced numbers, touched, cleared, prepared, workspace;
  Model<U> model;

 private:
  template <class V>
  static V* zeroed(Fenced& memory, std::int64_t count) {
    return std::fill_n(memory.as<V>(), count, V{}) - count;
  }
};

// What was played on some boards: all positions of a few steps.
template <class T>
struct Played {
  explicit Played(std::int64_t n, int steps) : rows(n * steps) {
    const chess::Position start = chess::start_position();
    env::ChessConfig config = short_games(&start);
    config.mask = env::MaskFormat::LIST;
    Boards boards(n, config);
    const ChessBatch& batch = boards.batch;
    serial::reset(batch, nullptr, 0);
    std::mt19937 random(2);
    std::vector<std::int64_t> actions(n);
    for (int step = 0; step < steps; ++step) {
      observation.insert(observation.end(), batch.observation, batch.observation + 72 * n);
      const auto* lists = reinterpret_cast<const std::int16_t*>(batch.mask);
      action.insert(action.end(), lists, lists + kMaxLegal * n);
      count.insert(count.end(), batch.action_count, batch.action_count + n);
      for (std::int64_t i = 0; i < n; ++i) {
        choice.push_back(random() % batch.action_count[i]);
        actions[i] = lists[kMaxLegal * i + choice.back()];
        old.push_back(-std::log(static_cast<T>(batch.action_count[i])));
        advantage.push_back(static_cast<T>(random() % 1000) / 500 - 1);
        outcome.push_back(advantage.back() / 2);
        uniform.push_back(static_cast<double>(random()) / 4294967296);
      }
      if (serial::step(batch, actions.data()) < 0) fail("a listed action was refused");
    }
    for (std::int64_t i = 0; i < rows; ++i) order.push_back((i * 7) % rows);
    // As if search had found the action that was played, and half as often the first.
    policy.resize(kMaxLegal * rows);
    for (std::int64_t i = 0; i < rows; ++i) {
      policy[kMaxLegal * i] += static_cast<T>(1) / 3;
      policy[kMaxLegal * i + choice[i]] += static_cast<T>(2) / 3;
    }
  }

  BatchPositions positions() const {
    return {reinterpret_cast<const std::int8_t*>(observation.data()), action.data(), count.data(),
            order.data(), rows};
  }
  PpoBatch<T> minibatch() const {
    return {positions(),    choice.data(), old.data(), advantage.data(),
            outcome.data(), 0.2,           0.5,        0.01};
  }
  SearchBatch<T> searched() const { return {positions(), policy.data(), outcome.data(), 0.5}; }

  std::int64_t rows;
  std::vector<std::uint8_t> observation;
  std::vector<std::int16_t> action, count;
  std::vector<std::int64_t> choice, order;
  std::vector<T> old, advantage, outcome, policy;
  std::vector<double> uniform;
};

// All weights after some minibatches, and what was chosen and expected before each.
template <class U, class T = Accum<U>>
std::vector<T> learnt(const Played<T>& played, int rounds, std::int32_t threads, bool amx = false) {
  Memory<U> memory(played.rows, amx);
  ThreadPool pool(threads);
  const Workers workers{calls::rungs_pool_run, reinterpret_cast<std::uintptr_t>(&pool), threads};
  const BatchPositions batch = played.positions();
  const PpoBatch<T> minibatch = played.minibatch();
  const SearchBatch<T> searched = played.searched();
  std::vector<T> score(kMaxLegal * played.rows);
  std::vector<std::int64_t> chosen(played.rows), choice(played.rows);
  std::vector<T> log_probability(played.rows), value(played.rows), again(played.rows), all;
  for (int round = 1; round <= rounds; ++round) {
    prepare(memory.model, workers);
    sample(memory.model,
           {batch.observation, batch.action, batch.count, played.uniform.data(), chosen.data(),
            choice.data(), log_probability.data(), value.data(), played.rows},
           workers);
    values(memory.model, batch.observation, played.rows, again.data(), workers);
    if (again != value) fail("a value is another");
    evaluate(memory.model, batch.observation, batch.action, batch.count, played.rows, kMaxLegal,
             score.data(), again.data(), workers);
    if (again != value) fail("a value is another beside scores");
    all.insert(all.end(), score.begin(), score.end());
    for (std::int64_t i = 0; i < played.rows; ++i) {
      if (choice[i] < 0 || choice[i] >= played.count[i]) fail("no legal action was chosen");
      if (played.action[i * kMaxLegal + choice[i]] != chosen[i]) fail("its place is another");
    }
    all.insert(all.end(), log_probability.begin(), log_probability.end());
    all.insert(all.end(), value.begin(), value.end());
    LossTerms terms;
    if (gradients(memory.model, batch, PpoLoss<T>(minibatch), terms, workers) >= 0)
      fail("a position can't be read");
    if (!(terms.entropy > 0 && terms.value > 0)) fail("no loss");
    adam_step(memory.model, {1e-3, 1e-5, 0.5, 2 * round - 1}, workers);
    if (gradients(memory.model, batch, SearchLoss<T>(searched), terms, workers) >= 0)
      fail("a searched position can't be read");
    if (!(terms.policy > 0 && terms.value > 0)) fail("no loss of search");
    adam_step(memory.model, {1e-3, 1e-5, 0.5, 2 * round}, workers);
    memory.check_fences();
  }
  const Parameters<T>& parameters = memory.model.parameters;
  all.insert(all.end(), parameters.weights, parameters.weights + kWeights);
  return all;
}

template <class U>
void check(int rounds, bool amx = false) {
  using T = Accum<U>;
  for (const auto& [boards, steps] : {std::pair{1, 3}, {13, 5}, {40, 6}}) {
    const Played<T> played(boards, steps);
    const std::vector<T> one = learnt<U>(played, rounds, 1, amx);
    for (const std::int32_t threads : {2, 3})
      if (std::memcmp(learnt<U>(played, rounds, threads, amx).data(), one.data(),
                      sizeof(T) * one.size()))
        fail("other threads, other bits");
  }
}

int main(int argc, char** arguments) {
  const int rounds = std::atoi(arguments[1]);
  if (argc > 2) {
    const Played<float> played(40, 6);
    learnt<float>(played, rounds, 1);
    std::printf("%d\n", static_cast<int>(played.rows) * rounds);
    return 0;
  }
  check<float>(rounds);
  check<double>(rounds);
  if constexpr (kHasBf16) {
    check<bf16x2>(rounds);
    if (request_amx()) check<bf16x2>(rounds, true);
  }
  std::printf("learnt\n");
}
