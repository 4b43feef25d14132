"""Learning curves of the same training on several rungs."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from rungs._src.train.ppo import PARTS, Learner
from rungs._src.train.settings import Training
from rungs._src.train.training import EVALUATIONS, METRICS, train
from rungs.errors import MismatchError
from rungs_course import peers


def train_on(
    names: Sequence[str],
    training: Training,
    out: Path,
    *,
    last: float | None = None,
    say=print,
) -> tuple[pd.DataFrame, pd.DataFrame, Learner]:
    """Trains on one rung after the other, each in a folder of its own.

    Args:
        names: rungs, and peers as `rungs_course.peers` knows them.
        training: the same for all but for its rung.
        out: where their folders go, which are named like them.
        last: seconds of the last, by default as many as of the others.
        say: where progress goes.

    Returns:
        All runs' `metrics.csv` and `evaluations.csv`, with a first column `rung`; and the learner
        of the last, as it ended.

    Raises:
        MismatchError: two rungs learnt different things from the same updates.
    """
    tables: dict[str, list[pd.DataFrame]] = {METRICS: [], EVALUATIONS: []}
    for name in names:
        rung = dataclasses.replace(training, rung=name)
        if last and name == names[-1]:
            rung = dataclasses.replace(rung, seconds=last)
        learner = train(
            rung, out / name, make=peers.make, say=lambda line, name=name: say(f"{name}: {line}")
        )
        for file, frames in tables.items():
            frame = pd.read_csv(out / name / file)
            frame.insert(0, "rung", name)
            frames.append(frame)
    metrics, evaluations = (pd.concat(frames, ignore_index=True) for frames in tables.values())
    for table in (metrics, evaluations):
        check_same(table)
    return metrics, evaluations, learner  # type: ignore[return-value]  # no MPI


def check_same(table: pd.DataFrame) -> None:
    """Makes sure that rungs differ in time and in nothing else, as far as they went.

    Args:
        table: of `train_on`.

    Raises:
        MismatchError: they differ; the message names update, rung and column.
    """
    learnt = table.drop(columns=["seconds", *PARTS], errors="ignore").set_index("update")
    first = learnt["rung"].iloc[0]
    expected = learnt[learnt["rung"] == first]
    for update, row in learnt.iterrows():
        if update in expected.index:
            for name, value in row.drop("rung").items():
                if value != expected.loc[update, name]:
                    raise MismatchError(
                        f"update {update}: {name} is {value} with {row['rung']}, "
                        f"{expected.loc[update, name]} with {first}"
                    )


def seconds_to(evaluations: pd.DataFrame, metrics: pd.DataFrame, wins: float) -> pd.DataFrame:
    """Returns how long each rung takes to a share of games won.

    All rungs need the same updates. One that did not come that far is given the time that this
    many updates take it, from the median of its own.

    Args:
        evaluations: of `train_on`.
        metrics: of `train_on`.
        wins: the share of games that an evaluation must have won.

    Returns:
        A row per rung: `rung`, `seconds_per_update` (the median), `updates` needed, `seconds`, and
        `measured`, whether it came that far. Empty where none did.
    """
    far = evaluations[evaluations["wins"] >= wins * evaluations["games"]]
    per_update = metrics.groupby("rung", sort=False)[list(PARTS)].median().sum(axis=1)
    table = per_update.rename("seconds_per_update").reset_index()
    if far.empty:
        return table.iloc[:0]
    updates = far["update"].min()
    reached = far[far["update"] == updates].set_index("rung")["seconds"]
    table["updates"] = updates
    table["seconds"] = table["rung"].map(reached).fillna(updates * table["seconds_per_update"])
    table["measured"] = table["rung"].isin(reached.index)
    return table


def estimates(metrics: pd.DataFrame) -> pd.DataFrame:
    """Compares what rungs gain in training with the estimate from their speed alone.

    The estimate is 07's: all but generating takes as long as behind the first rung.

    Args:
        metrics: of `train_on`.

    Returns:
        A row per rung: `rung`, `generate` and `rest`, median seconds of an update, and `measured`
        and `estimated`, times as fast as with the first rung.
    """
    parts = metrics.groupby("rung", sort=False)[list(PARTS)].median()
    table = pd.DataFrame({"generate": parts["generate"]})
    table["rest"] = parts.drop(columns="generate").sum(axis=1)
    whole, rest = table.sum(axis=1), table["rest"].iloc[0]
    table["measured"] = whole.iloc[0] / whole
    table["estimated"] = whole.iloc[0] / (table["generate"] + rest)
    return table.reset_index()
