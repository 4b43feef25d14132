"""Steps in an update compared with steps alone."""

import pandas as pd

from rungs_course import nb11_full_system as nb11


def test_steps_are_timed_after_nothing_a_pause_and_other_memory():
    steps = nb11.step_after(["cpp", "openmp"], 8, seed=0, steps=3, repeats=2)
    assert steps.groupby(["rung", "after"]).size().to_list() == [2] * 6
    assert (steps["seconds"] > 0).all()


def test_each_is_compared_with_a_step_after_a_step():
    rows = [("nothing", 1.0), ("a pause", 2.0), ("other memory", 3.0)]
    steps = pd.DataFrame(
        [("cpp", after, i, i * seconds) for i in range(1, 6) for after, seconds in rows],
        columns=["rung", "after", "repeat", "seconds"],
    )
    updates = pd.DataFrame({"racer": "cpp", "part": "generate", "seconds": [12.0] * 5})
    found = nb11.longer(steps, updates)["cpp"]
    assert {after: each.middle for after, each in found.items()} == {
        "a pause": 2.0,
        "other memory": 3.0,
        "in an update": 4.0,
    }
    assert found["in an update"].low < 4.0 < found["in an update"].high
