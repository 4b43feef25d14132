"""Racers take turns, and only rounds after the warmup count."""

import itertools
import time

from rungs_course.measure.turns import AWAKE_SECONDS, rounds, timed_rounds


def counting(calls: list, names: str) -> dict:
    """Racers that write their name down, and return how many calls there were."""
    return {name: lambda name=name: calls.append(name) or len(calls) for name in names}


def test_every_other_round_is_the_other_way_round():
    calls = []
    found = list(itertools.islice(rounds(counting(calls, "abc")), 3))
    assert "".join(calls) in ("abccbaabc", "cbaabccba")
    assert [outcome["a"] for outcome in found] == [i + 1 for i, c in enumerate(calls) if c == "a"]


def test_the_threads_of_the_one_before_are_asleep():
    clock = []

    def racer():
        clock.append(time.perf_counter())  # begins,
        clock.append(time.perf_counter())  # and ends

    next(rounds({"a": racer, "b": racer}))
    assert clock[2] - clock[1] >= AWAKE_SECONDS


def test_what_comes_before_the_clock_does_not_count():
    calls = []
    rows = list(timed_rounds(counting(calls, "ab"), repeats=2, warmup=3))
    assert len(calls) == 2 * (3 + 2)
    assert sorted((name, repeat) for name, repeat, _ in rows) == [
        ("a", 0),
        ("a", 1),
        ("b", 0),
        ("b", 1),
    ]
    assert sorted(outcome for *_, outcome in rows) == [7, 8, 9, 10]
