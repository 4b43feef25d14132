"""OpenSpiel's `chess`, a state at a time."""

import pyspiel

from rungs.conformance.environment import Outcome
from rungs.errors import NotOfferedError
from rungs_course.peers.environments.beside import BesideBoard

_BLACK, _WHITE = 0, 1  # OpenSpiel's players


class OpenSpiel(BesideBoard):
    """A state of the game, and of `chess(chess960=true)` where that is asked for."""

    def begin(
        self, fen: str | None = None, chess960: bool = False, max_plies: int | None = None
    ) -> None:
        if max_plies:
            raise NotOfferedError("a limit of plies")
        self.set_beside(fen, chess960)
        game = pyspiel.load_game("chess(chess960=true)" if chess960 else "chess")
        if fen and chess960:
            fen = self.board.shredder_fen()  # the one way that it reads
        self._state = game.new_initial_state(*([fen] if fen else []))

    def legal_moves(self) -> list[str]:
        return list(self._actions())

    def play(self, move: str) -> None:
        self._state.apply_action(self._actions()[move])
        self.board.push_uci(move)

    def outcome(self) -> Outcome:
        rewards = self._state.rewards()
        return Outcome(
            terminated=self._state.is_terminal(), rewards=(rewards[_WHITE], rewards[_BLACK])
        )

    def _actions(self) -> dict[str, int]:
        """Returns the legal actions by their moves, which it names as people write them: "Nf3"."""
        actions = self._state.legal_actions()
        names = [self._state.action_to_string(action) for action in actions]
        return {self._uci(name): action for name, action in zip(names, actions, strict=True)}

    def _uci(self, name: str) -> str:
        try:
            return self.board.parse_san(name).uci()
        except ValueError:  # no legal move
            return name
