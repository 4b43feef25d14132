"""Racers that take turns, so that whatever else the machine does affects all of them alike."""

import time
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, TypeVar

Name = TypeVar("Name")
Racers = Mapping[Name, Callable[[], Any]]

# How long a racer's threads may stay awake after it and slow down the next: OpenMP's do so for a
# millisecond.
AWAKE_SECONDS = 0.002


def rounds(racers: Racers[Name]) -> Iterator[dict[Name, Any]]:
    """Calls each racer once a round, without end.

    Every other round is in reverse order, so that no racer always follows the same one. Each begins
    when the threads of the one before are asleep.

    Yields:
        What each returned, by name.
    """
    order = list(racers)
    while True:
        order.reverse()
        outcomes = {}
        for name in order:
            _stay_awake(AWAKE_SECONDS)
            outcomes[name] = racers[name]()
        yield outcomes


def _stay_awake(seconds: float) -> None:
    """Waits without sleeping: a thread that sleeps may wake on a core that others use."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def timed_rounds(
    racers: Racers[Name], *, repeats: int, warmup: int
) -> Iterator[tuple[Name, int, Any]]:
    """Yields `repeats` rounds after `warmup`: name, repeat, and what the racer returned."""
    for repeat, outcomes in enumerate(islice(rounds(racers), warmup, warmup + repeats)):
        for name, outcome in outcomes.items():
            yield name, repeat, outcome
