"""The CUDA rung of CartPole: a kernel that Numba compiles, a thread for each environment."""

import functools
from typing import Any

import torch
from numba import cuda

from rungs.cartpole import CartPoleSettings
from rungs.devel import integer
from rungs.devel.train import TensorCarts
from rungs.errors import UnavailableError
from rungs_course.cartpole import kernel

# Steps of carts between two checks for Ctrl-C: some milliseconds on a GPU.
_AT_ONCE = 2**26


class NumbaCarts(TensorCarts):
    """Carts on the GPU, each stepped by a thread, in blocks of 1 to 1,024.

    With `NUMBA_ENABLE_CUDASIM=1` in the environment, Numba's simulator runs the kernel in Python,
    and the tensors are the CPU's.
    """

    def __init__(
        self,
        num_envs: int,
        first_env: int,
        settings: CartPoleSettings,
        *,
        threads_per_block: int = 128,
        validate: bool = True,
    ):
        self.threads_per_block = integer("threads_per_block", threads_per_block, 1, 1024)
        if not cuda.is_available():
            raise UnavailableError(
                "Numba finds no GPU; NUMBA_ENABLE_CUDASIM=1 simulates one, slowly"
            )
        if not kernel.SIMULATED and not torch.cuda.is_available():
            raise UnavailableError(f"PyTorch {torch.__version__} is not built for the GPU")
        device = "cpu" if kernel.SIMULATED else "cuda"
        super().__init__(num_envs, first_env, settings, device, validate)
        out = self.outputs
        flags = (out.terminated, out.truncated, out.ended)
        arrays = (self._state, self._steps, self._episode, out.observation.T, out.reward, *flags)
        self._arrays = [*map(_on_device, (*arrays, out.final_observation.T))]
        self._no_actions = torch.zeros((1, 1), dtype=torch.int64, device=self.device)
        self._no_sums = [*map(_on_device, (part[:0] for part in self.sums()))]

    def step(self, actions: torch.Tensor) -> int | None:
        self._launch(1, self.accepted(actions)[None], 0)
        return self.count_ended()

    def step_many(self, steps: int, actions: torch.Tensor | None, actions_drawn: int) -> tuple:
        sums = self.sums()
        self._launch(steps, actions, actions_drawn, sums)
        return sums

    def steps_at_once(self) -> int:
        slowness = 2**10 if kernel.SIMULATED else 1
        return max(1, _AT_ONCE // (self.num_envs * self.settings.workload * slowness))

    def _num_seeds(self) -> int:
        return self.num_envs if self._seed_tensor.ndim else 0

    def _launch(
        self, count: int, actions: torch.Tensor | None, actions_drawn: int, sums: tuple = ()
    ) -> None:
        settings = self.settings
        random = actions is None
        kind = (self._state.dtype.itemsize, settings.autoreset_mode, random, bool(sums))
        run = kernel.compiled(*kind, self.threads_per_block)
        blocks = -(-self.num_envs // self.threads_per_block)
        with torch.cuda.device_of(self._state):  # where there is one, whichever is current
            run[blocks, self.threads_per_block, _current_stream()](
                self._signed_seed,
                _on_device(self._seed_tensor.reshape(-1)[: self._num_seeds()]),
                self.first_env,
                settings.max_episode_steps,
                settings.workload,
                count,
                actions_drawn,
                _on_device(self._no_actions if actions is None else actions),
                *self._arrays,
                *(map(_on_device, sums) if sums else self._no_sums),
            )


def _on_device(tensor: torch.Tensor) -> Any:
    """Returns a tensor's memory as Numba takes it."""
    return tensor.numpy() if kernel.SIMULATED else cuda.as_cuda_array(tensor)


def _current_stream() -> Any:
    """Returns PyTorch's stream, so that a kernel runs in order with the operations around it."""
    if kernel.SIMULATED:
        return cuda.default_stream()
    return _stream(torch.cuda.current_stream().cuda_stream)


@functools.cache
def _stream(handle: int) -> Any:
    # One object for each: Numba remembers how a kernel is launched by the stream's identity.
    return cuda.external_stream(handle)
