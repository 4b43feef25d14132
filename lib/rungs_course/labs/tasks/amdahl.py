"""Lab 10: Amdahl's law, fitted to noisy times."""

import functools
from typing import NamedTuple

import numpy as np

from rungs_course.labs.arrays import as_numbers, compare, fixed
from rungs_course.labs.lab import Difference, Lab


class Runs(NamedTuple):
    """Seconds, (n,), that work took on `threads`, (n,), and its true serial and parallel parts."""

    threads: np.ndarray
    seconds: np.ndarray
    serial: float
    parallel: float


def _exact(threads: list[int], serial: float, parallel: float) -> Runs:
    counts = np.array(threads, float)
    return Runs(fixed(counts), fixed(serial + parallel / counts), serial, parallel)


# Times without any noise: there is one answer.
_CASES = {
    "1, 2, 4 and 8 threads": _exact([1, 2, 4, 8], 2.0, 8.0),
    "1, 2 and 4 threads, nothing serial": _exact([1, 2, 4], 0.0, 3.0),
    "8, 1, 2, 2 and 4 threads, in this order": _exact([8, 1, 2, 2, 4], 0.5, 6.0),
    "2, 4 and 16 threads, none alone": _exact([2, 4, 16], 1.0, 20.0),
}


@functools.cache
def _noisy(seed: int = 10) -> list[Runs]:
    """Returns runs of 150 machines: five per number of threads, off by 2 %, a fifth disturbed."""
    rng, machines = np.random.default_rng(seed), []
    for _ in range(150):
        serial, parallel = rng.uniform(0.02, 0.3), rng.uniform(0.7, 2.0)
        threads = rng.permutation(np.repeat([1.0, 2.0, 4.0, 8.0, 16.0], 5))
        seconds = (serial + parallel / threads) * rng.lognormal(0, 0.02, len(threads))
        disturbed = rng.random(len(threads)) < 0.2
        seconds += disturbed * seconds * rng.exponential(0.5, len(threads))
        machines.append(Runs(fixed(threads), fixed(seconds), serial, parallel))
    return machines


def _judge(submission, _):
    for case, (threads, seconds, *expected) in _CASES.items():
        yield compare(
            submission.fit(threads, seconds),
            expected,
            lambda i, case=case: (
                f"the {('serial', 'parallel')[i]} seconds of exact times of {case}"
            ),
            array_label=f"what fit returns of {case}",
        )
    fitted = submission.fit(*_noisy()[0][:2])
    numbers = as_numbers(fitted)
    if numbers is None or numbers.shape != (2,) or not np.isfinite(numbers).all():
        yield Difference("what fit returns of 25 noisy times", "two numbers", f"{fitted!r:.200}")


def _count(functions, seed: int) -> float:
    return float(np.mean([_error_percent(functions, *runs) for runs in _noisy(seed)]))


def _error_percent(functions, threads, seconds, serial: float, parallel: float) -> float:
    """Returns how far off the serial seconds are, in % of those of one thread."""
    fitted, _ = functions.fit(threads, seconds)
    return 100 * abs(fitted - serial) / (serial + parallel)


LAB = Lab(
    "10",
    ("fit",),
    _judge,
    target=0.4,
    cause="exercise",
    language="python",
    unit="% off",
    count=_count,
)
