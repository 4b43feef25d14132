"""Stable-Baselines3's PPO over lists of legal actions, and no mask of 4672.

from stable_baselines3 import PPO
from rungs._src.train.sb3 import ChessListVecEnv, LegalActionPolicy

PPO(LegalActionPolicy, ChessListVecEnv(64), n_steps=32, batch_size=256).learn(100_000)
"""

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import torch
from stable_baselines3.common.policies import ActorCriticPolicy

import rungs
from rungs._src.chess.buffers import MAX_LEGAL
from rungs._src.core.arguments import checked_indices
from rungs._src.train.layers import SparseSquares
from rungs._src.train.legal_actions import Packed, from_lists
from rungs._src.train.network import LegalActionNetwork, PolicyValueNetwork
from rungs.adapters.sb3 import BatchVecEnv
from rungs.errors import ConfigurationError

_BOARD = 72


class ChessListVecEnv(BatchVecEnv):
    """A batch of chess games whose observations have the list of legal actions behind the board.

    Observations are (N, 290) int16: 72 numbers of `obs="board"` and 218 of `mask="list"`. An action
    is a place in the list, 0 to 217.

    Args:
        num_envs: number of boards.
        rung: which implementation steps them.
        **settings: all others of `rungs.make("chess", ...)`, but for `obs`, `mask` and
            `autoreset_mode`.

    Raises:
        ConfigurationError: a wrong setting.
    """

    def __init__(self, num_envs: int, rung: str = "threads", **settings: Any):
        how = {"opponent": "random"} | settings
        for fixed in {"obs", "mask", "autoreset_mode"} & settings.keys():
            raise ConfigurationError(f"{fixed} can't be set: the policy and its loop know one")
        super().__init__(rungs.make("chess", rung, num_envs, obs="board", mask="list", **how))
        low, high = np.iinfo(np.int16).min, np.iinfo(np.int16).max
        self.observation_space = gymnasium.spaces.Box(low, high, (_BOARD + MAX_LEGAL,), np.int16)
        self.action_space = gymnasium.spaces.Discrete(MAX_LEGAL)

    def reset(self) -> np.ndarray:
        """See `BatchVecEnv.reset`."""
        return self._with_lists(super().reset())

    def step_async(self, actions: np.ndarray) -> None:
        """Keeps (N,) places in lists for `step_wait`.

        Raises:
            gymnasium.error.ResetNeeded: no reset came before.
            ConfigurationError: they have another shape or dtype, or one is of no place.
        """
        if self._info is None:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        lists = self._info["action_mask"]
        places = checked_indices("actions", actions, MAX_LEGAL)
        if len(places) != self.num_envs:
            raise ConfigurationError(f"actions have shape {places.shape}, not ({self.num_envs},)")
        super().step_async(np.take_along_axis(lists, places[:, None], 1)[:, 0].astype(np.int64))

    def step_wait(self) -> Any:
        """See `BatchVecEnv.step_wait`; a last observation has a list of nothing."""
        observation, reward, done, infos = super().step_wait()
        for i in np.flatnonzero(done):
            last = np.full(_BOARD + MAX_LEGAL, -1, np.int16)
            last[:_BOARD] = infos[i]["terminal_observation"]
            infos[i]["terminal_observation"] = last
        return self._with_lists(observation), reward, done, infos

    def _with_lists(self, observation: Any) -> np.ndarray:
        return np.concatenate([observation, self._info["action_mask"]], 1, dtype=np.int16)


class LegalActionPolicy(ActorCriticPolicy):
    """A policy for `ChessListVecEnv` that scores legal actions and nothing else.

    It samples, as likely as the network says; where `deterministic` is asked for, as by
    `evaluate_policy`, it plays the likeliest action, of equal ones the first.

    Args:
        *spaces: as Stable-Baselines3 gives them.
        network: makes what learns; by default a `PolicyValueNetwork`.
        **how: of `ActorCriticPolicy`.

    Raises:
        ConfigurationError: the environment is no `ChessListVecEnv`.
    """

    def __init__(
        self, *spaces: Any, network: Callable[[], LegalActionNetwork] | None = None, **how: Any
    ):
        self._make = network or (lambda: PolicyValueNetwork(squares=SparseSquares))
        super().__init__(*spaces, **how)

    def _build(self, lr_schedule) -> None:
        if self.observation_space.shape != (_BOARD + MAX_LEGAL,):
            raise ConfigurationError("LegalActionPolicy needs a ChessListVecEnv")
        self.network = self._make()
        how = {"lr": lr_schedule(1)} | self.optimizer_kwargs
        self.optimizer = self.optimizer_class(self.parameters(), **how)

    def _look(self, obs: Any) -> tuple[Packed, torch.Tensor]:
        observation, lists = obs[:, :_BOARD].to(torch.int8), obs[:, _BOARD:]
        legal = from_lists(lists, (lists >= 0).sum(1))
        scores, value = self.network.scores(observation, legal)
        return Packed(legal, scores), value

    def forward(self, obs: Any, deterministic: bool = False):
        """Returns places in lists, values (N, 1) and log-probabilities of observations."""
        distribution, value = self._look(obs)
        choice = distribution.likeliest() if deterministic else distribution.sample(None)
        return choice, value[:, None], distribution.log_probability(choice)

    def evaluate_actions(self, obs: Any, actions: torch.Tensor):
        """Returns values (N, 1), log-probabilities and entropies."""
        distribution, value = self._look(obs)
        chosen = distribution.log_probability(actions.long())
        return value[:, None], chosen, distribution.entropy()

    def predict_values(self, obs: Any) -> torch.Tensor:
        """Returns values, (N, 1)."""
        return self.network.values(obs[:, :_BOARD].to(torch.int8))[:, None]

    def _predict(self, observation: Any, deterministic: bool = False) -> torch.Tensor:
        return self(observation, deterministic)[0]
