"""Lab 08: a dot product with as many sums as the processor can work on at once."""

import functools

import numpy as np

from rungs_course.labs.arrays import guarded
from rungs_course.labs.lab import Difference, Lab, timed

_COUNTS = (1, 7, 16, 63, 64, 65, 129, 1000, 4096)
_RACED = 4096  # two arrays of them fit into a core's first cache


@functools.cache
def _case(count: int) -> tuple[np.ndarray, np.ndarray, float]:
    rng = np.random.default_rng(13)
    first, second = rng.uniform(0.5, 1.5, (2, count)).astype(np.float32)
    return first, second, float(first.astype(np.float64) @ second.astype(np.float64))


def _judge(functions):
    for count in _COUNTS:
        first, second, expected = _case(count)
        found = functions.run(guarded(first), guarded(second), count)
        # A sum of n positive numbers is off by n rounding errors at most, in whatever order.
        if not abs(found - expected) <= 2 * (count + 1) * np.finfo(np.float32).eps * expected:
            return Difference(f"dot product of {count} numbers", f"{expected:.6g}", f"{found:.6g}")
    return None


def _work(functions):
    first, second, _ = _case(_RACED)
    first, second = guarded(first), guarded(second)
    return timed(lambda: functions.run_often(first, second, _RACED, 100))


LAB = Lab(
    name="08",
    defines=("dot",),
    judge=_judge,
    work=_work,
    target=0.8,
    harness="""
float run(const float* a, const float* b, std::int64_t count) { return dot(a, b, count); }
float run_often(const float* a, const float* b, std::int64_t count, int times) {
  float sum = 0;
  for (int i = 0; i < times; ++i) {
    asm volatile("" : "+r"(a), "+r"(b) : : "memory");  // what they hold may have changed
    sum += dot(a, b, count);
  }
  return sum;
}
""",
)
