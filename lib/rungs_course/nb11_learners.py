"""The ladder of learners: how fast each is, where its time goes, and that it learns as much."""

import dataclasses
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.special
import torch

from rungs._src.train.learners import kind
from rungs._src.train.network import PolicyValueNetwork
from rungs._src.train.ranks import Ranks
from rungs._src.train.settings import PpoSettings, Training
from rungs._src.train.training import EVALUATIONS, METRICS, train
from rungs.errors import CompilerError, UnavailableError
from rungs_course import nb11_full_system as full_system
from rungs_course.learners import LADDER
from rungs_course.measure.cost import operations
from rungs_course.measure.quartiles import quartiles


def here() -> tuple[list[str], dict[str, str]]:
    """Returns the learners that this machine can run, and why it can't run the others."""
    able, missing = [], {}
    for name in LADDER:
        try:
            kind(name).make(None, PpoSettings(), device=torch.device("cpu"), ranks=Ranks())
            able.append(name)
        except (CompilerError, UnavailableError) as error:
            missing[name] = str(error)
    return able, missing


def race(
    names: Iterable[str],
    num_envs: int,
    *,
    seed: int,
    repeats: int,
    warmup: int,
    rung: str = "threads",
    settings: PpoSettings | None = None,
    device: str = "cpu",
) -> pd.DataFrame:
    """Times updates of several learners, which take turns; each goes on with games of its own.

    Args:
        names: learners.
        num_envs: boards of each.
        seed: of games, weights and actions.
        repeats: updates timed.
        warmup: updates made first, untimed.
        rung: of the environment.
        settings: how to learn.
        device: where the networks are.

    Returns:
        As `rungs_course.nb11_full_system.race_learners`; racers are the learners.
    """
    how: dict[str, Any] = {"settings": settings or PpoSettings(), "device": device}
    made = {
        name: full_system.make_learner(rung, num_envs, seed, learner=name, **how) for name in names
    }
    times = full_system.race_learners(made, repeats=repeats, warmup=warmup)
    for each in made.values():
        each.env.close()
    return times


def ladder(times: pd.DataFrame, settings: PpoSettings, peak: float = np.nan) -> pd.DataFrame:
    """Returns the table of learners.

    Args:
        times: of `race`, learnt with `settings`.
        settings: how was learnt.
        peak: the machine's, in operations in float32 a second.

    Returns:
        A row per learner: `learner`; `steps_per_second`, the median, with quartiles `low` and
        `high`; `gain` over the first learner, the median over repeats; `generate`, `infer` and
        `backward`, median seconds of an update (a transfer counts to inferring); and shares of the
        peak, NaN where it is not known and for learners that multiply in bfloat16, which has
        another: `infer_share`, `learn_share` and, of the whole update,
        `share`. Operations are those of `rungs_course.measure.cost`.
    """
    work = operations(PolicyValueNetwork())
    parts = times.pivot_table(
        index=["racer", "repeat"], columns="part", values="seconds", sort=False
    )
    parts["infer"] += parts.pop("transfer")
    positions = times.groupby("racer", sort=False)["positions"].first()
    whole = parts.sum(axis=1).unstack("repeat")
    rates = (1 / whole).mul(positions, axis=0).loc[positions.index]
    table = quartiles(
        rates.stack().rename("steps_per_second").groupby("racer", sort=False), "steps_per_second"
    )
    table["gain"] = (rates / rates.iloc[0]).median(axis=1)
    medians = parts.groupby("racer", sort=False).median()
    table = table.join(medians[["generate", "infer", "backward"]])
    peaks = pd.Series(peak, table.index).where(~table.index.str.contains("bfloat16"))
    table["infer_share"] = positions * work.infer / table["infer"] / peaks
    learnt = settings.update_epochs * work.learn
    table["learn_share"] = positions * learnt / table["backward"] / peaks
    table["share"] = table["steps_per_second"] * work.update(settings) / peaks
    return table.rename_axis("learner").reset_index()


