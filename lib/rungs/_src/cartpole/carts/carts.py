"""The interface of a rung: the carts of an environment, their steps and their arrays."""

import abc
import dataclasses
import functools
from collections.abc import Iterator
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from rungs._src.cartpole.physics import MAX_THETA, MAX_X, SECONDS
from rungs._src.core.arguments import Seed
from rungs._src.core.arguments import autoreset_mode as mode_of
from rungs._src.core.batch_env import Array
from rungs._src.core.buffers import Buffers, Kinds
from rungs._src.core.philox import Purpose, words
from rungs._src.core.settings import check_fields, documented, setting
from rungs.errors import InvalidActionError, InvalidStateError

# Arrays are padded to whole registers, however many environments there are.
_LANES = 64


@documented
@dataclasses.dataclass(frozen=True)
class CartPoleSettings:
    """The settings of a `rungs.cartpole.CartPoleVectorEnv`, which accepts each as a keyword.

    Raises:
        ConfigurationError: a setting is wrong; the message names it.
    """

    dtype: str = setting(
        "float64",
        'of the state between steps, "float64", as in Gymnasium, or "float32".',
        choices=("float64", "float32"),
    )
    workload: int = setting(
        1,
        "number of steps of Euler's method per step, each that much shorter. 1 is "
        "Gymnasium's; more are closer to the cart's true motion, and cost that much more.",
        1,
        10**6,
    )
    max_episode_steps: int = setting(500, "when an episode is truncated.", 1, 2**31 - 1)
    autoreset_mode: AutoresetMode = setting(
        AutoresetMode.SAME_STEP,
        "gymnasium's, by member, name or value, as of `rungs.chess.ChessSettings`.",
        check=lambda name, value: mode_of(value),
    )

    def __post_init__(self) -> None:
        check_fields(self)


# Every output by name, with one cart's shape and dtype.
OUTPUTS: Kinds = {
    "observation": ((4,), np.float32),
    "reward": ((), np.float32),
    "terminated": ((), np.bool_),
    "truncated": ((), np.bool_),
    "ended": ((), np.bool_),  # either
    "final_observation": ((4,), np.float32),  # the last of each cart's last episode
}


