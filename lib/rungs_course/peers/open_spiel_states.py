"""OpenSpiel's chess as its own examples play it: a state for each game, asked for lists."""

from typing import ClassVar

import numpy as np

from rungs.chess.actions import NUM_ACTIONS
from rungs_course.peers.actions import our_mask
from rungs_course.peers.open_spiel import CASTLING_OF, TO_OURS, TO_THEIRS, load_chess
from rungs_course.peers.peer import ChessPeer, Step

_BLACK = 0  # OpenSpiel's number; White, who begins, is 1


class OpenSpielStates(ChessPeer):
    """See `ChessPeer`.

    Raises:
        UnavailableError: OpenSpiel is not installed.
    """

    STEP: ClassVar = Step(
        mask="4,674 ints, a list",
        observation="20×8×8 floats, a list, of White's side",
        draws="stalemate, insufficient material, 50 moves, threefold repetition",
        reset="by the caller, in the same step",
    )

    def __init__(self, num_envs: int, threads: int = 1):
        super().__init__(num_envs, threads)
        self._game, _ = load_chess()
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
                self.result[i] = state.returns()[1 - _BLACK]
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

    def _write(self, i: int) -> None:
        self._observation[i] = self._states[i].observation_tensor(_BLACK)
        self._mask[i] = self._states[i].legal_actions_mask()
