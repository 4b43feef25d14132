"""Steps in an update beside steps alone."""

import pandas as pd

from rungs.studies import in_situ


def test_steps_are_timed_after_nothing_a_pause_and_other_memory():
    steps = in_situ.step_after(["cpp", "openmp"], 8, seed=0, steps=3, repeats=2)
    assert steps.groupby(["rung", "after"]).size().to_list() == [2] * 6
    updates = pd.DataFrame({"racer": ["cpp", "openmp"], "part": "generate", "seconds": [7.0, 8.0]})
    table = in_situ.beside_updates(steps, updates)
    assert list(table["in an update"]) == [7.0, 8.0]
    assert (table[["nothing", "a pause", "other memory"]] > 0).all(axis=None)
