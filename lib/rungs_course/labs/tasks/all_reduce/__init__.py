"""Lab 14: what an all-reduce takes."""

import functools

from rungs_course.labs.arrays import first_difference
from rungs_course.labs.lab import Difference, Lab, timed
from rungs_course.labs.tasks.all_reduce import network

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


@functools.cache
def _expected() -> list[dict[str, float]]:
    return [{name: getattr(network, name)(*case) for name in LAB.defines} for case in _CASES]


def _judge(functions) -> Difference | None:
    for (processes, num_bytes, latency, bandwidth), expected in zip(
        _CASES, _expected(), strict=True
    ):
        for name, seconds in expected.items():
            found = getattr(functions, name)(processes, num_bytes, latency, bandwidth)
            what = (
                f"the microseconds of {name} with {processes} processes, {num_bytes:,} bytes, "
                f"latency {1e6 * latency:g} µs, {bandwidth / 1e9:g} GB/s"
            )
            if not isinstance(found, int | float):
                return Difference(what, "a number", f"{found!r:.200}")
            difference = first_difference(
                1e6 * found, 1e6 * seconds, lambda what=what: what, whole=what
            )
            if difference:
                return difference
    return None


def _work(functions):
    sizes = [(2**power, 2**20, 2e-6, 12.5e9) for power in range(1, 11)]
    return timed(lambda: [(functions.ring(*at), functions.halving(*at)) for at in sizes])


LAB = Lab(
    name="14",
    defines=("ring", "halving"),
    judge=_judge,
    work=_work,
    target=0.5,
    language="python",
)
