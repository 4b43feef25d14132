"""The ladder's table: what each rung gains, alone and in training."""

import pandas as pd

from rungs.measure.quartiles import quartiles


def ladder_table(race: pd.DataFrame, rest_of_batch: float, num_envs: int) -> pd.DataFrame:
    """Sums up a race of rungs.

    Training's time is batches * (update + generate), so a rung that generates a batch in `g`
    instead of Python's `g0` trains (rest + g0) / (rest + g) times as fast, where `rest` is
    inference and update. A batch is one step of all boards.

    Args:
        race: of `rungs.measure.race.race`; racers in the ladder's order, slowest first.
        rest_of_batch: seconds of inference and update for a batch of `num_envs` positions.
        num_envs: boards per step.

    Returns:
        A row per rung: `rung`, `seconds` per step of all boards (median), `seconds_low` and
        `seconds_high` (quartiles), `plies_per_second`, `absolute_speedup` (over the first rung) and
        `relative_speedup` (over the rung before), medians of the ratios repeat by repeat, and
        `training_speedup`.
    """
    order = race["racer"].drop_duplicates().tolist()
    per_ply = race.assign(seconds=race["seconds"] / race["plies"])
    times = per_ply.pivot(index="repeat", columns="racer", values="seconds")[order] * num_envs
    rows = []
    for i, rung in enumerate(order):
        own = times[rung]
        spread = quartiles(own)
        rows.append(
            {
                "rung": rung,
                "seconds": spread["median"],
                "seconds_low": spread["low"],
                "seconds_high": spread["high"],
                "plies_per_second": num_envs / spread["median"],
                "absolute_speedup": (times[order[0]] / own).median(),
                "relative_speedup": (times[order[max(i - 1, 0)]] / own).median(),
                "training_speedup": (rest_of_batch + times[order[0]].median())
                / (rest_of_batch + spread["median"]),
            }
        )
    return pd.DataFrame(rows)
