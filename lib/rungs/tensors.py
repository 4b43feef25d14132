"""What environments share whose actions and outputs are tensors on one device."""

import torch
from gymnasium.vector import AutoresetMode

from rungs.errors import ConfigurationError


class TensorActions:
    """Beside a `rungs.batch_env.BatchEnv`, and before it among a class's bases.

    Attributes:
        device: where all tensors are.
        _validate: whether a step waits for the device.
    """

    device: torch.device
    _validate: bool

    def checked(self, actions, *before: int) -> torch.Tensor:
        """`actions` as a tensor of (*before, N) int64 on the device.

        Raises:
            ConfigurationError: they have a wrong shape or dtype.
        """
        if not isinstance(actions, torch.Tensor):
            actions = torch.from_numpy(super().checked(actions, *before))
        expected = (*before, self.num_envs)
        if actions.shape != expected:
            raise ConfigurationError(f"actions have shape {tuple(actions.shape)}, not {expected}")
        if actions.is_floating_point() or actions.dtype == torch.bool:
            raise ConfigurationError(f"actions have dtype {actions.dtype}, not int64")
        return actions.to(self.device, torch.int64).contiguous()

    def _reset_mask(self, seed: int | None, options: dict) -> torch.Tensor | None:
        which = super()._reset_mask(seed, options)
        return None if which is None else torch.from_numpy(which).to(self.device)

    def _refuse_trust(self) -> None:
        """With DISABLED, what has ended is refused, and to know it is to wait."""
        if not self._validate and self.autoreset_mode == AutoresetMode.DISABLED:
            raise ConfigurationError("validate=False can't tell whom DISABLED would have to refuse")
