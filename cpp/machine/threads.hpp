// Whether the system gives as many threads as are asked for, found out before a runtime does that
// ends the process where it is refused one.
#pragma once
#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace rungs::machine {

namespace detail {

// Waits until the gate opens.
inline void* wait_at(void* gate) {
  auto* mutex = static_cast<pthread_mutex_t*>(gate);
  pthread_mutex_lock(mutex);
  pthread_mutex_unlock(mutex);
  return nullptr;
}

}  // namespace detail

// How many threads there can be at once, the calling one among them, up to `number`: they are
// started, each with a stack of so many bytes, and end. Throws nothing.
inline std::int32_t startable_threads(std::int32_t number, std::size_t stack_bytes) {
  const std::unique_ptr<pthread_t[]> threads(new (std::nothrow)
                                                 pthread_t[static_cast<std::size_t>(number)]);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&gate);
  std::int32_t given = 1;
  while (threads && given < number &&
         !pthread_create(&threads[given], &attributes, detail::wait_at, &gate))
    ++given;
  pthread_mutex_unlock(&gate);
  for (std::int32_t t = 1; t < given; ++t) pthread_join(threads[t], nullptr);
  pthread_attr_destroy(&attributes);
  return given;
}

}  // namespace rungs::machine
