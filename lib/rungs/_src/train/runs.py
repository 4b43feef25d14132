"""A run in a folder, of PPO or of self-play: its loop, its checkpoint, tables and tracker."""

import contextlib
import csv
import dataclasses
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rungs._src.core.atomic import atomic_write, reraise_as_storage_error
from rungs._src.core.folder import Folder
from rungs._src.core.progress import Progress, Say, silent
from rungs._src.train.torch_file import TorchFile
from rungs._src.train.tracking import TENSORBOARD, TRACKERS
from rungs.errors import ConfigurationError, InvalidStateError

CHECKPOINT = "checkpoint.pt"
METRICS = "metrics.csv"
EVALUATIONS = "evaluations.csv"
NAMES = (CHECKPOINT, METRICS, EVALUATIONS, TENSORBOARD)  # files and folders of every run
UNIT = {"bfloat16_unit": (str, type(None))}  # of a checkpoint's form, see `unit_of`


@dataclasses.dataclass(frozen=True)
class Checkpoint(TorchFile):
    """The checkpoint of a kind of run, in its folder; its form has "training" and "clock"."""

    settings: Callable[[dict], Any]  # makes the run's settings from the saved ones
    counts: tuple[str, ...] = ("clock",)  # names of numbers in it that must not be negative

    def save(self, out: Path, saved: dict) -> None:
        """Writes the checkpoint of a run's folder, whole or not at all: what `load` returns."""
        self.write(out / CHECKPOINT, saved | {"training": dataclasses.asdict(saved["training"])})

    def load(self, out: Path) -> dict:
        """Reads the checkpoint of a run's folder: what its form names; "training" as settings.

        Raises:
            ConfigurationError: there is none, or it is of another version.
            InvalidStateError: it is corrupt, incomplete or something else; the message says in
                what.
        """
        path = out / CHECKPOINT
        saved = self.read(path)
        for name in self.counts:
            if not 0 <= saved[name] < math.inf:
                raise InvalidStateError(f"{path} can't be right: {name} is {saved[name]}")
        try:
            return saved | {"training": self.settings(saved["training"])}
        except TypeError as error:  # settings had other names, or are of another type
            raise ConfigurationError(f"{path} is of another version of Rungs: {error}") from None
        except ConfigurationError as error:
            raise ConfigurationError(f"{path}: {error}") from None


@contextlib.contextmanager
def names_checkpoint(out: Path, resumed: bool) -> Iterator[None]:
    """Adds the checkpoint's path to errors about what it holds, in a run that is resumed."""
    try:
        yield
    except (ConfigurationError, InvalidStateError) as error:
        if not resumed:
            raise
        raise type(error)(f"{out / CHECKPOINT}: {error}") from error


def unit_of(learner: Any) -> dict[str, str | None]:
    """Returns what multiplies bfloat16, as a checkpoint has it: None if nothing does."""
    return {"bfloat16_unit": getattr(learner, "bfloat16_unit", None)}


def say_other_unit(saved: dict, learner: Any, say: Say) -> None:
    """Says that a run continues with another unit of bfloat16 than it began with."""
    before, now = saved["bfloat16_unit"], unit_of(learner)["bfloat16_unit"]
    if before != now:
        say(f"{now} multiplies, and not {before} as before: last bits differ")


