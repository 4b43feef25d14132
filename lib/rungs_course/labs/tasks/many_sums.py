"""Lab 08: a dot product with as many sums as the processor can work on at once."""

import numpy as np

from rungs_course.labs.arrays import guarded
from rungs_course.labs.lab import Difference, Lab, timed

_COUNTS = (1, 7, 16, 63, 64, 65, 129, 1000, 4096)
_RACED = 4096  # two arrays of them fit into a core's first cache


def _case(count: int) -> list[np.ndarray]:
    """Returns two arrays of float32 after whose last nothing more may be read."""
    rng = np.random.default_rng(13)
    return [guarded(row) for row in rng.uniform(0.5, 1.5, (2, count)).astype(np.float32)]


def _judge(yours, _):
    for count in _COUNTS:
        first, second = _case(count)
        expected = float(first.astype(np.float64) @ second.astype(np.float64))
        found = yours.run(first, second, count)
        # A sum of n positive numbers is off by n rounding errors at most, in whatever order.
        if not abs(found - expected) <= 2 * (count + 1) * np.finfo(np.float32).eps * expected:
            yield Difference(f"dot product of {count} numbers", f"{expected:.6g}", f"{found:.6g}")


def _work(functions):
    first, second = _case(_RACED)
    return timed(lambda: functions.run_often(first, second, _RACED, 100))


LAB = Lab(
    "08",
    ("dot",),
    _judge,
    _work,
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
