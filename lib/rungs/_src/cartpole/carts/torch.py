"""The PyTorch rung of CartPole: every operation on all environments at once, on CPU or GPU."""

from typing import Any

import torch
from gymnasium.vector import AutoresetMode

from rungs._src.cartpole.carts.tensors import TensorCarts
from rungs._src.cartpole.physics import FORCE, SECONDS
from rungs._src.cartpole.settings import CartPoleSettings
from rungs._src.core.arguments import choice
from rungs.errors import ConfigurationError, UnavailableError

EXECUTIONS = ("eager", "graph", "compile")


class TorchCarts(TensorCarts):
    """Carts that PyTorch steps.

    Args:
        num_envs: see `Carts`.
        first_env: see `Carts`.
        settings: see `Carts`.
        device: "cpu" or "cuda".
        execution: "eager", an operation after the other; "graph", recorded once and replayed as a
            CUDA graph, in one launch; "compile", fused by `torch.compile`. The last two have no
            branch, so each step draws the start of an episode for every environment, and keeps it
            for those that begin one.
        validate: see `TensorCarts`.

    Raises:
        ConfigurationError: a wrong setting.
        UnavailableError: there is no such device.
    """

    def __init__(
        self,
        num_envs: int,
        first_env: int,
        settings: CartPoleSettings,
        *,
        device: str = "cpu",
        execution: str = "eager",
        validate: bool = True,
    ):
        device = choice("device", device, ("cpu", "cuda"))
        execution = choice("execution", execution, EXECUTIONS)
        if device == "cuda" and not torch.cuda.is_available():
            raise UnavailableError("PyTorch finds no GPU")
        if execution == "graph" and device != "cuda":
            raise ConfigurationError("execution='graph' is CUDA's: device='cuda'")
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

    def _operations(self, actions: torch.Tensor) -> None:
        """Takes a step; where nothing waits for how many ended, without a word to the host."""
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
            # Memory and kernels are found before recording, which must not ask for them.
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

    def _begin_everywhere(self, where: torch.Tensor, episode: torch.Tensor) -> None:
        """Begins them, by drawing for all."""
        self._episode.copy_(torch.where(where, episode, self._episode))
        self._steps.masked_fill_(where, 0)
        begun = self._starts(self._seed_tensor, self.numbers, episode)
        self._state.copy_(torch.where(where, begun, self._state))
        self.outputs.observation.copy_(self._state.T)