def train_all(
    names: Sequence[str], seeds: Iterable[int], training: Training, out: Path, *, say=print
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Trains every learner with every seed, in turns, each in a folder of its own.

    Args:
        names: learners.
        seeds: of everything.
        training: the same for all but for learner and seed.
        out: where their folders go.
        say: where progress goes.

    Returns:
        All runs' `metrics.csv` and `evaluations.csv`, with columns `learner` and `seed`.
    """
    tables: dict[str, list[pd.DataFrame]] = {METRICS: [], EVALUATIONS: []}
    for seed in seeds:
        for name in names:
            folder = out / f"{name}-{seed}"
            how = dataclasses.replace(training, learner=name, seed=seed)
            train(how, folder, say=lambda line, name=name: say(f"{name}: {line}"))
            for file, frames in tables.items():
                frames.append(pd.read_csv(folder / file).assign(learner=name, seed=seed))
    metrics, evaluations = (pd.concat(frames, ignore_index=True) for frames in tables.values())
    return metrics, evaluations


def until(evaluations: pd.DataFrame, wins: float) -> pd.DataFrame:
    """Returns when each learner had won a share of an evaluation's games, and how it ended.

    Args:
        evaluations: of `train_all`.
        wins: the share of games.

    Returns:
        A row per learner: `learner`, `seeds`, `reached` (seeds that came so far), of those the
        medians of `steps` and `seconds` until then, and `wins`, the share won in the last
        evaluation, its mean over seeds, with a 95 % interval of Student's t, `low` and `high`, as
        far as a share can be; with one seed the interval is NaN.
    """
    rows = []
    for learner, group in evaluations.groupby("learner", sort=False):
        share = group["wins"] / group["games"]
        firsts = group[share >= wins].groupby("seed").first()
        last = share.groupby(group["seed"]).last()
        spread = float(scipy.special.stdtrit(len(last) - 1, 0.975) * last.sem())
        mean = last.mean()
        reached = firsts[["steps", "seconds"]].median()
        low, high = np.clip([mean - spread, mean + spread], 0, 1)
        rows.append((learner, len(last), len(firsts), *reached, mean, low, high))
    names = ["learner", "seeds", "reached", "steps", "seconds", "wins", "low", "high"]
    return pd.DataFrame(rows, columns=names)


def generating(updates: pd.DataFrame) -> pd.Series:
    """Returns the seconds that systems take to generate a position, medians, by system.

    Args:
        updates: of `rungs_course.nb11_full_system.race_learners`.
    """
    rows = updates[updates["part"] == "generate"]
    return (rows["seconds"] / rows["positions"]).groupby(rows["racer"]).median()


def speeds(times: pd.DataFrame) -> pd.Series:
    """Returns the positions per second of learners by themselves, medians, by learner.

    Args:
        times: of `race`; all but generating counts.
    """
    rest = times[times["part"] != "generate"]
    whole = rest.groupby(["racer", "repeat"], sort=False)["seconds"].sum()
    positions = times.groupby("racer", sort=False)["positions"].first()
    return positions / whole.groupby("racer", sort=False).median()


def generation_shares(generating: pd.Series, speeds: pd.Series | Sequence[float]) -> pd.DataFrame:
    """Returns which share of training is generating, over the speed of the learner.

    A position takes its generating, and 1/speed for all else.

    Args:
        generating: seconds a position, by system.
        speeds: positions per second of learners by themselves, by learner where they have names.

    Returns:
        A row per system and speed: `system`, `learner`, `speed`, `share`.
    """
    rows = [
        (system, learner, speed, seconds / (seconds + 1 / speed))
        for system, seconds in generating.items()
        for learner, speed in pd.Series(speeds).items()
    ]
    return pd.DataFrame(rows, columns=["system", "learner", "speed", "share"])


def implied_by_study(learning: pd.DataFrame, openspiel: float) -> tuple[float, float]:
    """Returns what the study's times to a score say of its learner on an A100.

    Where both of its environments need as many updates, an update behind OpenSpiel took as many
    times as long as behind its own, r, as learning did. All that isn't generating is in both: it is
    at most 1/r of an update behind OpenSpiel. "Less than" and "almost" make it about so.

    Args:
        learning: of `data/paper/chess_learning.csv`.
        openspiel: seconds that OpenSpiel takes here to generate a position.

    Returns:
        The least share of generating behind OpenSpiel, 1 - 1/r, and the positions per second of a
        learner that has this share where OpenSpiel is as fast as here.
    """
    seconds = learning.set_index("system")["seconds"]
    share = 1 - seconds["chessenv"] / seconds["OpenSpiel"]
    return share, share / (1 - share) / openspiel
