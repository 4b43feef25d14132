"""chess-env-rl's `ChessEnv`."""

import numpy as np
from chess_env_rl import ChessEnv

from rungs.conformance.environment import Environment, Outcome, check_not_asked
from rungs.errors import NotOfferedError
from rungs_course.peers.chess_env_rl import moves_of


class ChessEnvRl(Environment):
    """A game; positions by `parse_fen`, whose clock it leaves out."""

    def begin(
        self, fen: str | None = None, chess960: bool = False, max_plies: int | None = None
    ) -> None:
        check_not_asked(chess960=chess960, max_plies=max_plies)
        if fen and int(fen.split()[4]):
            raise NotOfferedError("a halfmove clock to begin with")
        self._game = ChessEnv()
        self._game.reset()
        if fen:
            self._game.parse_fen(fen)
        self._outcome = Outcome()

    def legal_moves(self) -> list[str]:
        if not self._outcome.over:
            return list(moves_of(self._game))
        count = np.count_nonzero(self._game.get_actions())
        return [f"{count} actions"] if count else []

    def play(self, move: str) -> None:
        _, _, white, terminal = self._game.step(moves_of(self._game)[move])
        self._outcome = Outcome(terminated=bool(terminal), rewards=(float(white), None))

    def outcome(self) -> Outcome:
        return self._outcome
