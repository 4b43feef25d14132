"""Chess for PettingZoo: an AEC environment of two agents, White and Black in turns."""

from typing import Any

import chess
import gymnasium
import numpy as np

import rungs
from rungs._src.chess.actions import NUM_ACTIONS
from rungs._src.chess.keywords import ChessRung
from rungs._src.chess.observation import mirrored
from rungs._src.core.arguments import choice
from rungs._src.core.exclusive import Uncopyable
from rungs._src.core.memory import on_host
from rungs.errors import ConfigurationError, UnavailableError, install_hint

__all__ = ["env", "raw_env"]

try:
    from pettingzoo import AECEnv
    from pettingzoo.utils import wrappers
    from pettingzoo.utils.env import AECIterable
except ImportError:
    raise UnavailableError(f"PettingZoo is not installed: {install_hint('pettingzoo')}") from None

_AGENTS = ["player_0", "player_1"]  # White, Black


def env(**settings: Any) -> AECEnv:
    """Puts a `raw_env` into PettingZoo's usual wrappers: an illegal action loses the game."""
    wrapped = wrappers.TerminateIllegalWrapper(raw_env(**settings), illegal_reward=-1)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(wrapped))


class raw_env(Uncopyable, AECEnv):
    """One game of chess between `player_0`, White, and `player_1`, Black.

    An observation is `{"observation": ..., "action_mask": (4672,) int8}`, from the point of view of
    the agent that observes; the mask is all 0 for the agent that is not to move. The agent that
    mates gets a reward of 1, the other -1. `infos` hold the `reason` of the end
    (`rungs._src.chess.reason`).

    Args:
        rung: which implementation steps it.
        obs: "board" or "planes", see `rungs.make`.
        render_mode: None, or "ansi": `render` returns the board as text.
        **settings: `start`, `start_fens`, `opening_plies`, `max_plies` of
            `rungs.make("chess", ...)`.

    Raises:
        ConfigurationError: a wrong setting.
        UnavailableError: PettingZoo is not installed (when this module is imported).
    """

    metadata = {  # noqa: RUF012 - as PettingZoo declares it
        "name": "rungs_chess_v0",
        "render_modes": ["ansi"],
        "is_parallelizable": False,
    }

    def __init__(
        self,
        rung: ChessRung = "cpp",
        *,
        obs: str = "board",
        render_mode: str | None = None,
        **settings: Any,
    ):
        super().__init__()
        self.render_mode = choice("render_mode", render_mode, (None, "ansi"))
        self._obs = choice("obs", obs, ("board", "planes"))
        for fixed in {"opponent", "mask", "autoreset_mode"} & settings.keys():
            raise ConfigurationError(f"{fixed} can't be set: the adapter sets it")
        chess_settings: dict[str, Any] = {
            "obs": self._obs,
            "mask": "bool",
            "autoreset_mode": "DISABLED",
        } | settings
        self._env = rungs.make("chess", rung, 1, **chess_settings)
        self.possible_agents = list(_AGENTS)
        space = gymnasium.spaces.Dict(
            {
                "observation": self._env.single_observation_space,
                "action_mask": gymnasium.spaces.Box(0, 1, (NUM_ACTIONS,), np.int8),
            }
        )
        self.observation_spaces = {agent: space for agent in _AGENTS}
        self.action_spaces = {agent: gymnasium.spaces.Discrete(NUM_ACTIONS) for agent in _AGENTS}
        self._info: dict[str, Any] | None = None

    def observation_space(self, agent: str) -> gymnasium.spaces.Space:
        """Returns the space of an agent's observations."""
        return self.observation_spaces[_known(agent)]

    def action_space(self, agent: str) -> gymnasium.spaces.Space:
        """Returns the space of an agent's actions."""
        return self.action_spaces[_known(agent)]

    def reset(self, seed: int | None = None, options: dict | None = None) -> None:
        """Begins a game: the first of `seed`, or the next. `options` are PettingZoo's, and ignored.

        Raises:
            ConfigurationError: a wrong seed.
        """
        self._observation: Any
        self._observation, self._info = self._env.reset(seed=seed)
        self.agents = list(_AGENTS)
        self.rewards: dict[str, float] = dict.fromkeys(_AGENTS, 0)
        self._cumulative_rewards = dict.fromkeys(_AGENTS, 0)
        self.terminations = dict.fromkeys(_AGENTS, False)
        self.truncations = dict.fromkeys(_AGENTS, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in _AGENTS}
        self.agent_selection = self._to_move()

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """Returns an agent's observation and mask, copied.

        Raises:
            ConfigurationError: there is no such agent.
            gymnasium.error.ResetNeeded: no reset came before.
        """
        info = self._begun("observe")
        observation = on_host(self._observation[0])
        if _known(agent) == self._to_move():
            mask = on_host(info["action_mask"][0]).astype(np.int8)
            return {"observation": observation.copy(), "action_mask": mask}
        mask = np.zeros(NUM_ACTIONS, np.int8)
        return {"observation": mirrored(observation, self._obs), "action_mask": mask}

    def last(self, observe: bool = True) -> tuple[dict | None, float, bool, bool, dict[str, Any]]:
        """Returns the selected agent's observation, reward since it last moved, flags and info.

        The observation is None unless `observe`; flags are terminated and truncated.

        Raises:
            gymnasium.error.ResetNeeded: no reset came before.
        """
        self._begun("last")
        return super().last(observe)

    def agent_iter(self, max_iter: int = 2**63) -> AECIterable:
        """Goes through the agents in turns, as `AECEnv` does; a ResetNeeded if none came before."""
        self._begun("agent_iter")
        return super().agent_iter(max_iter)

    def step(self, action: int | None) -> None:
        """Plays the selected agent's action, None where its game is over.

        Raises:
            IllegalActionError: it is not legal; nothing has changed.
            ConfigurationError: it is not an action.
            gymnasium.error.ResetNeeded: no reset came before.
        """
        self._begun("step")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        outcome = self._env.step([action])  # type: ignore[arg-type]  # refuses None
        self._observation, reward, terminated, truncated, self._info = outcome
        self._cumulative_rewards[agent] = 0
        other = _AGENTS[1 - _AGENTS.index(agent)]
        # The reward is of the agent that has just moved; `0 -` avoids a draw's -0.0.
        self.rewards = {agent: float(reward[0]), other: 0 - float(reward[0])}
        self.terminations = dict.fromkeys(_AGENTS, bool(terminated[0]))
        self.truncations = dict.fromkeys(_AGENTS, bool(truncated[0]))
        if terminated[0] or truncated[0]:
            reason = int(self._info["reason"][0])
            self.infos = {player: {"reason": reason} for player in _AGENTS}
        self._accumulate_rewards()
        self.agent_selection = other

    def render(self) -> str | None:
        """Returns the board as text, with `render_mode="ansi"`."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() does nothing without render_mode='ansi'")
            return None
        return str(chess.Board(self._env.fens()[0]))

    def close(self) -> None:
        """Closes the environment."""
        self._env.close()

    def _begun(self, method: str) -> dict[str, Any]:
        """Returns the last info; raises ResetNeeded where there is none."""
        if self._info is None:
            raise gymnasium.error.ResetNeeded(f"call reset() before {method}()")
        return self._info

    def _to_move(self) -> str:
        assert self._info is not None  # there was a reset
        return _AGENTS[int(self._info["player"][0])]


def _known(agent: str) -> str:
    return choice("agent", agent, tuple(_AGENTS))
