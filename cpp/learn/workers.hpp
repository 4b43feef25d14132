// Parallel loops for the learner: on the caller alone, or on a thread pool that may be another
// shared library's.
#pragma once
#include <cstdint>

namespace rungs::learn {

// Calls `work(body, task)` for every task in [0, tasks): `rungs_pool_run` of
// cpp/bindings/thread_pool.cpp.
using Runner = void (*)(std::uintptr_t pool, std::int64_t threads, std::int64_t tasks,
                        std::uintptr_t work, std::uintptr_t body);

struct Workers {
  Runner run;
  std::uintptr_t pool;
  std::int64_t threads;  // 1: the caller alone; `run` and `pool` are not used

  template <class Work>
  void operator()(std::int64_t tasks, const Work& work) const {
    if (threads == 1) {
      for (std::int64_t task = 0; task < tasks; ++task) work(task);
      return;
    }
    void (*const call)(const void*, std::int64_t) = [](const void* body, std::int64_t task) {
      (*static_cast<const Work*>(body))(task);
    };
    run(pool, threads, tasks, reinterpret_cast<std::uintptr_t>(call),
        reinterpret_cast<std::uintptr_t>(&work));
  }
};

}  // namespace rungs::learn
