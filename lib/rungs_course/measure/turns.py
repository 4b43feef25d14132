"""Racers that take turns, so that whatever else the machine does affects all of them alike."""

import time
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, TypeVar

Name = TypeVar("Name")
Racers = Mapping[Name, Callable[[], Any]]

# A racer's threads may stay awake after it, waiting for more work, and take cores from the next
# racer: LLVM's OpenMP for 1 ms, GNU's for 4 ms on some processors. They sleep once all threads but
# this one together used less than `_ASLEEP` of the time for so many seconds; a program with a
# thread that never sleeps is waited for no longer than `_LONGEST` seconds.
ASLEEP_SECONDS, _ASLEEP, _LONGEST = 0.002, 0.1, 0.1


def rounds(racers: Racers[Name]) -> Iterator[dict[Name, Any]]:
    """Calls each racer once a round, without end; yields what each returned, by name, in the order
    of `racers`.

    Every other round is in reverse order, so that no racer always follows the same one. Each begins
    when the threads of the one before are asleep.
    """
    order = list(racers)
    while True:
        order.reverse()
        outcomes = {}
        for name in order:
            _wait_for_sleep()
            outcomes[name] = racers[name]()
        yield {name: outcomes[name] for name in racers}


def _wait_for_sleep() -> None:
    """Waits until the other threads of this process sleep.

    It does so without sleeping itself: a thread that sleeps may wake on a core that others use.
    """
    end = time.perf_counter() + _LONGEST
    while (start := time.perf_counter()) < end:
        before = _seconds_of_others()
        while time.perf_counter() < start + ASLEEP_SECONDS:
            pass
        if _seconds_of_others() - before < _ASLEEP * ASLEEP_SECONDS:
            return


def _seconds_of_others() -> float:
    """Returns the CPU seconds of all threads of this process but the calling one."""
    return time.process_time() - time.thread_time()


def timed_rounds(
    racers: Racers[Name], *, repeats: int, warmup: int
) -> Iterator[tuple[Name, int, Any]]:
    """Yields `repeats` rounds after `warmup`: name, repeat, and what the racer returned."""
    for repeat, outcomes in enumerate(islice(rounds(racers), warmup, warmup + repeats)):
        for name, outcome in outcomes.items():
            yield name, repeat, outcome