class Run:
    """The loop of a run; a subclass defines an update, an evaluation and a state.

    `training` has the fields of `RunSettings`, `updates` and `evaluate_every`; `folder` is None on
    a rank that writes nothing; `last` and `clock` are the update and the seconds of training from
    which the run resumes, 0 for a new one; `track` is one of `TRACKERS`.
    """

    def __init__(
        self,
        training: Any,
        folder: Folder | None,
        checkpoint: Checkpoint,
        last: int,
        clock: float,
        track: str,
        say: Say,
    ):
        self.training, self.folder, self.track, self.say = training, folder, track, say
        self.checkpoint, self.updates, self.clock = checkpoint, last, clock
        if not folder:
            return
        self.tables = {name: Table(folder.path / name, last) for name in (METRICS, EVALUATIONS)}
        if last:
            say(f"continuing after update {last}")
        else:
            folder.clear()
        tables = [table.path for table in self.tables.values()]
        folder.note([folder.path / CHECKPOINT, *tables])
        for table in self.tables.values():
            table.begin()

    def update(self) -> str:
        """Plays and learns once; adds to `updates` and `clock`, writes a row of metrics, and
        returns its line of progress, "" on a rank that writes nothing.
        """
        raise NotImplementedError

    def evaluate(self) -> None:
        """Writes a row of evaluations."""
        raise NotImplementedError

    def state(self) -> dict:
        """Returns the checkpoint's content besides "training" and "clock"."""
        raise NotImplementedError

    def after_checkpoint(self) -> None:
        """Removes files that no checkpoint needs any longer."""

    def run(self) -> None:
        """Learns, evaluates and saves, until the run is over."""
        training = self.training
        say = self.say if self.folder else silent
        with self._tracker(), Progress("training", 1, say, self._share()) as progress:
            if not self.updates:
                self.evaluate()
            while self.updates < training.updates and self.clock < training.seconds:
                before = self._share()
                progress.advance(0, self.update())
                progress.advance(self._share() - before)
                over = self.updates == training.updates or self.clock >= training.seconds
                if over or self.updates % training.evaluate_every == 0:
                    self.evaluate()
                every = training.checkpoint_every
                if every and (over or self.updates % every == 0):
                    self._save()

    @contextlib.contextmanager
    def _tracker(self) -> Iterator[None]:
        """Lets `write` log meanwhile, where there is a folder."""
        if not self.folder:
            return (yield)
        settings = dataclasses.asdict(self.training)
        with TRACKERS[self.track](self.folder, settings, self.updates) as self._log:
            yield

    def _share(self) -> float:
        """Returns how much of the run is over, from 0 to 1."""
        of_time = self.clock / self.training.seconds
        return min(1.0, max(self.updates / self.training.updates, of_time))

    def write(self, name: str, row: dict) -> None:
        """Adds a row to METRICS or EVALUATIONS, and logs the same numbers to the tracker."""
        table = self.tables[name]
        table.add(row)
        values = {f"{table.path.stem}/{column}": value for column, value in row.items()}
        self._log(values, row["update"])

    def _save(self) -> None:
        state = self.state()  # of all ranks
        if self.folder:
            head = {"training": self.training, "clock": self.clock}
            self.checkpoint.save(self.folder.path, head | state)
            self.after_checkpoint()


class Table:
    """A CSV file that grows by a row at a time; a run that resumes drops the rows of lost updates,
    those after `last`.
    """

    def __init__(self, path: Path, last: int):
        self.path = path
        self.rows: list[dict] = []
        if not last or not path.exists():
            return
        if not path.is_file():  # reading a pipe would block
            raise InvalidStateError(f"{path} is not a file")
        try:
            with path.open(newline="") as file:
                reader = csv.DictReader(file)
                # A killed process may have left half a row.
                rows = [row for row in reader if None not in row.values()]
                columns = reader.fieldnames or []
            if len(set(columns)) < len(columns) or any(None in row for row in rows):
                raise ValueError("its rows and columns are not alike")
            self.rows = [row for row in rows if int(row["update"]) <= last]
        except (OSError, ValueError, KeyError, csv.Error) as error:
            why = f"{type(error).__name__}: {error}"
            raise InvalidStateError(f"{path} is not a table of updates: {why}") from None

    def begin(self) -> None:
        """Writes the rows that were kept."""
        with atomic_write(self.path) as unfinished, unfinished.open("w", newline="") as file:
            if self.rows:
                writer = csv.DictWriter(file, self.rows[0])
                writer.writeheader()
                writer.writerows(self.rows)

    def add(self, row: dict) -> None:
        """Writes a row, which has an "update"; it is in the file when this returns."""
        columns = list(self.rows[0] if self.rows else row)
        if row.keys() != set(columns):
            raise InvalidStateError(f"{self.path} has the columns {columns}, not {list(row)}")
        with reraise_as_storage_error(self.path), self.path.open("a", newline="") as file:
            writer = csv.DictWriter(file, columns)
            if not self.rows:
                writer.writeheader()
            writer.writerow(row)
        self.rows.append(row)
