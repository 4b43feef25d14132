// A thread pool that takes work in chunks, and never waits for a thread that has claimed none.
//
// OpenMP's join waits for every thread, even for one that has not woken up yet or whose core runs
// another process. Here the caller works like the other members, and a member that has finished its
// own chunks steals those of others. So a thread that does not run costs nothing; one that is
// descheduled within a chunk delays the call once, and is then left out for a while (backoff).
//
// Chunks are assigned in ranges, in the same order in every call, so that a board is mostly stepped
// on the core that stepped it before. A range is one atomic word: the *epoch*, which counts the
// passes of all calls, and the number of chunks left. A member that wakes up late finds another
// epoch there, or nothing left. Everything else about a pass is read only by members that have
// claimed one of its chunks, and `run` waits for these.
#pragma once
#include <pthread.h>
#include <sched.h>
#include <unistd.h>
#ifndef __wasi__
#include <signal.h>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <new>

namespace rungs {

namespace detail {

// While it exists, threads are started with all signals blocked: signals go to the threads that
// were there before. (Windows' threads receive none, and WASI has neither.)
struct NoSignals {
#if !defined(_WIN32) && !defined(__wasi__)
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
  sigset_t before;
#endif
};

// A thread's stack, of at least 2 MiB: musl's default of 128 KiB is less than a network's forward
// pass needs.
struct Stack {
  Stack() {
    constexpr std::size_t kBytes = 2 << 20;
    std::size_t bytes = 0;
    pthread_attr_init(&attributes);
    pthread_attr_getstacksize(&attributes, &bytes);
    if (bytes < kBytes) pthread_attr_setstacksize(&attributes, kBytes);
  }
  ~Stack() { pthread_attr_destroy(&attributes); }
  pthread_attr_t attributes;
};

}  // namespace detail

class ThreadPool {
 public:
  // Starts threads: `threads` in all, including the one that calls `run`, or as many as the system
  // can start (see `size`).
  explicit ThreadPool(std::int32_t threads)
      : members_(new (std::nothrow) Member[static_cast<std::size_t>(threads)]) {
    if (!members_) return;
    [[maybe_unused]] const detail::NoSignals while_starting;
    const detail::Stack stack;
    for (size_ = 1; size_ < threads; ++size_) {
      Member& next = members_[size_];
      next.pool = this;
      next.number = size_;
      if (pthread_create(&next.thread, &stack.attributes, help, &next)) break;
    }
  }
  ThreadPool(const ThreadPool&) = delete;

  // Ends the threads. No call of `run` may be in progress.
  ~ThreadPool() {
    ending_ = true;
    for (std::int32_t i = 1; i < size_; ++i) call(members_[i], epoch_ + 1);
    for (std::int32_t i = 1; i < size_; ++i) pthread_join(members_[i].thread, nullptr);
  }

  // The number of threads, including the caller's.
  std::int32_t size() const { return size_; }

  // Calls `work(chunk)` for every chunk from 0 to `chunks` - 1, on at most `threads` threads, and
  // returns the sum of the results. Only one thread may call it at a time.
  template <class Work>
  std::int64_t run(std::int32_t threads, std::int64_t chunks, const Work& work) {
    return run_passes(threads, chunks, 1, [&](int, std::int64_t chunk) { return work(chunk); });
  }

