"""An engine as the opponent, on whatever rung."""

import contextlib
from collections.abc import Iterator

import chess
import numpy as np
from gymnasium.vector import AutoresetMode

from rungs._src.chess.actions import action_on, board_of, move_of
from rungs._src.chess.boards.boards import Boards
from rungs._src.chess.boards.wrapped import WrappedBoards
from rungs._src.chess.engine import EngineProcess
from rungs._src.core.batch_env import stays_ended


class EnginePlays(WrappedBoards):
    """A rung's boards, on which an engine answers every action.

    The rung plays the replies that it finds in its `replies`; which they are is told here. Where
    the engine fails half-way, boards and outputs are as they were.

    Args:
        boards: the rung's, whose settings name the engine.

    Raises:
        EngineError: from `reset` and `step`: the engine failed; no board has changed.
    """

    replies: np.ndarray

    def __init__(self, boards: Boards):
        super().__init__(boards)
        engine = boards.settings.opponent
        self._engine = EngineProcess(engine)  # type: ignore[arg-type]  # it is one
        self._seed: int | None = None  # until the first reset

    def reset(self, which: np.ndarray | None, seed: int, episode: int | None) -> None:
        with self._unchanged_on_error():
            super().reset(which, seed, episode)
            self._open(np.ones(self.num_envs, np.bool_) if which is None else which)
        self._seed = seed

    def step(self, actions: np.ndarray) -> int | None:
        actions = actions.copy()  # read once: it may lie where a step writes
        mode = self.settings.autoreset_mode
        ended_before = stays_ended(mode, self.buffers.ended)
        self._reply(actions, ended_before)
        with self._unchanged_on_error():
            num_ended = super().step(actions)
            # Where an episode has just begun: at once, or because it had ended before.
            self._open(self.buffers.ended if mode == AutoresetMode.SAME_STEP else ended_before)
        return num_ended

    def load(self, payload: bytes, seed: int) -> None:
        super().load(payload, seed)
        self._seed = seed

    def close(self) -> None:
        self._engine.close()
        super().close()

    def _reply(self, actions: np.ndarray, ended: np.ndarray) -> None:
        """Asks for an answer to each action, where there is something to answer."""
        positions = {}
        for i in np.flatnonzero(~ended).tolist():
            action = int(actions[i])
            position = self._position(i)
            move = move_of(action, position)
            if move is None or move not in position.legal_moves:
                raise self.illegal(i, action, position.fen())
            position.push(move)
            positions[i] = position
        self._ask(positions)

    def _open(self, begun: np.ndarray) -> None:
        """Lets the engine play its first ply where an episode has just begun and it is White."""
        positions = {}
        for i in np.flatnonzero(begun).tolist():
            position = self._position(i)
            if (not position.turn) != self.agent_is_black(i):
                positions[i] = position
        self._ask(positions)
        super().open()

    def _ask(self, positions: dict[int, chess.Board]) -> None:
        self.replies.fill(-1)
        for i, position in positions.items():
            if any(position.legal_moves):
                move = self._engine.reply(position, self.first_board + i)
                self.replies[i] = action_on(move, position)

    def _position(self, board: int) -> chess.Board:
        return board_of(self.fen(board), self.settings.chess960)

    @contextlib.contextmanager
    def _unchanged_on_error(self) -> Iterator[None]:
        """Puts everything back where an engine fails half-way through."""
        seed, buffers = self._seed, self.buffers.save()
        boards = b"" if seed is None else self.dump()
        try:
            yield
        except BaseException:
            if seed is not None:
                super().load(boards, seed)
            self.buffers.restore(buffers)
            raise
