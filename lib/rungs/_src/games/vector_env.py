"""The contract of a game of one's own: what every rung accepts, returns and rejects."""

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import ArrayLike

from rungs._src.core.arguments import autoreset_mode as mode_of
from rungs._src.core.arguments import choice, integer, seeds
from rungs._src.core.batch_env import BatchEnv
from rungs._src.core.memory import memory_for
from rungs._src.games.boards import BOARDS
from rungs._src.games.game import Game, check_game
from rungs.errors import InvalidActionError


class GameVectorEnv(BatchEnv[np.ndarray]):
    """A batch of a game for reinforcement learning, the same on each of its rungs.

    Both `reset` and `step` put `action_mask` into `info`, (N, actions) bool: what the next step
    accepts. With NEXT_STEP a board that has ended accepts any action; with DISABLED none.
    The arrays returned are the environment's own: the next `step` or `reset` overwrites them.

    Args:
        num_envs: number of boards, at least 1.
        game: the class of one board.
        rung: "python", the reference; "cpp", "openmp" or "threads", which g++ compiles once.
        seed: 0 to 2**64 - 1. What a game draws is a pure function of (seed, board, episode, number
            of draws before in it). Or a sequence, a seed for each board, which then plays as
            board 0 of a batch with that seed.
        autoreset_mode: gymnasium's, by member, name or value.
        **rung_settings: `threads` of "openmp" and "threads", which changes time alone.

    Raises:
        ConfigurationError: an argument or a constant of the game is wrong, or it has no source for
            this rung.
        GameError: the game raised an exception.
        CompilerError: g++ is not here or rejects the source, or both languages' games differ in
            their numbers of actions or cells.
        UnavailableError: the system gives fewer threads, or too little memory.
    """

    def __init__(
        self,
        num_envs: int,
        game: type[Game],
        rung: str = "threads",
        *,
        seed: int | Sequence[int] | np.ndarray = 0,
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        **rung_settings: Any,
    ):
        self.num_envs = integer("num_envs", num_envs, 1, 2**31 - 1)
        self._seed = seeds("seed", seed, self.num_envs)
        mode = mode_of(autoreset_mode)
        boards = BOARDS[choice("rung", rung, tuple(BOARDS))]
        check_game(game)
        with memory_for(f"num_envs={self.num_envs} boards of {game.__name__}"):
            self.boards = boards(self.num_envs, game, mode, **rung_settings)
        self._ended = self.boards.buffers.ended
        self._describe(mode, game.OBSERVATION, gymnasium.spaces.Discrete(game.NUM_ACTIONS))

    def reset(
        self, *, seed: int | Sequence[int] | np.ndarray | None = None, options: dict | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begins an episode on every board, or on some; returns observation and info.

        Args:
            seed: begins episode 0 of this seed, or in a sequence of each board's seed. Without it,
                the first reset begins episode 0 of the constructor's seed, and later ones begin
                each board's next episode.
            options: {"reset_mask": (N,) bool} begins the next episode where it is set.

        Raises:
            ConfigurationError: a wrong seed or option; nothing has changed.
            GameError: the game raised an exception; it has to be reset.
        """
        with self._alone("reset"):
            which, new_seed, first = self._reset_arguments(seed, options)
            self._begun = False  # where the game raises
            self.boards.reset(which, new_seed, 0 if first else None)
            self._seed, self._begun = new_seed, True
            self._num_ended = int(self._ended.sum())
            return self.boards.buffers.observation, {"action_mask": self.boards.buffers.action_mask}

    def step(
        self, actions: ArrayLike
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Takes one action on every board; `actions` are (N,) integers.

        Returns:
            observation, reward (N,) float32, terminated (N,) bool, truncated (N,) bool, and info.
            With SAME_STEP, where any episode ended, info has `final_obs` and `_final_obs`.

        Raises:
            InvalidActionError: an action is not legal on its board; nothing has changed.
            GameError: the game raised an exception; the environment has to be reset, as after
                Ctrl-C.
            BusyError: another thread is in this environment.
            ConfigurationError: actions have a wrong shape or dtype.
            gymnasium.error.ResetNeeded: no reset came before; with DISABLED, an episode has ended.
        """
        with self._alone("step"):
            self._check_begun("step")
            taken = self.checked(actions)
            if self._num_ended:
                self._refuse_ended()
            self._begun = False  # where the game raises, or Ctrl-C falls between two boards
            ended = self.boards.step(taken)
            if ended >= 0:
                self._num_ended = ended
            self._begun = True
            if ended < 0:
                board = -1 - ended
                raise InvalidActionError(board, int(taken[board]), "legal")
            out = self.boards.buffers
            info: dict[str, Any] = {"action_mask": out.action_mask}
            if self.autoreset_mode == AutoresetMode.SAME_STEP and ended:
                info |= {"final_obs": out.final_observation, "_final_obs": out.ended}
            return out.observation, out.reward, out.terminated, out.truncated, info
