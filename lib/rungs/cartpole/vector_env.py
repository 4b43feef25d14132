"""The contract of the CartPole environment: what every rung takes, gives and refuses."""

import abc
import dataclasses
import functools
from collections.abc import Iterator

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode

from rungs.cartpole.physics import MOST_THETA, MOST_X
from rungs.core import state
from rungs.core.arguments import autoreset_mode as mode_of
from rungs.core.arguments import choice, integer
from rungs.core.batch_env import BatchEnv
from rungs.core.philox import Stream, words
from rungs.errors import ConfigurationError, InvalidActionError

DTYPES = ("float64", "float32")


@dataclasses.dataclass(frozen=True)
class CartPoleSettings:
    """The settings of `CartPoleVectorEnv`, which says what they mean.

    Raises:
        ConfigurationError: a setting is wrong; the message names it.
    """

    dtype: str = "float64"
    workload: int = 1
    max_episode_steps: int = 500
    autoreset_mode: AutoresetMode = AutoresetMode.SAME_STEP

    def __post_init__(self):
        choice("dtype", self.dtype, DTYPES)
        integer("workload", self.workload, 1, 10**6)
        integer("max_episode_steps", self.max_episode_steps, 1, 2**31 - 1)
        object.__setattr__(self, "autoreset_mode", mode_of(self.autoreset_mode))


@dataclasses.dataclass(frozen=True)
class Outputs:
    """What a step gives: arrays, or tensors on a device.

    Attributes:
        observation: (N, 4) float32.
        reward: (N,) float32.
        terminated: (N,) bool.
        truncated: (N,) bool.
        ended: (N,) bool, either.
        final_observation: (N, 4) float32, the last of each environment's last episode.
    """

    observation: object
    reward: object
    terminated: object
    truncated: object
    ended: object
    final_observation: object