  // The same in passes: calls `work(0, chunk)` for every chunk, and once all of them are done
  // `work(1, chunk)` for every chunk, and so on.
  template <class Work>
  std::int64_t run_passes(std::int32_t threads, std::int64_t chunks, int passes, const Work& work) {
    const Time start = Clock::now();
    leave_caller_its_core();
    const auto limit = static_cast<std::int32_t>(std::min<std::int64_t>(chunks, size_));
    const std::int32_t present = select_helpers(std::min(threads, limit), start);
    std::int64_t sum = 0;
    if (present <= 1) {
      for (int pass = 0; pass < passes; ++pass)
        for (std::int64_t chunk = 0; chunk < chunks; ++chunk) sum += work(pass, chunk);
      age_ += Clock::now() - start;
      return sum;
    }
    work_ = [](const void* body, int pass, std::int64_t chunk) -> std::int64_t {
      return (*static_cast<const Work*>(body))(pass, chunk);
    };
    body_ = &work;
    sum -= total_sum();
    for (pass_ = 0; pass_ < passes; ++pass_) {
      done_ += chunks;
      assign_chunks(present, chunks);
      take(members_[0], epoch_);
      await_claimed(start);
    }
    const Time end = Clock::now();
    back_off_absent(end, end - start);
    age_ += end - start;
    return sum + total_sum();
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;

  // How long a waiting thread spins before it sleeps: about as long as waking takes.
  static constexpr std::chrono::microseconds kAwake{50};
  // A member is left out for this many times as long as it was waited for, measured in time spent
  // in calls; and for at most this long by the clock.
  static constexpr int kBackoffFactor = 16;
  static constexpr std::chrono::seconds kMaxBackoff{1};
  // A member is left out when the calls that it missed took this much longer, in sum, than those
  // that it helped in. The limit is not lower because a core that was idle takes milliseconds to
  // wake up, longer than a call may take: a member that is left out for that would be as late at
  // the next trial, and never come back. A member that shares a core with another runtime's
  // spinning thread helps now and then, and delays the others.
  static constexpr std::chrono::milliseconds kMaxMissCost{20};

  struct Member {
    // Written by the caller; `left` is also what members claim chunks from.
    alignas(64) std::atomic<std::uint64_t> left{0};  // the epoch, and the number of chunks left
    std::int64_t end = 0;                            // of its chunks
    std::atomic<std::uint32_t> called{0};            // the last epoch that it is to help in

    // Written by the member: how many chunks it has claimed and done since it was started.
    alignas(64) std::atomic<std::int64_t> claimed{0};
    std::atomic<std::int64_t> done{0};
    std::int64_t sum = 0;  // of what they returned

    // Read and written by the caller alone.
    alignas(64) bool present = false, stopped = false;
    Clock::duration miss_cost{};          // how much longer the calls took that it missed
    Clock::duration backoff{};            // for how long it is left out, or was the last time:
    Clock::duration backoff_until_age{};  // until all calls together have taken this long,
    Time backoff_until{};                 // or until this time
    std::int64_t claimed_before = 0;

    ThreadPool* pool = nullptr;
    std::int32_t number = 0;
    pthread_t thread{};
#ifdef __linux__
    bool lent = false;      // whether the caller's core was taken from it,
    cpu_set_t left_with{};  // and which cores it was left with
#endif
  };

  static void* help(void* member) {
    Member& own = *static_cast<Member*>(member);
    ThreadPool& pool = *own.pool;
    for (std::uint32_t epoch = 0;;) {
      epoch = await_other(own.called, epoch);
      if (pool.ending_) return nullptr;
      pool.take(own, epoch);
    }
  }

  // Waits until `number` differs from `known`, and returns it.
  static std::uint32_t await_other(const std::atomic<std::uint32_t>& number, std::uint32_t known) {
    std::uint32_t now = known;
    stay_awake(kAwake, [&] { return (now = number.load(std::memory_order_acquire)) != known; });
    while (now == known) {
      number.wait(known, std::memory_order_acquire);
      now = number.load(std::memory_order_acquire);
    }
    return now;
  }

  // Spins until `condition()` holds, for at most `time`; returns whether it held.
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

  // Selects which of the first `threads` members help in a call; returns how many, including the
  // caller.
  std::int32_t select_helpers(std::int32_t threads, Time now) {
    std::int32_t present = 0;
    for (std::int32_t i = 0; i < size_; ++i) {
      Member& member = members_[i];
      member.present =
          i < threads && (member.backoff_until_age <= age_ || member.backoff_until <= now);
      member.claimed_before = member.claimed.load(std::memory_order_relaxed);
      present += member.present;
    }
    return present;
  }

  // Assigns a range of chunks to each selected member, and wakes it.
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
      first = member.end;
    }
    for (std::int32_t i = 1; i < size_; ++i)
      if (members_[i].present) call(members_[i], epoch_);
  }

