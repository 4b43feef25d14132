"""The chess study's own environment (Barua et al. 2022), MisterQueen's rules in C with OpenMP.

It is neither a dependency of ours nor part of this repository: clone `mkrum/chessenv` with its
submodules, build it as it says, and name the folder in the environment variable `RUNGS_CHESSENV`;
or install its package, `fastchessenv`, where that has a build for this machine.
"""

import contextlib
import functools
from typing import ClassVar

import chess
import numpy as np

from rungs.chess import NUM_ACTIONS, action_of
from rungs.conformance import Outcome
from rungs_course.peers import imported
from rungs_course.peers.peer import ChessPeer, Step


@functools.cache
def to_ours() -> np.ndarray:
    """Returns our action for each of its ids, (2, 5632): White's and Black's; -1 for none."""
    from fastchessenv.rep import CMove

    actions = np.full((2, 64 * 88), -1)
    for peer_action in range(actions.shape[1]):
        for side in (0, 1):
            # Some ids stand for no move, or for one that no piece makes.
            with contextlib.suppress(KeyError, ValueError):
                move = chess.Move.from_uci(CMove.from_int(peer_action).to_str().strip())
                actions[side, peer_action] = action_of(move, black=bool(side))
    return actions


class ChessEnvGames(ChessPeer):
    """See `ChessPeer`; actions play both sides, by its `push_moves`."""

    STEP: ClassVar = Step(
        mask="5,632 int32",
        observation="69 int32, of both sides",
        draws="none",
        reset="in the same step",
    )

    def __init__(self, num_envs: int = 1, threads: int = 1):
        super().__init__(num_envs, threads)
        self._env = imported("chessenv", "fastchessenv").CChessEnv(num_envs)
        self._sides = np.arange(num_envs)

    def reset(self, seed: int) -> None:
        self._state, self._mask = self._env.reset()
        self.ended, self.result = np.zeros(self.num_envs, np.bool_), np.zeros(self.num_envs)

    def step(self, actions: np.ndarray) -> tuple:
        movers = self._movers()
        done, reward = self._env.push_moves(actions)
        self._mask, self._state = self._env.get_mask(), self._env.get_state()
        self.ended = done.astype(np.bool_)
        self.result = np.where(movers == 0, reward, -reward)
        return self._state, self._mask, reward, done

    def mask(self) -> np.ndarray:
        mask = np.zeros((self.num_envs, NUM_ACTIONS), np.bool_)
        boards, peer_actions = np.nonzero(self._mask)
        mask[boards, to_ours()[self._movers()[boards], peer_actions]] = True
        return mask

    def native(self, actions: np.ndarray) -> np.ndarray:
        # The action in its mask that is ours; where there is none, 0, which it does not know.
        boards, peer_actions = np.nonzero(self._mask)
        translated = to_ours()[self._movers()[boards], peer_actions]
        chosen = np.zeros(self.num_envs, np.int32)
        same = translated == actions[boards]
        chosen[boards[same]] = peer_actions[same]
        return chosen

    def outcome(self) -> Outcome:
        """See `Environment`; it gives only the mover's reward."""
        white = float(self.result[0])
        rewards = (None, -white) if self.board.turn else (white, None)
        return Outcome(terminated=bool(self.ended[0]), rewards=rewards)

    def _movers(self) -> np.ndarray:
        """Returns (N,) who moves: 0 White, 1 Black."""
        return self._state[:, 64] - 14
