"""What a training run has to tell: rows of a CSV file, and the same numbers for TensorBoard."""

import csv
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rungs._src.core.atomic import atomic_write, reraise_as_storage_error
from rungs._src.core.folder import Folder
from rungs._src.train import checkpoint
from rungs.errors import InvalidStateError, UnavailableError, install_hint

METRICS = "metrics.csv"
EVALUATIONS = "evaluations.csv"
TENSORBOARD = "tensorboard"


class Log:
    """One table that grows by a row at a time, in a file that a run may go on with.

    Args:
        path: the CSV file. What it holds beyond `last` is from updates that were lost, and goes.
        last: the update that the run goes on from; 0 for a new one.

    Raises:
        InvalidStateError: the file is no such table; nothing has changed.
    """

    def __init__(self, path: Path, last: int):
        self.path = path
        self.rows: list[dict] = []
        self._board: Any = None
        if not last or not path.exists():
            return
        if not path.is_file():  # a pipe would be waited for
            raise InvalidStateError(f"{path} is no file")
        try:
            with path.open(newline="") as file:
                reader = csv.DictReader(file)
                # A process that was killed may have left half a row.
                whole = [row for row in reader if None not in row.values()]
                columns = reader.fieldnames or []
            if len(set(columns)) < len(columns) or any(None in row for row in whole):
                raise ValueError("its rows and columns are not alike")
            self.rows = [row for row in whole if int(row["update"]) <= last]
        except (OSError, ValueError, KeyError, csv.Error) as error:
            why = f"{type(error).__name__}: {error}"
            raise InvalidStateError(f"{path} is no table of updates: {why}") from None

    def begin(self, board) -> None:
        """Writes the rows that stay, and tells `board`, a `Board`, of those that come.

        Raises:
            StorageError: the file can't be written.
        """
        self._board = board
        with atomic_write(self.path) as unfinished, unfinished.open("w", newline="") as file:
            if self.rows:
                writer = csv.DictWriter(file, self.rows[0])
                writer.writeheader()
                writer.writerows(self.rows)

    def add(self, row: dict) -> None:
        """Writes a row, which has an "update"; it is in the file when this returns.

        Raises:
            InvalidStateError: the rows before have other columns.
            StorageError: the file can't be written.
        """
        columns = list(self.rows[0] if self.rows else row)
        if row.keys() != set(columns):
            raise InvalidStateError(f"{self.path} has the columns {columns}, not {list(row)}")
        with reraise_as_storage_error(self.path), self.path.open("a", newline="") as file:
            writer = csv.DictWriter(file, columns)
            if not self.rows:
                writer.writeheader()
            writer.writerow(row)
        self.rows.append(row)
        values = {f"{self.path.stem}/{name}": value for name, value in row.items()}
        self._board.add(values, row["update"])


class Board:
    """A file of TensorBoard's events, which are in it when `add` returns.

    TensorBoard's own writer has a thread, which tells of a full disk late and on the screen.

    Args:
        folder: where the file goes; made if missing.
        last: the update that the run goes on from, after which what others of the folder's files
            tell is forgotten; 0 for a new one.

    Attributes:
        path: the file.

    Raises:
        UnavailableError: TensorBoard is not installed.
        StorageError: the file can't be written.
    """

    def __init__(self, folder: Path, last: int):
        try:
            from tensorboard.compat.proto import event_pb2, summary_pb2
            from tensorboard.summary.writer.record_writer import RecordWriter
        except ImportError:
            raise UnavailableError(f"there is no tensorboard: {install_hint('train')}") from None
        self._event, self._summary = event_pb2.Event, summary_pb2.Summary
        name = f"events.out.tfevents.{time.time_ns()}.{socket.gethostname()}.{os.getpid()}"
        self.path = folder / name
        with reraise_as_storage_error(self.path):
            folder.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("xb")
        self._records = RecordWriter(self._file)
        self._write(file_version="brain.Event:2")
        if last:
            start = event_pb2.SessionLog(status=event_pb2.SessionLog.START)
            self._write(session_log=start, step=last + 1)

    def add(self, values: dict[str, float], update: int) -> None:
        """Tells of numbers by their names, as they were after an update."""
        for name, value in values.items():
            value = self._summary.Value(tag=name, simple_value=float(value))
            self._write(summary=self._summary(value=[value]), step=update)
        with reraise_as_storage_error(self.path):
            self._file.flush()

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def _write(self, **event) -> None:
        with reraise_as_storage_error(self.path):
            whole = self._event(wall_time=time.time(), **event)
            self._records.write(whole.SerializeToString())


def begin_logs(folder: Folder, last: int, say: Callable) -> tuple[Log, Log, Board]:
    """Begins what a run writes down, in a folder that is cleared for it, or goes on with it.

    Args:
        folder: the run's, which will know of these files and of the checkpoint.
        last: the update that the run goes on from; 0 for a new one.
        say: is told where it goes on.

    Returns:
        Metrics and evaluations, each of which tells the board; and that.

    Raises:
        InvalidStateError: a table is none.
        StorageError: a file can't be written.
        UnavailableError: TensorBoard is not installed.
    """
    metrics, evaluations = logs = [Log(folder.path / name, last) for name in (METRICS, EVALUATIONS)]
    if last:
        say(f"going on after update {last}")
    else:
        folder.clear()
    board = Board(folder.path / TENSORBOARD, last)
    folder.note([folder.path / checkpoint.NAME, *(log.path for log in logs), board.path])
    for log in logs:
        log.begin(board)
    return metrics, evaluations, board
