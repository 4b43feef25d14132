"""Chess for RLlib's new API stack: a vector entry point, and a module that applies masks.

PPOConfig()
.environment(ChessVectorEnv, env_config={"max_plies": 200})
.env_runners(num_envs_per_env_runner=64, gym_env_vectorize_mode="vector_entry_point")
.rl_module(rl_module_spec=RLModuleSpec(module_class=MaskedPPOModule))
"""

import secrets
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike

import rungs
from rungs._src.chess.actions import NUM_ACTIONS, NUM_PLANES
from rungs._src.chess.handover import FreshOutputs
from rungs._src.chess.unpack import unpack_mask, unpack_planes
from rungs._src.core.arguments import choice, shown
from rungs._src.core.exclusive import Uncopyable
from rungs._src.core.memory import on_host
from rungs.errors import ConfigurationError, UnavailableError, install_hint

__all__ = ["ChessVectorEnv", "MaskedPPOModule"]

try:
    import torch
    from ray.rllib.algorithms.ppo.torch.default_ppo_torch_rl_module import DefaultPPOTorchRLModule
    from ray.rllib.core.columns import Columns
    from ray.rllib.utils.torch_utils import FLOAT_MIN
except ImportError as error:
    raise UnavailableError(f"RLlib: {error}: {install_hint('rllib')}") from None


# One board's mask in each format. RLlib can't compute with uint64.
_WORDS = np.iinfo(np.int64)
_MASK_SPACES: dict[str, gymnasium.Space] = {
    "bool": gymnasium.spaces.Box(0, 1, (NUM_ACTIONS,), np.int8),
    "bits": gymnasium.spaces.Box(_WORDS.min, _WORDS.max, (NUM_PLANES,), np.int64),
}


