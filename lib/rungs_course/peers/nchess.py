"""NChess (version 1.3): a board object in C per game, which returns moves and an array."""

from typing import Any, ClassVar

import chess
import numpy as np

from rungs.chess import action_of
from rungs.conformance import Outcome
from rungs.devel.envs import check_not_asked
from rungs.errors import UnsupportedError
from rungs_course.peers import imported
from rungs_course.peers.peer import ListedMoves, Step


class NChessBoards(ListedMoves):
    """See `ChessPeer`."""

    STEP: ClassVar = Step(
        mask="a list of moves",
        observation="12×64 ints, of White's side",
        draws="stalemate, insufficient material, 50 moves, threefold repetition",
        reset="by the caller, in the same step",
    )

    def __init__(self, num_envs: int = 1, threads: int = 1):
        super().__init__(num_envs, threads)
        self._nchess = imported("NChess", "nchess")
        # White's reward and the reason, by the game's final state.
        const = self._nchess.const
        self._ends = {
            const.STATE_WHITE_WIN: (1.0, "checkmate"),
            const.STATE_BLACK_WIN: (-1.0, "checkmate"),
            const.STATE_STALEMATE: (0.0, "stalemate"),
            const.STATE_THREEFOLD: (0.0, "threefold repetition"),
            const.STATE_FIFTY_MOVES: (0.0, "fifty moves"),
            const.STATE_INSUFFICIENT_MATERIAL: (0.0, "insufficient material"),
        }
        self._goes_on = const.STATE_PLAYING
        self._observation = np.empty((num_envs, 12, 64), np.int8)
        self._moves: list[list[int]] = [[]] * num_envs

    def reset(self, seed: int) -> None:
        self._boards = [self._nchess.Board() for _ in range(self.num_envs)]
        for i in range(self.num_envs):
            self._write(i)

    def step(self, actions: list[int]) -> tuple:
        for i, (board, move) in enumerate(zip(self._boards, actions, strict=True)):
            board.step(move)
            state = board.get_game_state()
            self.ended[i] = state != self._goes_on
            if self.ended[i]:
                self.result[i] = self._ends[state][0]
                self._boards[i] = self._nchess.Board()
            self._write(i)
        return self._observation, self._moves, self.result, self.ended

    def legal(self, i: int) -> dict[int, int]:
        black, moves = bool(self._boards[i].side), self._boards[i].generate_legal_moves()
        return {action_of(_move(move), black): int(move) for move in moves}

    def begin(
        self, fen: str | None = None, chess960: bool = False, max_plies: int | None = None
    ) -> None:
        check_not_asked(chess960=chess960, max_plies=max_plies)
        super().begin()
        if fen:
            self._boards[0] = self._nchess.Board(fen)

    def legal_moves(self) -> list[str]:
        if self.outcome().over:
            raise UnsupportedError("legal moves after the end: its boards list moves even then")
        return [_move(move).uci() for move in self._boards[0].generate_legal_moves()]

    def play(self, move: str) -> None:
        """See `Environment`; without autoreset."""
        if not self._boards[0].step(move):
            raise ValueError(f"step({move!r}) is False")

    def outcome(self) -> Outcome:
        state = self._boards[0].get_game_state()
        if state == self._goes_on:
            return Outcome(rewards=(0.0, 0.0))
        white, reason = self._ends[state]
        return Outcome(True, rewards=(white, 0.0 - white), reason=reason)  # of a draw 0, not -0

    def _write(self, i: int) -> None:
        self._observation[i] = self._boards[i].as_array()
        # As ints, to which its moves convert: move objects can't be sent to another process.
        self._moves[i] = list(map(int, self._boards[i].generate_legal_moves()))


def _move(move: Any) -> chess.Move:
    """Returns one of its moves, whose squares are counted from h1 to the left."""
    promotion = move.pro_piece if move.is_promotion else None
    return chess.Move(move.from_ ^ 7, move.to_ ^ 7, promotion)
