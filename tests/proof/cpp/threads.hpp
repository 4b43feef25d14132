// The thread pool: every chunk is done once in each pass, whichever thread is late, stopped or
// asleep; helpers are called where they pay off; and boards that it steps are those that one thread
// steps.
#pragma once
#include <array>
#include <chrono>
#include <thread>

#include "boards.hpp"
#include "rungs/cpu_loops.hpp"

namespace rungs {

// Chunks of a call, and how long each takes, are drawn at random; between calls the pool may fall
// asleep, and a member that is put to sleep in a chunk is waited for and then left out.
inline void check_pool(std::int32_t threads, int rounds) {
  ThreadPool pool(threads);
  if (pool.size() != threads) fail("no threads");
  std::uint32_t random = 1;
  const auto draw = [&](std::uint32_t below) {
    random = random * 1664525 + 1013904223;
    return (random >> 8) % below;
  };
  const std::thread::id caller = std::this_thread::get_id();
  std::vector<int> times;  // plain: that one member alone writes to each, the sanitizer sees
  for (int round = 0; round < rounds; ++round) {
    const auto chunks = static_cast<std::int64_t>(draw(40));
    const auto used = static_cast<std::int32_t>(1 + draw(threads + 1));
    const auto slow = static_cast<std::int64_t>(draw(80));
    const auto passes = static_cast<int>(1 + draw(2));
    times.assign(chunks, 0);
    std::atomic<std::int64_t> first_pass = 0;
    const std::int64_t sum =
        pool.run_passes(used, chunks, passes, [&](int pass, std::int64_t chunk) {
          if (chunk % 8 == slow)  // one that the caller is in gives the others time to come
            std::this_thread::sleep_for(
                std::chrono::microseconds(std::this_thread::get_id() == caller ? 300 : 3000));
          if (pass == 0)
            ++first_pass;
          else if (first_pass != chunks)
            fail("a pass began before the one before it was over");
          ++times[chunk];
          return chunk + 1;
        });
    for (const int each : times)
      if (each != passes) fail("a chunk was not done once in each pass");
    if (sum != passes * chunks * (chunks + 1) / 2) fail("the sum is another");
    if (draw(20) == 0) std::this_thread::sleep_for(std::chrono::microseconds(draw(200)));
  }
}

// Teams begin and end, also at once.
inline void check_ends(std::int32_t threads) {
  for (int round = 0; round < 20; ++round) {
    ThreadPool pool(threads);
    if (round % 2) pool.run(threads, round, [](std::int64_t) { return 0; });
  }
}

// Who was stopped within a chunk is left out, and comes back.
inline void check_rest() {
  using std::chrono::milliseconds, std::chrono::steady_clock;
  ThreadPool pool(2);
  const std::thread::id caller = std::this_thread::get_id();
  // Whether the other member claims a chunk in so long, which it takes some time for.
  const auto helps = [&](milliseconds wait, milliseconds stopped) {
    std::atomic<bool> came = false;
    pool.run(2, 2, [&](std::int64_t) {
      if (std::this_thread::get_id() != caller) {
        came = true;
        std::this_thread::sleep_for(stopped);
      }
      for (const auto end = steady_clock::now() + wait; !came && steady_clock::now() < end;)
        std::this_thread::yield();
      return 0;
    });
    return came.load();
  };
  const auto becomes = [&](bool helping) {
    for (int tries = 0; tries < 1000; ++tries)
      if (helps(milliseconds(20), milliseconds(helping ? 0 : 90)) == helping) return true;
    return false;
  };
  if (!becomes(false)) fail("a stopped thread is never left out");
  if (!becomes(true)) fail("a stopped thread never comes back");
}

// The share of its time that a program loses with calls that take 100 us alone, `pool(call, nth)`
// with a pool, in the `nth` call after others, and `team(call, nth)` with a team, 0 where there is
// none; below 0 if it gains.
template <class Pool, class Team>
inline double loss(const Pool& pool, const Team& team, int calls = 100'000) {
  constexpr std::int64_t kAlone = 100'000;
  Payoff payoff{};
  std::int64_t taken = 0;
  Helpers last = Helpers::NONE;
  for (int call = 0, nth = 0; call < calls; ++call) {
    const bool has_team = team(call, 1) > 0;
    const Helpers helpers = payoff.next(has_team);
    nth = helpers == last ? nth + 1 : 1;
    last = helpers;
    const std::int64_t time = helpers == Helpers::NONE   ? kAlone
                              : helpers == Helpers::POOL ? pool(call, nth)
                                                         : team(call, nth);
    payoff.add(time, has_team);
    taken += time;
  }
  return static_cast<double>(taken) / (kAlone * 1.0 * calls) - 1;
}

template <class Pool>
inline double loss(const Pool& pool, int calls = 100'000) {
  return loss(pool, [](int, int) { return 0; }, calls);
}

// Helpers are called where they pay off, and cost next to nothing where they don't. No clock is
// read: the times of calls are made up.
inline void check_payoff() {
  const auto always = [](std::int64_t time) { return [=](int, int) { return time; }; };
  if (loss(always(60'000)) > -0.39) fail("helpers that pay off are not called");
  for (const std::int64_t time : {102'000, 130'000, 300'000, 5'000'000})
    if (loss(always(time)) > 0.01) fail("helpers that don't pay off are called");
  // They sleep, and are late in the first calls.
  if (loss([](int, int together) { return together < 5 ? 110'000 : 60'000; }) > -0.38)
    fail("helpers that wake up late are not called");
  // One is stopped now and then, for much longer than it saves.
  if (loss([](int call, int) { return call % 50 ? 60'000 : 4'000'000; }) > 0.02)
    fail("helpers that are stopped again and again are called");
  if (loss([](int call, int) { return call > 50'000 && call % 50 == 0 ? 4'000'000 : 60'000; }) >
      -0.18)
    fail("helpers that are stopped from some time on are called");
  // It is stopped once, and then no more.
  if (loss([](int call, int) { return call == 5000 ? 4'000'000 : 60'000; }) > -0.38)
    fail("helpers that were stopped once are not called any more");
  // The first trial falls into a bad moment of a short race.
  if (loss([](int call, int) { return call < 10 ? 400'000 : 60'000; }, 400) > -0.2)
    fail("helpers that were late once are not called in the first 40 milliseconds");
  // They pay off no longer, or only later.
  if (loss([](int call, int) { return call < 50'000 ? 60'000 : 130'000; }) > -0.18)
    fail("helpers that pay off no longer are called");
  if (loss([](int call, int) { return call < 50'000 ? 130'000 : 60'000; }) > -0.18)
    fail("helpers that pay off later are not called");

  // Of a pool and a team, the one that pays off more is called, if any.
  if (loss(always(60'000), always(50'000)) > -0.48) fail("a team that pays off is not called");
  if (loss(always(60'000), always(80'000)) > -0.38) fail("a pool is not called beside a team");
  for (const std::int64_t time : {102'000, 130'000, 5'000'000})
    if (loss(always(130'000), always(time)) > 0.011) fail("a team that doesn't pay off is called");
  // A learner begins, and later ends, whose threads spin where the pool's would run.
  const auto beside = [](std::int64_t without, std::int64_t with) {
    return [=](int call, int) { return call < 30'000 || call > 70'000 ? without : with; };
  };
  if (loss(beside(60'000, 130'000), beside(0, 70'000)) > -0.33)
    fail("a team that is there for a time is not called then");
  if (loss(beside(60'000, 130'000), beside(90'000, 70'000)) > -0.33)
    fail("a team that pays off for a time is not called then");
}

// A step as `Team` calls it; not OpenMP's, whose runtime the thread sanitizer doesn't know.
inline std::int64_t step_by_team(std::uintptr_t batch, const std::int64_t* actions,
                                 std::uintptr_t /*settings*/) {
  return serial::step(*reinterpret_cast<const ChessBatch*>(batch), actions);
}

// Random play by a pool and by one thread, with an illegal action now and then.
inline void check_boards(std::int32_t threads, std::int64_t n, int steps) {
  const chess::Position start = chess::start_position();
  env::ChessConfig config = short_games(&start);
  config.mask = env::MaskFormat::BITS;
  Boards ours(n, config), theirs(n, config);
  ThreadPool pool(threads);
  Payoff payoff{};
  const threads::Team team{step_by_team, 0};
  threads::reset(ours.batch, nullptr, 0, pool, threads);
  serial::reset(theirs.batch, nullptr, 0);
  std::vector<std::int64_t> actions(n);
  for (int step = 0; step < steps; ++step) {
    for (std::int64_t i = 0; i < n; ++i) {
      const chess::LegalActions legal = theirs.taken(i);
      const std::uint32_t bits = env::philox(2, i, 0, step, env::Purpose::OPPONENT);
      actions[i] = env::nth_action(legal, env::below(bits, chess::count(legal)));
    }
    const std::int64_t first = step * 7 % n, second = std::min(first + 40, n - 1);
    const std::int64_t good[] = {actions[first], actions[second]};
    actions[first] = actions[second] = -1;
    if (threads::step(ours.batch, actions.data(), pool, threads) != -1 - first)
      fail("another illegal action was found first");
    actions[first] = good[0];
    if (first != second) actions[second] = good[1];
    // With each kind of helpers and, whatever they pay off, without.
    payoff = {};
    payoff.best = payoff.current =
        std::array{Helpers::POOL, Helpers::NONE, Helpers::TEAM}[step % 3];
    if (threads::step(ours.batch, actions.data(), pool, threads, payoff, team) !=
        serial::step(theirs.batch, actions.data()))
      fail("another number of episodes ended");
    if (!ours.same_state(theirs.blocks)) fail("boards differ");
    ours.check_fences();
  }
}

inline int check_threads(int rounds) {
  check_payoff();
  check_rest();
  for (const std::int32_t threads : {1, 2, 3, 7}) {
    check_pool(threads, rounds);
    check_ends(threads);
    for (const std::int64_t boards : {1, 63, 300}) check_boards(threads, boards, rounds / 40);
  }
  std::printf("played\n");
  return 0;
}

}  // namespace rungs
