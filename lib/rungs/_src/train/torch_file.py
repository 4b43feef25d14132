"""Files that PyTorch writes: there whole or not at all, and believed only where they are whole."""

import dataclasses
import io
import pickle
import zipfile
from pathlib import Path

import torch

from rungs._src.core.atomic import atomic_write
from rungs._src.core.schema import schema_error
from rungs.errors import ConfigurationError, InvalidStateError


@dataclasses.dataclass(frozen=True)
class Saved:
    """A kind of file, a dict.

    Attributes:
        kind: what it is of.
        schema: grows with what is saved.
        form: what is in it, as `rungs._src.core.schema.schema_error` takes it.
    """

    kind: str
    schema: int
    form: dict

    def save(self, path: Path, saved: dict) -> None:
        """Writes a file, whole or not at all.

        Raises:
            StorageError: it can't be written; an earlier one stays.
        """
        file = io.BytesIO()  # on a full disk `torch.save` fails as if it were at fault itself
        torch.save(self._heading() | saved, file)
        with atomic_write(path) as unfinished:
            unfinished.write_bytes(file.getbuffer())

    def load(self, path: Path) -> dict:
        """Reads a file; returns what its form names.

        Raises:
            ConfigurationError: there is none, or it is of another kind or version.
            InvalidStateError: it is corrupt, or misses something; the message says what.
        """
        if not path.exists():
            raise ConfigurationError(f"there is no {path}")
        if not path.is_file():  # a pipe would be waited for
            raise ConfigurationError(f"{path} is no file")
        found = _read_whole(path)
        heading = self._heading()
        if not isinstance(found, dict) or {name: found.get(name) for name in heading} != heading:
            raise ConfigurationError(f"{path} is of no {self.kind} of this version of Rungs")
        if wrong := schema_error(found, self.form):
            raise InvalidStateError(f"{path} is incomplete: {wrong}")
        return {name: found[name] for name in self.form}

    def _heading(self) -> dict:
        return {"tool": "rungs", "kind": self.kind, "schema": self.schema}


def _read_whole(path: Path):
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
        raise InvalidStateError(f"{path} holds more than data") from None
    except Exception as error:  # a file may be wrong in any way, and each raises something else
        why = str(error).partition("\n")[0] or type(error).__name__
        raise InvalidStateError(f"{path} is corrupt, or something else: {why}") from None