class CartPoleVectorEnv(BatchEnv):
    """A batch of Gymnasium's CartPole-v1.

    Actions are 0, to the left, and 1, to the right; the reward is 1 for every step. An observation
    is x, its speed, theta, its speed, in float32. An episode is terminated where the cart leaves
    the rail or the pole falls, and truncated after 500 steps; it starts within ±0.05.

    The arrays returned are the environment's own: the next `step` or `reset` overwrites them. Copy
    what you keep.

    Args:
        num_envs: how many, at least 1.
        seed: 0 to 2**64 - 1. Where an episode starts is a pure function of (seed, environment,
            episode).
        first_env: the number of this batch's first environment, where it is part of a larger one.
        dtype: of the state between steps, "float64", as in Gymnasium, or "float32".
        workload: how often the physics of a step is computed, to see what more work costs.
        max_episode_steps: when an episode is truncated.
        autoreset_mode: gymnasium's, by member, name or value, as of
            `rungs.chess.vector_env.ChessVectorEnv`.

    Raises:
        ConfigurationError: an argument is wrong; the message names it.
    """

    def __init__(self, num_envs: int, *, seed: int = 0, first_env: int = 0, **settings):
        self.num_envs = integer("num_envs", num_envs, 1, 2**31 - 1)
        self._seed = integer("seed", seed, 0, 2**64 - 1)
        self.first_env = integer("first_env", first_env, 0, 2**31 - 1)
        unknown = settings.keys() - {field.name for field in dataclasses.fields(CartPoleSettings)}
        if unknown:
            raise ConfigurationError(f"unknown settings: {', '.join(sorted(unknown))}")
        self.settings = CartPoleSettings(**settings)
        self._drawn = 0  # random actions that each environment was given
        most = np.array([2 * MOST_X, np.inf, 2 * MOST_THETA, np.inf], np.float32)
        space = gymnasium.spaces.Box(-most, most, dtype=np.float32)
        self._describe(self.settings.autoreset_mode, space, gymnasium.spaces.Discrete(2))

    def reset(self, *, seed: int | None = None, options: dict | None = None):
        """Begins an episode in every environment, or in some.

        Args:
            seed: begins episode 0 of this seed. Without it, the first reset begins episode 0 of the
                constructor's seed and later ones begin each environment's next episode.
            options: {"reset_mask": (N,) bool} begins the next episode where it is set.

        Returns:
            observation (N, 4) float32 and info.

        Raises:
            ConfigurationError: a wrong seed or option.
        """
        self._check_open()
        which = self._reset_mask(seed, options or {})
        first = seed is not None or not self._begun
        self._seed = self._seed if seed is None else integer("seed", seed, 0, 2**64 - 1)
        self._reset(which, 0 if first else None)
        self._drawn = 0 if first else self._drawn
        self._begun = True
        self._num_ended = int(self._ended.sum())
        return self._outputs.observation, {}

    def step(self, actions):
        """Takes one action in every environment.

        Args:
            actions: (N,) integers, 0 or 1.

        Returns:
            observation (N, 4) float32, reward (N,) float32, terminated (N,) bool, truncated (N,)
            bool, and info: with SAME_STEP, where any episode ended, gymnasium's `final_obs` and
            `_final_obs`.

        Raises:
            InvalidActionError: an action is not 0 or 1; nothing has changed.
            ConfigurationError: actions have a wrong shape or dtype.
            gymnasium.error.ResetNeeded: no reset came before; with DISABLED, an episode has ended.
        """
        self._check_begun("step")
        actions = self.checked(actions)
        self._refuse_ended()
        self._num_ended = self._step(actions)
        out, info = self._outputs, {}
        if self.autoreset_mode == AutoresetMode.SAME_STEP and self._num_ended:
            info = {"final_obs": out.final_observation, "_final_obs": out.ended}
        return out.observation, out.reward, out.terminated, out.truncated, info

    def step_many(self, steps: int, actions=None):
        """Takes some steps at once, without what lies between them.

        Args:
            steps: how many, at least 1.
            actions: (steps, N) integers, 0 or 1; by default random ones, a pure function of (seed,
                environment, how many random actions it was given before).

        Returns:
            observation (N, 4) float32 after the last step, (N,) float32 sums of rewards, and (N,)
            int32, how many episodes ended.

        Raises:
            InvalidActionError: an action is not 0 or 1; nothing has changed.
            ConfigurationError: actions have a wrong shape or dtype, `steps` is wrong, or the
                autoreset mode is DISABLED.
            gymnasium.error.ResetNeeded: no reset came before.
        """
        steps = self._checked_steps(steps)
        if actions is not None:
            actions = self.checked(actions, steps)
        rewards, ended = self._step_many(steps, actions)
        if actions is None:
            self._drawn += steps
        return self._outputs.observation, rewards, ended

    def get_state(self) -> bytes:
        """All that decides what comes next, for `set_state` on any rung of the same dtype."""
        self._check_begun("get_state")
        arrays = {name: np.asarray(array) for name, array in self._dump().items()}
        payload = b"".join(array.tobytes() for array in arrays.values())
        return state.pack(self._identity() | {"seed": self._seed, "drawn": self._drawn}, payload)

    def set_state(self, saved: bytes):
        """Goes on from what `get_state` returned.

        Returns:
            observation and info, as `reset` does.

        Raises:
            InvalidStateError: `saved` is corrupt or of another number of environments or setting;
                nothing has changed.
        """
        self._check_open()
        identity, payload = state.unpack(saved, self._identity())
        self._seed, self._drawn = identity["seed"], identity["drawn"]
        arrays, at = {}, 0
        for name, (shape, dtype) in self._saved().items():
            count = int(np.prod(shape))
            arrays[name] = np.frombuffer(payload, dtype, count, at).reshape(shape)
            at += arrays[name].nbytes
        self._load(arrays)
        self._begun = True
        self._num_ended = int(self._ended.sum())
        return self._outputs.observation, {}

    @property
    def _ended(self):
        return self._outputs.ended

    def _identity(self) -> dict:
        settings = dataclasses.asdict(self.settings)
        settings["autoreset_mode"] = self.autoreset_mode.name
        return {
            "env": "cartpole",
            "num_envs": self.num_envs,
            "first_env": self.first_env,
        } | settings

    def _saved(self) -> dict[str, tuple]:
        """Shape and dtype of what `_dump` gives."""
        return {
            "state": ((4, self.num_envs), self.settings.dtype),
            "steps": ((self.num_envs,), np.int32),
            "episode": ((self.num_envs,), np.uint32),
            "ended": ((self.num_envs,), np.bool_),
        }

    def _random_actions(self, steps: int) -> Iterator:
        """(N,) int64 for each step: the bits of Philox's words, 128 of a counter's."""
        for drawn in range(self._drawn, self._drawn + steps):
            block, bit = divmod(drawn, 128)
            if drawn == self._drawn or bit == 0:
                drawn_words = words(self._seed, self._numbers, block, 0, Stream.CARTPOLE_ACTION)
            yield drawn_words[bit // 32] >> bit % 32 & 1

    @functools.cached_property
    def _numbers(self):
        """(N,) int64, the environments' among all."""
        return np.arange(self.first_env, self.first_env + self.num_envs)

    def _refuse_invalid(self, actions) -> None:
        """Names the first of (..., N) actions that is not 0 or 1."""
        wrong = np.flatnonzero((actions != 0) & (actions != 1))
        if len(wrong):
            first = int(wrong[0])
            raise self._invalid(first % self.num_envs, int(actions.flat[first]))

    def _invalid(self, env: int, action: int) -> InvalidActionError:
        return InvalidActionError(self.first_env + env, action)

    @abc.abstractmethod
    def _reset(self, which: np.ndarray | None, episode: int | None) -> None:
        """Begins `episode`, or each one's next, where `which` is set; fills the outputs."""

    @abc.abstractmethod
    def _step(self, actions) -> int:
        """Takes (N,) `actions` and fills the outputs, or raises and changes nothing.

        Returns how many episodes ended.
        """

    def _step_many(self, steps: int, actions) -> tuple:
        """`step_many`'s sums, of (steps, N) `actions` or of random ones, or raises as `_step`."""
        if actions is not None:
            self._refuse_invalid(actions)
        rewards, ended = self._sums()
        for row in self._random_actions(steps) if actions is None else actions:
            self._num_ended = self._step(row)
            rewards += self._outputs.reward
            ended += self._ended
        return rewards, ended

    def _sums(self) -> tuple:
        """(N,) float32 and (N,) int32, all 0: for rewards and for episodes that end."""
        return np.zeros(self.num_envs, np.float32), np.zeros(self.num_envs, np.int32)

    @abc.abstractmethod
    def _dump(self) -> dict:
        """The arrays of `_saved`."""

    @abc.abstractmethod
    def _load(self, arrays: dict[str, np.ndarray]) -> None:
        """Takes what `_dump` gave, and fills observations."""
