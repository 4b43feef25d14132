// What the C API's handles (`include/rungs.h`) share: errors, memory, structures with a size, and
// threads. Nothing here throws: exceptions do not go through C.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <new>
#include <string>

#define RUNGS_BUILD
#include "../env/validate.hpp"
#include "../include/rungs.h"
#include "../rungs/thread_pool.hpp"

namespace rungs::c {

// Keeps a message for `rungs_error_message`, and returns the status.
[[gnu::format(printf, 2, 3)]] rungs_status fail(rungs_status status, const char* format, ...);

inline rungs_status null_argument(const char* function) {
  return fail(RUNGS_ERROR_ARGUMENT, "%s: a pointer is null", function);
}

// Fails unless `low` <= `value` <= `high`.
rungs_status check_range(const char* name, std::int64_t value, std::int64_t low, std::int64_t high);

// The same for several settings; the message names the first that is out of its range.
struct Range {
  const char* name;
  std::int64_t value, low, high;
};
rungs_status check_ranges(std::initializer_list<Range> ranges);

// Fails unless all of `count` marks are 0 or 1; null is allowed.
rungs_status check_marks(const std::uint8_t* which, std::int64_t count);

// Fails unless a caller's structure has room for its `size` and is no larger than any version's.
rungs_status check_size(std::size_t size);

// Reads a structure of which a caller, older or newer, knows the first `given->size` bytes. The
// fields that the caller doesn't know keep the values they have in `read`.
template <class Struct>
rungs_status read_structure(const char* name, const Struct* given, Struct& read) {
  const std::size_t size = given->size, known = size < sizeof read ? size : sizeof read;
  if (const auto status = check_size(size)) return status;
  const char* bytes = reinterpret_cast<const char*>(given);
  for (std::size_t i = known; i < size; ++i)
    if (bytes[i]) return fail(RUNGS_ERROR_ARGUMENT, "%s: this library lacks a field", name);
  std::memcpy(&read, given, known);
  return RUNGS_OK;
}

// Writes as much of a structure as a caller knows: the first `size` bytes. Fields that only the
// caller knows are set to 0.
template <class Struct>
void write_structure(Struct values, std::size_t size, Struct* out) {
  values.size = size;
  const std::size_t known = size < sizeof values ? size : sizeof values;
  std::memcpy(out, &values, known);
  std::memset(reinterpret_cast<char*>(out) + known, 0, size - known);
}

// Zeroed arrays that begin on cache lines and live as long as this. The system provides a page when
// it is first written to.
class Memory {
 public:
  Memory() = default;
  Memory(const Memory&) = delete;
  ~Memory() {
    for (int i = 0; i < count_; ++i) std::free(blocks_[i]);
  }

  // Returns null if there is too little memory; `complete` is false from then on.
  template <class T>
  T* array(std::int64_t rows, std::int64_t row = 1) {
    constexpr std::size_t kLine = 64;
    std::size_t bytes = 0;
    const bool fits = !__builtin_mul_overflow(rows, row, &bytes) &&
                      !__builtin_mul_overflow(bytes, sizeof(T), &bytes) &&
                      bytes <= std::numeric_limits<std::size_t>::max() / 2;
    void* block = fits && count_ < kMost ? std::calloc(bytes + kLine, 1) : nullptr;
    if (!block) return complete_ = false, nullptr;
    blocks_[count_++] = block;
    return reinterpret_cast<T*>((reinterpret_cast<std::uintptr_t>(block) + kLine - 1) / kLine *
                                kLine);
  }

  bool complete() const { return complete_; }

 private:
  static constexpr int kMost = 64;  // arrays: a handle has about 30
  void* blocks_[kMost];
  int count_ = 0;
  bool complete_ = true;
};

// A handle's threads, including its caller.
class Pool {
 public:
  Pool() = default;
  Pool(const Pool&) = delete;
  ~Pool() { delete pool_; }

  rungs_status start(std::int32_t threads) {
    if (threads == 1) return RUNGS_OK;
    std::int32_t given = 0;
    pool_ = start_pool(threads, given);
    if (!pool_)
      return fail(RUNGS_ERROR_THREADS, "the system gives %d of %d threads", given, threads);
    threads_ = threads;
    return RUNGS_OK;
  }

  ThreadPool* get() const { return pool_; }  // null for the caller alone
  std::int32_t threads() const { return threads_; }

 private:
  ThreadPool* pool_ = nullptr;
  std::int32_t threads_ = 1;
};

// Makes a handle: reads a configuration, checks it by `check`, and allocates by `fill`.
template <class Config, class Handle>
rungs_status create(const char* name, const Config* config, Config read,
                    rungs_status (*check)(const Config&),
                    rungs_status (*fill)(const Config&, Handle&), Handle** out) {
  if (out) *out = nullptr;
  if (!config || !out) return fail(RUNGS_ERROR_ARGUMENT, "%s_create: a pointer is null", name);
  if (const auto status = read_structure(name, config, read)) return status;
  if (const auto status = check(read)) return status;
  auto* made = new (std::nothrow) Handle;
  if (!made) return fail(RUNGS_ERROR_MEMORY, "there is too little memory");
  const rungs_status status = fill(read, *made);
  if (status)
    delete made;
  else
    *out = made;
  return status;
}

inline const std::uint8_t* as_bytes(const bool* flags) {
  return reinterpret_cast<const std::uint8_t*>(flags);
}

constexpr std::int64_t kMaxThreads = 1024, kMaxInt = std::numeric_limits<std::int32_t>::max();
constexpr const char* kClassicalStart = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

// Parses the FEN of a game that can be played on. With `listed`, at most RUNGS_CHESS_MAX_LEGAL
// actions are legal there and later.
rungs_status parse_start(const char* fen, bool listed, chess::Position& position);

// Writes a FEN to a caller's memory.
rungs_status write_fen(const char* function, const chess::Position& position, char* out,
                       std::size_t size);

// Copies of `count` boards of a batch, and of their histories, null if there are none.
struct Boards {
  // Makes room for boards of all environments.
  rungs_status allocate(std::int64_t num_envs, bool shown);
  // Copies the boards that `which` marks (null: all) of a batch, which must have `num_envs` boards
  // and, if `shown`, histories.
  rungs_status save(const rungs_chess& envs, std::int64_t num_envs, const std::uint8_t* which,
                    bool shown);

  Memory memory;
  std::int64_t count = 0;
  std::int64_t* which = nullptr;  // their numbers
  env::SavedBoard* saved = nullptr;
  env::History* past = nullptr;
};

}  // namespace rungs::c
