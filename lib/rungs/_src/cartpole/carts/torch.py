"""The PyTorch rung of CartPole: every operation on all environments at once, on CPU or GPU."""

from typing import Any

import numpy as np
import torch
from gymnasium.vector import AutoresetMode

from rungs._src.cartpole.carts.carts import OUTPUTS, CartPoleSettings, Carts
from rungs._src.cartpole.physics import FORCE, SECONDS, physics
from rungs._src.core.arguments import Seed, choice
from rungs._src.core.buffers import Buffers
from rungs._src.core.philox import Purpose, words
from rungs._src.core.tensors import checked_validate, chosen_device
from rungs.errors import ConfigurationError, UnavailableError

EXECUTIONS = ("eager", "graph", "compile")


class TensorCarts(Carts):
    """Carts whose state and outputs are tensors, on the CPU or on PyTorch's current GPU.

    Without `validate` nothing waits for the device (but the eager `TorchCarts`): actions are
    trusted, and `final_obs` is always there.
    """

    def __init__(
        self, num_envs: int, first_env: int, settings: CartPoleSettings, device: str, validate: bool
    ):
        super().__init__(num_envs, first_env, settings)
        self.device: torch.device = chosen_device(device)
        self.validate = checked_validate(validate, settings.autoreset_mode)
        dtype = getattr(torch, settings.dtype)

        def zeros(*shape: int, dtype: torch.dtype) -> torch.Tensor:
            return torch.zeros((*shape, num_envs), dtype=dtype, device=self.device)

        self._physics = physics(dtype.itemsize)
        # A tensor, as code that is recorded or compiled once must not contain the seeds' values. A
        # scalar where all carts have one seed.
        self._seed_tensor = torch.zeros((), dtype=torch.int64, device=self.device)
        self.numbers = torch.arange(num_envs, device=self.device) + first_env
        self._counter_numbers = self.numbers.clone()
        self._state = zeros(4, dtype=dtype)
        self._steps = zeros(dtype=torch.int32)
        self._episode = zeros(dtype=torch.int64)
        self.outputs = Buffers(
            **{
                name: zeros(*shape, dtype=getattr(torch, np.dtype(dtype).name)).movedim(-1, 0)
                for name, (shape, dtype) in OUTPUTS.items()
            }
        )

    def seeds_and_numbers(self) -> tuple[Any, torch.Tensor]:
        per_cart = isinstance(self.seed, np.ndarray)
        return self._seed_tensor if per_cart else self.seed, self._counter_numbers

    def set_seed(self, seed: Seed) -> None:
        """Sets the seed by which carts draw from their next episodes on; it is as for `reset`."""
        self.seed = seed
        if isinstance(seed, np.ndarray):
            tensor = torch.tensor(seed.view(np.int64), device=self.device)
            self._counter_numbers.zero_()
        else:
            tensor = torch.tensor(self._signed_seed, device=self.device)
            self._counter_numbers.copy_(self.numbers)
        if tensor.shape == self._seed_tensor.shape:
            self._seed_tensor.copy_(tensor)
        else:
            self._seed_tensor = tensor
            self.forget_recorded()

    def forget_recorded(self) -> None:
        """Drops recorded code that uses tensors which are replaced."""

    def reset(self, which: torch.Tensor | None, seed: Seed, episode: int | None) -> None:
        self.set_seed(seed)
        mask = torch.ones_like(self.outputs.ended) if which is None else which
        number = self._episode + 1 if episode is None else torch.full_like(self._episode, episode)
        self._begin(mask, number)
        for flag in ("terminated", "truncated", "ended", "reward"):
            getattr(self.outputs, flag).masked_fill_(mask, 0)

    def _begin(self, mask: torch.Tensor, episode: torch.Tensor) -> None:
        """Begins `episode` where `mask` is set; waits for the device, to know how many."""
        chosen = mask.nonzero().squeeze(1)
        if not len(chosen):
            return
        numbers = episode[chosen]
        self._episode[chosen], self._steps[chosen] = numbers, 0
        seed = self._seed_tensor[chosen] if self._seed_tensor.ndim else self._signed_seed
        self._state[:, chosen] = self._starts(seed, self._counter_numbers[chosen], numbers)
        self.outputs.observation[chosen] = self._state[:, chosen].T.float()

    def _starts(
        self, seed: int | torch.Tensor, numbers: torch.Tensor, episode: torch.Tensor
    ) -> torch.Tensor:
        """Returns (4, n): where episodes of some carts start; the seed is an int or a tensor."""
        start_words = words(seed, numbers, episode, 0, Purpose.CARTPOLE_START)
        starts = [self._physics.start(word.double()) for word in start_words]
        return torch.stack(starts).to(self._state.dtype)

    @property
    def _signed_seed(self) -> int:
        """The seed's 64 bits as an int64; 0 where each cart has its own."""
        if isinstance(self.seed, np.ndarray):
            return 0
        return self.seed - 2**64 if self.seed >= 2**63 else self.seed

    def accepted(self, actions: torch.Tensor) -> torch.Tensor:
        """Returns a checked copy, waiting for the device; without `validate`, `actions` itself."""
        if not self.validate:
            return actions
        actions = actions.clone()
        invalid = ((actions != 0) & (actions != 1)).flatten()
        if invalid.any():
            first = int(invalid.int().argmax())
            raise self.invalid(first % self.num_envs, int(actions.flatten()[first]))
        return actions

    def count_ended(self) -> int | None:
        """Returns how many episodes ended; None (unknown) where nothing waits for the device."""
        return int(self.outputs.ended.sum()) if self.validate else None

    def sums(self) -> tuple:
        return tuple(
            torch.zeros(self.num_envs, dtype=dtype, device=self.device)
            for dtype in (torch.float64, torch.int32)
        )

    def dump(self) -> dict:
        arrays = {"state": self._state, "steps": self._steps, "episode": self._episode}
        saved = {name: array.cpu().numpy() for name, array in arrays.items()}
        saved["episode"] = saved["episode"].astype(np.uint32)
        return saved | {"ended": self.outputs.ended.cpu().numpy()}

    def load(self, arrays: dict, seed: Seed) -> None:
        self.set_seed(seed)
        self._state.copy_(torch.tensor(arrays["state"]))
        self._steps.copy_(torch.tensor(arrays["steps"]))
        self._episode.copy_(torch.tensor(arrays["episode"].astype(np.int64)))
        self.outputs.ended.copy_(torch.tensor(arrays["ended"]))
        self.outputs.observation.copy_(self._state.T)


