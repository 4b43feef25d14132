"""What environments share whose actions and outputs are tensors on one device."""

import numpy as np
import torch
from gymnasium.vector import AutoresetMode

from rungs.core.arguments import checked_actions
from rungs.errors import ConfigurationError


def on_device(actions, shape: tuple[int, ...], device: torch.device) -> torch.Tensor:
    """Returns actions as an int64 tensor on the device, copied only where they are not yet.

    Raises:
        ConfigurationError: they have a wrong shape or dtype.
    """
    if not isinstance(actions, torch.Tensor):
        actions = torch.from_numpy(checked_actions(actions, shape))
    if actions.shape != shape:
        raise ConfigurationError(f"actions have shape {tuple(actions.shape)}, not {shape}")
    if actions.is_floating_point() or actions.dtype == torch.bool:
        raise ConfigurationError(f"actions have dtype {actions.dtype}, not int64")
    return actions.to(device, torch.int64).contiguous()


def moved(array: np.ndarray, device: torch.device) -> torch.Tensor:
    """Returns an array as a tensor on the device."""
    return torch.from_numpy(array).to(device)


def check_validate(validate: bool, autoreset_mode: AutoresetMode) -> None:
    """Refuses `validate=False` where a step must know which boards have ended.

    Raises:
        ConfigurationError: the mode is DISABLED, which must refuse them.
    """
    if not validate and autoreset_mode == AutoresetMode.DISABLED:
        raise ConfigurationError("validate=False can't tell whom DISABLED would have to refuse")
