"""Files that PyTorch writes, whole or not at all, and checks of their content."""

import dataclasses
import io
import pickle
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import torch
from torch import nn

from rungs._src.core.atomic import atomic_write
from rungs._src.core.schema import schema_error
from rungs.errors import ConfigurationError, InvalidStateError


@dataclasses.dataclass(frozen=True)
class TorchFile:
    """A kind of file, which holds a dict."""

    kind: str
    schema: int  # the version of `form`
    form: dict  # see `rungs._src.core.schema.schema_error`
    deflated: bool = dataclasses.field(default=False, kw_only=True)  # whether files are compressed

    def write(self, path: Path, content: dict) -> None:
        file = io.BytesIO()  # on a full disk `torch.save` fails as if by a bug of its own
        torch.save(self._heading() | content, file)
        if self.deflated:
            file = _deflated(file)
        with atomic_write(path) as unfinished:
            unfinished.write_bytes(file.getbuffer())

    def read(self, path: Path) -> dict:
        """Reads a file; ConfigurationError if it is of other kind, InvalidStateError if damaged."""
        if not path.exists():
            raise ConfigurationError(f"there is no {path}")
        if not path.is_file():  # reading a pipe would block
            raise ConfigurationError(f"{path} is not a file")
        saved = _read_checked(path)
        heading = self._heading()
        if not isinstance(saved, dict) or {name: saved.get(name) for name in heading} != heading:
            raise ConfigurationError(f"{path} holds no {self.kind} of this version of Rungs")
        if flaw := schema_error(saved, self.form):
            raise InvalidStateError(f"{path} is incomplete: {flaw}")
        return {name: saved[name] for name in self.form}

    def _heading(self) -> dict:
        return {"tool": "rungs", "kind": self.kind, "schema": self.schema}


def _deflated(file: io.BytesIO) -> io.BytesIO:
    """Compresses a file of `torch.save`, which is a zip archive; `torch.load` reads it as well."""
    smaller = io.BytesIO()
    with zipfile.ZipFile(file) as original, zipfile.ZipFile(smaller, "w") as archive:
        for entry in original.infolist():
            archive.writestr(entry, original.read(entry), zipfile.ZIP_DEFLATED)
    return smaller


def _read_checked(path: Path):
    """Reads a file of `torch.save`, and checks its checksums, as `torch.load` does not."""
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
    except Exception as error:  # files may be damaged in many ways, and raise many kinds of errors
        why = str(error).partition("\n")[0] or type(error).__name__
        raise InvalidStateError(f"{path} is corrupt, or something else: {why}") from None


def tensor_flaw(tensors: Mapping, name: str) -> str:
    """Returns why tensors can't be computed with, in a few words that name one; "" if they can."""
    for key, tensor in tensors.items():
        label = f"{name}[{key!r}]"
        if not isinstance(key, str):
            return f"{label} is not named by a text"
        other = tensor.is_quantized or tensor.is_complex() or tensor.is_meta
        if other or tensor.layout != torch.strided:
            return f"{label} is not an array of real numbers"
        if tensor.numel() * tensor.element_size() > tensor.untyped_storage().nbytes():
            return f"{label} is larger than its storage"
        if not bool(tensor.isfinite().all()):
            return f"{label} is not finite"
    return ""


class Backend(Protocol):
    """A network with its optimizer."""

    @property
    def network(self) -> nn.Module:
        """Returns the weights as they are now."""

    def state_dict(self) -> dict:
        """Returns "network" and "optimizer"."""


def check_resumable(backend: Backend, state: dict) -> None:
    """Rejects states of other networks or optimizers, or with numbers that aren't finite."""
    form = {"network": {}, "optimizer": {"state": {}, "param_groups": list}}
    if flaw := schema_error(state, form, "the learner's state") or _state_flaw(backend, state):
        raise InvalidStateError(flaw)


def _state_flaw(backend: Backend, state: dict) -> str:
    current, optimizer = backend.state_dict(), state["optimizer"]
    if flaw := _difference(state["network"], current["network"], "network"):
        return flaw
    if not _equal(optimizer["param_groups"], current["optimizer"]["param_groups"]):
        return "the optimizer has other settings"
    parameters = list(backend.network.parameters())
    moments, steps = optimizer["state"], set()
    if moments and moments.keys() != set(range(len(parameters))):  # before the first update: none
        return "the optimizer is of another network"
    for key, tensors in moments.items():
        name, weights = f"optimizer's state {key!r}", parameters[key]
        wanted = {"step": torch.zeros(()), "exp_avg": weights, "exp_avg_sq": weights}
        if flaw := _difference(tensors, wanted, name):
            return flaw
        if (tensors["exp_avg_sq"] < 0).any():
            return f"{name}['exp_avg_sq'] is negative"
        steps.add(float(tensors["step"]))
    if not all(step >= 1 and step == int(step) for step in steps) or len(steps) > 1:
        return f"the optimizer made {sorted(steps)} steps"
    return ""


def _difference(saved, expected: Mapping[str, torch.Tensor], name: str) -> str:
    """Returns how saved tensors differ from the network's, or why they are unusable; else ""."""
    if not isinstance(saved, dict) or saved.keys() != expected.keys():
        return f"{name} is of another network"
    for key, like in expected.items():
        tensor = saved[key]
        if not isinstance(tensor, torch.Tensor) or (tensor.shape, tensor.dtype) != (
            like.shape,
            like.dtype,
        ):
            return f"{name}[{key!r}] is of another network"
    return tensor_flaw(saved, name)


def _equal(saved: list, current: list) -> bool:
    try:
        return bool(saved == current)
    except (RuntimeError, ValueError):  # raised by comparisons of tensors and arrays
        return False
