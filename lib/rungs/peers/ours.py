"""Our own rungs, stepped as the peers are."""

from typing import ClassVar

import numpy as np

from rungs import peers
from rungs.peers.peer import ChessPeer, Step


class Rung(ChessPeer):
    """A rung with self-play.

    Args:
        num_envs: boards.
        threads: of the rung `openmp`; others have one.
        rung: its name, or that of a peer behind our interface.
        obs: as of `rungs.make`.
        mask: likewise.
    """

    STEP: ClassVar = Step(
        mask="4,672 bytes of 0 or 1, or 584 of bits",
        observation="72 bytes, or 119×8×8 float32, of the side to move",
        draws="stalemate, insufficient material, 50 moves, threefold repetition",
        reset="in the same step",
    )

    def __init__(
        self, num_envs: int, threads: int = 1, *, rung: str = "cpp", obs="board", mask="bool"
    ):
        super().__init__(num_envs, threads)
        how = {"obs": obs, "mask": mask} | ({"threads": threads} if rung == "openmp" else {})
        self._env = peers.make(rung, num_envs, **how)

    def reset(self, seed: int) -> None:
        _, self._info = self._env.reset(seed=seed)

    def step(self, actions: np.ndarray) -> tuple:
        movers = self._info["player"].copy()
        outcome = self._env.step(actions)
        self._info = outcome[-1]
        self.ended = outcome[2] | outcome[3]
        self.result = np.where(movers == 0, outcome[1], -outcome[1])
        return outcome

    def mask(self) -> np.ndarray:
        return self._info["action_mask"]

    def native(self, actions: np.ndarray) -> np.ndarray:
        return actions
