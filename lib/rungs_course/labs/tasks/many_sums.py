"""Lab 08: a dot product with as many sums as the processor can work on at once."""

import numpy as np

from rungs_course.labs.harness import RACE
from rungs_course.labs.inside.guards import guarded
from rungs_course.labs.lab import Call, Difference, Lab

_COUNTS = (1, 7, 16, 63, 64, 65, 129, 1000, 4096)
_TIMES = 1000  # dot products in a call that is raced
_CALLED = RACE.format(
    parameters="std::uint32_t seed, std::int32_t times, float* sums",
    arguments="seed, times, sums",
)
_RACED = 4096  # two arrays of them fit into a core's first cache


def _case(count: int) -> list[np.ndarray]:
    """Returns two arrays of float32, each of which ends at a guard page."""
    rng = np.random.default_rng(13)
    return [guarded(row) for row in rng.uniform(0.5, 1.5, (2, count)).astype(np.float32)]


def _max_error(count: int) -> float:
    """Returns the largest relative error of a sum of n positive numbers, added in any order."""
    return 2 * (count + 1) * float(np.finfo(np.float32).eps)


def _judge(submission, _):
    for count in _COUNTS:
        first, second = _case(count)
        expected = float(first.astype(np.float64) @ second.astype(np.float64))
        result = submission.run(first, second, count)
        if not abs(result - expected) <= _max_error(count) * expected:
            yield Difference(f"dot product of {count} numbers", f"{expected:.6g}", f"{result:.6g}")


def _race(rng):
    return [Call("race", (int(rng.integers(1 << 31)), _TIMES, np.zeros(_TIMES, np.float32)))]


def _agrees(_, got, expected):
    pairs = ((sums, right) for (_, (sums,)), (_, (right,)) in zip(got, expected, strict=True))
    return all((abs(sums - right) <= 2 * _max_error(_RACED) * right).all() for sums, right in pairs)


LAB = Lab(
    "08",
    ("dot",),
    _judge,
    target=0.8,
    cause="core bound",
    harness=f"""
float run(const float* a, const float* b, std::int64_t count) {{ return dot(a, b, count); }}
float run_often(const float* a, const float* b, std::int64_t count, int times) {{
  float sum = 0;
  for (int i = 0; i < times; ++i) {{
    asm volatile("" : "+r"(a), "+r"(b) : : "memory");  // what they hold may have changed
    sum += dot(a, b, count);
  }}
  return sum;
}}
template <bool kIdle>
void play(std::uint32_t seed, std::int32_t times, float* sums) {{
  constexpr std::int32_t kCount = {_RACED};
  alignas(64) static float both[2][kCount];
  for (std::int32_t time = 0; time < times; ++time) {{
    for (std::int32_t i = 0; i < kCount; ++i) {{
      std::uint32_t random = seed + kCount * time + i;
      random = (random ^ random >> 16) * 0x7FEB352D;
      random = (random ^ random >> 15) * 0x846CA68B;
      both[0][i] = std::bit_cast<float>(0x3F000000 | random >> 9);
      both[1][i] = std::bit_cast<float>(0x3F000000 | (random & 0x7FFFFF));
    }}
    if constexpr (kIdle)
      sums[time] = both[0][time % kCount] + both[1][time % kCount];
    else
      sums[time] = dot(both[0], both[1], kCount);
  }}
}}
{_CALLED}""",
    race=_race,
    idle="idle",
    agrees=_agrees,
)
