// A team of threads that takes work in chunks, and waits for nobody who has taken none.
//
// OpenMP's join waits for every thread, also for one that has not woken yet or whose core the
// system has given to somebody else. Here the caller works as the others do, and whoever has done
// what was meant for it takes what is left of the others'. So a thread that doesn't run costs
// nothing; one that is stopped within a chunk costs what that takes, and is then left out for a
// while.
//
// Chunks are dealt out in ranges, one for each member: a board is stepped where it was before. A
// range is one word, the number of the call of `run`, its *epoch*, and how many chunks are left.
// Whoever wakes late finds another epoch there, or nothing left. All else that a call is about is
// read only by who has claimed a chunk of it, and for that one `run` waits.
#pragma once
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <new>

namespace rungs {

namespace detail {

// While it is there, threads are started that take no signals, as Windows' never do: signals are
// for the threads that were there before.
struct NoSignals {
#ifndef _WIN32
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
  sigset_t before;
#endif
};

}  // namespace detail

class Team {
 public:
  // Starts threads: with the one that calls `run` there are `threads`, or as many as the system
  // gives (see `size`).
  explicit Team(std::int32_t threads)
      : members_(new (std::nothrow) Member[static_cast<std::size_t>(threads)]) {
    if (!members_) return;
    [[maybe_unused]] const detail::NoSignals for_helpers;
    for (size_ = 1; size_ < threads; ++size_) {
      Member& next = members_[size_];
      next.team = this;
      next.number = size_;
      if (pthread_create(&next.thread, nullptr, help, &next)) break;
    }
  }
  Team(const Team&) = delete;

  // Ends its threads, while no `run` is on.
  ~Team() {
    ending_ = true;
    for (std::int32_t i = 1; i < size_; ++i) call(members_[i], epoch_ + 1);
    for (std::int32_t i = 1; i < size_; ++i) pthread_join(members_[i].thread, nullptr);
  }

  // How many threads there are, the caller's among them.
  std::int32_t size() const { return size_; }

