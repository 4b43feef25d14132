"""The contract of the CartPole environment: what every rung accepts, returns and rejects."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import ArrayLike

from rungs._src.cartpole.carts.carts import CartPoleSettings, Carts, saved_arrays
from rungs._src.cartpole.physics import MAX_THETA, MAX_X
from rungs._src.core import state
from rungs._src.core.arguments import integer, seeds
from rungs._src.core.batch_env import ArrayT, BatchEnv
from rungs._src.core.memory import memory_for
from rungs._src.core.settings import split_settings
from rungs._src.processes.interrupt import uninterrupted


class CartPoleVectorEnv(BatchEnv[ArrayT]):
    """A batch of Gymnasium's CartPole-v1.

    Actions are 0, to the left, and 1, to the right; the reward is 1 for every step. An observation
    is x, its speed, theta, its speed, in float32. An episode is terminated where the cart leaves
    the rail or the pole falls, and truncated after 500 steps; it starts within ±0.05.

    The arrays returned are the environment's own: the next `step` or `reset` overwrites them. Copy
    what you keep.

    Args:
        num_envs: how many, at least 1.
        carts: makes the carts: a class of `cartpole.carts`, one per rung. `rungs.make` finds it by
            the rung's name: `rungs.make("cartpole", "threads", num_envs)`.
        seed: 0 to 2**64 - 1. Where an episode starts is a pure function of (seed, environment,
            episode). Or a sequence, a seed for each environment, which then behaves as environment
            0 of a batch with that seed.
        first_env: the number of this batch's first environment, where it is part of a larger batch.
        **settings: those of `rungs.cartpole.CartPoleSettings`; and the rung's own, see its class,
            which change only time.

    Attributes:
        device: where outputs are tensors, their device; else None.

    Raises:
        ConfigurationError: an argument is wrong; the message names it.
        UnavailableError: the system has too little memory, or what the rung needs is not here.
    """

    def __init__(
        self,
        num_envs: int,
        carts: Callable[..., Carts],
        /,
        *,
        seed: int | Sequence[int] | np.ndarray = 0,
        first_env: int = 0,
        **settings: Any,
    ):
        self.num_envs = integer("num_envs", num_envs, 1, 2**31 - 1)
        self._seed = seeds("seed", seed, self.num_envs)
        self.first_env = integer("first_env", first_env, 0, 2**31 - 1)
        self.settings, rung_settings = split_settings(settings, CartPoleSettings, carts, type(self))
        with memory_for(f"num_envs={self.num_envs} environments"):
            self.carts = carts(self.num_envs, self.first_env, self.settings, **rung_settings)
        self.device, self._outputs = self.carts.device, self.carts.outputs
        self._ended = self._outputs.ended
        self._actions_drawn = 0  # random actions per environment
        high = np.array([2 * MAX_X, np.inf, 2 * MAX_THETA, np.inf], np.float32)
        space = gymnasium.spaces.Box(-high, high, dtype=np.float32)
        self._describe(self.settings.autoreset_mode, space, gymnasium.spaces.Discrete(2))

    def reset(
        self, *, seed: int | Sequence[int] | np.ndarray | None = None, options: dict | None = None
    ) -> tuple[ArrayT, dict[str, Any]]:
        """Begins an episode in all or some carts; returns (N, 4) float32 observations and info.

        Args:
            seed: begins episode 0 of this seed, or in a sequence of each environment's seed.
                Without it, the first reset begins episode 0 of the constructor's seed, and later
                ones begin each environment's next episode.
            options: {"reset_mask": (N,) bool} begins the next episode where it is set.

        Raises:
            ConfigurationError: a wrong seed or option, or more or fewer seeds than environments;
                nothing has changed.
        """
        with self._alone("reset"):
            which, new_seed, first = self._reset_arguments(seed, options)
            self.carts.reset(which, new_seed, 0 if first else None)
            self._seed, self._begun = new_seed, True
            self._actions_drawn = 0 if first else self._actions_drawn
            self._num_ended = int(self._ended.sum())
            return self._outputs.observation, {}

    def step(self, actions: ArrayLike) -> tuple[ArrayT, ArrayT, ArrayT, ArrayT, dict[str, Any]]:
        """Takes one action, 0 or 1, in every environment; `actions` are (N,) integers.

        Returns:
            observation (N, 4) float32, reward (N,) float32, terminated (N,) bool, truncated (N,)
            bool, and info: with SAME_STEP, where any episode ended, gymnasium's `final_obs` and
            `_final_obs`.

        Raises:
            InvalidActionError: an action is not 0 or 1; nothing has changed.
            BusyError: another thread is in this environment; all its methods raise this.
            ConfigurationError: actions have a wrong shape or dtype.
            gymnasium.error.ResetNeeded: no reset came before; with DISABLED, an episode has ended.
        """
        if not self._lock.acquire(False):  # `_alone` takes longer than a small batch
            raise self._busy("step")
        try:
            if self.closed or not self._begun:
                self._check_begun("step")
            actions = self.checked(actions)
            if self._num_ended:
                self._refuse_ended()
            self._num_ended = self.carts.step(actions)
            out, info = self._outputs, {}
            if self.autoreset_mode == AutoresetMode.SAME_STEP and self._num_ended != 0:
                info = {"final_obs": out.final_observation, "_final_obs": out.ended}
            return out.observation, out.reward, out.terminated, out.truncated, info
        finally:
            self._lock.release()

    def step_many(
        self, steps: int, actions: ArrayLike | None = None
    ) -> tuple[ArrayT, ArrayT, ArrayT]:
        """Takes several steps at once, without the outputs between them.

        Args:
            steps: how many, at least 1.
            actions: (steps, N) integers, 0 or 1; by default random ones, a pure function of (seed,
                environment, how many random actions it was given before).

        Returns:
            observation (N, 4) float32 after the last step, (N,) float64 sums of rewards, and (N,)
            int32, how many episodes ended. Ctrl-C ends it between two steps.

        Raises:
            InvalidActionError: an action is not 0 or 1; nothing has changed.
            ConfigurationError: actions have a wrong shape or dtype, `steps` is wrong, or the
                autoreset mode is DISABLED.
            gymnasium.error.ResetNeeded: no reset came before.
        """
        with self._alone("step_many"):
            steps = self._checked_steps(steps)
            valid = None
            if actions is not None:
                valid = self.carts.accepted(self.checked(actions, steps))
            rewards, ended = self.carts.sums()
            at_once = self.carts.steps_at_once()
            for first in range(0, steps, at_once):
                num_steps = min(at_once, steps - first)
                rows = None if valid is None else valid[first : first + num_steps]
                with uninterrupted():
                    sums = self.carts.step_many(num_steps, rows, self._actions_drawn)
                    self._actions_drawn += num_steps if actions is None else 0
                    self._num_ended = int(self._ended.sum()) if self.carts.validate else None
                rewards += sums[0]
                ended += sums[1]
            return self._outputs.observation, rewards, ended

    def get_state(self) -> bytes:
        """Returns all that later steps depend on, for `set_state` on any rung of the same dtype."""
        with self._alone("get_state"):
            self._check_begun("get_state")
            payload = b"".join(array.tobytes() for array in self.carts.dump().values())
            numbers = {"seed": state.seed_number(self._seed), "drawn": self._actions_drawn}
            return state.pack(self._identity() | numbers, payload)

    def set_state(self, saved: bytes) -> tuple[ArrayT, dict[str, Any]]:
        """Goes on from what `get_state` returned; returns observation and info, as `reset` does.

        Raises:
            InvalidStateError: `saved` is corrupt or of another number of environments or setting;
                nothing has changed.
        """
        with self._alone("set_state"):
            self._check_open()
            limits = {"drawn": 2**62}
            seed, numbers, payload = state.unpack(saved, self._identity(), limits, self.num_envs)
            self.carts.load(saved_arrays(payload, self.num_envs, self.settings), seed)
            self._seed, self._actions_drawn, self._begun = seed, numbers["drawn"], True
            self._num_ended = int(self._ended.sum())
            return self._outputs.observation, {}

    def close_extras(self, **kwargs: Any) -> None:
        """Ends the rung's processes (called by `close`)."""
        self.carts.close()

    def _identity(self) -> dict:
        settings = dataclasses.asdict(self.settings)
        settings["autoreset_mode"] = self.autoreset_mode.name
        return {
            "env": "cartpole",
            "num_envs": self.num_envs,
            "first_env": self.first_env,
        } | settings
