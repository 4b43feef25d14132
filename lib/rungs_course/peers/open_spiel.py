"""OpenSpiel's chess as its own examples play it: a state object per game, which returns lists."""

from collections.abc import Sequence
from typing import Any, ClassVar

import chess
import numpy as np

from rungs.base import integer
from rungs.chess import NUM_ACTIONS, action_of
from rungs.conformance import Outcome
from rungs.devel.envs import check_not_asked
from rungs.errors import ConfigurationError
from rungs_course.peers import imported
from rungs_course.peers.actions import SPIEL_PLANES, inverse, our_mask, to_ours
from rungs_course.peers.peer import ChessPeer, Step

_BLACK, _WHITE = 0, 1  # OpenSpiel's players; White begins

# Castling, long and short, has ids of its own after those of `SPIEL_PLANES`: 4672 and 4673.
_CASTLING = (chess.Move(chess.E1, chess.C1), chess.Move(chess.E1, chess.G1))

# (4674,) int64: our action of each of OpenSpiel's; -1 where it leaves the board.
TO_OURS = np.append(to_ours(SPIEL_PLANES), [action_of(move, black=False) for move in _CASTLING])
# (4672,) int64: OpenSpiel's action of each of ours, but for a king that castles; -1 off the board.
TO_THEIRS = inverse(TO_OURS[:NUM_ACTIONS])
# TO_THEIRS's id of a king's two squares from e1 -> the id it has as castling.
CASTLING_OF = {
    int(TO_THEIRS[TO_OURS[castling]]): castling
    for castling in range(NUM_ACTIONS, NUM_ACTIONS + len(_CASTLING))
}


def to_rungs(action: int) -> int:
    """Returns our action for OpenSpiel's id."""
    rungs_action = int(TO_OURS[integer("action", action, 0, len(TO_OURS) - 1)])
    if rungs_action < 0:
        raise ConfigurationError(f"action={action} leaves the board")
    return rungs_action


def to_open_spiel(action: int, legal: Sequence[int]) -> int:
    """Returns OpenSpiel's action for ours, of its own `legal_actions()`: castling has ids of its
    own.
    """
    plain_id = int(TO_THEIRS[integer("action", action, 0, NUM_ACTIONS - 1)])
    for candidate in (plain_id, CASTLING_OF.get(plain_id)):
        if candidate is not None and candidate in legal:
            return candidate
    raise ConfigurationError(f"action={action} is not legal")


def load_chess(chess960: bool = False) -> Any:
    """Loads OpenSpiel's game."""
    pyspiel = imported("OpenSpiel", "pyspiel")
    return pyspiel.load_game("chess(chess960=true)" if chess960 else "chess")


class OpenSpielStates(ChessPeer):
    """See `ChessPeer`."""

    STEP: ClassVar = Step(
        mask="4,674 ints, a list",
        observation="20×8×8 floats, a list, of White's side",
        draws="stalemate, insufficient material, 50 moves, threefold repetition",
        reset="by the caller, in the same step",
    )

    def __init__(self, num_envs: int = 1, threads: int = 1):
        super().__init__(num_envs, threads)
        self._game = load_chess()
        shape = self._game.observation_tensor_shape()
        self._observation = np.empty((num_envs, int(np.prod(shape))), np.float32)
        self._mask = np.empty((num_envs, len(TO_OURS)), np.bool_)
        self.ended, self.result = np.zeros(num_envs, np.bool_), np.zeros(num_envs)

    def reset(self, seed: int) -> None:
        self._states = [self._game.new_initial_state() for _ in range(self.num_envs)]
        for i in range(self.num_envs):
            self._write(i)

    def step(self, actions: list[int]) -> tuple:
        for i, action in enumerate(actions):
            state = self._states[i]
            state.apply_action(action)
            self.ended[i] = state.is_terminal()
            if self.ended[i]:
                self.result[i] = state.returns()[_WHITE]
                self._states[i] = self._game.new_initial_state()
            self._write(i)
        return self._observation, self._mask, self.result, self.ended

    def mask(self) -> np.ndarray:
        mask = our_mask(self._mask, TO_THEIRS)
        mask[:, TO_OURS[NUM_ACTIONS:]] |= self._mask[:, NUM_ACTIONS:]  # castling
        return mask

    def native(self, actions: np.ndarray) -> list[int]:
        ids = TO_THEIRS[actions].tolist()
        legal = self._mask
        return [a if legal[i, a] else CASTLING_OF[a] for i, a in enumerate(ids)]

    def begin(
        self, fen: str | None = None, chess960: bool = False, max_plies: int | None = None
    ) -> None:
        check_not_asked(max_plies=max_plies)
        self.board = chess.Board(fen or chess.STARTING_FEN, chess960=chess960)
        if fen and chess960:
            fen = self.board.shredder_fen()  # the one form that it reads
        self._states = [load_chess(chess960).new_initial_state(*([fen] if fen else []))]

    def legal_moves(self) -> list[str]:
        return list(self._moves())

    def play(self, move: str) -> None:
        """See `Environment`; without autoreset."""
        self._states[0].apply_action(self._moves()[move])
        self.board.push_uci(move)

    def fen(self) -> str:
        return str(self._states[0])

    def refuses_fen(self, fen: str) -> bool:
        pyspiel = imported("OpenSpiel", "pyspiel")
        try:
            self._game.new_initial_state(fen)
        except pyspiel.SpielError:
            return True
        return False

    def outcome(self) -> Outcome:
        rewards = self._states[0].rewards()
        over = self._states[0].is_terminal()
        return Outcome(terminated=over, rewards=(rewards[_WHITE], rewards[_BLACK]))

    def _moves(self) -> dict[str, int]:
        """Returns the legal actions by their moves in UCI; OpenSpiel names them in SAN: "Nf3"."""
        actions = self._states[0].legal_actions()
        names = [self._states[0].action_to_string(action) for action in actions]
        return {self._uci(name): action for name, action in zip(names, actions, strict=True)}

    def _uci(self, name: str) -> str:
        try:
            return self.board.parse_san(name).uci()
        except ValueError:  # no legal move
            return name

    def _write(self, i: int) -> None:
        self._observation[i] = self._states[i].observation_tensor(_BLACK)
        self._mask[i] = self._states[i].legal_actions_mask()
