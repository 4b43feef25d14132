"""PettingZoo's `chess_v6`: an AEC environment for each game, on python-chess."""

from typing import ClassVar

import chess
import numpy as np

from rungs.conformance import Outcome
from rungs_course.peers import imported
from rungs_course.peers.actions import inverse, our_mask, to_ours
from rungs_course.peers.peer import ChessPeer, Step

# PettingZoo's ids, from `get_move_plane` in its classic/chess/chess_utils.py: 73 * from-square +
# plane, with squares counted up the files (a1, a2, ...) and seen from the mover. Planes are
#   0..55   a queen's move: 8 * (steps - 1) + direction
#   56..63  a knight's jump
#   64..72  a pawn promoting to less than a queen: 3 * direction + piece
_NEIGHBOURS = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if (x, y) != (0, 0)]
_JUMPS = [(x, y) for x in range(-2, 3) for y in range(-2, 3) if abs(x) + abs(y) == 3]
_PROMOTIONS = (chess.KNIGHT, chess.BISHOP, chess.ROOK)
_PLANES = (
    [(x * steps, y * steps, None) for steps in range(1, 8) for x, y in _NEIGHBOURS]
    + [(x, y, None) for x, y in _JUMPS]
    + [(x, 1, piece) for x in (-1, 0, 1) for piece in _PROMOTIONS]
)

# (4672,) int64: our action of each of PettingZoo's, and PettingZoo's of each of ours; -1 off the
# board.
TO_OURS = to_ours(_PLANES)
TO_THEIRS = inverse(TO_OURS)


class PettingZooChess(ChessPeer):
    """See `ChessPeer`."""

    STEP: ClassVar = Step(
        mask="4,672 int8",
        observation="8×8×111 bool with history, of the side to move",
        draws="stalemate, insufficient material, 50 moves, threefold repetition",
        reset="by the caller, in the same step",
    )

    def __init__(self, num_envs: int = 1, threads: int = 1):
        super().__init__(num_envs, threads)
        chess_v6 = imported("PettingZoo", "pettingzoo.classic.chess_v6")
        self._envs = [chess_v6.env() for _ in range(num_envs)]
        self._observations: list[dict] = [{}] * num_envs
        self.ended, self.result = np.zeros(num_envs, np.bool_), np.zeros(num_envs)

    def reset(self, seed: int) -> None:
        for i, env in enumerate(self._envs):
            env.reset(seed=seed + i)
            self._observations[i] = env.last()[0]

    def step(self, actions: list[int]) -> tuple:
        for i, (env, action) in enumerate(zip(self._envs, actions, strict=True)):
            env.step(action)
            observation, _, terminated, truncated, _ = env.last()
            self.ended[i] = terminated or truncated
            if self.ended[i]:
                self.result[i] = env.rewards["player_0"]
                env.reset()
                observation = env.last()[0]
            self._observations[i] = observation
        return self._observations, self.result, self.ended

    def mask(self) -> np.ndarray:
        return our_mask(
            np.array([observation["action_mask"] for observation in self._observations]), TO_THEIRS
        )

    def native(self, actions: np.ndarray) -> list[int]:
        return TO_THEIRS[actions].tolist()

    def legal_moves(self) -> list[str]:
        env = self._envs[0]
        return self.named(TO_OURS[np.flatnonzero(env.observe(env.agent_selection)["action_mask"])])

    def play(self, move: str) -> None:
        """See `Environment`; without autoreset."""
        self._envs[0].step(*self.pushed(move))

    def outcome(self) -> Outcome:
        env = self._envs[0]
        return Outcome(
            terminated=all(env.terminations.values()),
            truncated=all(env.truncations.values()),
            rewards=(env.rewards["player_0"], env.rewards["player_1"]),
        )