class TorchCarts(TensorCarts):
    """Carts that PyTorch steps, without branches unless `execution` is eager."""

    def __init__(
        self,
        num_envs: int,
        first_env: int,
        settings: CartPoleSettings,
        *,
        device: str = "cpu",
        execution: str = "eager",  # or "graph", as a CUDA graph; or "compile", by `torch.compile`
        validate: bool = True,  # wait, reject wrong actions, and count episodes that ended
    ):
        device = choice("device", device, ("cpu", "cuda"))
        execution = choice("execution", execution, EXECUTIONS)
        if device == "cuda" and not torch.cuda.is_available():
            raise UnavailableError("PyTorch finds no GPU")
        if execution == "graph" and device != "cuda":
            raise ConfigurationError("execution='graph' needs device='cuda'")
        super().__init__(num_envs, first_env, settings, device, validate)
        self._run = self._operations
        if execution != "eager":
            self._begin = self._begin_everywhere  # type: ignore[method-assign]
        if execution == "compile":
            # On a GPU it would fuse products with sums and divide approximately.
            exact = {"emulate_precision_casts": True, "eager_numerics.division_rounding": True}
            options: Any = exact if device == "cuda" else None
            self._run = torch.compile(
                self._operations, fullgraph=True, dynamic=False, options=options
            )
        elif execution == "graph":
            self._run = self._replay
        self._graph: torch.cuda.CUDAGraph | None = None

    def step(self, actions: torch.Tensor) -> int | None:
        with torch.cuda.device_of(self._state):  # where there is one, whichever is current
            self._run(self.accepted(actions))
        return self.count_ended()

    def forget_recorded(self) -> None:
        self._graph = None

    def _operations(self, actions: torch.Tensor) -> None:
        """Takes a step, in which nothing waits for the device, unless `_begin` does."""
        out, mode = self.outputs, self.settings.autoreset_mode
        resets = out.ended.clone() if mode == AutoresetMode.NEXT_STEP else None
        force = actions.to(self._state.dtype) * (2 * FORCE) - FORCE
        after, tau = tuple(self._state), SECONDS / self.settings.workload
        for _ in range(self.settings.workload):
            after = self._physics.advance(*after, force, tau)
        self._state.copy_(torch.stack(after))
        self._steps += 1
        out.terminated.copy_(self._physics.fallen(after[0], after[2]))
        out.truncated.copy_(self._steps >= self.settings.max_episode_steps)
        out.reward.fill_(1)
        out.observation.copy_(self._state.T)
        if resets is not None:
            self._begin(resets, self._episode + 1)
            for flag in ("terminated", "truncated", "reward"):
                getattr(out, flag).masked_fill_(resets, 0)
        torch.logical_or(out.terminated, out.truncated, out=out.ended)
        if mode == AutoresetMode.SAME_STEP:
            final = torch.where(out.ended[:, None], out.observation, out.final_observation)
            out.final_observation.copy_(final)
            self._begin(out.ended, self._episode + 1)

    def _replay(self, actions: torch.Tensor) -> None:
        if self._graph is None:
            graph, self._graph_actions = torch.cuda.CUDAGraph(), actions.clone()
            before = [tensor.clone() for tensor in self._tensors()]
            # A first run allocates memory and loads kernels, which must not happen while recording.
            side = torch.cuda.Stream(self.device)
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                self._operations(self._graph_actions)
            torch.cuda.current_stream().wait_stream(side)
            for tensor, value in zip(self._tensors(), before, strict=True):
                tensor.copy_(value)
            with torch.cuda.graph(graph):
                self._operations(self._graph_actions)
            self._graph = graph
        self._graph_actions.copy_(actions)
        self._graph.replay()

    def _tensors(self) -> list[torch.Tensor]:
        return [self._state, self._steps, self._episode, *vars(self.outputs).values()]

    def _begin_everywhere(self, mask: torch.Tensor, episode: torch.Tensor) -> None:
        """Begins `episode` where `mask` is set, by drawing starts for all carts."""
        self._episode.copy_(torch.where(mask, episode, self._episode))
        self._steps.masked_fill_(mask, 0)
        begun = self._starts(self._seed_tensor, self._counter_numbers, episode)
        self._state.copy_(torch.where(mask, begun, self._state))
        self.outputs.observation.copy_(self._state.T)