  // Keeps the helpers off the caller's core. Linux may wake a thread on the core of the thread that
  // wakes it, though others are idle: there it preempts the caller, or waits for milliseconds, each
  // time. Later each gets its core back, unless the user has removed that from the process
  // (`taskset --all-tasks`) or has given the helper other cores meanwhile.
  void leave_caller_its_core() {
#ifdef __linux__
    const int core = sched_getcpu();
    if (core < 0 || core == callers_) return;
    cpu_set_t process;
    if (sched_getaffinity(getpid(), sizeof process, &process)) return;
    const bool give_back = callers_ >= 0 && CPU_ISSET(callers_, &process);
    for (std::int32_t i = 1; i < size_; ++i) {
      Member& member = members_[i];
      cpu_set_t cores;
      if (pthread_getaffinity_np(member.thread, sizeof cores, &cores)) continue;
      const bool as_left = member.lent && CPU_EQUAL(&cores, &member.left_with);
      if (give_back && as_left) CPU_SET(callers_, &cores);
      member.lent = CPU_ISSET(core, &cores);
      CPU_CLR(core, &cores);
      if (CPU_COUNT(&cores)) pthread_setaffinity_np(member.thread, sizeof cores, &cores);
      member.left_with = cores;
    }
    callers_ = core;
#endif
  }

  // Does the chunks left: of the member's own range first, then of the others'.
  void take(Member& own, std::uint32_t epoch) {
    for (std::int32_t i = 0; i < size_; ++i) {
      Member& from = members_[(own.number + i) % size_];
      for (std::int64_t chunk; (chunk = claim(from, epoch)) >= 0;) {
        own.claimed.fetch_add(1, std::memory_order_relaxed);
        own.sum += work_(body_, pass_, chunk);
        own.done.fetch_add(1);
        if (asleep_) {
          done_signal_.fetch_add(1);
          done_signal_.notify_one();
        }
      }
    }
  }

  // Claims the next chunk of a range; returns -1 if none is left.
  static std::int64_t claim(Member& from, std::uint32_t epoch) {
    std::uint64_t left = from.left.load(std::memory_order_relaxed);
    while (left >> 32 == epoch && static_cast<std::uint32_t>(left))
      if (from.left.compare_exchange_weak(left, left - 1, std::memory_order_acq_rel,
                                          std::memory_order_relaxed))
        return from.end - static_cast<std::uint32_t>(left);
    return -1;
  }

  // Waits for the chunks that others have claimed.
  void await_claimed(Time start) {
    const Time idle = Clock::now();
    const std::int64_t own = members_[0].claimed - members_[0].claimed_before;
    // By then each should have finished a chunk.
    const auto patience = kAwake + 4 * (idle - start) / std::max<std::int64_t>(own, 1);
    if (!stay_awake(patience, [&] { return all_done(); })) await_stopped(idle);
  }

  // Backs off members that have claimed nothing in too many calls, of which the last took `time`.
  void back_off_absent(Time now, Clock::duration time) {
    for (std::int32_t i = 1; i < size_; ++i) {
      Member& member = members_[i];
      if (!member.present) continue;
      if (member.claimed.load(std::memory_order_relaxed) != member.claimed_before) {
        member.miss_cost -= std::min(member.miss_cost, time);
      } else if ((member.miss_cost += time) > kMaxMissCost) {
        back_off(member, now, member.miss_cost);
      }
    }
  }

  // Sleeps until all is done, so that a descheduled member may run on this core.
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

  // Leaves a member out: at least twice as long as the last time, if less time has passed since.
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
  std::int64_t done_ = 0;              // the number of chunks of all calls
  Clock::duration age_{};              // the time that all calls took
  [[maybe_unused]] int callers_ = -1;  // the core where the caller was last
  std::int64_t (*work_)(const void*, int, std::int64_t) = nullptr;
  const void* body_ = nullptr;
  int pass_ = 0;
  alignas(64) std::atomic<bool> asleep_{false};  // the caller, until `done_signal_` changes
  std::atomic<std::uint32_t> done_signal_{0};
};

// Starts a pool of `threads` threads; null if the system gives only `given`.
inline ThreadPool* start_pool(std::int32_t threads, std::int32_t& given) {
  auto* pool = new (std::nothrow) ThreadPool(threads);
  given = pool ? pool->size() : 1;
  if (given == threads) return pool;
  delete pool;
  return nullptr;
}

}  // namespace rungs
