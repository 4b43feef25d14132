"""The replay buffer: positions of the last updates' games, in files that survive a crash.

One file, a *shard*, for each update; written whole and never changed. What a killed process leaves
is whole shards and nothing half. A checkpoint says how many updates count: shards beyond are of
updates that were lost, and go. What else is in the folder is never written over nor removed.
"""

import hashlib
import io
import math
from collections.abc import Callable, Collection
from pathlib import Path

import numpy as np

from rungs._src.core.atomic import atomic_write, reraise_as_storage_error
from rungs._src.selfplay.examples import Examples, flaw, joined
from rungs.errors import ConfigurationError, InvalidStateError

MIN_WINDOW = 20  # updates that are kept, however small a share of them is asked for
_SUM = hashlib.sha256().digest_size


class ReplayBuffer:
    """The positions of the last updates: of a share of all so far, `window` at most.

    Args:
        folder: where the shards go; made if missing.
        window: how many updates' positions are kept, at most.
        updates: after how many it goes on; 0 for a new one.
        ours: files that the run has written, in this folder or others. Only they are removed.
        share: of the updates so far, those that are kept, but `MIN_WINDOW` at least.

    Raises:
        InvalidStateError: a shard that must be there is missing, corrupt or something else; it is
            named, and nothing has changed.
        ConfigurationError: a file that is not of `ours` has the name of a shard to come; likewise.
        StorageError: what is left of lost updates can't be removed.

    Attributes:
        shards: the positions by update.
        updates: how many updates' positions were added.
    """

    def __init__(
        self,
        folder: Path,
        window: int,
        updates: int = 0,
        ours: Collection[Path] = frozenset(),
        share: float = 1.0,
    ):
        self.folder, self.window, self.share, self.updates = folder, window, share, updates
        first = self._first(updates)
        self.shards = {number: _read(self._path(number)) for number in range(first, updates + 1)}
        there = self._there()
        for number in there:
            if number > updates and self._path(number) not in ours:
                raise _not_ours(self._path(number))
        self._ours = {number for number in there if self._path(number) in ours}
        self._forget(lambda number: not first <= number <= updates)
        self._ours.update(self.shards)

    def __len__(self) -> int:
        return sum(map(len, self.shards.values()))

    def next_path(self) -> Path:
        """Returns where the next update's positions go.

        Raises:
            ConfigurationError: something is there already.
        """
        path = self._path(self.updates + 1)
        if path.exists():
            raise _not_ours(path)
        return path

    def add(self, positions: Examples) -> None:
        """Keeps an update's positions; they are on disk when this returns.

        Raises:
            StorageError: they can't be written; nothing has changed.
            ConfigurationError: something is there already; likewise.
        """
        _write(self.next_path(), positions)
        self.updates += 1
        self._ours.add(self.updates)
        self.shards[self.updates] = positions
        self.shards.pop(self._first(self.updates) - 1, None)

    def remove_leftovers(self, updates: int) -> None:
        """Removes shards that no checkpoint after `updates` updates or more needs."""
        self._forget(lambda number: number < self._first(updates))

    def sample(self, count: int, rng: np.random.Generator) -> Examples:
        """Returns `count` positions, all that are kept equally likely, in order of updates."""
        drawn, parts = rng.integers(len(self), size=count), []
        for shard in self.shards.values():
            parts.append(shard.rows(drawn[(drawn >= 0) & (drawn < len(shard))]))
            drawn = drawn - len(shard)
        return joined(parts)

    def _first(self, updates: int) -> int:
        """Returns the first update whose positions are kept after some; it grows by 1 at most."""
        window = min(self.window, max(MIN_WINDOW, math.ceil(self.share * updates)))
        return max(1, updates - window + 1)

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:06}.npz"

    def _there(self) -> list[int]:
        """Returns the numbers of all files that are named as shards are."""
        numbers = [int(path.stem) for path in self.folder.glob("*.npz") if path.stem.isdecimal()]
        return sorted(number for number in set(numbers) if self._path(number).exists())

    def _forget(self, out: Callable[[int], bool]) -> None:
        with reraise_as_storage_error(self.folder):
            for number in filter(out, sorted(self._ours)):
                self._path(number).unlink(missing_ok=True)
                self._ours.discard(number)


def _not_ours(path: Path) -> ConfigurationError:
    return ConfigurationError(f"{path} is not of this run, whose positions go there: move it away")


def _write(path: Path, positions: Examples) -> None:
    file = io.BytesIO()
    np.savez(file, **positions.arrays())  # type: ignore[arg-type]  # of which none is a flag
    whole = file.getvalue()
    with atomic_write(path) as unfinished:
        unfinished.write_bytes(whole + hashlib.sha256(whole).digest())


def _read(path: Path) -> Examples:
    if path.exists() and not path.is_file():  # a pipe would be waited for
        raise InvalidStateError(f"{path} is no file")
    try:
        whole = path.read_bytes()
    except OSError as error:
        raise InvalidStateError(f"{path} can't be read: {error.strerror}") from None
    data, found = whole[:-_SUM], whole[-_SUM:]
    if hashlib.sha256(data).digest() != found:
        raise InvalidStateError(f"{path} is corrupt: its checksum is another")
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            named = dict(arrays)
    except Exception as error:  # a file may be wrong in any way, and each raises something else
        why = str(error).partition("\n")[0] or type(error).__name__
        raise InvalidStateError(f"{path} holds no arrays: {why}") from None
    if wrong := flaw(named):
        raise InvalidStateError(f"{path} holds no positions: {wrong}")
    return Examples(**named)
