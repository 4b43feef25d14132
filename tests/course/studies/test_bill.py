"""The bill: hours are work by rate."""

import pytest

from rungs_course.nb16_search import bill


def test_hours_are_work_by_rate():
    how = {"games": 100, "plies": 80, "simulations": 9, "batches": 10, "batch": 36}
    table = bill({"a network": 20.0, "nothing": 40.0}, 0.1, **how).set_index("what")
    assert table.loc["simulations, a network", "hours"] == pytest.approx(1.0)
    assert table.loc["simulations, nothing", "hours"] == pytest.approx(0.5)
    assert table.loc["positions", "hours"] == pytest.approx(1.0)
    assert table.loc["positions", "years"] == pytest.approx(1 / 8766)
