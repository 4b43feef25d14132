"""An estimate beside a measurement: the same numbers agree, and what differs is told apart."""

import pandas as pd
import pytest

from rungs_course.measure import results
from rungs_course.nb15_training import confront


def tables(folder):
    """Results of a machine on which training is slower than 07 thought, and generating is not."""
    ladder = pd.DataFrame({"rung": ["python", "threads"], "seconds": [0.9, 0.1]})
    facts = {"num_envs": 100, "rest_of_batch_seconds": 0.1}
    results.save(ladder, folder / "07_ladder.csv", facts)
    rows = [
        (rung, update, 200 * update, generate, 0.0, 0.1, 0.2)
        for rung, generate in (("python", 1.8), ("threads", 0.2))
        for update in (1, 2, 3)
    ]
    names = ["rung", "update", "steps", "generate", "transfer", "infer", "backward"]
    return results.load(folder / "07_ladder.csv"), pd.DataFrame(rows, columns=names)


def test_the_two_reasons_are_told_apart(tmp_path):
    table = confront(*tables(tmp_path)).set_index("what")
    assert table.loc["07, estimated", "gain"] == pytest.approx(1.0 / 0.2)
    # A rest of 0.3 s for 200 positions instead of 0.1 s for 100; generating takes the same.
    assert table.loc["15, measured", "gain"] == pytest.approx(2.1 / 0.5)
    assert table.loc["07's generation, 15's rest", "gain"] == pytest.approx(2.1 / 0.5)
    assert table["slow"].tolist() == pytest.approx([0.009, 0.009, 0.009])
