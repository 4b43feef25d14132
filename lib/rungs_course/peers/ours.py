"""Our own rungs, stepped as the peers are."""

from typing import Any, ClassVar

import numpy as np

import rungs
from rungs_course import peers
from rungs_course.peers.peer import ChessPeer, Peer, Step

# Settings of `OurChess` by the racer's name: from small outputs to large ones.
OUTPUTS = {
    "rungs, board + bits": {"mask": "bits"},
    "rungs, board + bool": {},
    "rungs, planes + bool": {"obs": "planes"},
}


class OurChess(ChessPeer):
    """A rung with self-play."""

    STEP: ClassVar = Step(
        mask="4,672 bytes of 0 or 1, or 584 of bits",
        observation="72 bytes, or 119×8×8 float32, of the side to move",
        draws="stalemate, insufficient material, 50 moves, threefold repetition",
        reset="in the same step",
    )

    def __init__(
        self, num_envs: int = 1, threads: int = 1, *, rung: str = "cpp", obs="board", mask="bool"
    ):
        super().__init__(num_envs, threads)
        team = {"threads": threads} if rung in ("openmp", "threads") else {}
        settings = {"obs": obs, "mask": mask} | team
        self._env = peers.make(rung, num_envs, **settings)

    def reset(self, seed: int) -> None:
        _, self._info = self._env.reset(seed=seed)
        self.ended, self.result = np.zeros(self.num_envs, np.bool_), np.zeros(self.num_envs)

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


class OnDevice(Peer):
    """The rung cuda ("cpu" runs its kernels' code on the host), playing at random without an agent,
    `at_once` plies per kernel launch.
    """

    def __init__(
        self, num_envs: int, threads: int = 1, *, device="cuda", at_once: int = 1, **settings
    ):
        super().__init__(num_envs, threads)
        rung_settings = {"mask": "bits", "validate": False, "device": device}
        self._env: Any = rungs.make("chess", "cuda", num_envs, **rung_settings | settings)
        self._at_once = at_once

    def reset(self, seed: int) -> None:
        self._env.reset(seed=seed)

    def choose(self, rng: np.random.Generator) -> None:
        """Chooses nothing: the kernel does."""

    def step(self, actions: None) -> tuple:
        """Plays, and waits for the GPU, as the number of ended episodes is returned."""
        return (self._env.step_many(self._at_once),)

    def played(self) -> int:
        return self.num_envs * self._at_once
