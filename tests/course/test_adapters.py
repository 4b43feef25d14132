"""What adapters cost: the arithmetic, and a race of those that are here."""

import pandas as pd
import pytest

from rungs_course import adapters


def times(seconds):
    """A race's table: two rounds of a step of ten boards each."""
    rows = [
        (name, "rungs", "1.0", 10, repeat, 10, taken)
        for name, repeats in seconds.items()
        for repeat, taken in enumerate(repeats)
    ]
    columns = ["adapter", "package", "version", "num_envs", "repeat", "plies", "seconds"]
    return pd.DataFrame(rows, columns=columns)


def test_overhead_is_what_is_added_to_the_same_rounds_step():
    table = adapters.table(times({adapters.RAW: [1.0, 2.0, 4.0], "another": [1.5, 3.0, 4.4]}))
    raw, other = table.to_dict("records")
    assert (raw["overhead"], raw["seconds"], raw["rate"]) == pytest.approx((0, 2, 5))
    assert other["overhead"] == pytest.approx(0.5)
    assert other["low"] == pytest.approx(0.3)


@pytest.mark.system
def test_all_that_are_here_are_raced_and_the_others_named():
    lines = []
    raced = adapters.race(8, rung="cpp", steps=2, repeats=2, warmup=1, say=lines.append)
    assert (raced["seconds"] > 0).all()
    assert {adapters.RAW, adapters.COPIED} <= {*raced["adapter"]}
    for name in adapters.ADAPTERS:
        assert (name in {*raced["adapter"]}) != any(line.startswith(f"{name} ") for line in lines)
    assert {*adapters.table(raced)["adapter"]} == {*raced["adapter"]}
