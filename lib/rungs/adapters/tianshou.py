"""Chess for Tianshou: `Collector(policy, ChessVectorEnv(64), buffer)`."""

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np

import rungs
from rungs._src.chess.actions import NUM_ACTIONS
from rungs._src.chess.handover import FreshOutputs
from rungs._src.chess.keywords import ChessRung
from rungs._src.core.arguments import checked_actions, checked_indices, integer
from rungs._src.core.memory import on_host
from rungs.errors import ConfigurationError, UnavailableError, install_hint

__all__ = ["ChessVectorEnv"]

try:
    from tianshou.data import Batch
    from tianshou.env import BaseVectorEnv
except ImportError as error:
    raise UnavailableError(f"Tianshou: {error}: {install_hint('tianshou')}") from None

_All = int | Sequence[int] | np.ndarray | None
_Outcome = tuple[Batch, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


class ChessVectorEnv(BaseVectorEnv):
    """A batch of chess games, all stepped at once by a rung.

    An observation is a `Batch` of `obs`, (n, ...), and `mask`, (n, 4672) bool, which Tianshou's
    value-based policies apply; for other policies the network must (`docs/howto/train_with.md`).
    Where an episode has ended, `info` has the `reason` (`rungs.chess.Reason`), and the mask allows
    nothing; the next episode has begun in the same step, and `reset` then returns its start.
    Tianshou may keep the arrays and write to them; where all boards are stepped, none is copied.
    `collect(random=True)` ignores masks: it plays illegal actions, which raise an error.

    Args:
        num_envs: number of boards.
        rung: which implementation steps them, with boards that can be copied: not
            "multiprocessing" or "mpi", if a collector may step some boards and not others.
        opponent: see `rungs.make`; here by default "random", as there is one agent to train.
        **settings: all others of `rungs.make("chess", ...)`; masks are `bool`, and Tianshou itself
            resets boards that have ended.

    Raises:
        ConfigurationError: a wrong setting.
        UnavailableError: Tianshou is not installed (when this module is imported).
    """

    def __init__(
        self,
        num_envs: int,
        rung: ChessRung = "threads",
        *,
        opponent: Any = "random",
        **settings: Any,
    ):
        for fixed in {"mask", "autoreset_mode"} & settings.keys():
            raise ConfigurationError(f"{fixed} can't be set: the adapter sets it")
        if settings.get("dtype") == "bfloat16":
            raise ConfigurationError("dtype='bfloat16': Tianshou would read its words as integers")
        # In place of Tianshou's `__init__`, which makes a worker for each environment.
        self.env = rungs.make("chess", rung, num_envs, opponent=opponent, **settings)
        self._outputs = FreshOutputs(self.env)
        # By board, the first observation and mask of an episode for which `reset` is yet to come.
        self._waiting: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self.env_num, self.is_async, self.is_closed = self.env.num_envs, False, False
        self._seed: int | None = None
        self._begun = False
        self._every = np.arange(self.env_num)

    def reset(self, env_id: _All = None, **kwargs: Any) -> tuple[Batch, np.ndarray]:
        """Begins an episode on every board, or on some.

        Args:
            env_id: the boards' indices; None for all.
            **kwargs: `seed`, of all boards.

        Raises:
            ConfigurationError: a wrong index or seed, or another argument.
        """
        if others := sorted(kwargs.keys() - {"seed"}):
            raise ConfigurationError(f"reset has no {', '.join(others)}: it takes seed")
        self._assert_is_not_closed()
        boards = self._indices(env_id)
        seed = kwargs.get("seed", self._seed)
        anew = not self._begun or (len(boards) == self.env_num and seed is not None)
        which = np.zeros(self.env_num, np.bool_)
        which[boards] = True
        which[[*self._waiting]] = False
        if anew or which.any():
            how = {"seed": seed} if anew else {"options": {"reset_mask": which}}
            observation, info = self.env.reset(**how, out=self._outputs.next())
            begun = self._every if anew else np.flatnonzero(which)
            self._wait(begun, on_host(observation)[begun], on_host(info["action_mask"])[begun])
            self._seed, self._begun = None, True
        first = zip(*map(self._waiting.pop, boards.tolist()), strict=True)
        observations, masks = map(np.stack, first)
        if anew:
            self._waiting.clear()
        return Batch(obs=observations, mask=masks), _infos(boards)

    def step(self, action: Any, id: _All = None) -> _Outcome:
        """Plays one action on every board, or on some: the others stay as they are.

        Args:
            action: (n,) integers, one for each of `id`.
            id: indices of boards; None for all.

        Raises:
            IllegalActionError: an action is not legal on its board; no board has changed.
            ConfigurationError: a wrong index, or too few actions or too many.
            gymnasium.error.ResetNeeded: no reset came before, or not since a board's episode ended.
        """
        self._assert_is_not_closed()
        boards = self._indices(id)
        actions = checked_actions(np.asarray(action), boards.shape)
        if self._waiting and (ended := sorted(self._waiting.keys() & boards.tolist())):
            raise gymnasium.error.ResetNeeded(
                f"boards {ended} have ended: call reset({ended}) first"
            )
        if len(boards) == self.env_num:
            return self._played(actions[np.argsort(boards)], boards)
        kept = self.env.snapshot(np.setdiff1d(self._every, boards))
        every = on_host(self.env.sample_actions(0)).copy()
        every[boards] = actions
        outcome = self._played(every, boards)
        self.env.restore(kept)
        return outcome

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Makes the next reset of all boards begin episode 0 of `seed`: all games follow from it.

        Returns:
            `seed`, for every board.

        Raises:
            ConfigurationError: it is not an integer from 0 to 2**64 - 1.
        """
        self._seed = None if seed is None else integer("seed", seed, 0, 2**64 - 1)
        return [self._seed] * self.env_num

    def get_env_attr(self, key: str, id: _All = None) -> list[Any]:
        """Returns an attribute of the batch, once per requested board; spaces are of one board.

        Raises:
            AttributeError: the batch has no such attribute.
        """
        value = self._spaces()[key] if key in self._spaces() else getattr(self.env, key)
        return [value for _ in self._indices(id)]

    def set_env_attr(self, key: str, value: Any, id: _All = None) -> None:
        """Rejects the call: settings are given when the environment is made.

        Raises:
            ConfigurationError: always.
        """
        raise ConfigurationError(f"{key} can't be set: make another environment")

    def render(self, **kwargs: Any) -> list[str]:
        """Returns the position of every board as a FEN."""
        return self.env.fens()

    def close(self) -> None:
        """Closes the environment."""
        self._assert_is_not_closed()
        self.env.close()
        self.is_closed = True

    def _played(self, actions: np.ndarray, boards: np.ndarray) -> _Outcome:
        """Plays (N,) actions, and returns some boards' outputs."""
        observation, *outputs, info = self.env.step(actions, self._outputs.next())
        observation, mask = on_host(observation), on_host(info["action_mask"])
        if boards is not self._every:
            observation, mask = observation[boards], mask[boards]
        reward, terminated, truncated = (on_host(each)[boards] for each in outputs)
        infos = _infos(boards)
        ended = np.flatnonzero(terminated | truncated)
        if len(ended):
            where = boards[ended]
            self._wait(where, observation[ended], mask[ended])
            observation[ended], mask[ended] = on_host(info["final_obs"])[where], False
            for i, reason in zip(
                ended.tolist(), on_host(info["reason"])[where].tolist(), strict=True
            ):
                infos[i]["reason"] = reason
        return Batch(obs=observation, mask=mask), reward, terminated, truncated, infos

    def _wait(self, boards: np.ndarray, *first: np.ndarray) -> None:
        """Keeps first observations and masks of boards' new episodes until `reset` returns them."""
        self._waiting |= zip(boards.tolist(), zip(*first, strict=True), strict=True)

    def _spaces(self) -> dict[str, gymnasium.Space]:
        mask = gymnasium.spaces.MultiBinary(NUM_ACTIONS)
        seen = {"obs": self.env.single_observation_space, "mask": mask}
        observation = gymnasium.spaces.Dict(seen)
        return {
            "observation_space": observation,
            "action_space": self.env.single_action_space,
        }

    def _indices(self, some: _All) -> np.ndarray:
        """Returns indices of boards, (n,) int64; `self._every` where they are all, in order.

        Raises:
            ConfigurationError: an index is out of range, or given twice.
        """
        if some is None:
            return self._every
        boards = checked_indices("id", np.atleast_1d(some), self.env_num)
        if len(boards) and np.bincount(boards).max() > 1:
            raise ConfigurationError("id names a board twice")
        return self._every if np.array_equal(boards, self._every) else boards


def _infos(boards: np.ndarray) -> np.ndarray:
    """Returns a dict for each board, (n,) objects."""
    return np.fromiter([{"env_id": board} for board in boards.tolist()], object, len(boards))
