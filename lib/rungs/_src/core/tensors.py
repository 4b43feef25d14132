"""Checks for environments whose actions and outputs are tensors on one device."""

import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from numpy.typing import ArrayLike

from rungs._src.core.arguments import boolean, checked_actions
from rungs.errors import ConfigurationError

# Types whose values int64 can represent.
_INTEGERS = {torch.int8, torch.int16, torch.int32, torch.int64}
_INTEGERS |= {torch.uint8, torch.uint16, torch.uint32}


def on_device(actions: ArrayLike, shape: tuple[int, ...], device: torch.device) -> torch.Tensor:
    """Returns actions as an int64 tensor on the device, copied only if needed."""
    if not isinstance(actions, torch.Tensor):
        actions = torch.from_numpy(checked_actions(actions, shape))
    check_dense(actions)
    if actions.shape != shape:
        raise ConfigurationError(f"actions have shape {tuple(actions.shape)}, not {shape}")
    if actions.dtype not in _INTEGERS:
        raise ConfigurationError(f"actions have dtype {actions.dtype}, not int64")
    # A lazily negated view has its bit set, and other numbers in memory.
    return actions.to(device, torch.int64).resolve_neg().contiguous()


def check_dense(actions: torch.Tensor) -> None:
    """Raises ConfigurationError for a tensor that is nested, sparse, or on the device "meta"."""
    if actions.is_nested or actions.layout != torch.strided or actions.is_meta:
        raise ConfigurationError("actions are a nested, sparse or meta tensor, not a dense one")


def as_tensor(output: np.ndarray | torch.Tensor) -> torch.Tensor:
    """Returns an output as a tensor of its memory: uint64 as int64, and uint16 as bfloat16."""
    tensor = torch.from_numpy(output) if isinstance(output, np.ndarray) else output
    if tensor.dtype == torch.uint16:
        return tensor.view(torch.bfloat16)
    return tensor.view(torch.int64) if tensor.dtype == torch.uint64 else tensor


def chosen_device(name: str) -> torch.device:
    """Returns a device; for "cuda" the one that is current in PyTorch now."""
    if name == "cuda":
        return torch.device(name, torch.cuda.current_device())
    return torch.device(name)


def moved(array: np.ndarray, device: torch.device) -> torch.Tensor:
    return torch.from_numpy(array).to(device)


def checked_validate(validate: bool, autoreset_mode: AutoresetMode) -> bool:
    """Returns `validate`, a bool; DISABLED needs True, as a step must refuse ended boards."""
    validate = boolean("validate", validate)
    if not validate and autoreset_mode == AutoresetMode.DISABLED:
        raise ConfigurationError("validate=False: DISABLED must refuse ended environments")
    return validate
