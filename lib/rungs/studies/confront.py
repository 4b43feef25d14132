"""An estimate of training confronted with training: notebook 07's column with 15's measurement."""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from rungs.measure import results
from rungs.train.cost import PARTS

_ESTIMATE, _MEASURED = "07_ladder.csv", "15_metrics.csv"


def latest(folders: Iterable[Path]) -> Path | None:
    """Returns the first folder that holds both notebooks' results; None where none does."""
    wanted = (_ESTIMATE, _MEASURED)
    return next((each for each in folders if all((each / name).exists() for name in wanted)), None)


def confront(folder: Path, slow: str = "python", fast: str = "threads") -> pd.DataFrame:
    """Puts an estimate of what a rung gains in training beside what training gained.

    The estimate is (rest + slow) / (rest + fast). It is taken once as 07 made it and once with the
    rest of an update as it was in training: that tells two reasons for a difference apart.

    Args:
        folder: of results, with both notebooks'.
        slow, fast: rungs that both have.

    Returns:
        A row each for "07, estimated", "07's generation, 15's rest" and "15, measured": `what`,
        `slow` and `fast` (seconds of generating, per position), `rest` (seconds of the rest, by the
        fast rung), `gain`.

    Raises:
        ConfigurationError: a table names no provenance.
    """
    ladder = results.load(folder / _ESTIMATE)
    facts = ladder.attrs["provenance"]
    boards = int(facts["num_envs"])
    estimated = ladder.set_index("rung")["seconds"] / boards
    rest = float(facts["rest_of_batch_seconds"]) / boards
    measured = results.load(folder / _MEASURED)
    # All rungs have the same updates, and so as many positions in each.
    positions = (measured["steps"] / measured["update"]).groupby(measured["rung"]).median()
    parts = measured.groupby("rung")[list(PARTS)].median().div(positions, axis=0)
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
