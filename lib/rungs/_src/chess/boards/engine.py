"""An engine as the opponent: what a rung needs for one, and the game in which it replies."""

import abc
import contextlib
from collections.abc import Iterator
from typing import Any

import chess
import numpy as np
from gymnasium.vector import AutoresetMode

from rungs._src.chess.actions import action_on, move_of
from rungs._src.chess.boards.boards import Boards, illegal_action
from rungs._src.chess.engine import EngineProcess, UciEngine
from rungs._src.chess.fen import board_of
from rungs._src.core.arguments import Seed
from rungs._src.core.batch_env import Array, stays_ended


class EngineBoards(Boards):
    """Boards that play an engine's plies, which they find in `replies`."""

    def __init__(self, num_envs: int, *others: Any):
        super().__init__(num_envs, *others)
        engine = isinstance(self.settings.opponent, UciEngine)
        self.replies = np.zeros(num_envs, np.int64) if engine else None

    @abc.abstractmethod
    def open(self) -> None:
        """Plays an engine's first plies, where `replies` are not -1, unless they end a game."""

    @abc.abstractmethod
    def agent_is_black(self, board: int) -> bool:
        """Returns whether the agent is Black in a board's episode, where it has an opponent."""


class EngineGame:
    """A rung's boards, on which an engine answers each action; an EngineError changes no board."""

    def __init__(self, boards: EngineBoards):
        self._boards, self._settings = boards, boards.settings
        self._engine = EngineProcess(boards.settings.opponent)  # type: ignore[arg-type]  # it is one
        self._seed: Seed | None = None  # until the first reset

    def reset(self, which: np.ndarray | None, seed: Seed, episode: int | None) -> None:
        with self._unchanged_on_error():
            self._boards.reset(which, seed, episode)
            self._open(np.ones(self._boards.num_envs, np.bool_) if which is None else which)
        self._seed = seed

    def step(self, actions: Array) -> int | None:
        actions = actions.copy()  # read once: a step may write to their memory
        mode = self._settings.autoreset_mode
        ended_before = stays_ended(mode, self._boards.buffers.ended)
        self._reply(actions, ended_before)
        with self._unchanged_on_error():
            num_ended = self._boards.step(actions)
            # Where an episode has just begun: at once, or because it had ended before.
            ended = self._boards.buffers.ended
            self._open(ended if mode == AutoresetMode.SAME_STEP else ended_before)
        return num_ended

    def load(self, payload: bytes, seed: Seed) -> None:
        self._boards.load(payload, seed)
        self._seed = seed

    def close(self) -> None:
        self._engine.close()
        self._boards.close()

    def _reply(self, actions: np.ndarray, ended: np.ndarray) -> None:
        """Gets the engine's answer to each action, where there is something to answer."""
        positions = {}
        for i in np.flatnonzero(~ended).tolist():
            action = int(actions[i])
            position = self._position(i)
            move = move_of(action, position)
            if move is None or move not in position.legal_moves:
                raise illegal_action(self._boards, i, action, position.fen())
            position.push(move)
            positions[i] = position
        self._ask(positions)

    def _open(self, begun: np.ndarray) -> None:
        """Lets the engine play its first ply where an episode has just begun and it is White."""
        positions = {}
        for i in np.flatnonzero(begun).tolist():
            position = self._position(i)
            if (not position.turn) != self._boards.agent_is_black(i):
                positions[i] = position
        self._ask(positions)
        self._boards.open()

    def _ask(self, positions: dict[int, chess.Board]) -> None:
        replies = self._boards.replies
        assert replies is not None  # an engine plays
        replies.fill(-1)
        for i, position in positions.items():
            if any(position.legal_moves):
                move = self._engine.reply(position, self._boards.first_board + i)
                replies[i] = action_on(move, position)

    def _position(self, board: int) -> chess.Board:
        return board_of(self._boards.fen(board), self._settings.chess960)

    @contextlib.contextmanager
    def _unchanged_on_error(self) -> Iterator[None]:
        """Restores boards and outputs where an engine fails half-way through."""
        seed, buffers = self._seed, self._boards.buffers.save()
        boards = b"" if seed is None else self._boards.dump()
        try:
            yield
        except BaseException:
            if seed is not None:
                self._boards.load(boards, seed)
            self._boards.buffers.restore(buffers)
            raise
