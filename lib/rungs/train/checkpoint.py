"""Checkpoints: a training run as it stood, in a file that is believed only where it is whole."""

import dataclasses
import io
import math
import pickle
import zipfile
from pathlib import Path

import torch

from rungs.core.atomic import written
from rungs.core.form import misfit
from rungs.errors import ConfigurationError, InvalidStateError
from rungs.train.settings import PpoSettings, Training

NAME = "checkpoint.pt"

_KIND = {"tool": "rungs", "kind": "training", "schema": 1}  # schema: grows with what is saved
_FORM = {
    "training": {"opponent": str, "rung": str, "how": {}, "ppo": {}},
    "job": (str, type(None)),
    "clock": float,
    "learner": {"network": {...: torch.Tensor}, "optimizer": {}, "updates": int, "steps": int},
    "own": [{"generator": torch.Tensor, "env": bytes}],
}


def save(out: Path, saved: dict) -> None:
    """Writes a checkpoint, whole or not at all.

    Args:
        out: the run's folder.
        saved: as `load` returns it.

    Raises:
        StorageError: it can't be written; an earlier one stays.
    """
    file = io.BytesIO()  # on a full disk `torch.save` fails as if it were at fault itself
    torch.save(_KIND | saved | {"training": dataclasses.asdict(saved["training"])}, file)
    with written(out / NAME) as unfinished:
        unfinished.write_bytes(file.getbuffer())


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
    if not path.exists():
        raise ConfigurationError(f"there is no {path} to go on from")
    saved = _whole(path)
    if not isinstance(saved, dict) or {name: saved.get(name) for name in _KIND} != _KIND:
        raise ConfigurationError(f"{path} is not of this version of Rungs, or of something else")
    if wrong := misfit(saved, _FORM):
        raise InvalidStateError(f"{path} is incomplete: {wrong}")
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
    return {name: saved[name] for name in _FORM} | {"training": training}


def _whole(path: Path):
    """Returns what `torch.save` wrote. Its checksums are looked at here, as `torch.load` doesn't.

    Raises:
        InvalidStateError: the file is cut short, changed or nothing of PyTorch's.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            corrupt = archive.testzip()
        if corrupt:
            raise InvalidStateError(f"{path} is corrupt: in {corrupt}")
        return torch.load(path, map_location="cpu", weights_only=True)
    except InvalidStateError:
        raise
    except pickle.UnpicklingError:
        raise InvalidStateError(f"{path} is no checkpoint: it holds more than data") from None
    except Exception as error:  # a file may be wrong in any way, and each raises something else
        why = str(error).partition("\n")[0] or type(error).__name__
        raise InvalidStateError(f"{path} is corrupt, or no checkpoint: {why}") from None
