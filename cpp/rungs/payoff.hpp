// Who makes a call in the least time, decided by timing the calls of the running program.
//
// What other threads save depends on what the rest of the program and of the machine does: after a
// matrix product or next to another process they may cost more than they save. So calls are timed.
// The way that took the least time is kept, and the others are tried now and then. The time that a
// way loses on trial, compared with the best one, is its debt, which is paid back by a 256th of the
// time of later calls before it is tried again. In the long run trials cost less than a hundredth
// of the time.
// A way's first lost trials may be chance, in a race of milliseconds: an eighth of the first one's
// debt has to be paid back, a quarter of the second's, half of the third's.
// Helpers that are kept save up, compared with the caller alone, for calls that take milliseconds,
// because a helper was descheduled in them. When they have lost more than they saved, the caller
// works alone, and the loss is their debt.
#pragma once
#include <algorithm>
#include <cstdint>

namespace rungs {

// Who makes a call: a pool of our own, the caller alone, or the threads that run OpenMP's loops in
// this process, as PyTorch's. Those are awake for milliseconds after a loop, and a pool's would
// have to take the cores from them.
enum class Helpers : std::int32_t { POOL, NONE, TEAM };

// What is known of one kind of call. Zeros are the state before the first.
struct Payoff {
  // Returns who is to make the next call; `has_team`: whether there is a team.
  Helpers next(bool has_team) {
    if (!has_team && (best == Helpers::TEAM || current == Helpers::TEAM)) *this = {};
    return current;
  }

  // Adds a call, made as `next` said, that took `taken` nanoseconds, as all times here.
  void add(std::int64_t taken, bool has_team) {
    ++calls;
    time += taken;
    if (calls > kUnsettled) of(current).follow(taken);
    if (current == best)
      keep(taken, has_team);
    else
      judge(taken);
  }

  struct Way {
    std::int64_t usual;  // what a call takes; 0: not known yet
    std::int64_t debt;   // what it has lost and not paid back; below 0: what it has saved
    std::int64_t lost_trials;

    // Follows fast calls more than slow ones, whose causes would slow other ways down, too.
    void follow(std::int64_t taken) {
      if (!usual) usual = taken;
      const std::int64_t longer = std::min(taken, 2 * usual) - usual;
      usual += longer / (longer < 0 ? 4 : 16);
    }
  };

  Helpers best, current;  // the way that is kept, and that of the next call: another on trial
  std::int32_t calls;     // how many were made since `current` changed,
  std::int64_t time;      // and how long they took
  Way ways[3];

 private:
  static constexpr std::int64_t kMillisecond = 1'000'000;
  // The limit of savings (a debt below 0): what it costs when a helper is descheduled in a call.
  static constexpr std::int64_t kMaxSaved = 4 * kMillisecond;
  static constexpr std::int64_t kRepaidShare = 256;
  // Calls before the first trial and in a trial, which also lasts kTrial at least. The first
  // kUnsettled calls after a change don't count: boards come from the other threads' caches.
  static constexpr std::int32_t kFirst = 4, kTrialCalls = 6, kUnsettled = 2;
  static constexpr std::int64_t kTrial = kMillisecond;

  Way& of(Helpers helpers) { return ways[static_cast<int>(helpers)]; }

  // The debt at which a way is left for one whose calls take `usual`.
  static std::int64_t max_debt(std::int64_t usual) { return kMillisecond / 10 + usual / 2; }

  void change(Helpers to) {
    current = to;
    calls = 0, time = 0;
  }

  // After a call on trial.
  void judge(std::int64_t taken) {
    Way& own = of(current);
    const std::int64_t usual = of(best).usual;
    own.debt += taken - usual;
    const bool ruinous = own.debt > max_debt(usual);
    if (!ruinous && (calls < kTrialCalls || time < kTrial)) return;
    const Helpers loser = ruinous || own.usual >= usual ? current : best;
    Way& way = of(loser);
    way.debt =
        std::max(way.debt, max_debt(usual)) >> std::max<std::int64_t>(0, 3 - way.lost_trials++);
    if (loser == best) best = current;
    change(best);
  }

  // After a call by the best way.
  void keep(std::int64_t taken, bool has_team) {
    Way& own = of(best);
    if (const std::int64_t alone = of(Helpers::NONE).usual; alone && best != Helpers::NONE) {
      own.debt = std::max(own.debt + taken - alone, -kMaxSaved);
      if (own.debt > max_debt(alone)) return change(best = Helpers::NONE);
    }
    if (calls < kFirst) return;
    for (const Helpers other : {Helpers::NONE, Helpers::POOL, Helpers::TEAM}) {
      if (other == best || (other == Helpers::TEAM && !has_team)) continue;
      Way& way = of(other);
      if ((way.debt -= taken / kRepaidShare) > 0) continue;
      way.debt = 0;
      return change(other);
    }
  }
};

}  // namespace rungs
