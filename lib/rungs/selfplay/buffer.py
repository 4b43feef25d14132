"""The replay buffer: positions of the last updates' games, in files that survive a crash.

One file, a *shard*, for each update; written whole and never changed. What a killed process leaves
is whole shards and nothing half. A checkpoint says how many updates count: shards beyond are of
updates that were lost, and go.
"""

import hashlib
import io
import re
from pathlib import Path

import numpy as np

from rungs.core.atomic import storing, written
from rungs.errors import InvalidStateError
from rungs.selfplay.positions import Positions, fits, joined

_NAME = re.compile(r"(\d{6,})\.npz")
_SUM = hashlib.sha256().digest_size


class ReplayBuffer:
    """The positions of the last `window` updates.

    Args:
        folder: where the shards go; made if missing. Nothing but shards may be in it.
        window: how many updates' positions are kept.
        updates: after how many it goes on; 0 for a new one.

    Raises:
        InvalidStateError: a shard that must be there is missing, corrupt or something else; it is
            named, and nothing has changed.
        StorageError: what is left of lost updates can't be removed.

    Attributes:
        shards: the positions by update.
        updates: how many updates' positions were added.
    """

    def __init__(self, folder: Path, window: int, updates: int = 0):
        self.folder, self.window, self.updates = folder, window, updates
        first = max(1, updates - window + 1)
        self.shards = {number: _read(self._path(number)) for number in range(first, updates + 1)}
        self._forget(lambda number: not first <= number <= updates)

    def __len__(self) -> int:
        return sum(map(len, self.shards.values()))

    def add(self, positions: Positions) -> None:
        """Keeps an update's positions; they are on disk when this returns.

        Raises:
            StorageError: they can't be written; nothing has changed.
        """
        _write(self._path(self.updates + 1), positions)
        self.updates += 1
        self.shards[self.updates] = positions
        self.shards.pop(self.updates - self.window, None)

    def tidy(self, updates: int) -> None:
        """Removes shards that no checkpoint after `updates` updates or more needs."""
        self._forget(lambda number: number <= updates - self.window)

    def sample(self, count: int, rng: np.random.Generator) -> Positions:
        """Returns `count` positions, all that are kept equally likely, in order of updates."""
        drawn, parts = rng.integers(len(self), size=count), []
        for shard in self.shards.values():
            parts.append(shard.rows(drawn[(drawn >= 0) & (drawn < len(shard))]))
            drawn = drawn - len(shard)
        return joined(parts)

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:06}.npz"

    def _forget(self, out) -> None:
        with storing(self.folder):
            for path in self.folder.glob("*.npz"):
                named = _NAME.fullmatch(path.name)
                if named and out(int(named[1])):
                    path.unlink()


def _write(path: Path, positions: Positions) -> None:
    file = io.BytesIO()
    np.savez(file, **positions.arrays())  # type: ignore[arg-type]  # of which none is a flag
    whole = file.getvalue()
    with written(path) as unfinished:
        unfinished.write_bytes(whole + hashlib.sha256(whole).digest())


def _read(path: Path) -> Positions:
    try:
        whole = path.read_bytes()
    except OSError as error:
        raise InvalidStateError(f"{path} can't be read: {error.strerror}") from None
    data, found = whole[:-_SUM], whole[-_SUM:]
    if hashlib.sha256(data).digest() != found:
        raise InvalidStateError(f"{path} is corrupt: its checksum is another")
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        named = dict(arrays)
    if not fits(named):
        raise InvalidStateError(f"{path} holds no positions")
    return Positions(**named)
