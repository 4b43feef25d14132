"""chess-env-rl (version 0.0.9): a C++ object per game, AlphaZero's planes as lists of lists."""

from typing import Any, ClassVar

import chess
import numpy as np

from rungs.chess import action_of
from rungs.devel.envs import check_not_asked
from rungs.errors import UnsupportedError
from rungs_course.peers import imported
from rungs_course.peers.peer import ListedMoves, Step

# Its planes: seven steps in each of these directions, as its mover sees them; a knight's jumps; and
# pawns that become a knight, bishop or rook along each of the first three. Squares are counted from
# a8 to h1, whichever side moves.
_DIRECTIONS = ((-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0))
_JUMPS = range(56, 64)


class ChessEnvRlGames(ListedMoves):
    """See `ChessPeer`."""

    STEP: ClassVar = Step(
        mask="73×64 ints, lists",
        observation="119×64 ints with history, lists, of the side to move",
        draws="stalemate, 50 plies, a position for the second time",
        reset="by the caller, in the same step",
    )

    def __init__(self, num_envs: int = 1, threads: int = 1):
        super().__init__(num_envs, threads)
        chess_env_rl = imported("chess-env-rl", "chess_env_rl")
        self._games = [chess_env_rl.ChessEnv() for _ in range(num_envs)]
        self._observation = np.empty((num_envs, 119, 64), np.int32)
        self._mask = np.empty((num_envs, 73 * 64), np.int32)

    def reset(self, seed: int) -> None:
        for i in range(self.num_envs):
            self._begin(i)

    def choose(self, rng: np.random.Generator) -> list[int | None]:
        """See `ChessPeer`; in its own ids, as `mask` takes long."""
        legal = map(np.flatnonzero, self._mask)
        return [int(rng.choice(actions)) if len(actions) else None for actions in legal]

    def step(self, actions: list[int | None]) -> tuple:
        """See `ChessPeer`; a game without allowed actions that isn't over begins again."""
        for i, (game, action) in enumerate(zip(self._games, actions, strict=True)):
            if action is None:
                self._begin(i)
                continue
            _, observation, reward, self.ended[i] = game.step(action)
            if self.ended[i]:
                self.result[i] = reward
                self._begin(i)
            else:
                self._observation[i] = observation
                self._mask[i] = np.array(game.get_actions()).reshape(-1)
        return self._observation, self._mask, self.result, self.ended

    def legal(self, i: int) -> dict[int, int]:
        black, moves = bool(self._games[i].save_state().side), moves_of(self._games[i])
        return {action_of(chess.Move.from_uci(move), black): moves[move] for move in moves}

    def begin(
        self, fen: str | None = None, chess960: bool = False, max_plies: int | None = None
    ) -> None:
        """See `Environment`; positions by `parse_fen`, whose clock it leaves out."""
        check_not_asked(chess960=chess960, max_plies=max_plies)
        if fen and int(fen.split()[4]):
            raise UnsupportedError("a halfmove clock to begin with")
        super().begin()
        if fen:
            self._games[0].parse_fen(fen)
        self.ended[0], self.result[0] = False, 0

    def legal_moves(self) -> list[str]:
        if not self.ended[0]:
            return list(moves_of(self._games[0]))
        count = np.count_nonzero(self._games[0].get_actions())
        return [f"{count} actions"] if count else []

    def play(self, move: str) -> None:
        """See `Environment`; without autoreset."""
        game = self._games[0]
        _, _, self.result[0], self.ended[0] = game.step(moves_of(game)[move])

    def _begin(self, i: int) -> None:
        _, self._observation[i], _, _ = self._games[i].reset()
        self._mask[i] = np.array(self._games[i].get_actions()).reshape(-1)


def moves_of(game: Any) -> dict[str, int]:
    """Returns a game's actions by their moves in UCI.

    Knights' jumps share actions, so that an action may stand for several moves: each such action is
    played and taken back.
    """
    state = game.save_state()
    moves = {}
    for action in np.flatnonzero(np.array(game.get_actions()).reshape(-1)).tolist():
        plane, square = divmod(action, 64)
        if plane in _JUMPS:
            game.step(action)
            moves[_jump(state, game.save_state())] = action
            game.restore_state(state)
        else:
            moves[_moved(plane, square ^ 56, black=bool(state.side))] = action
    return moves


def _moved(plane: int, origin: int, black: bool) -> str:
    """Returns the move of a plane other than a knight's; `origin` is counted from a1."""
    if plane < _JUMPS.start:
        (direction, steps), promotion = divmod(plane, 7), None
    else:
        (direction, piece), steps = divmod(plane - _JUMPS.stop, 3), 0
        promotion = (chess.KNIGHT, chess.BISHOP, chess.ROOK)[piece]
    x, y = ((steps + 1) * (-step if black else step) for step in _DIRECTIONS[direction])
    return chess.Move(origin, origin + x + 8 * y, promotion).uci()


def _jump(before: Any, after: Any) -> str:
    """Returns the knight's move that leads from a state to another."""
    knights = 7 if before.side else 1
    old, new = (int(state.bitboards[knights]) for state in (before, after))
    origin, target = ((word.bit_length() - 1) ^ 56 for word in (old & ~new, new & ~old))
    return chess.Move(origin, target).uci()
