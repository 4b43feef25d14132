"""Lab 14: the time of an all-reduce."""

from rungs_course.labs.arrays import as_numbers, compare
from rungs_course.labs.lab import Call, Lab

_RACED = 512
# Processes, bytes, seconds of latency, bytes per second.
_CASES = [
    (2, 2_000_000, 0.0, 1e9),  # nothing but bytes
    (2, 0, 1e-5, 1e9),  # nothing but latency
    (4, 0, 1e-5, 1e9),
    (4, 4_000_000, 0.0, 1e9),
    (8, 800_000, 2e-6, 12.5e9),
    (16, 64, 2e-5, 2e9),
    (64, 6_400_000, 2e-6, 12.5e9),
]


def _judge(submission, baseline):
    for case in _CASES:
        processes, num_bytes, latency, bandwidth = case
        for name in LAB.defines:
            seconds = getattr(submission, name)(*case)
            numbers = as_numbers(seconds)
            yield compare(
                seconds if numbers is None else 1e6 * numbers,
                1e6 * getattr(baseline, name)(*case),
                f"the microseconds of {name} with {processes} processes, {num_bytes:,} bytes, "
                f"latency {1e6 * latency:g} µs, {bandwidth / 1e9:g} GB/s",
            )


def _race(rng):
    processes = 2 ** rng.integers(1, 11, _RACED)
    args = (
        processes,
        rng.integers(1, 1 << 24, _RACED),
        *rng.uniform([[1e-6], [1e9]], [[1e-5], [2e10]], (2, _RACED)),
    )
    return [Call(name, args, "each") for name in LAB.defines]


LAB = Lab(
    "14",
    ("ring", "halving"),
    _judge,
    target=0.5,
    cause="exercise",
    language="python",
    race=_race,
)
