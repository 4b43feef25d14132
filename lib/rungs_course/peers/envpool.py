"""EnvPool's `Chess-v1` (Weng et al. 2022): Pgx's chess written again in C++, on threads."""

import os
import sys
import types
import warnings
from collections.abc import Callable
from typing import Any, ClassVar

import gymnasium
import numpy as np

from rungs.conformance import Outcome
from rungs_course.peers import imported
from rungs_course.peers.actions import our_mask
from rungs_course.peers.peer import ChessPeer, Step
from rungs_course.peers.pgx import TO_OURS, TO_THEIRS, PgxChess


def import_envpool():
    """Imports EnvPool with only its board games and classic control.

    By itself it registers all of its environments, for which it reads 0.6 GB of assets from other
    packages; what is raced here needs none of them. The environment variables stay unchanged.
    """
    before = dict(os.environ)
    sys.modules.setdefault("envpool.entry", types.ModuleType("envpool.entry"))
    try:
        wanted = [f"envpool.{part}.registration" for part in ("classic_control", "pgx")]
        return imported("EnvPool", *wanted, "envpool")
    finally:
        # EnvPool sets a variable with which Matplotlib draws nowhere, here and in child processes.
        os.environ.clear()
        os.environ.update(before)


def maker(task: str, num_envs: int, threads: int) -> Callable[[int], gymnasium.Env]:
    """Returns a function that makes a batch of one of EnvPool's tasks from a seed."""
    envpool = import_envpool()

    def make(seed: int) -> gymnasium.Env:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the dtypes of its spaces
            env = envpool.make_gymnasium(task, num_envs=num_envs, num_threads=threads, seed=seed)
            _ = env.observation_space
        return env

    return make


class EnvPoolChess(ChessPeer):
    """See `ChessPeer`. Its actions are Pgx's."""

    STEP: ClassVar = Step(
        mask="4,672 bool",
        observation="8×8×119 float32 with history, of both sides",
        draws=PgxChess.STEP.draws,
        reset="a step of its own, which ignores its action",
    )
    MAX_PLIES = PgxChess.MAX_PLIES

    def __init__(self, num_envs: int = 1, threads: int = 1):
        super().__init__(num_envs, threads)
        self._make = maker("Chess-v1", num_envs, threads)
        self._env: Any = None

    def reset(self, seed: int) -> None:
        if self._env is not None:
            self._env.close()
        self._env = self._make(seed)
        _, self._info = self._env.reset()
        self.ended = self._terminated = self._truncated = np.zeros(self.num_envs, np.bool_)
        self._rewards, self._resets = np.zeros(2 * self.num_envs), 0

    def step(self, actions: np.ndarray) -> tuple:
        self._resets = int(self.ended.sum())
        outcome = self._env.step(actions)
        _, self._rewards, self._terminated, self._truncated, self._info = outcome
        self.ended = self._terminated | self._truncated
        return outcome

    def played(self) -> int:
        return self.num_envs - self._resets

    @property
    def result(self) -> np.ndarray:  # type: ignore[override]
        return self._received(0)

    def mask(self) -> np.ndarray:
        return our_mask(self._info["legal_action_mask"], TO_THEIRS)

    def native(self, actions: np.ndarray) -> np.ndarray:
        return TO_THEIRS[actions].astype(np.int32)

    def legal_moves(self) -> list[str]:
        return self.named(TO_OURS[np.flatnonzero(self._info["legal_action_mask"][0])])

    def outcome(self) -> Outcome:
        rewards = float(self._received(0)[0]), float(self._received(1)[0])
        return Outcome(bool(self._terminated[0]), bool(self._truncated[0]), rewards)

    def _received(self, side: int) -> np.ndarray:
        """Returns (N,) what White, 0, or Black, 1, got in the last step."""
        player = self._info["current_player"] ^ self._info["turn"] ^ side
        return self._rewards.reshape(-1, 2)[np.arange(self.num_envs), player]
