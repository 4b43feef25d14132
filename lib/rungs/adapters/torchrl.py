"""Chess for TorchRL, a batched `EnvBase`: `Collector(ChessEnv(1024), policy, ...)`."""

from typing import Any

import torch

import rungs
from rungs._src.chess.actions import NUM_ACTIONS, NUM_PLANES
from rungs._src.chess.handover import FreshOutputs
from rungs._src.chess.keywords import ChessRung
from rungs._src.chess.unpack import unpack_mask
from rungs._src.chess.vector_env import ChessVectorEnv
from rungs._src.core.arguments import choice
from rungs._src.core.batch_env import Array
from rungs._src.core.exclusive import Uncopyable
from rungs._src.core.tensors import as_tensor, on_device
from rungs.errors import ConfigurationError, UnavailableError, install_hint

__all__ = ["ChessEnv"]

try:
    from tensordict import TensorDict, TensorDictBase
    from torchrl.data import Binary, Categorical, Composite, Unbounded
    from torchrl.envs import EnvBase
except ImportError:
    raise UnavailableError(f"TorchRL is not installed: {install_hint('torchrl')}") from None

_CPU = torch.device("cpu")
_DTYPES = {"float32": torch.float32, "uint8": torch.uint8, "bfloat16": torch.bfloat16}
_DTYPES |= {"int8": torch.int8, "uint64": torch.int64}  # TorchRL computes with no uint64


