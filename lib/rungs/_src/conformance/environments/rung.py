"""Our own rungs."""

from typing import Any

import numpy as np

import rungs
from rungs._src.chess.reason import Reason
from rungs._src.conformance.environment import Environment, Outcome

# What a rung takes so that it has one board here and needs no GPU.
_HOW: dict[str, dict[str, Any]] = {"cuda": {"device": "cpu"}}


class RungEnvironment(Environment):
    """One board of a rung, which stays where its game ends.

    Raises:
        UnavailableError: this machine or installation lacks what the rung needs.
    """

    def __init__(self, rung: str):
        self._rung = rung
        self._env: Any = None
        self.begin()  # raises here, not in every case, where the rung can't be made

    def begin(
        self, fen: str | None = None, chess960: bool = False, max_plies: int | None = None
    ) -> None:
        if self._env is not None:
            self._env.close()
        how: dict[str, Any] = {"start_fens": [fen]} if fen else {}
        how |= {"max_plies": max_plies, "autoreset_mode": "Disabled"}
        self._env = rungs.make("chess", self._rung, 1, **how | _HOW.get(self._rung, {}))
        _, self._info = self._env.reset(seed=0)
        self._outcome = Outcome(rewards=(0.0, 0.0))

    def legal_moves(self) -> list[str]:
        # The mask is what a step takes; the names of moves are the environment's own.
        allowed = set(np.flatnonzero(self._info["action_mask"][0]).tolist())
        named = {action: move for move, action in self._env.legal_moves(0).items()}
        return [named.get(action, f"action {action}") for action in sorted(allowed)]

    def play(self, move: str) -> None:
        mover = int(self._info["player"][0])
        action = self._env.legal_moves(0)[move]
        _, reward, terminated, truncated, self._info = self._env.step(np.array([action]))
        gets = float(reward[0])
        reason = Reason(int(self._info["reason"][0]))
        self._outcome = Outcome(
            terminated=bool(terminated[0]),
            truncated=bool(truncated[0]),
            rewards=(gets, -gets) if mover == 0 else (-gets, gets),
            reason=reason.name.lower().replace("_", " ") if terminated[0] else None,
        )

    def outcome(self) -> Outcome:
        return self._outcome
