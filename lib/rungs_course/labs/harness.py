"""C++ around an answer that is raced: new inputs for every call, so that caching gains nothing.

`race(seed, times, …, out)` makes inputs from a seed, calls the answer, and mixes what it returns
into `out`, again and again; `idle` does the same without the answer. So the data can stay in a
core's own cache, and still no call is repeated. An answer's time is the difference of the two, so
inputs and digest should take less than the answer: they are made eight words at a time.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rungs_course.labs.lab import Call

BLOCK = 512  # inputs that an answer is called with at a time
RACED_CASES = 2  # per call of a race

# SplitMix64's last step, which maps consecutive numbers to pseudo-random ones.
MIXED = """
inline std::uint64_t mixed(std::uint64_t n) {
  n = (n ^ n >> 30) * 0xBF58476D1CE4E5B9;
  n = (n ^ n >> 27) * 0x94D049BB133111EB;
  return n ^ n >> 31;
}
"""

# Inputs and digests are made eight words at a time.
EIGHT_WORDS = """
namespace harness {
typedef std::uint64_t Words __attribute__((vector_size(64)));

inline Words rotated(Words words, int by) { return words << by | words >> (64 - by); }

// Eight Weyl sequences side by side, whose low bits, which repeat, are mixed with high ones. A word
// waits for no more of the one before than a sum.
struct Random {
  Words state;
  explicit Random(std::uint64_t seed) {
    for (int lane = 0; lane < 8; ++lane) state[lane] = mixed(8 * seed + lane);
  }
  Words next() {
    state += 0x9E3779B97F4A7C15;
    return state ^ rotated(state, 23);
  }
  // Fills bytes with what `next` gives: 64 at a time, and as many as are left.
  void fill(void* bytes, std::int64_t count) {
    for (auto* to = static_cast<char*>(bytes); count > 0; to += 64, count -= 64) {
      const Words words = next();
      __builtin_memcpy(to, &words, count < 64 ? count : 64);
    }
  }
};

// Mixes bytes, and where they are: what is not written as it should be changes it.
inline std::uint64_t digest(const void* bytes, std::int64_t count) {
  Words parts[4] = {}, sums = {};  // four, as none need wait for another
  auto* from = static_cast<const char*>(bytes);
  for (; count >= 256; from += 256, count -= 256)
    for (int part = 0; part < 4; ++part) {
      Words words;
      __builtin_memcpy(&words, from + 64 * part, 64);
      parts[part] = rotated(parts[part], 7) + words;
    }
  for (const Words& part : parts) sums = rotated(sums, 7) + part;
  for (; count > 0; from += 64, count -= 64) {
    Words words = {};
    __builtin_memcpy(&words, from, count < 64 ? count : 64);
    sums = rotated(sums, 7) + words;
  }
  std::uint64_t all = 0;
  for (int lane = 0; lane < 8; ++lane) all = std::rotl(all, 7) + sums[lane];
  return all;
}
}  // namespace harness
"""


def for_bitboards(function: str, inputs: Sequence[str], make_inputs: str) -> dict[str, Any]:
    """Returns the harness of a function that maps bitboards to a bitboard, and its race: fields of
    `Lab`.

    `make_inputs` is C++ that sets `NAME[i]` of each input from the random numbers `r(0)`, `r(1)` …
    """
    parameters = "".join(f"const std::uint64_t* {name}, " for name in inputs)
    values = ", ".join(f"{name}[i]" for name in inputs)
    arrays = ", ".join(f"{name}[{BLOCK}]" for name in inputs)
    harness = f"""
void run({parameters}std::uint64_t* out, std::int64_t count) {{
  for (std::int64_t i = 0; i < count; ++i) out[i] = {function}({values});
}}
{MIXED}
template <bool kIdle>
void play(std::uint64_t seed, std::int64_t times, std::uint64_t* out) {{
  alignas(64) std::uint64_t {arrays}, got[{BLOCK}];
  for (std::int64_t time = 0; time < times; ++time) {{
    for (int i = 0; i < {BLOCK}; ++i) {{
      const auto r = [&](int n) {{ return mixed(seed + 8 * ({BLOCK} * time + i) + n); }};
      {make_inputs}
    }}
    if constexpr (kIdle)
      for (int i = 0; i < {BLOCK}; ++i) got[i] = {inputs[-1]}[i];
    else
      run({", ".join(inputs)}, got, {BLOCK});
    for (int i = 0; i < {BLOCK}; ++i) out[i] = std::rotl(out[i], 7) + got[i];
  }}
}}
{
        RACE.format(
            parameters="std::uint64_t seed, std::int64_t times, std::uint64_t* out",
            arguments="seed, times, out",
        )
    }"""
    return {"harness": harness, "race": _race_on_bitboards, "idle": "idle"}


def _race_on_bitboards(rng: np.random.Generator) -> list[Call]:
    """Returns the calls of a race of `for_bitboards`: `Lab.race`."""
    return [Call("race", (int(rng.integers(1 << 62)), 1000, np.zeros(BLOCK, np.uint64)))]


# Two functions of a template `play<kIdle>`, by the names that a race calls.
RACE = """
void race({parameters}) {{ play<false>({arguments}); }}
void idle({parameters}) {{ play<true>({arguments}); }}
"""


def for_case(case: str, *, bounded: bool = False) -> dict[str, Any]:
    """Returns the harness of a kernel that works on arrays of its own, and its race: fields of
    `Lab`.

    `case` is C++ of a `struct Case` with `void make(std::uint64_t seed)`, which makes inputs; `void
    run()`, which calls the answer and leaves the inputs as they are; `std::uint64_t digest()`,
    which mixes all that was written; and, if `bounded`, `void bound()`, which does only what every
    answer must do. `EIGHT_WORDS` helps to make and to digest.
    """
    bodies = {"race": "kernel.run();", "idle": ""} | (
        {"bound": "kernel.bound();"} if bounded else {}
    )
    entry_points = "\n".join(
        f"void {name}(std::uint64_t seed, std::int64_t times, std::uint64_t* out) {{ "
        f"play(seed, times, out, [](Case& kernel) {{ {body} }}); }}"
        for name, body in bodies.items()
    )
    harness = f"""
{MIXED}
{EIGHT_WORDS}
{case}
inline Case& only_case() {{
  static Case only;
  return only;
}}
template <class Work>
void play(std::uint64_t seed, std::int64_t times, std::uint64_t* out, const Work& work) {{
  for (std::int64_t time = 0; time < times; ++time) {{
    only_case().make(mixed(seed + time));
    work(only_case());
    *out = std::rotl(*out, 7) + only_case().digest();
  }}
}}
{entry_points}
"""
    return {"harness": harness, "race": _race_on_cases, "idle": "idle"}


def _race_on_cases(rng: np.random.Generator) -> list[Call]:
    """Returns a call that runs a kernel on new inputs, `RACED_CASES` times: `Lab.race`."""
    return [Call("race", (int(rng.integers(1 << 62)), RACED_CASES, np.zeros(1, np.uint64)))]
