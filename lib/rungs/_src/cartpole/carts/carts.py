"""What a rung is: the carts of an environment, and how they are stepped."""

import abc
import dataclasses
import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from rungs._src.cartpole.settings import CartPoleSettings
from rungs._src.core.batch_env import Array
from rungs._src.core.philox import Purpose, words
from rungs.errors import InvalidActionError


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

    observation: Array
    reward: Array
    terminated: Array
    truncated: Array
    ended: Array
    final_observation: Array


class Carts(abc.ABC):
    """The carts, each with its pole, that a `rungs.cartpole.CartPoleVectorEnv` owns.

    The environment has checked what comes in: actions have their shape and dtype, seeds are in
    range, and no method but `reset`, `load` and `close` is called before the first `reset`.

    Args:
        num_envs: how many there are.
        first_env: the number of the first among all.
        settings: the environment's.

    Attributes:
        seed: of all episodes, since the last `reset` or `load`.
        outputs: where `reset`, `step` and `load` write.
        device: where outputs are tensors, their device; else None.
        validate: whether `step` refuses wrong actions and tells how many episodes ended.
    """

    outputs: Outputs
    device: Any = None
    validate = True

    def __init__(self, num_envs: int, first_env: int, settings: CartPoleSettings):
        self.num_envs, self.first_env, self.settings = num_envs, first_env, settings
        self.seed = 0

    @functools.cached_property
    def numbers(self) -> Array:
        """(N,) int64, their numbers among all; made where they are asked for, as C++ never does."""
        return np.arange(self.first_env, self.first_env + self.num_envs)

    @abc.abstractmethod
    def reset(self, which: Array | None, seed: int, episode: int | None) -> None:
        """Begins an episode and writes all outputs but the final observation.

        Args:
            which: (N,) bool, of which carts; None for all.
            seed: of all carts, from now on.
            episode: its number; None for each cart's next.
        """

    @abc.abstractmethod
    def step(self, actions: Array) -> int | None:
        """Takes (N,) int64 actions and writes all outputs; returns how many episodes ended.

        Without `validate` it doesn't know, and returns None.

        Raises:
            InvalidActionError: an action is not 0 or 1; nothing has changed.
        """

    def step_many(self, steps: int, actions: Array | None, drawn: int) -> tuple[Array, Array]:
        """Takes so many steps; writes the outputs of the last.

        Args:
            steps: how many.
            actions: (steps, N) int64 that `accepted` returned; None for random ones.
            drawn: random actions that each cart was given before.

        Returns:
            (N,) float64 sums of rewards, and (N,) int32, how many episodes ended.
        """
        rewards, ended = self.sums()
        for row in self.random_actions(steps, drawn) if actions is None else actions:
            self.step(row)
            rewards += self.outputs.reward
            ended += self.outputs.ended
        return rewards, ended

    @abc.abstractmethod
    def dump(self) -> dict[str, np.ndarray]:
        """Returns what decides what comes next.

        That is `state`, (4, N) of the settings' dtype; `steps` of the episode, (N,) int32;
        `episode`, (N,) uint32; and `ended`, (N,) bool; in this order.
        """

    @abc.abstractmethod
    def load(self, arrays: dict[str, np.ndarray], seed: int) -> None:
        """Takes what `dump` gave, and writes observations and ends."""

    def close(self) -> None:  # noqa: B027 (most rungs hold nothing)
        """Lets go of processes; may be called twice."""

    def steps_at_once(self) -> int:
        """Returns how many steps `step_many` may be asked for between two looks at Ctrl-C."""
        return 1

    def sums(self) -> tuple[Array, Array]:
        """Makes (N,) float64 and (N,) int32, all 0: for rewards and for episodes that end."""
        return np.zeros(self.num_envs, np.float64), np.zeros(self.num_envs, np.int32)

    def random_actions(self, steps: int, drawn: int) -> Iterator[Array]:
        """Draws (N,) int64 for each step: the bits of Philox's words, 128 of a counter's."""
        for each in range(drawn, drawn + steps):
            block, bit = divmod(each, 128)
            if each == drawn or bit == 0:
                drawn_words = words(self.seed, self.numbers, block, 0, Purpose.CARTPOLE_ACTION)
            yield drawn_words[bit // 32] >> bit % 32 & 1

    def accepted(self, actions: Array) -> Array:
        """Returns a copy of (..., N) actions: what they lie in may be written to meanwhile.

        Raises:
            InvalidActionError: one is not 0 or 1; the message names the first.
        """
        actions = actions.copy()
        if actions.view(np.uint64).max() <= 1:
            return actions
        first = int(np.flatnonzero((actions != 0) & (actions != 1))[0])
        raise self.invalid(first % self.num_envs, int(actions.flat[first]))

    def invalid(self, env: int, action: int) -> InvalidActionError:
        """Makes the error that names a wrong action of an environment of the batch."""
        return InvalidActionError(self.first_env + env, action)
