"""Which part of training limits it: parts made cheaper, one at a time, and what the whole gains."""

from collections.abc import Iterable
from typing import Any

import pandas as pd
import torch

from rungs._src.train.network import PolicyValueNetwork
from rungs_course.measure.cost import ONE_STEP
from rungs_course.studies.full_system import make_learner, race_learners


def interventions(
    num_envs: int, *, seed: int, repeats: int, warmup: int, device: str = "cpu"
) -> pd.DataFrame:
    """Measures what training gains where one part is made cheaper, to find what limits it.

    Returns:
        As `rungs_course.studies.full_system.race_learners`, of "openmp" as it is, with "null"
        instead of the environment, and with a network of half the width.
    """
    cases = {
        "as it is": ("openmp", None),
        "free environment": ("null", None),
        "half the network": ("openmp", _network(64, seed)),
    }
    how: dict[str, Any] = {"settings": ONE_STEP, "device": device}
    learners = {
        case: make_learner(name, num_envs, seed, network=network, **how)
        for case, (name, network) in cases.items()
    }
    return race_learners(learners, repeats=repeats, warmup=warmup)


def by_threads(
    num_envs: int,
    threads: Iterable[int],
    *,
    seed: int,
    repeats: int,
    warmup: int,
    device: str = "cpu",
) -> pd.DataFrame:
    """Times updates whose boards are stepped by so many threads; the network keeps all it has.

    Returns:
        As `rungs_course.studies.full_system.race_learners`, of "1 thread" and so on, and "null".
    """
    how: dict[str, Any] = {"settings": ONE_STEP, "device": device}
    learners = {
        f"{count} thread{'s'[: count > 1]}": make_learner(
            "openmp", num_envs, seed, rung={"threads": count}, **how
        )
        for count in threads
    }
    learners["null"] = make_learner("null", num_envs, seed, **how)
    return race_learners(learners, repeats=repeats, warmup=warmup)


def by_model(
    widths: Iterable[int],
    board_counts: Iterable[int],
    *,
    seed: int,
    repeats: int,
    warmup: int,
    device: str = "cpu",
) -> pd.DataFrame:
    """Times updates of networks of several widths, from several numbers of boards.

    Returns:
        As `rungs_course.studies.full_system.race_learners`, with `width` and `num_envs` beside.
    """
    how: dict[str, Any] = {"settings": ONE_STEP, "device": device}
    frames = []
    for num_envs in board_counts:
        learners = {
            f"width {width}": make_learner(
                "openmp", num_envs, seed, network=_network(width, seed), **how
            )
            for width in widths
        }
        frame = race_learners(learners, repeats=repeats, warmup=warmup)
        frames.append(frame.assign(num_envs=num_envs))
    updates = pd.concat(frames, ignore_index=True)
    return updates.assign(width=updates["racer"].str.removeprefix("width ").astype(int))


def _network(width: int, seed: int) -> PolicyValueNetwork:
    torch.manual_seed(seed)
    return PolicyValueNetwork(width=width, keys=width // 2)
