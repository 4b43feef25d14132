"""An estimate of training confronted with training: notebook 07's column with 15's measurement."""

import pandas as pd

from rungs._src.train.ppo import PARTS


def confront(
    ladder: pd.DataFrame, metrics: pd.DataFrame, slow: str = "python", fast: str = "threads"
) -> pd.DataFrame:
    """Puts an estimate of what a rung gains in training beside what training gained.

    The estimate is (rest + slow) / (rest + fast). It is taken once as 07 made it and once with the
    rest of an update as it was in training: that tells two reasons for a difference apart.

    Args:
        ladder: 07's, with its provenance, as `rungs_course.measure.results.load` returns it.
        metrics: 15's, of `rungs_course.studies.curves.train_on`.
        slow, fast: rungs that both have.

    Returns:
        A row each for "07, estimated", "07's generation, 15's rest" and "15, measured": `what`,
        `slow` and `fast` (seconds of generating, per position), `rest` (seconds of the rest, by the
        fast rung), `gain`.
    """
    facts = ladder.attrs["provenance"]
    boards = int(facts["num_envs"])
    estimated = ladder.set_index("rung")["seconds"] / boards
    rest = float(facts["rest_of_batch_seconds"]) / boards
    # All rungs have the same updates, and so as many positions in each.
    positions = (metrics["steps"] / metrics["update"]).groupby(metrics["rung"]).median()
    parts = metrics.groupby("rung")[list(PARTS)].median().div(positions, axis=0)
    totals = parts.sum(axis=1)
    trained = totals - parts["generate"]
    rows = [
        ("07, estimated", estimated[slow], estimated[fast], rest),
        ("07's generation, 15's rest", estimated[slow], estimated[fast], trained[fast]),
        ("15, measured", parts["generate"][slow], parts["generate"][fast], trained[fast]),
    ]
    table = pd.DataFrame(rows, columns=["what", "slow", "fast", "rest"])
    table["gain"] = (table["rest"] + table["slow"]) / (table["rest"] + table["fast"])
    table.loc[2, "gain"] = totals[slow] / totals[fast]
    return table
