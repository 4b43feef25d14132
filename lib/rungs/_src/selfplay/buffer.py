"""The replay buffer: positions of the last updates' games, in files that survive a crash.

Each update has one file, a *shard*, which is written atomically and never changed: a killed process
leaves no incomplete shard. A checkpoint says how many updates count: later shards are of updates
that were lost, and are removed. Other files in the folder are never overwritten or removed.
"""

import hashlib
import io
import math
from collections.abc import Callable, Collection
from pathlib import Path

import numpy as np

from rungs._src.core.atomic import atomic_write, reraise_as_storage_error
from rungs._src.selfplay.examples import Examples, examples_flaw, joined
from rungs.errors import ConfigurationError, InvalidStateError

MIN_WINDOW = 20  # updates that are kept for any `share`
_SUM = hashlib.sha256().digest_size


class ReplayBuffer:
    """The positions of the last updates: a share of all so far, `MIN_WINDOW` to `window` of them.

    Of the folder's files only `run_files`, which the run has written, are removed; any other that
    is in the way is a ConfigurationError, a shard that can't be read an InvalidStateError.
    """

    def __init__(
        self,
        folder: Path,
        window: int,
        updates: int = 0,
        run_files: Collection[Path] = frozenset(),
        share: float = 1.0,
    ):
        self.folder, self.window, self.share, self.updates = folder, window, share, updates
        first = self._first(updates)
        self.shards = {number: _read(self._path(number)) for number in range(first, updates + 1)}
        numbers = self._shard_numbers()
        for number in numbers:
            if number > updates and self._path(number) not in run_files:
                raise _foreign_file(self._path(number))
        self._own_shards = {number for number in numbers if self._path(number) in run_files}
        self._forget(lambda number: not first <= number <= updates)
        self._own_shards.update(self.shards)

    def __len__(self) -> int:
        return sum(map(len, self.shards.values()))

    def next_path(self) -> Path:
        """Returns the path of the next shard; a ConfigurationError if a file is there."""
        path = self._path(self.updates + 1)
        if path.exists():
            raise _foreign_file(path)
        return path

    def add(self, positions: Examples) -> None:
        """Keeps an update's positions: they are on disk when this returns."""
        _write(self.next_path(), positions)
        self.updates += 1
        self._own_shards.add(self.updates)
        self.shards[self.updates] = positions
        self.shards.pop(self._first(self.updates) - 1, None)

    def remove_leftovers(self, updates: int) -> None:
        """Removes shards that no checkpoint after `updates` updates or more needs."""
        self._forget(lambda number: number < self._first(updates))

    def sample(self, count: int, rng: np.random.Generator) -> Examples:
        """Samples `count` of the kept positions, uniformly; returns them in order of updates."""
        rows, parts = rng.integers(len(self), size=count), []
        for shard in self.shards.values():
            parts.append(shard.rows(rows[(rows >= 0) & (rows < len(shard))]))
            rows = rows - len(shard)
        return joined(parts)

    def _first(self, updates: int) -> int:
        """Returns the first update that is kept after `updates`; each adds 1 to it at most."""
        window = min(self.window, max(MIN_WINDOW, math.ceil(self.share * updates)))
        return max(1, updates - window + 1)

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:06}.npz"

    def _shard_numbers(self) -> list[int]:
        """Returns the numbers of all files that have the name of a shard."""
        numbers = [int(path.stem) for path in self.folder.glob("*.npz") if path.stem.isdecimal()]
        return sorted(number for number in set(numbers) if self._path(number).exists())

    def _forget(self, expired: Callable[[int], bool]) -> None:
        with reraise_as_storage_error(self.folder):
            for number in filter(expired, sorted(self._own_shards)):
                self._path(number).unlink(missing_ok=True)
                self._own_shards.discard(number)


def _foreign_file(path: Path) -> ConfigurationError:
    return ConfigurationError(f"{path} is not of this run, which writes there: move it away")


def _write(path: Path, positions: Examples) -> None:
    file = io.BytesIO()
    np.savez(file, **positions.arrays())  # type: ignore[arg-type]  # of which none is a flag
    data = file.getvalue()
    with atomic_write(path) as unfinished:
        unfinished.write_bytes(data + hashlib.sha256(data).digest())


def _read(path: Path) -> Examples:
    if path.exists() and not path.is_file():  # reading a pipe would block
        raise InvalidStateError(f"{path} is not a file")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InvalidStateError(f"{path} can't be read: {error.strerror}") from None
    data, checksum = content[:-_SUM], content[-_SUM:]
    if hashlib.sha256(data).digest() != checksum:
        raise InvalidStateError(f"{path} is corrupt: its checksum differs")
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            named = dict(arrays)
    except Exception as error:  # files may be damaged in many ways, and raise many kinds of errors
        why = str(error).partition("\n")[0] or type(error).__name__
        raise InvalidStateError(f"{path} holds no arrays: {why}") from None
    if flaw := examples_flaw(named):
        raise InvalidStateError(f"{path} holds no positions: {flaw}")
    return Examples(**named)