  // Calls `work(chunk)` for every chunk from 0 to `chunks` - 1, on `threads` threads at most, and
  // returns the sum of what it returned. It has one caller at a time.
  template <class Work>
  std::int64_t run(std::int32_t threads, std::int64_t chunks, const Work& work) {
    const Time start = Clock::now();
    const auto most = static_cast<std::int32_t>(std::min<std::int64_t>(chunks, size_));
    const std::int32_t present = select_helpers(std::min(threads, most), start);
    std::int64_t sum = 0;
    if (present <= 1) {
      for (std::int64_t chunk = 0; chunk < chunks; ++chunk) sum += work(chunk);
      age_ += Clock::now() - start;
      return sum;
    }
    work_ = [](const void* body, std::int64_t chunk) -> std::int64_t {
      return (*static_cast<const Work*>(body))(chunk);
    };
    body_ = &work;
    sum -= total_sum();
    done_ += chunks;
    assign_chunks(present, chunks);
    take(members_[0], epoch_);
    finish(start);
    age_ += Clock::now() - start;
    return sum + total_sum();
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;

  // How long who waits stays awake: about as long as waking takes.
  static constexpr std::chrono::microseconds kAwake{50};
  // How many times as long as it was waited for a member is left out, by the time that calls take,
  // and for how long at most, by the clock.
  static constexpr int kBackoffFactor = 16;
  static constexpr std::chrono::seconds kMaxBackoff{1};
  // How much longer calls may take that a member comes too late for than those that it comes to. A
  // core that has been idle for long takes milliseconds to wake, which is more than a call may
  // take: whoever is left out for that is as late at the next trial, and never comes back. It costs
  // nothing meanwhile. Whoever shares a core with another runtime's waiting thread comes now and
  // then, and is in the way.
  static constexpr std::chrono::milliseconds kMaxMissCost{20};

  struct Member {
    // What the caller says, and what all claim from.
    alignas(64) std::atomic<std::uint64_t> left{0};  // the epoch, and how many chunks are left
    std::int64_t end = 0;                            // of its chunks
    std::atomic<std::uint32_t> called{0};            // the last epoch that it is to help in

    // What it says: how many chunks it has claimed and done since it was started.
    alignas(64) std::atomic<std::int64_t> claimed{0};
    std::atomic<std::int64_t> done{0};
    std::int64_t sum = 0;  // of what they returned

    // What the caller alone knows.
    alignas(64) bool present = false, stopped = false;
    Clock::duration miss_cost{};  // how much longer calls took that it missed than that it came to
    Clock::duration backoff{};    // how long it rests, or did the last time,
    Clock::duration backoff_until_age{};  // which is until calls have taken so long,
    Time backoff_until{};                 // or until then
    std::int64_t claimed_before = 0;

    Team* team = nullptr;
    std::int32_t number = 0;
    pthread_t thread{};
  };

  static void* help(void* member) {
    Member& own = *static_cast<Member*>(member);
    Team& team = *own.team;
    for (std::uint32_t epoch = 0;;) {
      epoch = await_other(own.called, epoch);
      if (team.ending_) return nullptr;
      team.take(own, epoch);
    }
  }

  // Returns what a number is as soon as it is not `known`.
  static std::uint32_t await_other(const std::atomic<std::uint32_t>& number, std::uint32_t known) {
    std::uint32_t now = known;
    stay_awake(kAwake, [&] { return (now = number.load(std::memory_order_acquire)) != known; });
    while (now == known) {
      number.wait(known, std::memory_order_acquire);
      now = number.load(std::memory_order_acquire);
    }
    return now;
  }

  // Looks again and again whether something is so, for a while; returns whether it was.
  template <class Condition>
  static bool stay_awake(Clock::duration time, Condition condition) {
    const Time end = Clock::now() + time;
    do {
      for (int looks = 0; looks < 32; ++looks) {
        if (condition()) return true;
#ifdef __x86_64__
        __builtin_ia32_pause();
#endif
      }
    } while (Clock::now() < end);
    return false;
  }

  static void call(Member& member, std::uint32_t epoch) {
    member.called.store(epoch, std::memory_order_release);
    member.called.notify_one();
  }

  // Notes which of the first so many are to help; returns how many, with the caller.
  std::int32_t select_helpers(std::int32_t threads, Time now) {
    std::int32_t present = 0;
    for (std::int32_t i = 0; i < threads; ++i)
      present += members_[i].present =
          members_[i].backoff_until_age <= age_ || members_[i].backoff_until <= now;
    for (std::int32_t i = threads; i < size_; ++i) members_[i].present = false;
    return present;
  }

  // Gives each who is present a range of chunks, and calls it.
  void assign_chunks(std::int32_t present, std::int64_t chunks) {
    ++epoch_;
    std::int64_t first = 0;
    std::int32_t number = 0;
    for (std::int32_t i = 0; i < size_; ++i) {
      Member& member = members_[i];
      if (!member.present) continue;
      member.end = chunks * ++number / present;
      const auto count = static_cast<std::uint64_t>(member.end - first);
      member.left.store(std::uint64_t{epoch_} << 32 | count, std::memory_order_release);
      member.claimed_before = member.claimed.load(std::memory_order_relaxed);
      first = member.end;
    }
    leave_caller_its_core();
    for (std::int32_t i = 1; i < size_; ++i)
      if (members_[i].present) call(members_[i], epoch_);
  }

  // Keeps the helpers off the caller's core. Linux may wake a thread on the core of who wakes it,
  // though others are idle: it interrupts the caller there, or waits for milliseconds, each time.
  // The core where the caller was before is theirs again, unless the user has taken it from the
  // process meanwhile (`taskset --all-tasks`).
  void leave_caller_its_core() {
#ifdef __linux__
    const int core = sched_getcpu();
    if (core < 0 || core == callers_) return;
    cpu_set_t process;
    if (sched_getaffinity(getpid(), sizeof process, &process)) return;
    const bool give_back = callers_ >= 0 && CPU_ISSET(callers_, &process);
    for (std::int32_t i = 1; i < size_; ++i) {
      cpu_set_t cores;
      if (pthread_getaffinity_np(members_[i].thread, sizeof cores, &cores)) continue;
      if (give_back) CPU_SET(callers_, &cores);
      CPU_CLR(core, &cores);
      if (CPU_COUNT(&cores)) pthread_setaffinity_np(members_[i].thread, sizeof cores, &cores);
    }
    callers_ = core;
#endif
  }

  // Does what is left: of a member's own range first, then of the others'.
  void take(Member& own, std::uint32_t epoch) {
    for (std::int32_t i = 0; i < size_; ++i) {
      Member& from = members_[(own.number + i) % size_];
      for (std::int64_t chunk; (chunk = claim(from, epoch)) >= 0;) {
        own.claimed.fetch_add(1, std::memory_order_relaxed);
        own.sum += work_(body_, chunk);
        own.done.fetch_add(1);
        if (asleep_) {
          done_signal_.fetch_add(1);
          done_signal_.notify_one();
        }
      }
    }
  }

  // Returns the next chunk of a range, or -1.
  static std::int64_t claim(Member& from, std::uint32_t epoch) {
    std::uint64_t left = from.left.load(std::memory_order_relaxed);
    while (left >> 32 == epoch && static_cast<std::uint32_t>(left))
      if (from.left.compare_exchange_weak(left, left - 1, std::memory_order_acq_rel,
                                          std::memory_order_relaxed))
        return from.end - static_cast<std::uint32_t>(left);
    return -1;
  }

  // Waits for the chunks that others have claimed, and leaves out who came too late for too long.
  void finish(Time start) {
    const Time idle = Clock::now();
    const std::int64_t own = members_[0].claimed - members_[0].claimed_before;
    // By then each should have done one.
    const auto patience = kAwake + 4 * (idle - start) / std::max<std::int64_t>(own, 1);
    if (!stay_awake(patience, [&] { return all_done(); })) await_stopped(idle);
    for (std::int32_t i = 1; i < size_; ++i) {
      Member& member = members_[i];
      if (!member.present) continue;
      if (member.claimed.load(std::memory_order_relaxed) != member.claimed_before) {
        member.miss_cost -= std::min(member.miss_cost, idle - start);
      } else if ((member.miss_cost += idle - start) > kMaxMissCost) {
        back_off(member, idle, member.miss_cost);
      }
    }
  }

  // Sleeps until all is done: on this core, too, somebody may run who was stopped elsewhere.
  void await_stopped(Time idle) {
    for (std::int32_t i = 1; i < size_; ++i) {
      Member& member = members_[i];
      member.stopped = member.present && member.claimed != member.done;
    }
    asleep_ = true;
    for (std::uint32_t seen; seen = done_signal_, !all_done();) done_signal_.wait(seen);
    asleep_ = false;
    const Time now = Clock::now();
    for (std::int32_t i = 1; i < size_; ++i)
      if (members_[i].stopped) back_off(members_[i], now, now - idle);
  }

  // Leaves a member out: for twice as long as the last time, where it did not last as long since.
  void back_off(Member& member, Time now, Clock::duration cost) {
    const bool again = age_ - member.backoff_until_age < member.backoff;
    const Clock::duration least = again ? 2 * member.backoff : Clock::duration{};
    member.backoff = std::min<Clock::duration>(std::max(kBackoffFactor * cost, least), kMaxBackoff);
    member.backoff_until_age = age_ + member.backoff;
    member.backoff_until = now + kMaxBackoff;
    member.miss_cost = {};
  }

  bool all_done() const {
    std::int64_t done = 0;
    for (std::int32_t i = 0; i < size_; ++i) done += members_[i].done;
    return done == done_;
  }

  std::int64_t total_sum() const {
    std::int64_t sum = 0;
    for (std::int32_t i = 0; i < size_; ++i) sum += members_[i].sum;
    return sum;
  }

  std::unique_ptr<Member[]> members_;  // the caller first
  std::int32_t size_ = 1;
  std::atomic<bool> ending_{false};
  std::uint32_t epoch_ = 0;
  std::int64_t done_ = 0;              // how many chunks of all calls there were
  Clock::duration age_{};              // how long all calls took
  [[maybe_unused]] int callers_ = -1;  // the core where the caller was last
  std::int64_t (*work_)(const void*, std::int64_t) = nullptr;
  const void* body_ = nullptr;
  alignas(64) std::atomic<bool> asleep_{false};  // the caller, until the bell rings
  std::atomic<std::uint32_t> done_signal_{0};
};

}  // namespace rungs
