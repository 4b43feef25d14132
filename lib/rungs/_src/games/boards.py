"""The rungs of a game: boards in Python, and in C++ on one thread or several."""

import contextlib
import ctypes
import math
import numbers
import traceback
from collections.abc import Iterator
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from rungs._src.core.arguments import (
    Seed,
    as_array,
    boolean,
    seed_and_number,
    seed_fields,
    shortened,
    shown,
)
from rungs._src.core.buffers import Buffers, Kinds
from rungs._src.core.memory import zeroed_lines
from rungs._src.games.game import Game, GameRandom
from rungs._src.native import gpp
from rungs._src.native.abi import described
from rungs._src.native.team import Team
from rungs._src.threads import openmp
from rungs._src.threads.pool import pool_of, thread_count
from rungs.errors import CompilerError, ConfigurationError, GameError

_MAX_FLOAT = float(np.finfo(np.float32).max)


class GameBoards:
    """The boards of a batch and the arrays that they write."""

    def __init__(self, num_envs: int, game: type[Game], mode: AutoresetMode):
        self.num_envs, self.game, self.mode = num_envs, game, mode
        observation = game.OBSERVATION.shape, game.OBSERVATION.dtype
        kinds: Kinds = {
            "observation": observation,
            "final_observation": observation,
            "action_mask": ((game.NUM_ACTIONS,), np.bool_),
            "reward": ((), np.float32),
            "terminated": ((), np.bool_),
            "truncated": ((), np.bool_),
            "ended": ((), np.bool_),
        }
        self.buffers = Buffers.allocate(kinds, num_envs)

    def reset(self, which: np.ndarray | None, seed: Seed, episode: int | None) -> None:
        """Begins an episode, or each board's next, where `which`, (N,) bool, is set, or on all."""
        raise NotImplementedError

    def step(self, actions: np.ndarray) -> int:
        """Takes (N,) int64 actions; returns the number that ended, or -1 - i of an illegal one."""
        raise NotImplementedError


class PythonGames(GameBoards):
    """A loop over boards in Python, the reference."""

    def __init__(self, num_envs: int, game: type[Game], mode: AutoresetMode):
        super().__init__(num_envs, game, mode)
        with self._failing():
            self._games = [game() for _ in range(num_envs)]
        self._random = [GameRandom(0, i, 0) for i in range(num_envs)]
        self._seed: Seed = 0

    def reset(self, which: np.ndarray | None, seed: Seed, episode: int | None) -> None:
        self._seed = seed
        with self._failing():
            for i in range(self.num_envs):
                if which is None or which[i]:
                    self._begin(i, self._random[i].episode + 1 if episode is None else episode)

    def step(self, actions: np.ndarray) -> int:
        with self._failing():
            for i, action in enumerate(actions):
                if not (0 <= action < self.game.NUM_ACTIONS and self._takes(i, int(action))):
                    return -1 - i
            return sum(self._step(i, int(action)) for i, action in enumerate(actions))

    @contextlib.contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # whatever the game raises, or can't be made of what it returns
            text = shortened(traceback.format_exception_only(error)[-1].strip())
            # Without `from`, which makes contextlib raise a StopIteration itself.
            raise GameError(f"{self.game.__name__} raised {text}")  # noqa: B904

    def _takes(self, i: int, action: int) -> bool:
        if self.buffers.ended[i] and self.mode != AutoresetMode.SAME_STEP:
            return self.mode == AutoresetMode.NEXT_STEP  # which only begins an episode
        return self._games[i].legal(action)

    def _step(self, i: int, action: int) -> bool:
        if self.buffers.ended[i] and self.mode == AutoresetMode.NEXT_STEP:
            self._begin(i, self._random[i].episode + 1)
            return False
        self._set(i, *self._games[i].step(action, self._random[i]))
        if self.buffers.ended[i] and self.mode == AutoresetMode.SAME_STEP:
            self.buffers.final_observation[i] = self._observed(i)
            self._start(i, self._random[i].episode + 1)
        self._write(i)
        return bool(self.buffers.ended[i])

    def _begin(self, i: int, episode: int) -> None:
        self._start(i, episode)
        self._set(i, 0, False, False)
        self._write(i)

    def _start(self, i: int, episode: int) -> None:
        self._random[i] = GameRandom(*seed_and_number(self._seed, i, 0), episode)
        self._games[i].reset(self._random[i])

    def _observed(self, i: int) -> np.ndarray:
        """Returns an observation of the space's shape and dtype; raises where it would be cut."""
        space = self.game.OBSERVATION
        given = as_array("what observe() returns", self._games[i].observe())
        if given.shape != space.shape or given.dtype.kind not in "biuf":
            raise ValueError(
                f"observe() returns {given.dtype} of shape {given.shape}, not numbers of shape "
                f"{space.shape}"
            )
        with np.errstate(all="ignore"):
            observed = given.astype(space.dtype, copy=False)
        if space.dtype.kind == "f":  # which rounds
            fits = np.array_equal(np.isfinite(observed), np.isfinite(given))
        else:
            fits = np.array_equal(observed, given)
        if not fits:
            raise ValueError(
                f"observe() returns {shown(given)}, which {space.dtype} has no room for"
            )
        return observed

    def _set(self, i: int, reward: float, terminated: bool, truncated: bool) -> None:
        for name, flag in (("terminated", terminated), ("truncated", truncated)):
            boolean(f"step() returns {name}", flag)
        if not isinstance(reward, numbers.Real) or _MAX_FLOAT < abs(reward) < math.inf:
            raise ValueError(f"step() returns reward={shown(reward)}, not a number of float32")
        out = self.buffers
        out.reward[i], out.terminated[i], out.truncated[i] = reward, terminated, truncated
        out.ended[i] = terminated or truncated

    def _write(self, i: int) -> None:
        self.buffers.observation[i] = self._observed(i)
        mask = self.buffers.action_mask
        mask[i] = [self._takes(i, action) for action in range(self.game.NUM_ACTIONS)]


