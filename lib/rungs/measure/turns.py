"""Racers that take turns, so that whatever else the machine does falls on all of them alike."""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, TypeVar

Name = TypeVar("Name")
Racers = Mapping[Name, Callable[[], Any]]


def rounds(racers: Racers[Name]) -> Iterator[dict[Name, Any]]:
    """Calls each racer once a round, without end.

    Every other round is the other way round: none is always the one after another.

    Args:
        racers: functions, by name.

    Yields:
        What each returned, by name.
    """
    order = list(racers)
    while True:
        order.reverse()
        yield {name: racers[name]() for name in order}


def timed_rounds(
    racers: Racers[Name], *, repeats: int, warmup: int
) -> Iterator[tuple[Name, int, Any]]:
    """Calls each racer so often, after some rounds that don't count.

    Args:
        racers: as of `rounds`.
        repeats: rounds that count.
        warmup: rounds that come first.

    Yields:
        Name, repeat, and what the racer returned.
    """
    for repeat, outcomes in enumerate(islice(rounds(racers), warmup, warmup + repeats)):
        for name, outcome in outcomes.items():
            yield name, repeat, outcome
