"""What a training run has to tell: rows of a CSV file, and the same numbers for TensorBoard."""

import csv
import shutil
from pathlib import Path

from rungs.core.atomic import written
from rungs.errors import UnavailableError


class Log:
    """One table that grows by a row at a time, in a file that a run may go on with.

    Args:
        path: the CSV file. What it holds beyond `last` is from updates that were lost, and goes.
        last: the update that the run goes on from; 0 for a new one.
        board: TensorBoard's writer.
    """

    def __init__(self, path: Path, last: int, board):
        self.path, self._board = path, board
        self.rows = []
        if last and path.exists():
            with path.open(newline="") as file:
                self.rows = [row for row in csv.DictReader(file) if int(row["update"]) <= last]
        with written(path) as unfinished, unfinished.open("w", newline="") as file:
            if self.rows:
                writer = csv.DictWriter(file, self.rows[0])
                writer.writeheader()
                writer.writerows(self.rows)

    def add(self, row: dict) -> None:
        """Writes a row, which has an "update"; it is in the file when this returns."""
        with self.path.open("a", newline="") as file:
            writer = csv.DictWriter(file, row)
            if not self.rows:
                writer.writeheader()
            writer.writerow(row)
        self.rows.append(row)
        for name, value in row.items():
            self._board.add_scalar(f"{self.path.stem}/{name}", value, row["update"])
        self._board.flush()


def tensorboard(folder: Path, last: int):
    """TensorBoard's writer to a folder, which forgets what it was told after update `last`.

    Raises:
        UnavailableError: TensorBoard is not installed.
    """
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise UnavailableError("there is no tensorboard: pip install 'rungs[train]'") from None
    if not last:
        shutil.rmtree(folder, ignore_errors=True)
    return SummaryWriter(str(folder), purge_step=last + 1)