class CppGames(GameBoards):
    """A loop over boards in C++, on one thread."""

    def __init__(self, num_envs: int, game: type[Game], mode: AutoresetMode):
        super().__init__(num_envs, game, mode)
        if game.SOURCE is None:
            raise ConfigurationError(f"{game.__name__} has no SOURCE in C++: use the rung python")
        self._api = gpp.load_game(game.SOURCE)
        constants = described(self._api).constants
        for name, number in (
            ("num_actions", game.NUM_ACTIONS),
            ("num_cells", self.buffers.observation[0].size),
        ):
            if constants[name] != number:
                raise CompilerError(
                    f"{game.__name__}: {name} is {number} in Python, {constants[name]} in C++"
                )
        kinds: Kinds = {
            "games": ((num_envs, constants["game_bytes"]), np.uint8),
            "episode": ((num_envs,), np.uint32),
            "drawn": ((num_envs,), np.uint32),
            "chosen": ((num_envs,), np.int32),
            "error": ((constants["error_bytes"],), np.int8),
        }
        self._memory = Buffers.allocate(kinds)  # C++ allocates nothing
        self._seeds: Seed = 0
        self._batch: Any = described(self._api).structures["Games"](
            num_envs=num_envs,
            seed=0,
            seeds=None,
            autoreset=mode.name,
            **vars(self._memory),
            **vars(self.buffers),
        )
        self._address = ctypes.addressof(self._batch)

    def reset(self, which: np.ndarray | None, seed: Seed, episode: int | None) -> None:
        self._seeds = seed  # C++ keeps its address
        self._batch.seed, self._batch.seeds = seed_fields(seed)
        marks = 0 if which is None else which.ctypes.data
        self._reset_all(marks, -1 if episode is None else episode)
        self._raise_error()

    def step(self, actions: np.ndarray) -> int:
        ended = self._step_all(actions)
        self._raise_error()
        return ended

    def _raise_error(self) -> None:
        """Raises the exception that the game threw in C++, if any."""
        error = self._memory.error
        if error[0]:
            text = error.tobytes().partition(b"\0")[0].decode(errors="replace")
            error[0] = 0
            raise GameError(f"{self.game.__name__} threw in C++: {shortened(text)}")

    def _step_all(self, actions: np.ndarray) -> int:
        return self._api.rungs_game_serial_step(self._address, actions)

    def _reset_all(self, marks: int, episode: int) -> None:
        self._api.rungs_game_serial_reset(self._address, marks, episode)


class OpenmpGames(CppGames):
    """The same boards, shared out among OpenMP's threads; small batches use fewer."""

    def __init__(
        self, num_envs: int, game: type[Game], mode: AutoresetMode, *, threads: int | None = None
    ):
        self.threads, self._fewer = thread_count(threads), threads is None
        super().__init__(num_envs, game, mode)
        self._settings = described(self._api).structures["LoopSettings"](
            threads=self.threads, schedule="STATIC", chunk=0
        )
        self._loop = ctypes.addressof(self._settings)

    def _step_all(self, actions: np.ndarray) -> int:
        self._settings.threads = openmp.team(self._api, self.threads, self._fewer)
        return self._api.rungs_game_openmp_step(self._address, actions, self._loop)

    def _reset_all(self, marks: int, episode: int) -> None:
        self._settings.threads = openmp.team(self._api, self.threads, self._fewer)
        self._api.rungs_game_openmp_reset(self._address, marks, episode, self._loop)


class ThreadsGames(CppGames):
    """The same boards, taken in chunks by threads of our own."""

    def __init__(
        self, num_envs: int, game: type[Game], mode: AutoresetMode, *, threads: int | None = None
    ):
        super().__init__(num_envs, game, mode)
        self._fewer = threads is None
        self.threads = self._api.rungs_useful_threads(thread_count(threads), num_envs)
        self._payoff = zeroed_lines(described(self._api).constants["payoff_bytes"])
        self._team = Team(lambda: self._api, "rungs_game_openmp_step", self.threads)

    def _step_all(self, actions: np.ndarray) -> int:
        if self.threads == 1:
            return super()._step_all(actions)
        pool = pool_of(self._api, self.threads, self._fewer)
        helpers = pool, self.threads, self._payoff.ctypes.data, *self._team.arguments()
        return self._api.rungs_game_threads_step(self._address, actions, *helpers)

    def _reset_all(self, marks: int, episode: int) -> None:
        if self.threads == 1:
            return super()._reset_all(marks, episode)
        pool = pool_of(self._api, self.threads, self._fewer)
        return self._api.rungs_game_threads_reset(self._address, marks, episode, pool, self.threads)


# By the rungs' names, in the order of the ladder.
BOARDS: dict[str, type[GameBoards]] = {
    "python": PythonGames,
    "cpp": CppGames,
    "openmp": OpenmpGames,
    "threads": ThreadsGames,
}