class ChessEnv(Uncopyable, EnvBase):
    """A batch of chess games, all stepped at once by a rung, as one environment of shape (N,).

    A tensordict holds, before a step and in "next" after it:

    - `observation`: (N, ...), as `obs` and `dtype` say, tensors of that dtype; "bitplanes" are
      int64, which `rungs.chess.unpack_planes` accepts as well;
    - `action_mask`: (N, 4672) bool, the actions that the next step accepts. `action_spec` has it,
      too, so that `rand_action` is legal; behind transforms
      `torchrl.envs.transforms.ActionMask` does that. Or with `mask="bits"`, in an eighth of the
      bytes, (N, 73) int64 for `rungs.chess.unpack_mask`: then `rand_action` is legal, but not
      behind transforms, and `action_spec` has no mask;
    - `done`, `terminated`, `truncated`: (N, 1) bool; and in "next" `reward`: (N, 1) float32.

    `action` is (N,) int64. Where an episode has ended, "next" holds its last observation, and the
    mask of the next episode, which has begun: nothing can be played in the last position.

    The caller may keep tensors as long as it likes, without a copy: a step writes to memory that
    no tensor uses any more, or else to new memory.

    Args:
        num_envs: number of boards, N.
        rung: which implementation steps them.
        opponent: see `rungs.make`; here by default "random", as there is one agent to train.
        mask: "bool" or "bits".
        **settings: all others of `rungs.make("chess", ...)`, but for `autoreset_mode`: TorchRL
            resets environments itself.

    Raises:
        ConfigurationError: a wrong setting.
        UnavailableError: TorchRL is not installed (when this module is imported).
    """

    def __init__(
        self,
        num_envs: int,
        rung: ChessRung = "threads",
        *,
        opponent: Any = "random",
        mask: str = "bool",
        **settings: Any,
    ):
        if "autoreset_mode" in settings:
            raise ConfigurationError("autoreset_mode can't be set: the adapter sets it")
        chess_settings = {
            "opponent": opponent,
            "mask": choice("mask", mask, ("bool", "bits"), " in TorchRL"),
        }
        env: ChessVectorEnv[Any] = rungs.make("chess", rung, num_envs, **chess_settings, **settings)
        super().__init__(device=torch.device(env.device or "cpu"), batch_size=[env.num_envs])
        self.env, self._outputs = env, FreshOutputs(env)
        self._seed: int | None = None
        self._dtype = _DTYPES[env.settings.dtype]
        # The boards' current observation and mask; and the last step's "done" where next episodes
        # began in it, unknown to TorchRL. A module takes longer to set an attribute than a dict.
        self._current: dict[str, torch.Tensor] = {}
        self._begun: dict[str, torch.Tensor] = {}
        self._describe()
        if mask == "bits":
            # Not a method of the class, as TorchRL's transforms would then mistrust all masks.
            self.rand_action = self._legal_action

    def _describe(self) -> None:
        num_envs, device = self.env.num_envs, self.device
        mask: Any = Unbounded((num_envs, NUM_PLANES), device, torch.int64)
        if self.env.settings.mask == "bool":
            mask = Binary(NUM_ACTIONS, (num_envs, NUM_ACTIONS), device, torch.bool)
        self.observation_spec = Composite(
            observation=Unbounded(self.env.observation_space.shape, device, self._dtype),
            action_mask=mask,
            shape=self.batch_size,
        )
        self.action_spec = Categorical(NUM_ACTIONS, (num_envs,), device, torch.int64)
        self.reward_spec = Unbounded((num_envs, 1), device, torch.float32)
        self.done_spec = Composite(
            {name: Binary(1, (num_envs, 1), device, torch.bool) for name in _FLAGS},
            shape=self.batch_size,
        )

    def _reset(self, tensordict: "TensorDictBase | None" = None, **_: Any) -> TensorDictBase:
        """Begins an episode on every board, or where `_reset` is set and no new one has begun."""
        which = None if tensordict is None else tensordict.get("_reset", None)
        if which is None:
            seed, self._seed = self._seed, None
            self._set_current(*self.env.reset(seed=seed, out=self._outputs.next()))
        else:
            others = which.reshape(-1)
            if self._begun:
                others = others & ~self._begun["done"][:, 0]
            if others.any():
                options = {"reset_mask": others.cpu().numpy()}
                self._set_current(*self.env.reset(options=options, out=self._outputs.next()))
        return TensorDict(self._current | self._unset_flags(), self.batch_size, device=self.device)

    def _step(self, tensordict: TensorDictBase) -> TensorDictBase:
        """Plays `action` on every board; refuses `break_when_all_done`, which steps only some."""
        if "_step" in tensordict.keys():  # noqa: SIM118 (iterating one gives rows)
            raise ConfigurationError("break_when_all_done: all boards are stepped together")
        action = tensordict.get("action", None)
        if action is None:
            raise ConfigurationError("there is no action to play")
        if self.env.device is None:
            action = on_device(action, (self.env.num_envs,), _CPU).numpy()
        last, *flags, info = self.env.step(action, self._outputs.next())
        self._set_current(last, info)
        reward, terminated, truncated = (self._column(flag) for flag in flags)
        outputs = self._current | {
            "reward": reward,
            "terminated": terminated,
            "truncated": truncated,
            "done": terminated | truncated,
        }
        self._begun.clear()
        if "final_obs" in info:
            ended = flags[1] | flags[2]
            last = last.copy() if self.env.device is None else last.clone()
            last[ended] = info["final_obs"][ended]
            outputs["observation"] = as_tensor(last)
            self._begun["done"] = outputs["done"]
        return TensorDict(outputs, self.batch_size, device=self.device)

    def step_and_maybe_reset(
        self, tensordict: TensorDictBase
    ) -> tuple[TensorDictBase, TensorDictBase]:
        """Takes a step, and returns `tensordict` with "next", and that of the next step.

        The next episode has begun in the same step: nothing is reset, as `EnvBase` would.
        """
        if "next" in tensordict.keys():  # noqa: SIM118 (what is there already is TorchRL's to keep)
            tensordict = self.step(tensordict)
        else:
            tensordict.set("next", self._step(tensordict))
        now = self.step_mdp(tensordict)
        if self._begun:
            now.set("observation", self._current["observation"])
            for name, none in self._unset_flags().items():
                now.set(name, none)
        return tensordict, now

    def _legal_action(self, tensordict: "TensorDictBase | None" = None) -> TensorDictBase:
        """Replaces `rand_action` where masks are bits, which are unpacked only here."""
        self.action_spec.update_mask(unpack_mask(self._current["action_mask"]))
        return super().rand_action(tensordict)

    def _set_seed(self, seed: int | None) -> None:
        """Makes the next reset begin episode 0 of `seed`; with None, reset without a seed."""
        self._seed = seed

    def close(self, *, raise_if_closed: bool = True) -> None:
        """Closes the environment."""
        self.env.close()
        super().close(raise_if_closed=raise_if_closed)

    def _unset_flags(self) -> dict[str, torch.Tensor]:
        """Returns flags that are all False, and notes that TorchRL knows of all new episodes."""
        self._begun.clear()
        none = torch.zeros((3, self.env.num_envs, 1), dtype=torch.bool, device=self.device)
        return dict(zip(_FLAGS, none, strict=True))

    def _set_current(self, observation: Array, info: dict) -> None:
        mask = as_tensor(info["action_mask"])
        self._current.update(observation=as_tensor(observation), action_mask=mask)
        if mask.dtype == torch.bool:
            self.action_spec.update_mask(mask)

    def _column(self, output: Array) -> torch.Tensor:
        """Returns a copy of an (N,) output in TorchRL's shape, (N, 1)."""
        if self.env.device is None:
            return torch.from_numpy(output[:, None].copy())
        return output[:, None].clone()


_FLAGS = ("done", "terminated", "truncated")
