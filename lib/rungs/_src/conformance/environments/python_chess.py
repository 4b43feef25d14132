"""python-chess as our contract reads it: what the suite's expectations are checked against."""

import chess

from rungs._src.conformance.environment import Environment, Outcome


class PythonChess(Environment):
    """python-chess's board, with draws that may be claimed of the position reached."""

    def begin(
        self, fen: str | None = None, chess960: bool = False, max_plies: int | None = None
    ) -> None:
        self._board = chess.Board(fen or chess.STARTING_FEN, chess960=chess960)
        self._max_plies = max_plies

    def legal_moves(self) -> list[str]:
        over = self.outcome().over
        return [] if over else [move.uci() for move in self._board.legal_moves]

    def play(self, move: str) -> None:
        self._board.push_uci(move)

    def outcome(self) -> Outcome:
        board = self._board
        if board.is_checkmate():
            white = -1 if board.turn == chess.WHITE else 1
            return Outcome(terminated=True, rewards=(white, -white), reason="checkmate")
        reasons = {
            "insufficient material": board.is_insufficient_material(),
            "stalemate": board.is_stalemate(),
            "fifty moves": board.is_fifty_moves(),
            "threefold repetition": board.is_repetition(3),
        }
        for reason, holds in reasons.items():
            if holds:
                return Outcome(terminated=True, rewards=(0, 0), reason=reason)
        truncated = len(board.move_stack) == self._max_plies
        return Outcome(truncated=truncated, rewards=(0, 0))
