"""A batch's step as a PyTorch operator, which `torch.compile(fullgraph=True)` can trace."""

import itertools
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from rungs._src.cartpole.vector_env import CartPoleVectorEnv
from rungs._src.chess.handover import HANDED_OVER, FreshOutputs
from rungs._src.chess.vector_env import ChessVectorEnv
from rungs._src.core.arguments import shown
from rungs._src.core.exclusive import Uncopyable
from rungs.errors import ConfigurationError, UnavailableError, install_hint

__all__ = ["TorchEnv"]

try:
    import torch

    from rungs._src.core.tensors import as_tensor, check_dense, on_device
except ImportError:
    raise UnavailableError(f"PyTorch is not installed: {install_hint('train')}") from None

Tensor = torch.Tensor
_CPU = torch.device("cpu")
_Outputs = tuple[Tensor, ...]

# Outputs of the operator, in order: names of an environment's outputs, and those of `info`. An
# output that it lacks is empty: compiled code accepts no operator that returns a list of tensors.
_STEP = ("observation", "reward", "terminated", "truncated")
_INFO = {
    "mask": "action_mask",
    "player": "player",
    "reason": "reason",
    "action_count": "action_count",
    "final_observation": "final_obs",
}


class TorchEnv(Uncopyable):
    """Steps a batch of chess games or of CartPole in graphs that `torch.compile` makes.

    `step` calls one operator, `rungs::step(Tensor(a!) turn, int env, Tensor actions)`, whose fake
    kernel returns each output's shape and dtype. The operator writes to `turn`, a counter of steps,
    so that compiled code takes every step, once and in program order. `reset` is not an operator:
    call it outside compiled code.

    Outputs are tensors on the CPU, and the caller's to keep: no later step writes to their memory.
    Observations and masks are not copied. `bitplanes` and `bits` are int64, which
    `rungs.chess.unpack_planes` and `unpack_mask` accept as well; `dtype="bfloat16"` is bfloat16.

    Args:
        env: what `rungs.make` returns for chess or CartPole, on a rung whose outputs are arrays.
            Step and reset it through this object alone.

    Attributes:
        env: the environment.

    Raises:
        ConfigurationError: `env` is something else, or its outputs are tensors already.
        UnavailableError: PyTorch is not installed (when this module is imported).
    """

    def __init__(self, env: ChessVectorEnv[Any] | CartPoleVectorEnv[Any]):
        if not isinstance(env, ChessVectorEnv | CartPoleVectorEnv):
            raise ConfigurationError(f"env={shown(env)} is not a batch of chess or CartPole")
        if env.device is not None:
            raise ConfigurationError("env: its outputs are tensors already: use a rung of a CPU")
        self.env, self._key = env, next(_KEYS)
        self._turn = torch.zeros((), dtype=torch.int64)
        self._fresh = FreshOutputs(env) if isinstance(env, ChessVectorEnv) else None
        same_step = env.autoreset_mode == AutoresetMode.SAME_STEP
        absent = set() if same_step else {"final_observation"}
        if not isinstance(env, ChessVectorEnv):
            absent |= {"mask", "player", "reason", "action_count"}
        elif env.settings.mask != "list":
            absent |= {"action_count"}
        self._info_names = [name for name in _INFO if name not in absent]
        self._kinds = [
            (tensor.shape, tensor.dtype) for tensor in self._tensors(self._outputs(None))
        ]
        _ENVS[self._key] = self

    @torch.compiler.disable
    def reset(
        self, *, seed: int | Sequence[int] | np.ndarray | None = None, options: dict | None = None
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Begins episodes, as the environment's `reset`; returns observation and info of `step`.

        There is no `final_obs` in info.

        Raises:
            ConfigurationError: a wrong seed or option; nothing has changed.
            gymnasium.error.ClosedEnvironmentError: the environment is closed.
        """
        out = self._fresh.next() if self._fresh else None
        self.env.reset(seed=seed, options=options, **({"out": out} if out else {}))
        observation, _, _, _, *info_tensors = self._tensors(self._outputs(out))
        info = self._info(info_tensors)
        info.pop("final_obs", None)
        return observation, info

    def step(self, actions: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, dict[str, Tensor]]:
        """Takes one action in every environment; `actions` are (N,) integers.

        Returns:
            observation, reward (N,) float32, terminated (N,) bool, truncated (N,) bool, and info.
            With SAME_STEP every step returns `info["final_obs"]`, as a graph's outputs are fixed: a
            row is the last observation of that environment's last episode, zeros before the first
            has ended. In chess info has `action_mask`, `player`, `reason`, and with `mask="list"`
            `action_count`, as the environment's info has.

        Raises:
            IllegalActionError, InvalidActionError: an action is wrong; nothing has changed.
            ConfigurationError: actions are not a dense tensor, or of a wrong shape or dtype.
            gymnasium.error.ResetNeeded: no reset came before; with DISABLED, an episode has ended.
            gymnasium.error.ClosedEnvironmentError: the environment is closed.
        """
        if not isinstance(actions, torch.Tensor):
            raise ConfigurationError(f"actions are a {type(actions).__name__}, not a tensor")
        check_dense(actions)  # for such tensors PyTorch calls other kernels than ours
        outputs = _step(self._turn, self._key, actions)
        observation, reward, terminated, truncated, *info_tensors = outputs
        return observation, reward, terminated, truncated, self._info(info_tensors)

    def close(self) -> None:
        """Closes the environment."""
        self.env.close()

    def _played(self, actions: Tensor) -> _Outputs:
        array = on_device(actions, (self.env.num_envs,), _CPU).numpy()
        out = self._fresh.next() if self._fresh else None
        self.env.step(array, **({"out": out} if out else {}))
        return self._tensors(self._outputs(out))

    def _outputs(self, out: Any) -> dict[str, Any]:
        """Returns all outputs by name: those in `out`, or where that is None, the rung's own."""
        if out is not None:
            return vars(out)
        env = self.env
        return vars(env.boards.buffers if isinstance(env, ChessVectorEnv) else env.carts.outputs)

    def _tensors(self, outputs: dict[str, Any]) -> _Outputs:
        """Returns the operator's outputs: copies, except of those that are handed over."""
        handed_over = HANDED_OVER if self._fresh else ()

        def tensor(name: str) -> Tensor:
            if name not in _STEP and name not in self._info_names:
                return torch.empty(0)
            return as_tensor(outputs[name] if name in handed_over else outputs[name].copy())

        return tuple(map(tensor, (*_STEP, *_INFO)))

    def _info(self, tensors: list[Tensor]) -> dict[str, Tensor]:
        by_name = dict(zip(_INFO, tensors, strict=True))
        return {_INFO[name]: by_name[name] for name in self._info_names}


# All `TorchEnv`s, by their numbers in graphs. It keeps none alive, and no number is reused.
_ENVS: "weakref.WeakValueDictionary[int, TorchEnv]" = weakref.WeakValueDictionary()
_KEYS = itertools.count()


def _env_of(key: int) -> TorchEnv:
    env = _ENVS.get(key)
    if env is None:
        raise ConfigurationError(f"rungs::step: env={key} is not a TorchEnv that still exists")
    return env


_RETURNS = ", ".join(["Tensor"] * (len(_STEP) + len(_INFO)))
_SCHEMA = f"(Tensor(a!) turn, int env, Tensor actions) -> ({_RETURNS})"


@torch.library.custom_op("rungs::step", mutates_args={"turn"}, schema=_SCHEMA)
def _step(turn: Tensor, env: int, actions: Tensor) -> _Outputs:
    """Takes a step and counts it in `turn`."""
    if turn.shape != () or turn.dtype != torch.int64:
        raise ConfigurationError(
            f"rungs::step: turn has shape {tuple(turn.shape)} and dtype {turn.dtype}, not () int64"
        )
    outputs = _env_of(env)._played(actions)
    turn += 1
    return outputs


@_step.register_fake
def _(turn: Tensor, env: int, actions: Tensor) -> _Outputs:
    check_dense(actions)  # one that is traced has the device that it will have
    return tuple(torch.empty(shape, dtype=dtype) for shape, dtype in _env_of(env)._kinds)
