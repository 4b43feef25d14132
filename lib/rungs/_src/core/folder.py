"""This user's folders; and output folders: marked as ours, locked while in use, cleared by name."""

import contextlib
import json
import os
import socket
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

import platformdirs

from rungs._src.core.arguments import shown
from rungs._src.core.atomic import atomic_write, remove_leftovers, reraise_as_storage_error
from rungs._src.core.schema import schema_error
from rungs.errors import ConfigurationError, StorageError
from rungs.version import __version__

_LOCK = ".rungs-lock"
_MARK = "rungs.json"
_TOOL = "rungs, a ladder of environments"  # no other program's
_SCHEMA = 1
_FORM = {"tool": str, "schema": int, "kind": str, "names": [str], "files": [str]}


def user_dir(kind: Literal["cache", "data"]) -> Path:
    """Returns the folder, which may not exist yet, of this user's files of a kind."""
    try:
        path = Path(getattr(platformdirs, f"user_{kind}_dir")("rungs"))
    except RuntimeError:
        path = Path("~")
    if not path.is_absolute():
        raise StorageError(
            f"there is no folder for {kind}, as this user has no home: set XDG_{kind.upper()}_HOME"
        )
    return path


def temporary_dir() -> tempfile.TemporaryDirectory:
    """Makes a folder that ends with its block; raises StorageError, which names TMPDIR."""
    try:
        return tempfile.TemporaryDirectory()
    except OSError as error:
        raise StorageError(f"no temporary folder can be made (TMPDIR): {error}") from None


def resolved(path: Path) -> Path:
    """Returns an absolute path without links; ConfigurationError where it can't be one."""
    try:
        return path.resolve()
    except (ValueError, RuntimeError, OSError):  # it holds a NUL, or is a loop of links
        raise ConfigurationError(f"{shown(str(path))} is not a path") from None


class Folder:
    """A folder of ours, locked; patterns of its files' names, and the files that we wrote there."""

    def __init__(self, path: Path, kind: str, names: tuple[str, ...], files: list[str]):
        self.path, self.kind, self.names, self.files = path, kind, names, files
        self.used = False  # whether `clear` or `note` was called

    def clear(self) -> None:
        """Removes the files that we wrote, and nothing else; follows no links."""
        with reraise_as_storage_error(self.path):
            for name in self.files:
                file = self.path / name
                inside = file.parent.resolve() == file.parent and file.is_relative_to(self.path)
                if inside and file.is_file() and not file.is_symlink():
                    file.unlink()
        self.files = []
        self.note([])

    def note(self, files: Iterable[Path]) -> None:
        """Records that we wrote some files, so that `clear` may remove them."""
        self.used = True
        files = [file.parent.resolve() / file.name for file in files]  # as `self.path` is resolved
        names = {str(file.relative_to(self.path)) for file in files}
        self.files = sorted(names.union(self.files))
        mark = {"tool": _TOOL, "schema": _SCHEMA, "version": __version__}
        mark |= {"kind": self.kind, "names": self.names, "files": self.files}
        with atomic_write(self.path / _MARK) as unfinished:
            unfinished.write_text(json.dumps(mark, indent=1))


@contextlib.contextmanager
def locked_output_dir(
    path: Path, kind: str, names: tuple[str, ...], refused: tuple[str, ...] | None = None
) -> Iterator[Folder]:
    """Marks and locks a folder of files called `names`, made if missing, while the block runs.

    The mark stays if the block used the folder. Only a folder of ours may hold files called
    `refused` (by default `names`).
    """
    path = resolved(path)
    if path.exists() and not path.is_dir():
        raise ConfigurationError(f"{path} is not a folder")
    _check_is_no_part(path)
    with locked(path):
        mark = _mark(path)
        if mark is None:
            foreign = names if refused is None else refused
            _check_nothing_is_there(path, kind, (_MARK, *foreign))
        elif mark["kind"] != kind:
            raise ConfigurationError(f"{path} holds a {mark['kind']}, not a {kind}")
        for link in (file for name in names for file in path.glob(name) if file.is_symlink()):
            raise ConfigurationError(f"{link} is a link: nothing is replaced through one")
        remove_leftovers(path)
        folder = Folder(path, kind, names, mark["files"] if mark else [])
        try:
            if mark is None:
                folder.note([])
                folder.used = False
                # Again, under the lock: a run may have begun in a subfolder in the meantime,
                _check_nothing_is_there(path, kind, foreign, but=(_MARK,))
            # or marked a parent.
            _check_is_no_part(path)
            yield folder
        finally:
            if mark is None and not folder.used:
                with contextlib.suppress(OSError):  # as where the folder was removed meanwhile
                    (path / _MARK).unlink()


def _check_is_no_part(path: Path) -> None:
    for parent in path.parents:
        outer, part = _mark(parent), path.relative_to(parent).parts[0]
        if outer and any(Path(part).match(name) for name in outer["names"]):
            raise ConfigurationError(f"{path} is part of the {outer['kind']} in {parent}")


def _check_nothing_is_there(
    path: Path, kind: str, refused: tuple[str, ...], but: tuple[str, ...] = ()
) -> None:
    for file in sorted(file for name in refused for file in path.glob(name)):
        if not file.name.startswith(".rungs-") and file.name not in but:
            raise ConfigurationError(
                f"{file} is not of a {kind} of this version of Rungs: "
                "choose another folder, or remove it"
            )


def _mark(path: Path) -> dict | None:
    """Returns the mark of a folder, or None where it isn't ours."""
    if not (path / _MARK).is_file():  # opening a pipe would wait
        return None
    try:
        mark = json.loads((path / _MARK).read_text())
    except (OSError, ValueError, RecursionError):
        return None
    is_ours = not schema_error(mark, _FORM) and (mark["tool"], mark["schema"]) == (_TOOL, _SCHEMA)
    return mark if is_ours else None


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Locks a folder, which is made if missing, while the block runs or until the process ends."""
    path = folder / _LOCK
    with contextlib.ExitStack() as held:
        with reraise_as_storage_error(path):
            folder.mkdir(parents=True, exist_ok=True)
            lock = _acquired(path)
            held.callback(_given_back, lock, path)
            os.truncate(lock, 0)
            os.write(lock, f"process {os.getpid()} on {socket.gethostname()}".encode())
        yield


def _acquired(path: Path) -> int:
    """Returns a locked descriptor of the file that is at `path` now, as owners remove theirs."""
    import fcntl  # which Windows lacks

    while True:
        # Never through a link, as the file is written to.
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(lock), path.lstat()):
                    return lock
        except BlockingIOError:
            holder = os.read(lock, 200).decode(errors="replace") or "another process"
            os.close(lock)
            raise ConfigurationError(f"{path.parent} is in use by {holder}") from None
        except OSError:
            os.close(lock)
            raise
        os.close(lock)


def _given_back(lock: int, path: Path) -> None:
    with contextlib.suppress(OSError):  # such as: the folder was removed
        path.unlink()  # before it is unlocked: then it could be another's
    os.close(lock)
