// Whether helper threads pay off, decided by timing the calls of the running program.
//
// What a second thread saves depends on what the rest of the program and of the machine does: after
// a matrix product or next to another process it may cost more than it saves. So calls are timed.
// If a call with helpers takes longer than one without, the difference is added to a debt; if it
// takes less, that is paid back. Helpers are used while the debt is small. Then the caller works
// alone, and pays the debt back by a 64th of the time of its calls, until helpers are tried again.
// So helpers that don't pay off cost about a 64th of the time, and a call that took milliseconds,
// because a helper was descheduled in it, is made up for before the next trial.
#pragma once
#include <algorithm>
#include <cstdint>

namespace rungs {

// What is known of one kind of call. Zeros are the state before the first.
struct Payoff {
  bool alone;               // whether the next call is to be made without helpers
  std::int32_t calls;       // how many were made since `alone` changed,
  std::int64_t time;        // and how long they took, in nanoseconds, as all times here
  std::int64_t alone_time;  // what a call takes without helpers; 0: not known yet
  std::int64_t debt;        // below 0: what helpers have saved

  // Adds a call, made as `alone` says, that took `taken`.
  void add(std::int64_t taken) {
    ++calls;
    time += taken;
    const bool was_alone = alone;
    if (alone)
      add_alone(taken);
    else
      add_helped(taken);
    if (alone != was_alone) calls = 0, time = 0;
  }

 private:
  static constexpr std::int64_t kMillisecond = 1'000'000;
  // A trial ends when the debt exceeds this plus half of a call.
  static constexpr std::int64_t kMaxDebt = kMillisecond / 10;
  // The limit of savings (a debt below 0): what it costs when a helper is descheduled in a call.
  static constexpr std::int64_t kMaxSaved = 4 * kMillisecond;
  static constexpr std::int64_t kRepaidShare = 64;
  // The first kFirst calls have helpers. The first kUnsettled calls after a change don't count:
  // boards come from the other threads' caches. Calls are made alone for kLearning at least, to
  // learn what they take; this is done again after helpers were used for kTrusted.
  static constexpr std::int32_t kFirst = 8, kUnsettled = 2;
  static constexpr std::int64_t kLearning = kMillisecond, kTrusted = 500 * kMillisecond;

  void add_helped(std::int64_t taken) {
    if (!alone_time) {
      alone = calls >= kFirst;
      return;
    }
    debt = std::max(debt + taken - alone_time, -kMaxSaved);
    alone = debt > kMaxDebt + alone_time / 2 || time > kTrusted;
  }

  void add_alone(std::int64_t taken) {
    if (calls > kUnsettled) {
      if (!alone_time) alone_time = taken;
      // Follows fast calls more than slow ones, whose causes would slow helpers down, too.
      const std::int64_t longer = std::min(taken, 2 * alone_time) - alone_time;
      alone_time += longer / (longer < 0 ? 4 : 16);
    }
    if (debt > 0) debt = std::max(debt - taken / kRepaidShare, std::int64_t{0});
    alone = debt > 0 || calls <= 2 * kUnsettled || time < kLearning;
  }
};

}  // namespace rungs
