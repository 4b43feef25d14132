"""Checkpoints of self-play: a run as it stood, but for the positions in its replay buffer."""

import dataclasses
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from rungs._src.selfplay import elo
from rungs._src.selfplay.games import SelfPlay
from rungs._src.selfplay.players import RandomPlayer
from rungs._src.selfplay.settings import SelfPlayTraining
from rungs._src.selfplay.tensors import flaw
from rungs._src.train.checkpoint import NAME
from rungs._src.train.torch_file import Saved
from rungs.errors import ConfigurationError, InvalidStateError

_FORM = {
    "training": {},
    "clock": float,
    "updates": int,
    "positions": int,
    "network": {...: torch.Tensor},
    "optimizer": {"state": {...: {...: torch.Tensor}}, "param_groups": [{...: (float, tuple)}]},
    "results": [[(str, float)]],
    "games": [{"env": bytes, "plies": int, **dict.fromkeys(SelfPlay.ARRAYS, torch.Tensor)}],
}
_FILE = Saved("self-play", schema=3, form=_FORM)


def save(out: Path, saved: dict) -> None:
    """Writes a checkpoint, whole or not at all.

    Args:
        out: the run's folder.
        saved: as `load` returns it.

    Raises:
        StorageError: it can't be written; an earlier one stays.
    """
    games = _converted(saved["games"], np.ndarray, torch.from_numpy)
    training = dataclasses.asdict(saved["training"])
    _FILE.save(out / NAME, saved | {"training": training, "games": games})


def load(out: Path) -> dict:
    """Reads the checkpoint of a run.

    Returns:
        "training"; "clock", the seconds that it had taken; "updates" and "positions", how many;
        "network" and "optimizer", of the learner; "results" of matches, rows of player, opponent
        and their points; "games", of `rungs._src.selfplay.games.SelfPlay.save`, of each rank.

    Raises:
        ConfigurationError: there is none, or it is of another version.
        InvalidStateError: it is corrupt, incomplete or something else; the message says in what.
    """
    path = out / NAME
    saved = _FILE.load(path)
    counts = (saved["clock"], saved["updates"], saved["positions"])
    if not all(0 <= count < math.inf for count in counts):
        raise InvalidStateError(f"{path} can't be right: seconds, updates, positions are {counts}")
    try:
        training = SelfPlayTraining(**saved["training"])
    except (TypeError, ConfigurationError) as error:  # settings had other names or ranges then
        raise ConfigurationError(f"{path} is of another version of Rungs: {error}") from None
    wrong = _flaw_of_tensors(saved) or _flaw_of_results(saved["results"], training.games)
    if wrong:
        raise InvalidStateError(f"{path} can't be right: {wrong}")
    try:
        games = _converted(saved["games"], torch.Tensor, torch.Tensor.numpy)
    except (TypeError, RuntimeError) as error:  # of a dtype that NumPy has not, or with gradients
        raise InvalidStateError(f"{path} can't be right: games: {error}") from None
    return saved | {"training": training, "games": games}


def _flaw_of_tensors(saved: dict) -> str:
    """Says which of a checkpoint's tensors can't be gone on from, or returns ""."""
    state = saved["optimizer"]["state"]
    named = {"network": saved["network"]}
    named |= {f"optimizer's state {key!r}": moments for key, moments in state.items()}
    for rank, each in enumerate(saved["games"]):
        named[f"games {rank}"] = {name: each[name] for name in SelfPlay.ARRAYS}
    for name, tensors in named.items():
        if wrong := flaw(tensors, name):
            return wrong
    for key, moments in state.items():
        for name in moments.keys() & {"step", "exp_avg_sq"}:
            if (moments[name] < 0).any():
                return f"optimizer's state {key!r}[{name!r}] is negative"
    return ""


def _flaw_of_results(results: list[list], games: int) -> str:
    """Says which result is none of a match of so many games, or returns ""."""
    for row in results:
        if list(map(type, row)) != [str, str, float, float]:
            return f"results: {row} is not two players and their points"
        if min(row[2:]) < 0 or sum(row[2:]) != games or row[2] * 2 % 1:
            return f"results: {row} is not of {games} games"
    try:
        elo.rate({(a, b): (x, y) for a, b, x, y in results}, anchor=RandomPlayer.name)
    except ConfigurationError as error:
        return f"results: {error}"
    return ""


def _converted(games: list[dict], kind: type, convert: Callable) -> list[dict]:
    """Returns each rank's games, in which what is of a kind is converted."""
    return [
        {name: convert(value) if isinstance(value, kind) else value for name, value in each.items()}
        for each in games
    ]
