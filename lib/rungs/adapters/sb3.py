"""Environments for Stable-Baselines3: `MaskablePPO("MlpPolicy", ChessVecEnv(64))`.

Or with lists of legal actions, not masks of 4672: `PPO(LegalActionPolicy, ChessListVecEnv(64))`.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode

import rungs
from rungs._src.cartpole.keywords import CartPoleRung
from rungs._src.chess.buffers import MAX_LEGAL
from rungs._src.chess.handover import FreshOutputs
from rungs._src.chess.keywords import ChessRung
from rungs._src.chess.vector_env import ChessVectorEnv
from rungs._src.core.arguments import checked_indices, integer, shown
from rungs._src.core.batch_env import BatchEnv
from rungs._src.core.exclusive import Uncopyable
from rungs._src.core.memory import on_host
from rungs.errors import ConfigurationError, UnavailableError, install_hint

__all__ = ["BatchVecEnv", "CartPoleVecEnv", "ChessListVecEnv", "ChessVecEnv", "LegalActionPolicy"]

try:
    import cloudpickle
    import torch
    from stable_baselines3.common.distributions import CategoricalDistribution
    from stable_baselines3.common.policies import ActorCriticPolicy
    from stable_baselines3.common.vec_env import VecEnv
    from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvStepReturn
except ImportError:
    raise UnavailableError(f"Stable-Baselines3 is not installed: {install_hint('sb3')}") from None

# They import PyTorch.
from rungs._src.train.layers import SparseSquares
from rungs._src.train.legal_actions import Legal, Packed, from_lists
from rungs._src.train.network import LegalActionNetwork, PolicyValueNetwork

_BOARD = 72  # numbers of `obs="board"`


class BatchVecEnv(Uncopyable, VecEnv):
    """One of our environments behind `stable_baselines3.common.vec_env.VecEnv`.

    A rung steps all environments at once. There is no object for each, so methods that address
    single ones, `env_method` and `get_attr`, work on the whole batch.

    Args:
        env: a batch with SAME_STEP. Tensors are copied to the host: Stable-Baselines3 uses arrays.

    Raises:
        ConfigurationError: `env` is not a `BatchEnv`, or has another mode.
    """

    def __init__(self, env: BatchEnv):
        if not isinstance(env, BatchEnv) or env.autoreset_mode != AutoresetMode.SAME_STEP:
            raise ConfigurationError(f"env={shown(env)} is not a Rungs environment with SAME_STEP")
        self.env = env
        super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)
        self._actions: Any = None
        self._info: Any = None  # the last one, once there was a reset

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Makes the next `reset` begin episode 0 of a seed; without one, of a seed drawn at random.

        Raises:
            ConfigurationError: it is not from 0 to 2**64 - 1; nothing has changed.
        """
        return super().seed(None if seed is None else integer("seed", seed, 0, 2**64 - 1))

    def reset(self) -> np.ndarray:
        """Begins an episode in every environment: episode 0 of a seed, if `seed` was called before.

        Raises:
            ConfigurationError: a wrong seed, or a wrong option of `set_options`.
        """
        if not isinstance(self._options, list) or not self._options:
            raise ConfigurationError(f"options={shown(self._options)} are not a dict or a list")
        options, *others = self._options
        if any(other != options for other in others):
            raise ConfigurationError("options differ from environment to environment")
        observation = self._begin(seed=self._seeds[0], options=options)
        self._reset_seeds()
        self._reset_options()
        return observation

    def step_async(self, actions: np.ndarray) -> None:
        """Keeps (N,) actions for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        """Takes the actions that `step_async` kept.

        Returns:
            observation, reward (N,) float32, done (N,) bool, and a dict for each environment; where
            an episode ended it has `terminal_observation` and `TimeLimit.truncated`.

        Raises:
            IllegalActionError: in chess, an action is not legal; no board has changed.
            InvalidActionError: in CartPole, an action is not 0 or 1; nothing has changed.
        """
        observation, reward, terminated, truncated = self._step()
        done = terminated | truncated
        infos: list[dict] = [{} for _ in range(self.num_envs)]
        for i in np.flatnonzero(done).tolist():
            infos[i] = {
                "terminal_observation": on_host(self._info["final_obs"][i]).copy(),
                "TimeLimit.truncated": bool(truncated[i] and not terminated[i]),
            }
        return observation, reward, done, infos

    def close(self) -> None:
        """Closes the environments."""
        self.env.close()

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Returns an attribute of the batch, once for each requested environment.

        Raises:
            AttributeError: the batch has no such attribute.
            ConfigurationError: there is no such environment.
        """
        value = getattr(self._owner(attr_name), attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Raises ConfigurationError: settings are given when the environment is made."""
        raise ConfigurationError(f"{attr_name} can't be set: make another environment")

    def env_method(
        self, method_name: str, *args: Any, indices: VecEnvIndices = None, **kwargs: Any
    ) -> list[Any]:
        """Calls a method of the batch, and returns one result for each requested environment.

        Raises:
            AttributeError: there is no such method.
            ConfigurationError: its result is not one per environment; or an index is out of range.
        """
        chosen = self._get_indices(indices)
        results = getattr(self._owner(method_name), method_name)(*args, **kwargs)
        if not isinstance(results, list | np.ndarray) or len(results) != self.num_envs:
            raise ConfigurationError(f"{method_name} does not return one result for each")
        return list(results) if indices is None else [results[i] for i in chosen]

    def env_is_wrapped(
        self, wrapper_class: type[gymnasium.Wrapper], indices: VecEnvIndices = None
    ) -> list[bool]:
        """Returns False for each: no environment is wrapped on its own."""
        return [False for _ in self._get_indices(indices)]

    def _begin(self, **arguments: Any) -> np.ndarray:
        """Resets; returns the first observation, which the caller may keep."""
        observation, self._info = self.env.reset(**arguments)
        return on_host(observation).copy()

    def _step(self) -> Iterable[np.ndarray]:
        """Takes the actions; returns observation, reward and both flags, for the caller to keep."""
        *outputs, self._info = self.env.step(self._actions)
        return (on_host(output).copy() for output in outputs)

    def _owner(self, name: str) -> Any:
        """Returns the object that has an attribute of that name: the batch."""
        return self.env

    def _get_indices(self, indices: VecEnvIndices) -> list[int]:
        """Returns which environments are meant: one, several, or with None all."""
        if indices is None:
            return list(range(self.num_envs))
        several = indices if isinstance(indices, Iterable) else [indices]
        return checked_indices("indices", list(several), self.num_envs).tolist()


class ChessVecEnv(BatchVecEnv):
    """A batch of chess games, with masks for `sb3_contrib.MaskablePPO`.

    Args:
        num_envs: number of boards.
        rung: which implementation steps them.
        opponent: see `rungs.make`; here by default "random", as there is one agent to train.
        **settings: all others of `rungs.make("chess", ...)`; masks are `bool`, autoreset is
            gymnasium's SAME_STEP, the only mode that Stable-Baselines3 knows, and `dtype` is not
            "bfloat16", whose bits it would read as numbers.

    Raises:
        ConfigurationError: a wrong setting.
        UnavailableError: Stable-Baselines3 is not installed (when this module is imported).
    """

    env: ChessVectorEnv

    def __init__(
        self,
        num_envs: int,
        rung: ChessRung = "threads",
        *,
        opponent: Any = "random",
        **settings: Any,
    ):
        for fixed in {"mask", "autoreset_mode"} & settings.keys():
            raise ConfigurationError(f"{fixed} can't be set: the adapter sets it")
        if settings.get("dtype") == "bfloat16":
            raise ConfigurationError("dtype='bfloat16': SB3 would read its words as integers")
        chess_settings = {"opponent": opponent, "mask": "bool"} | settings
        super().__init__(rungs.make("chess", rung, num_envs, **chess_settings))
        self._outputs = FreshOutputs(self.env)

    def action_masks(self) -> np.ndarray:
        """Returns (N, 4672) bool, the legal actions of every board, for the caller to keep.

        Until the next step or reset it is the same array.

        Raises:
            gymnasium.error.ResetNeeded: no reset came before.
        """
        if self._info is None:
            raise gymnasium.error.ResetNeeded("call reset() before action_masks()")
        return on_host(self._info["action_mask"])

    def step_wait(self) -> VecEnvStepReturn:
        """See `BatchVecEnv.step_wait`; where a game ended, its dict also has the `reason`."""
        outcome = super().step_wait()
        for i in np.flatnonzero(outcome[2]).tolist():
            outcome[3][i]["reason"] = int(self._info["reason"][i])
        return outcome

    def _begin(self, **arguments: Any) -> np.ndarray:
        observation, self._info = self.env.reset(**arguments, out=self._outputs.next())
        return on_host(observation)

    def _step(self) -> Iterable[np.ndarray]:
        observation, *outputs, self._info = self.env.step(self._actions, self._outputs.next())
        return on_host(observation), *(on_host(output).copy() for output in outputs)

    def _owner(self, name: str) -> Any:
        return self if name == "action_masks" else self.env


class ChessListVecEnv(BatchVecEnv):
    """A batch of chess games whose observations are the board, then the list of legal actions.

    Observations are (N, 290) int16: 72 numbers of `obs="board"` and 218 of `mask="list"`. An action
    is an index into the list, 0 to 217.

    Args:
        num_envs: number of boards.
        rung: which implementation steps them.
        **settings: all others of `rungs.make("chess", ...)`, but for `obs`, `mask` and
            `autoreset_mode`.

    Raises:
        ConfigurationError: a wrong setting.
    """

    def __init__(self, num_envs: int, rung: ChessRung = "threads", **settings: Any):
        chess_settings: dict[str, Any] = {"opponent": "random"} | settings
        for fixed in {"obs", "mask", "autoreset_mode"} & settings.keys():
            raise ConfigurationError(f"{fixed} can't be set: the policy and its loop know one")
        super().__init__(
            rungs.make("chess", rung, num_envs, obs="board", mask="list", **chess_settings)
        )
        low, high = np.iinfo(np.int16).min, np.iinfo(np.int16).max
        self.observation_space = gymnasium.spaces.Box(low, high, (_BOARD + MAX_LEGAL,), np.int16)
        self.action_space = gymnasium.spaces.Discrete(MAX_LEGAL)

    def reset(self) -> np.ndarray:
        """See `BatchVecEnv.reset`."""
        return self._with_lists(super().reset())

    def step_async(self, actions: np.ndarray) -> None:
        """Keeps (N,) indices into lists for `step_wait`.

        Raises:
            gymnasium.error.ResetNeeded: no reset came before.
            ConfigurationError: actions have a wrong shape or dtype, or one is out of range.
        """
        if self._info is None:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        lists = self._info["action_mask"]
        places = checked_indices("actions", actions, MAX_LEGAL)
        if len(places) != self.num_envs:
            raise ConfigurationError(f"actions have shape {places.shape}, not ({self.num_envs},)")
        super().step_async(np.take_along_axis(lists, places[:, None], 1)[:, 0].astype(np.int64))

    def step_wait(self) -> Any:
        """See `BatchVecEnv.step_wait`; the list of a last observation is empty, all -1."""
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

    It samples from the network's distribution; with `deterministic`, as from `evaluate_policy`, it
    plays the likeliest action, of equal ones the first.

    Args:
        observation_space, action_space, lr_schedule, use_sde: as Stable-Baselines3 passes them.
        network: makes the network to train; by default a `PolicyValueNetwork`.
        **optimizer: `optimizer_class` and `optimizer_kwargs` of `ActorCriticPolicy`.

    Raises:
        ConfigurationError: the environment is not a `ChessListVecEnv`, or a wrapper changes its
            observations, as `VecFrameStack` and `VecNormalize(norm_obs=True)` do (the latter is
            noticed where observations are read); or another argument is given.
    """

    def __init__(
        self,
        observation_space: gymnasium.Space,
        action_space: gymnasium.Space,
        lr_schedule: Callable[[float], float],
        *,
        network: Callable[[], LegalActionNetwork] | None = None,
        use_sde: bool = False,
        **optimizer: Any,
    ):
        for unknown in optimizer.keys() - {"optimizer_class", "optimizer_kwargs"}:
            raise ConfigurationError(f"{unknown}: LegalActionPolicy trains what `network` makes")
        self._make = network
        super().__init__(observation_space, action_space, lr_schedule, use_sde=use_sde, **optimizer)

    def save(self, path: str) -> None:
        """Saves the policy for `load`; `network` may be a function without a name."""
        saved = {"state_dict": self.state_dict(), "data": self._get_constructor_parameters()}
        torch.save(saved, path, pickle_module=cloudpickle)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        parameters = super()._get_constructor_parameters() | {"network": self._make}
        names = ("observation_space", "action_space", "lr_schedule", "network", "use_sde")
        return {name: parameters[name] for name in (*names, "optimizer_class", "optimizer_kwargs")}

    def _build(self, lr_schedule: Callable[[float], float]) -> None:
        space = self.observation_space
        if space.shape != (_BOARD + MAX_LEGAL,) or space.dtype != np.int16:
            raise ConfigurationError(
                "LegalActionPolicy needs a ChessListVecEnv, in no wrapper that changes its "
                f"observations, not {space.dtype} of shape {space.shape}"
            )
        self.network = self._make() if self._make else PolicyValueNetwork(squares=SparseSquares)
        arguments = {"lr": lr_schedule(1)} | self.optimizer_kwargs
        self.optimizer = self.optimizer_class(self.parameters(), **arguments)

    def _boards(self, obs: Any) -> torch.Tensor:
        if obs.is_floating_point():
            raise ConfigurationError(
                f"observations are {obs.dtype}, not integers: a wrapper has changed them, such as "
                "VecNormalize(norm_obs=True)"
            )
        return obs[:, :_BOARD].to(torch.int8)

    def _legal_scores(self, obs: Any) -> tuple[Legal, torch.Tensor, torch.Tensor]:
        boards, lists = self._boards(obs), obs[:, _BOARD:]
        legal = from_lists(lists, (lists >= 0).sum(1))
        return legal, *self.network.scores(boards, legal)

    def _look(self, obs: Any) -> tuple[Packed, torch.Tensor]:
        legal, scores, value = self._legal_scores(obs)
        return Packed(legal, scores), value

    def forward(
        self, obs: Any, deterministic: bool = False
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Returns indices into lists, values (N, 1) and log-probabilities for observations."""
        distribution, value = self._look(obs)
        choice = distribution.likeliest() if deterministic else distribution.sample(None)
        return choice, value[:, None], distribution.log_probability(choice)

    def evaluate_actions(
        self, obs: Any, actions: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Returns values (N, 1), log-probabilities and entropies."""
        distribution, value = self._look(obs)
        chosen = distribution.log_probability(actions.long())
        return value[:, None], chosen, distribution.entropy()

    def predict_values(self, obs: Any) -> torch.Tensor:
        """Returns values, (N, 1)."""
        return self.network.values(self._boards(obs))[:, None]

    def get_distribution(self, obs: Any) -> CategoricalDistribution:
        """Returns the distribution over (N, 218) indices into lists; beyond a list it is 0."""
        legal, scores, _ = self._legal_scores(obs)
        # Finite, as in `MaskablePPO`'s distributions: gradients of what is impossible are then 0.
        logits = scores.new_full((len(obs), MAX_LEGAL), -1e8)
        logits = logits.index_put((legal.board, legal.place()), scores)
        return CategoricalDistribution(MAX_LEGAL).proba_distribution(logits)

    def _predict(self, observation: Any, deterministic: bool = False) -> torch.Tensor:
        return self(observation, deterministic)[0]


class CartPoleVecEnv(BatchVecEnv):
    """A batch of CartPole-v1.

    Args:
        num_envs: how many environments.
        rung: which implementation steps them.
        **settings: of `rungs.make("cartpole", ...)`, but for `autoreset_mode`.

    Raises:
        ConfigurationError: a wrong setting.
        UnavailableError: Stable-Baselines3 is not installed (when this module is imported).
    """

    def __init__(self, num_envs: int, rung: CartPoleRung = "threads", **settings: Any):
        if "autoreset_mode" in settings:
            raise ConfigurationError("autoreset_mode can't be set: the adapter sets it")
        super().__init__(rungs.make("cartpole", rung, num_envs, **settings))
