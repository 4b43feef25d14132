"""Trackers of a run's numbers: TensorBoard, Weights & Biases, Trackio, or none.

A tracker is a function of a run's folder, its settings and the update from which it resumes (0 for
a new run). It returns a context: a function that logs numbers by their names, as of an update.
"""

import contextlib
import importlib
import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, Final

from rungs._src.core.arguments import choice
from rungs._src.core.atomic import reraise_as_storage_error
from rungs._src.core.folder import Folder
from rungs.errors import UnavailableError, install_hint

TENSORBOARD: Final = "tensorboard"  # also the folder of its files in a run's
PROJECT: Final = "rungs"  # in which the others show all runs
# What brings a tracker's package, which has the tracker's name.
_EXTRAS = {TENSORBOARD: "train", "wandb": "wandb", "trackio": "trackio"}

Log = Callable[[Mapping[str, float], int], None]


def check_tracker(name: str) -> None:
    """Raises ConfigurationError if there is no such tracker, UnavailableError if its package can't
    be imported.
    """
    choice("track", name, (*TRACKERS,))
    if name in _EXTRAS:
        try:
            importlib.import_module(name)
        except ImportError as error:
            hint = install_hint(_EXTRAS[name])
            raise UnavailableError(f"track={name!r} needs the package {name}: {hint}") from error


@contextlib.contextmanager
def _tensorboard(folder: Folder, settings: dict, last: int) -> Iterator[Log]:
    """Writes a file of events, in which numbers are when they are logged.

    `SummaryWriter` writes in a thread, which a full disk ends with a traceback on stderr; a run
    must end with one StorageError instead. A run that resumes drops the events of lost updates,
    which are in other files.
    """
    from tensorboard.compat.proto.event_pb2 import Event, SessionLog
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.record_writer import RecordWriter

    name = f"events.out.tfevents.{time.time_ns()}.{socket.gethostname()}.{os.getpid()}"
    path = folder.path / TENSORBOARD / name
    folder.note([path])
    with reraise_as_storage_error(path):
        path.parent.mkdir(exist_ok=True)
        file = path.open("xb")
    records = RecordWriter(file)

    def write(**event) -> None:
        with reraise_as_storage_error(path):
            records.write(Event(wall_time=time.time(), **event).SerializeToString())
            file.flush()

    def log(values: Mapping[str, float], update: int) -> None:
        named = [Summary.Value(tag=name, simple_value=value) for name, value in values.items()]
        write(summary=Summary(value=named), step=update)

    with file:
        write(file_version="brain.Event:2")
        if last:
            write(session_log=SessionLog(status=SessionLog.START), step=last + 1)
        yield log


@contextlib.contextmanager
def _wandb(folder: Folder, settings: dict, last: int) -> Iterator[Log]:
    """Logs to Weights & Biases; the parts of a run that was resumed are a group."""
    import wandb

    name, console = folder.path.name, wandb.Settings(console="off")  # whose bars stay as they are
    place: dict[str, Any] = {"project": PROJECT, "name": name, "group": name, "dir": folder.path}
    try:
        run = wandb.init(**place, config=settings, settings=console)
    except wandb.Error as error:  # nobody is logged in, say
        raise UnavailableError(f"track='wandb': {error}") from error
    with run:
        yield lambda values, update: run.log({**values}, step=update)


@contextlib.contextmanager
def _trackio(folder: Folder, settings: dict, last: int) -> Iterator[Log]:
    """Logs to Trackio, on this machine."""
    import trackio

    name = folder.path.name
    quiet: dict[str, Any] = {"embed": False}  # no dashboard
    quiet |= {"auto_log_cpu": False, "auto_log_gpu": False}  # and no threads
    run = trackio.init(project=PROJECT, name=name, group=name, config=settings, **quiet)
    try:
        yield lambda values, update: run.log({**values}, step=update)
    finally:
        trackio.finish()


def _none(folder: Folder, settings: dict, last: int) -> AbstractContextManager[Log]:
    return contextlib.nullcontext(lambda values, update: None)


TRACKERS: Final[dict[str, Callable[[Folder, dict, int], AbstractContextManager[Log]]]] = {
    TENSORBOARD: _tensorboard,
    "wandb": _wandb,
    "trackio": _trackio,
    "none": _none,
}