class Carts(abc.ABC):
    """The carts that a `CartPoleVectorEnv` owns, which checks arguments and resets them first."""

    outputs: Buffers  # arrays, or tensors on a device
    device: Any = None  # of outputs that are tensors
    validate = True  # a step rejects wrong actions and counts the episodes that ended

    def __init__(self, num_envs: int, first_env: int, settings: CartPoleSettings):
        self.num_envs, self.first_env, self.settings = num_envs, first_env, settings
        self.seed: Seed = 0

    @functools.cached_property
    def numbers(self) -> Array:
        """(N,) int64, the carts' numbers among all; made on first use, as C++ never reads them."""
        return np.arange(self.first_env, self.first_env + self.num_envs)

    def seeds_and_numbers(self) -> tuple[Any, Array]:
        """Returns by which carts draw: seeds, an int or (N,) int64, and numbers, (N,) int64."""
        if isinstance(self.seed, np.ndarray):
            return self.seed.view(np.int64), np.zeros(self.num_envs, np.int64)  # each as cart 0
        return self.seed, self.numbers

    @abc.abstractmethod
    def reset(self, which: Array | None, seed: Seed, episode: int | None) -> None:
        """Begins an episode, or the next, and writes all outputs but the final observation."""

    @abc.abstractmethod
    def step(self, actions: Array) -> int | None:
        """Takes (N,) int64 actions; returns how many episodes ended, or None without `validate`."""

    def step_many(
        self, steps: int, actions: Array | None, actions_drawn: int
    ) -> tuple[Array, Array]:
        """Takes (steps, N) int64 actions, or random ones; returns sums of rewards and of ends."""
        rewards, ended = self.sums()
        for row in self.random_actions(steps, actions_drawn) if actions is None else actions:
            self.step(row)
            rewards += self.outputs.reward
            ended += self.outputs.ended
        return rewards, ended

    @abc.abstractmethod
    def dump(self) -> dict[str, np.ndarray]:
        """Returns `state` (4, N), `steps` (N,) int32, `episode` (N,) uint32, `ended` (N,) bool."""

    @abc.abstractmethod
    def load(self, arrays: dict[str, np.ndarray], seed: Seed) -> None:
        """Restores what `dump` returned, and writes observations and `ended`."""

    def close(self) -> None:  # noqa: B027 (most rungs hold nothing)
        """Ends processes; may be called twice."""

    def steps_at_once(self) -> int:
        """Returns how many steps a call of `step_many` may take between two checks for Ctrl-C."""
        return 1

    def sums(self) -> tuple[Array, Array]:
        """Makes (N,) float64 and (N,) int32, all 0: for rewards and for episodes that end."""
        return np.zeros(self.num_envs, np.float64), np.zeros(self.num_envs, np.int32)

    def random_actions(self, steps: int, actions_drawn: int) -> Iterator[Array]:
        """Draws (N,) int64 actions for each step: bits of Philox's words, 128 per counter."""
        seed, numbers = self.seeds_and_numbers()
        for index in range(actions_drawn, actions_drawn + steps):
            block, bit = divmod(index, 128)
            if index == actions_drawn or bit == 0:
                drawn_words = words(seed, numbers, block, 0, Purpose.CARTPOLE_ACTION)
            yield drawn_words[bit // 32] >> bit % 32 & 1

    def accepted(self, actions: Array) -> Array:
        """Returns a checked copy of (..., N) actions, whose memory may be written to meanwhile."""
        actions = actions.copy()
        if actions.view(np.uint64).max() <= 1:
            return actions
        first = int(np.flatnonzero((actions != 0) & (actions != 1))[0])
        raise self.invalid(first % self.num_envs, int(actions.flat[first]))

    def invalid(self, env: int, action: int) -> InvalidActionError:
        return InvalidActionError(self.first_env + env, action)


class HostCarts(Carts):
    """Carts whose arrays are NumPy's, each on cache lines of its own."""

    def __init__(self, num_envs: int, first_env: int, settings: CartPoleSettings):
        super().__init__(num_envs, first_env, settings)
        kinds = _state_kinds(settings) | OUTPUTS | {"chosen": ((), np.int8)}
        self._stride = -(-num_envs // _LANES) * _LANES
        self._padded = Buffers.allocate(_rows(kinds, self._stride))
        arrays = {name: array[..., :num_envs] for name, array in vars(self._padded).items()}
        # (4, N): x, x_dot, theta, theta_dot; (N,) int32, of the episode; (N,) uint32, its number.
        self.state, self.steps, self.episode = (arrays[name] for name in _state_kinds(settings))
        self.outputs = Buffers(**{name: arrays[name].T for name in OUTPUTS})

    def dump(self) -> dict:
        arrays = {name: getattr(self, name) for name in ("state", "steps", "episode")}
        return arrays | {"ended": self.outputs.ended}

    def load(self, arrays: dict, seed: Seed) -> None:
        self.seed = seed
        for name, array in HostCarts.dump(self).items():
            array[...] = arrays[name]
        self.outputs.observation[...] = self.state.T


def _state_kinds(settings: CartPoleSettings) -> Kinds:
    """Returns one cart's shape and dtype of each array of a state but `ended`."""
    return {"state": ((4,), settings.dtype), "steps": ((), np.int32), "episode": ((), np.uint32)}


def _rows(kinds: Kinds, carts: int) -> Kinds:
    """Returns shapes of all carts' arrays, whose last axis is that of carts, and their dtypes."""
    return {name: ((*shape, carts), dtype) for name, (shape, dtype) in kinds.items()}


def saved_arrays(
    payload: bytes, num_envs: int, settings: CartPoleSettings
) -> dict[str, np.ndarray]:
    """Returns the arrays of `Carts.dump` from their bytes, if an episode can lead to them."""
    kinds = _state_kinds(settings) | {"ended": ((), np.uint8)}
    like = vars(Buffers.like(_rows(kinds, num_envs)))
    size = sum(array.nbytes for array in like.values())
    if len(payload) != size:
        raise InvalidStateError(f"the state holds {len(payload)} bytes of carts, not {size}")
    arrays: dict[str, Any] = {}
    offset = 0
    for name, array in like.items():
        read = np.frombuffer(payload, array.dtype, array.size, offset)
        arrays[name], offset = read.reshape(array.shape), offset + read.nbytes
    state, steps, episode, ended = arrays.values()
    x, x_dot, theta, theta_dot = np.abs(state)
    real = state.dtype.type
    over = (x > real(MAX_X)) | (theta > real(MAX_THETA)) | (steps >= settings.max_episode_steps)
    _refuse("a number that is not finite", ~np.isfinite(state).all(axis=0))
    # Within its limits a cart travels at most 2 * limit per step, which bounds its speed (a push
    # adds a hundredth of that) and its overshoot; both bounds are doubled.
    for place, speed, limit in ((x, x_dot, MAX_X), (theta, theta_dot, MAX_THETA)):
        _refuse("a speed that no cart reaches", speed > real(2 * 2 * limit / SECONDS))
        _refuse("a place that no cart reaches", place > real(limit + 2 * 2 * limit))
    _refuse("a number of steps below 0", steps < 0)
    _refuse("a flag that is neither 0 nor 1", ended > 1)
    if settings.autoreset_mode == AutoresetMode.SAME_STEP:
        _refuse("an ended episode, although autoreset starts the next at once", over)
    else:
        _refuse("an episode that is over and goes on, or has ended and is not over", over != ended)
    return {"state": state, "steps": steps, "episode": episode, "ended": ended.view(np.bool_)}


def _refuse(fault: str, mask: np.ndarray) -> None:
    if mask.any():
        raise InvalidStateError(f"environment {int(mask.argmax())} of the state has {fault}")
