"""Lab 14: what an all-reduce takes."""

import functools
from pathlib import Path

from rungs_course.labs.lab import Difference, Lab, timed
from rungs_course.labs.numeric import first_difference
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
    title="the ring's cost",
    notebook="14_beyond_one_node",
    minutes=20,
    goal="""In an all-reduce each of `p` processes has `num_bytes` of numbers, and at the end all
have the sums. A message takes `latency` seconds, and its bytes over `bandwidth`; everyone can send
one and receive one at the same time. Return the seconds, for two ways:

- `ring`: the numbers are cut into `p` parts. In every round everyone sends one part to the next
  process. It takes `p - 1` rounds until each part is added up somewhere, and as many until everyone
  has all sums.
- `halving`, for `p` a power of two: everyone exchanges half of its numbers with a partner, and
  adds; then half of that half with another, and so on, until it has one part, added up. Then all
  goes back the same way: the parts double.

The stub sends everything in each message. Any loop over rounds will do; for thousands of processes
a formula is faster. The judge simulates every message. When you are done, ask your functions: from
how many bytes on is the ring less than 10 % slower than halving?""",
    defines=("ring", "halving"),
    hints=(
        "Count separately: how many messages does a process send one after the other, and how "
        "many bytes are in all of them together?",
        "A ring has `2 * (p - 1)` messages of `num_bytes / p`. Halving has `2 * log2(p)`, of "
        "`num_bytes / 2`, `/ 4`, …, which add up to `num_bytes * (p - 1) / p` each way: the same "
        "bytes. `p.bit_length() - 1` is the logarithm of a power of two.",
    ),
    judge=_judge,
    work=_work,
    target=0.5,
    folder=Path(__file__).parent,
    language="python",
)
