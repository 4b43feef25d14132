"""What CartPole's rungs share whose state and outputs are tensors, on the CPU or on a GPU."""

import numpy as np
import torch

from rungs.cartpole.physics import physics
from rungs.cartpole.vector_env import CartPoleVectorEnv, Outputs
from rungs.core.philox import Stream, words
from rungs.core.tensors import check_validate


class TensorCartPoleEnv(CartPoleVectorEnv):
    """See `CartPoleVectorEnv` for arguments and outputs, which here are tensors.

    Args:
        num_envs: how many environments.
        device: where the state is, and all outputs.
        validate: whether a step waits for the device, to refuse wrong actions before anything has
            changed and to tell whether an episode ended. Without, actions are trusted, `final_obs`
            is always there, and on a GPU a step returns before it is done (PyTorch's eager one
            still waits, to learn which episodes to begin).

    Raises:
        ConfigurationError: a wrong setting; DISABLED without `validate`.
    """

    def __init__(self, num_envs: int, device: str, validate: bool, **settings):
        super().__init__(num_envs, **settings)
        self.device, self._validate = torch.device(device), validate
        check_validate(validate, self.autoreset_mode)
        dtype = getattr(torch, self.settings.dtype)

        def zeros(*shape: int, dtype: torch.dtype) -> torch.Tensor:
            return torch.zeros((*shape, self.num_envs), dtype=dtype, device=device)

        self._physics = physics(dtype.itemsize)
        # For code that is recorded or compiled once: it must not hold the seed's value.
        self._seed_tensor = torch.zeros((), dtype=torch.int64, device=device)
        self._numbers = torch.arange(self.num_envs, device=device) + self.first_env
        self._state = zeros(4, dtype=dtype)
        self._steps = zeros(dtype=torch.int32)
        self._episode = zeros(dtype=torch.int64)
        flags = ("terminated", "truncated", "ended")
        self._outputs = Outputs(
            zeros(4, dtype=torch.float32).T,
            zeros(dtype=torch.float32),
            **{name: zeros(dtype=torch.bool) for name in flags},
            final_observation=zeros(4, dtype=torch.float32).T,
        )

    def _reset(self, which: torch.Tensor | None, episode: int | None) -> None:
        where = torch.ones_like(self._outputs.ended) if which is None else which
        number = self._episode + 1 if episode is None else torch.full_like(self._episode, episode)
        self._seed_tensor.fill_(self._signed_seed)
        self._begin(where, number)
        for flag in ("terminated", "truncated", "ended", "reward"):
            getattr(self._outputs, flag).masked_fill_(where, 0)

    def _begin(self, where: torch.Tensor, episode: torch.Tensor) -> None:
        """Begins those episodes where it is set; waits for the device, to know how many."""
        chosen = where.nonzero().squeeze(1)
        if not len(chosen):
            return
        numbers = episode[chosen]
        self._episode[chosen], self._steps[chosen] = numbers, 0
        self._state[:, chosen] = self._starts(self._signed_seed, self._numbers[chosen], numbers)
        self._outputs.observation[chosen] = self._state[:, chosen].T.float()

    def _starts(self, seed, numbers: torch.Tensor, episode: torch.Tensor) -> torch.Tensor:
        """(4, n): where episodes of some environments start; the seed is an int or a tensor."""
        drawn = words(seed, numbers, episode, 0, Stream.CARTPOLE_START)
        starts = [self._physics.start(word.double()) for word in drawn]
        return torch.stack(starts).to(self._state.dtype)

    @property
    def _signed_seed(self) -> int:
        """The seed's 64 bits as an int64."""
        return self._seed - 2**64 if self._seed >= 2**63 else self._seed

    def _refuse_invalid(self, actions: torch.Tensor) -> None:
        """Names the first of (..., N) actions that is not 0 or 1; waits for the device."""
        if not self._validate:
            return
        wrong = ((actions != 0) & (actions != 1)).flatten()
        if wrong.any():
            first = int(wrong.int().argmax())
            raise self._invalid(first % self.num_envs, int(actions.flatten()[first]))

    def _count_ended(self) -> int:
        """How many episodes ended; without waiting, as if one had."""
        return int(self._outputs.ended.sum()) if self._validate else 1

    def _sums(self) -> tuple:
        return tuple(
            torch.zeros(self.num_envs, dtype=dtype, device=self.device)
            for dtype in (torch.float32, torch.int32)
        )

    def _dump(self) -> dict:
        arrays = {"state": self._state, "steps": self._steps, "episode": self._episode}
        saved = {name: array.cpu().numpy() for name, array in arrays.items()}
        saved["episode"] = saved["episode"].astype(np.uint32)
        return saved | {"ended": self._outputs.ended.cpu().numpy()}

    def _load(self, arrays: dict) -> None:
        self._seed_tensor.fill_(self._signed_seed)
        self._state.copy_(torch.tensor(arrays["state"]))
        self._steps.copy_(torch.tensor(arrays["steps"]))
        self._episode.copy_(torch.tensor(arrays["episode"].astype(np.int64)))
        self._outputs.ended.copy_(torch.tensor(arrays["ended"]))
        self._outputs.observation.copy_(self._state.T)
