"""One game of chess for Gymnasium: `gymnasium.make("rungs/Chess-v0", opponent="random")`."""

from collections.abc import Sequence
from typing import Any

import chess
import gymnasium
import numpy as np

import rungs
from rungs._src.chess.actions import NUM_ACTIONS
from rungs._src.chess.keywords import ChessRung
from rungs._src.core.arguments import as_array, choice, seeds
from rungs._src.core.exclusive import Uncopyable
from rungs._src.core.memory import on_host
from rungs.errors import ConfigurationError

__all__ = ["ChessEnv", "LegalActions"]


class LegalActions(gymnasium.spaces.Discrete):
    """All actions of chess, of which `sample()` chooses uniformly among those legal in `env` now.

    Pickled, it becomes a `Discrete` without the game, which is of no use in another process.
    """

    def __init__(self, env: "ChessEnv"):
        super().__init__(NUM_ACTIONS)
        self._env = env

    def sample(self, mask: np.ndarray | None = None, probability: Any = None) -> np.int64:
        """Returns a legal action, or one that a mask or probabilities given instead allow."""
        if mask is None and probability is None:
            mask = self._env.action_mask().view(np.int8)
        return super().sample(mask, probability)

    def __reduce__(self) -> tuple:
        return gymnasium.spaces.Discrete, (NUM_ACTIONS,)


class ChessEnv(Uncopyable, gymnasium.Env):
    """One game, for programs without vector environments; many games at once are far faster.

    `info` has the `action_mask`, (4672,) bool, the `player` to move, 0 White and 1 Black, and the
    `reason` why an episode ended (`rungs.chess.Reason`). What it returns is the caller's to keep.

    Args:
        rung: which implementation steps it.
        render_mode: None, or "ansi": `render` returns the board as text.
        **settings: of `rungs.make("chess", ...)`, but for `mask` and `autoreset_mode`.

    Raises:
        ConfigurationError: a wrong setting.
    """

    metadata = {"render_modes": ["ansi"]}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(self, rung: ChessRung = "cpp", *, render_mode: str | None = None, **settings: Any):
        self.render_mode = choice("render_mode", render_mode, (None, "ansi"))
        for fixed in {"mask", "autoreset_mode"} & settings.keys():
            raise ConfigurationError(f"{fixed} can't be set: the adapter sets it")
        self._env = rungs.make("chess", rung, 1, autoreset_mode="DISABLED", **settings)
        self.observation_space = self._env.single_observation_space
        self.action_space = LegalActions(self)
        self._info: dict[str, Any] | None = None

    def reset(
        self, *, seed: int | Sequence[int] | np.ndarray | None = None, options: dict | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begins the first game of `seed`, or the next; may raise ConfigurationError."""
        observation, self._info = self._env.reset(seed=seed, options=options)
        if seed is not None:
            super().reset(seed=int(np.ravel(seeds("seed", seed, 1))[0]))
        return on_host(observation[0]).copy(), self._said()

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Plays an action, and the opponent's reply.

        Raises:
            IllegalActionError: it is not legal; nothing has changed.
            ConfigurationError: it is not an integer.
            gymnasium.error.ResetNeeded: no reset came before, or the game is over.
        """
        outcome = self._env.step(np.atleast_1d(as_array("action", action)))
        observation, reward, terminated, truncated, self._info = outcome
        flags = (float(reward[0]), bool(terminated[0]), bool(truncated[0]))
        return on_host(observation[0]).copy(), *flags, self._said()

    def action_mask(self) -> np.ndarray:
        """Returns (4672,) bool, a copy of the legal actions; before a reset, a ResetNeeded."""
        if self._info is None:
            raise gymnasium.error.ResetNeeded("call reset() before action_mask()")
        return on_host(self._info["action_mask"][0]).copy()

    def render(self) -> str | None:  # type: ignore[override]  # declared as a frame
        """Returns the board as text, with `render_mode="ansi"`."""
        return str(chess.Board(self._env.fens()[0])) if self.render_mode else None

    def close(self) -> None:
        """Closes the environment."""
        self._env.close()

    def _said(self) -> dict[str, Any]:
        assert self._info is not None
        numbers = {name: int(self._info[name][0]) for name in ("player", "reason")}
        return {"action_mask": self.action_mask()} | numbers