class ChessVectorEnv(Uncopyable, VectorEnv):
    """A batch of chess games whose observations hold the mask.

    An observation is `{"observations": (N, ...), "action_mask": (N, 4672) int8}`, or with
    `mask="bits"`, in an eighth of the bytes, (N, 73) int64 for `rungs.chess.unpack_mask`, which
    `MaskedPPOModule` accepts as well. RLlib keeps each board's row until it has trained on its
    episode: each step's outputs have their own memory, which is reused once no row is kept.
    Autoreset is gymnasium's NEXT_STEP, the mode of RLlib's env runners: the mask of a board that
    has ended allows anything, and its next action is ignored. Where an episode ends, `info` has the
    `reason` (`rungs._src.chess.reason`).

    Args:
        config: RLlib's `env_config`, to which it adds `num_envs`, its `num_envs_per_env_runner`, or
            nothing where it only reads the spaces: then there is one board. By default `rung` is
            "threads", and `opponent`, see `rungs.make`, is "random", as there is one agent to
            train. `seed` is that of the games, where RLlib's `debugging(seed=...)` is not set;
            without it each env runner draws its own, so that no two of them play the same games.
            `mask` is "bool" or "bits". All other settings of `rungs.make("chess", ...)` may be
            given, except `autoreset_mode`.

    Raises:
        ConfigurationError: a wrong setting.
        UnavailableError: RLlib is not installed (when this module is imported).
    """

    def __init__(self, config: Mapping[str, Any]):
        if not isinstance(config, Mapping):
            raise ConfigurationError(f"config={shown(config)} has no settings by name")
        if "autoreset_mode" in config:
            raise ConfigurationError("autoreset_mode can't be set: the adapter sets it")
        mask = choice("mask", config.get("mask", "bool"), ("bool", "bits"), " in RLlib")
        if config.get("dtype") == "bfloat16":
            raise ConfigurationError("dtype='bfloat16': RLlib would read its words as integers")
        chess_settings: dict[str, Any] = {"num_envs": 1, "rung": "threads", "opponent": "random"}
        chess_settings |= config
        if chess_settings.get("seed") is None:
            chess_settings["seed"] = secrets.randbits(64)
        self.env = rungs.make("chess", **chess_settings, autoreset_mode="NEXT_STEP")
        self._outputs = FreshOutputs(self.env)
        self._mask_dtype = np.int8 if mask == "bool" else np.int64
        self.num_envs = self.env.num_envs
        self.metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}
        self.single_observation_space = gymnasium.spaces.Dict(
            {"observations": self.env.single_observation_space, "action_mask": _MASK_SPACES[mask]}
        )
        self.single_action_space = self.env.single_action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = self.env.action_space

    def reset(
        self, *, seed: int | None = None, options: dict | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Begins an episode on every board; see `rungs.chess.ChessVectorEnv.reset`."""
        outputs = self._outputs.next()
        observation, info = self.env.reset(seed=seed, options=options, out=outputs)
        return self._observations(observation, info), {}

    def step(
        self, actions: ArrayLike
    ) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Plays an action on every board, or raises IllegalActionError and changes none."""
        observation, *outcome, info = self.env.step(actions, self._outputs.next())
        reward, terminated, truncated = (on_host(output).copy() for output in outcome)
        ended = terminated | truncated
        infos = {"reason": on_host(info["reason"]).copy(), "_reason": ended} if ended.any() else {}
        return self._observations(observation, info), reward, terminated, truncated, infos

    def _observations(self, observation: Any, info: dict[str, Any]) -> dict[str, np.ndarray]:
        mask = on_host(info["action_mask"]).view(self._mask_dtype)
        return {"observations": on_host(observation), "action_mask": mask}

    def close_extras(self, **kwargs: Any) -> None:
        """Closes the environment (called by `close`)."""
        self.env.close()


class MaskedPPOModule(DefaultPPOTorchRLModule):
    """PPO's module for observations with a mask: illegal actions are never played.

    The network is RLlib's own, as `model_config` describes it (`fcnet_hiddens` and so on), over
    flat vectors: a board's pieces as one-hot vectors, then its eight other numbers
    (`rungs.chess.BOARD_FIELDS`); or all planes. Logits of illegal actions are replaced
    by the lowest float32.

    Args:
        observation_space: of `ChessVectorEnv`.
        **arguments: all other arguments of an RLlib module.
    """

    def __init__(self, *, observation_space: gymnasium.spaces.Dict, **arguments: Any):
        boards: Any = observation_space["observations"]
        numbers = _numbers(torch.from_numpy(np.zeros((1, *boards.shape), boards.dtype)))
        space = gymnasium.spaces.Box(-np.inf, np.inf, numbers.shape[1:], np.float32)
        super().__init__(observation_space=space, **arguments)
        self.observation_space = observation_space

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        return _masked(super()._forward(_unmasked(batch), **kwargs), batch)

    def _forward_train(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        return _masked(super()._forward_train(_unmasked(batch), **kwargs), batch)

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> torch.Tensor:
        """Returns the value of every position in a batch, float32."""
        return super().compute_values(_unmasked(batch), embeddings)


def _unmasked(batch: dict[str, Any]) -> dict[str, Any]:
    """Returns a batch with flat vectors as observations, as RLlib's own networks take them."""
    return {**batch, Columns.OBS: _numbers(batch[Columns.OBS]["observations"])}


def _masked(outputs: dict[str, Any], batch: dict[str, Any]) -> dict[str, Any]:
    """Returns a network's outputs in which illegal actions have probability 0."""
    mask = batch[Columns.OBS]["action_mask"]
    illegal = mask == 0 if mask.shape[-1] == NUM_ACTIONS else ~unpack_mask(mask)
    logits = outputs[Columns.ACTION_DIST_INPUTS].masked_fill(illegal, FLOAT_MIN)
    return {**outputs, Columns.ACTION_DIST_INPUTS: logits}


def _numbers(observation: torch.Tensor) -> torch.Tensor:
    """Returns observations of any format as (N, n) float32."""
    if observation.shape[1:] == (72,):
        pieces = torch.nn.functional.one_hot(observation[:, :64].long() + 6, 13)
        return torch.cat([pieces.flatten(1), observation[:, 64:]], 1).float()
    planes = unpack_planes(observation) if observation.ndim == 2 else observation
    return planes.flatten(1).float()
