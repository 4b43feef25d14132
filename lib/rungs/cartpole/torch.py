"""The PyTorch rung of CartPole: every operation on all environments at once, on CPU or GPU."""

import numpy as np
import torch
from gymnasium.vector import AutoresetMode

from rungs.cartpole.one_env import starts
from rungs.cartpole.physics import FORCE, MASS, Physics, fallen
from rungs.cartpole.vector_env import CartPoleVectorEnv, Outputs
from rungs.errors import ConfigurationError, UnavailableError


class TorchCartPoleEnv(CartPoleVectorEnv):
    """See `CartPoleVectorEnv` for arguments and outputs, which here are tensors.

    Args:
        num_envs: how many environments.
        device: "cpu" or "cuda": where the state is, and all outputs.

    Raises:
        UnavailableError: there is no such device.
    """

    def __init__(self, num_envs: int, *, device: str = "cpu", **settings):
        super().__init__(num_envs, **settings)
        if device not in ("cpu", "cuda"):
            raise ConfigurationError(f"device={device!r} is not 'cpu' or 'cuda'")
        if device == "cuda" and not torch.cuda.is_available():
            raise UnavailableError("PyTorch finds no GPU")
        self.device = torch.device(device)
        dtype = getattr(torch, self.settings.dtype)
        mass = torch.tensor(MASS, dtype=dtype, device=device) if device == "cuda" else MASS
        self._physics = Physics(dtype.itemsize, mass)
        count = (self.num_envs,)
        self._numbers = torch.arange(self.num_envs, device=device) + self.first_env
        self._state = torch.zeros((4, *count), dtype=dtype, device=device)
        self._steps = torch.zeros(count, dtype=torch.int32, device=device)
        self._episode = torch.zeros(count, dtype=torch.int64, device=device)
        flags = {
            name: torch.zeros(count, dtype=torch.bool, device=device)
            for name in ("terminated", "truncated", "ended")
        }
        observation, final = torch.zeros((2, 4, *count), device=device)
        reward = torch.zeros(count, device=device)
        self._outputs = Outputs(observation.T, reward, **flags, final_observation=final.T)

    def checked(self, actions) -> torch.Tensor:
        """`actions` as a tensor of (N,) integers on the device.

        Raises:
            ConfigurationError: they have a wrong shape or dtype.
        """
        if not isinstance(actions, torch.Tensor):
            actions = torch.from_numpy(super().checked(actions))
        if actions.shape != (self.num_envs,):
            raise ConfigurationError(
                f"actions have shape {tuple(actions.shape)}, not ({self.num_envs},)"
            )
        if actions.is_floating_point() or actions.dtype == torch.bool:
            raise ConfigurationError(f"actions have dtype {actions.dtype}, not int64")
        return actions.to(self.device)

    def _reset(self, which: np.ndarray | None, episode: int | None) -> None:
        where = torch.ones_like(self._outputs.ended)
        if which is not None:
            where = torch.from_numpy(which).to(self.device)
        number = self._episode + 1 if episode is None else torch.full_like(self._episode, episode)
        self._begin(where, number)
        for flag in ("terminated", "truncated", "ended", "reward"):
            getattr(self._outputs, flag).masked_fill_(where, 0)

    def _step(self, actions: torch.Tensor) -> int:
        wrong = (actions != 0) & (actions != 1)
        if wrong.any():
            first = int(wrong.int().argmax())
            raise self._invalid(first, int(actions[first]))
        out = self._outputs
        resets = None
        if self.autoreset_mode == AutoresetMode.NEXT_STEP and self._num_ended:
            resets = out.ended.clone()
        force = actions.to(self._state.dtype) * (2 * FORCE) - FORCE
        for _ in range(self.settings.workload):
            after = self._physics.advance(*self._state, force)
        self._state.copy_(torch.stack(after))
        self._steps += 1
        out.terminated.copy_(fallen(after[0], after[2]))
        out.truncated.copy_(self._steps >= self.settings.max_episode_steps)
        out.reward.fill_(1)
        out.observation.copy_(self._state.T)
        if resets is not None:
            self._begin(resets, self._episode + 1)
            for flag in ("terminated", "truncated", "reward"):
                getattr(out, flag).masked_fill_(resets, 0)
        torch.logical_or(out.terminated, out.truncated, out=out.ended)
        count = int(out.ended.sum())
        if count and self.autoreset_mode == AutoresetMode.SAME_STEP:
            out.final_observation.copy_(
                torch.where(out.ended[:, None], out.observation, out.final_observation)
            )
            self._begin(out.ended, self._episode + 1)
        return count

    def _begin(self, where: torch.Tensor, episode: torch.Tensor) -> None:
        """Begins those episodes where it is set."""
        chosen = where.nonzero().squeeze(1)
        numbers = episode[chosen]
        self._episode[chosen], self._steps[chosen] = numbers, 0
        begun = torch.stack(starts(self._seed, self._numbers[chosen], numbers, torch.Tensor.double))
        self._state[:, chosen] = begun.to(self._state.dtype)
        self._outputs.observation[chosen] = self._state[:, chosen].T.float()

    def _dump(self) -> dict:
        arrays = {"state": self._state, "steps": self._steps, "episode": self._episode}
        saved = {name: array.cpu().numpy() for name, array in arrays.items()}
        saved["episode"] = saved["episode"].astype(np.uint32)
        return saved | {"ended": self._outputs.ended.cpu().numpy()}

    def _load(self, arrays: dict) -> None:
        self._state.copy_(torch.tensor(arrays["state"]))
        self._steps.copy_(torch.tensor(arrays["steps"]))
        self._episode.copy_(torch.tensor(arrays["episode"].astype(np.int64)))
        self._outputs.ended.copy_(torch.tensor(arrays["ended"]))
        self._outputs.observation.copy_(self._state.T)
