"""Checkpoints: a training run as it stood."""

import dataclasses
import math
from pathlib import Path

import torch

from rungs._src.train.settings import PpoSettings, Training
from rungs._src.train.torch_file import Saved
from rungs.errors import ConfigurationError, InvalidStateError

NAME = "checkpoint.pt"

_FILE = Saved(
    "training",
    schema=2,
    form={
        "training": {"opponent": str, "rung": str, "how": {}, "ppo": {}},
        "job": (str, type(None)),
        "clock": float,
        "learner": {"network": {...: torch.Tensor}, "optimizer": {}, "updates": int, "steps": int},
        "own": [{"generator": torch.Tensor, "env": bytes}],
    },
)


def save(out: Path, saved: dict) -> None:
    """Writes a checkpoint, whole or not at all.

    Args:
        out: the run's folder.
        saved: as `load` returns it.

    Raises:
        StorageError: it can't be written; an earlier one stays.
    """
    _FILE.save(out / NAME, saved | {"training": dataclasses.asdict(saved["training"])})


def load(out: Path) -> dict:
    """Reads the checkpoint of a run.

    Returns:
        "training"; "job", torchrun's id of the run; "learner", of `Learner.save`; "own", what in it
        is each rank's; and "clock", the seconds that had been trained.

    Raises:
        ConfigurationError: there is none, or it is of another version.
        InvalidStateError: it is corrupt, incomplete or something else; the message says in what.
    """
    path = out / NAME
    saved = _FILE.load(path)
    counts = (saved["clock"], saved["learner"]["updates"], saved["learner"]["steps"])
    if not all(0 <= count < math.inf for count in counts):
        raise InvalidStateError(f"{path} can't be right: seconds, updates and steps are {counts}")
    settings = saved["training"]
    try:
        training = Training(
            **settings | {"how": dict(**settings["how"]), "ppo": PpoSettings(**settings["ppo"])}
        )
    except TypeError as error:  # settings had other names then, or are of another type
        raise ConfigurationError(f"{path} is of another version of Rungs: {error}") from None
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error}") from None
    return saved | {"training": training}
