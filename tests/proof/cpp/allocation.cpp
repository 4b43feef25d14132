// Nothing is allocated in `reset` and `step`.
//   allocation STEPS: counts calls of the allocator during steps of 16 boards in every format.
// Link with -Wl,--wrap for each function below.
#include <initializer_list>

#include "boards.hpp"

int calls = 0;

extern "C" {
void* __real_malloc(std::size_t);
void* __real_calloc(std::size_t, std::size_t);
void* __real_realloc(void*, std::size_t);
void* __wrap_malloc(std::size_t n) { return ++calls, __real_malloc(n); }
void* __wrap_calloc(std::size_t n, std::size_t size) { return ++calls, __real_calloc(n, size); }
void* __wrap_realloc(void* old, std::size_t n) { return ++calls, __real_realloc(old, n); }
}

// The C++ library's own call of malloc is not ours to wrap.
void* operator new(std::size_t n) { return std::malloc(n); }
void operator delete(void* pointer) noexcept { std::free(pointer); }
void operator delete(void* pointer, std::size_t) noexcept { std::free(pointer); }

int main(int, char** arguments) {
  using namespace rungs;
  const chess::Position start = chess::start_position();
  for (int observation = 0; observation < env::kObservationFormats; ++observation)
    for (const auto mask : {env::MaskFormat::BOOL, env::MaskFormat::BITS, env::MaskFormat::LIST}) {
      env::ChessConfig config = short_games(&start);
      config.observation = static_cast<env::ObservationFormat>(observation);
      config.mask = mask;
      Boards boards(16, config);
      std::vector<std::int64_t> actions(16);
      if (!calls) fail("the count does not count");
      calls = 0;
      serial::reset(boards.batch, nullptr, 0);
      for (int step = 0; step < std::atoi(arguments[1]); ++step) {
        for (int i = 0; i < 16; ++i) actions[i] = env::nth_action(boards.taken(i), 0);
        serial::step(boards.batch, actions.data());
      }
      if (calls) fail("a step allocated memory");
    }
  std::printf("nothing allocated\n");
}
