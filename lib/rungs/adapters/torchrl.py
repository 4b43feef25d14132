"""Our chess as TorchRL takes it, a batched `EnvBase`: `Collector(ChessEnv(1024), policy, ...)`."""

import itertools
from typing import Any

import numpy as np
import torch

import rungs
from rungs._src.chess.actions import NUM_ACTIONS
from rungs._src.core.arguments import integer
from rungs._src.core.batch_env import Array
from rungs.errors import ConfigurationError, UnavailableError, install_hint

__all__ = ["ChessEnv"]

try:
    from tensordict import TensorDict, TensorDictBase
    from torchrl.data import Binary, Categorical, Composite, Unbounded
    from torchrl.envs import EnvBase
except ImportError:
    raise UnavailableError(f"TorchRL is not installed: {install_hint('torchrl')}") from None

_DTYPES = {"float32": torch.float32, "uint8": torch.uint8, "bfloat16": torch.bfloat16}
_DTYPES |= {"int8": torch.int8, "uint64": torch.int64}  # TorchRL computes with no uint64


class ChessEnv(EnvBase):
    """A batch of chess games, all stepped at once by a rung, as one environment of shape (N,).

    A tensordict holds, before a step and in "next" after it:

    - `observation`: (N, ...), as `obs` and `dtype` say, tensors of that dtype; "bitplanes" are
      int64, which `rungs.chess.unpack_planes` takes as well;
    - `action_mask`: (N, 4672) bool, the actions that the next step takes. `action_spec` has it,
      too, so that `rand_action` is legal, as `torchrl.envs.transforms.ActionMask` has it behind
      transforms;
    - `done`, `terminated`, `truncated`: (N, 1) bool; and in "next" `reward`: (N, 1) float32.

    `action` is (N,) int64. Where an episode has ended, "next" holds its last observation, and the
    mask of the next episode, which has begun: nothing can be played in the last position.

    Args:
        num_envs: number of boards, N.
        rung: which implementation steps them.
        opponent: as of `rungs.make`; here by default "random", as there is one agent to train.
        steps_kept: None, and every tensordict has memory of its own. Or for how many steps it may
            last: outputs are written to memory that is allocated once, from where nothing is
            copied, and which is written again that many steps later, or by a reset. A collector
            stacks its batch after `frames_per_batch / num_envs` steps.
        **settings: all others of `rungs.make("chess", ...)`; masks are `bool`, and TorchRL's own
            resets stand for `autoreset_mode`.

    Raises:
        ConfigurationError: a wrong setting.
        UnavailableError: TorchRL is not installed (when this module is imported).
    """

    def __init__(
        self,
        num_envs: int,
        rung: str = "threads",
        *,
        opponent: Any = "random",
        steps_kept: int | None = None,
        **settings: Any,
    ):
        for fixed in {"mask", "autoreset_mode"} & settings.keys():
            raise ConfigurationError(f"{fixed} can't be set: TorchRL knows one")
        if steps_kept is not None:
            steps_kept = integer("steps_kept", steps_kept, 1, 2**31 - 2)
        env = rungs.make("chess", rung, num_envs, **({"opponent": opponent} | settings))
        super().__init__(device=torch.device(env.device or "cpu"), batch_size=[env.num_envs])
        self.env = env
        # What a step begins with was written by the step before: one more than are kept.
        kept = None if steps_kept is None else env.rollout(steps_kept + 1)[1]
        self._ring = None if kept is None else itertools.cycle(kept)
        self._seed: int | None = None
        self._dtype = _DTYPES[env.settings.dtype]
        # Whose next episode began with the last step, unknown to TorchRL.
        self._begun = torch.zeros(env.num_envs, dtype=torch.bool, device=self.device)
        self._describe()

    def _describe(self) -> None:
        """Makes TorchRL's specs of our spaces."""
        num_envs, device = self.env.num_envs, self.device
        shape, masks = self.env.observation_space.shape, (num_envs, NUM_ACTIONS)
        self.observation_spec = Composite(
            observation=Unbounded(shape, device, self._dtype),
            action_mask=Binary(NUM_ACTIONS, masks, device, torch.bool),
            shape=self.batch_size,
        )
        self.action_spec = Categorical(NUM_ACTIONS, (num_envs,), device, torch.int64)
        self.reward_spec = Unbounded((num_envs, 1), device, torch.float32)
        self.done_spec = Composite(
            {name: Binary(1, (num_envs, 1), device, torch.bool) for name in _FLAGS},
            shape=self.batch_size,
        )

    def _reset(self, tensordict: "TensorDictBase | None" = None, **_: Any) -> TensorDictBase:
        """Begins an episode on every board, or where `_reset` says so and none has begun.

        Raises:
            ConfigurationError: a wrong seed.
        """
        which = None if tensordict is None else tensordict.get("_reset", None)
        if which is None:
            seed, self._seed = self._seed, None
            self._see(*self._reset_copy(seed=seed))
        else:
            others = which.reshape(-1) & ~self._begun
            if others.any():
                options = {"reset_mask": others.cpu().numpy()}
                self._see(*self._reset_copy(options=options))
        return TensorDict(self._now(), self.batch_size, device=self.device)

    def _reset_copy(self, **how: Any) -> tuple[Array, dict]:
        """Resets, and returns copies: a reset writes where the last step did."""
        observation, info = self.env.reset(**how)
        return _copied(observation), info | {"action_mask": _copied(info["action_mask"])}

    def _step(self, tensordict: TensorDictBase) -> TensorDictBase:
        """Plays `action` on every board.

        Raises:
            IllegalActionError: an action is not legal on its board; no board has changed.
            ConfigurationError: actions are missing, or of a wrong dtype; or only some boards are to
                be stepped, as with `rollout(break_when_all_done=True)`.
        """
        if "_step" in tensordict.keys():  # noqa: SIM118 (iterating one gives rows)
            raise ConfigurationError("all boards are stepped at once: break_when_all_done can't be")
        action = tensordict.get("action", None)
        if action is None:
            raise ConfigurationError("there is no action to play")
        actions = action if self.env.device else action.numpy()
        out = next(self._ring) if self._ring else None
        last, *flags, info = self.env.step(actions, out)
        self._see(last, info)
        ended = flags[1] | flags[2]
        self._begun = self._tensor(ended)
        seen = dict(self._seen)
        if "final_obs" in info:
            last = _copied(last)
            last[ended] = info["final_obs"][ended]
            seen["observation"] = self._tensor(last)
        columns = [self._kept(each)[:, None] for each in flags]
        names = ("reward", "terminated", "truncated", "done")
        outputs = seen | dict(zip(names, [*columns, self._begun[:, None]], strict=True))
        return TensorDict(outputs, self.batch_size, device=self.device)

    def step_and_maybe_reset(
        self, tensordict: TensorDictBase
    ) -> tuple[TensorDictBase, TensorDictBase]:
        """Takes a step, and goes on with the next episode where one has ended.

        That has begun in the same step, so nothing is reset or merged, as `EnvBase` would.

        Returns:
            `tensordict` with "next", and what the next step begins with.
        """
        tensordict = self.step(tensordict)
        now = self.step_mdp(tensordict)
        if self._begun.any():
            now.update(self._now())
        return tensordict, now

    def _set_seed(self, seed: int | None) -> None:
        """Has the next reset begin episode 0 of `seed`; its own, where that is None."""
        self._seed = seed

    def close(self, *, raise_if_closed: bool = True) -> None:
        """Ends the rung."""
        self.env.close()
        super().close(raise_if_closed=raise_if_closed)

    def _now(self) -> dict[str, torch.Tensor]:
        """Returns what is seen of boards of which none has ended; TorchRL knows of all episodes."""
        self._begun = torch.zeros_like(self._begun)
        return self._seen | {name: self._begun[:, None].clone() for name in _FLAGS}

    def _see(self, observation: Array, info: dict) -> None:
        """Keeps what is seen of the boards now."""
        mask = self._kept(info["action_mask"])
        self._seen = {"observation": self._kept(observation), "action_mask": mask}
        self.action_spec.update_mask(mask)

    def _kept(self, output: Array) -> torch.Tensor:
        """Returns an output as a tensor that lasts for `steps_kept`, or with memory of its own."""
        return self._tensor(output if self._ring else _copied(output))

    def _tensor(self, output: Array) -> torch.Tensor:
        """Returns an output as a tensor of its memory."""
        tensor = torch.from_numpy(output) if isinstance(output, np.ndarray) else output
        if tensor.dtype == torch.uint16:
            return tensor.view(torch.bfloat16)
        return tensor.view(torch.int64) if tensor.dtype == torch.uint64 else tensor


def _copied(output: Array) -> Array:
    """Returns a copy: NumPy's of an array, as PyTorch's threads wait for each other."""
    return output.copy() if isinstance(output, np.ndarray) else output.clone()


_FLAGS = ("done", "terminated", "truncated")
