"""What was played: the outputs of many steps, in memory that the environment writes to."""

import numpy as np
import torch

from rungs._src.chess.buffers import Buffers
from rungs._src.chess.vector_env import ChessVectorEnv
from rungs._src.train.legal_actions import Positions
from rungs.errors import ConfigurationError

_FORMATS = {"obs": "board", "autoreset_mode": "SAME_STEP"}
_POSITION = ("observation", "mask", "action_count")


class Rollout:
    """`num_steps` steps of all boards, and the positions after the last.

    The environment writes each step's outputs to their place here, and the network reads them
    there or, on another device, from one transfer a step. With the rung cuda and a network on the
    same GPU nothing is transferred.

    Args:
        env: of chess, with `obs="board"` and `autoreset_mode="SAME_STEP"`.
        num_steps: how many steps, T.
        device: where the network is, and all that is listed here.
        mask: the format that its masks must have.

    Attributes:
        observation: (T + 1, N, 72) int8.
        mask: (T + 1, N, 73) int64, or (T + 1, N, 218) int16 with lists.
        action_count: (T + 1, N) int16; (T + 1, N, 0) with bits.
        reward: (T, N) float32.
        ended: (T, N) bool, where an episode did.
        choice: (T, N) int64, each action's place among its position's legal ones.
        log_probability: (T, N) float32, of the actions.
        value: (T + 1, N) float32, of the positions.
        against_itself: whether a position is the opponent's after each action, whose gain is our
            loss.

    Raises:
        ConfigurationError: the environment has other formats.
    """

    def __init__(
        self, env: ChessVectorEnv, num_steps: int, device: torch.device, mask: str = "bits"
    ):
        for name, wanted in (_FORMATS | {"mask": mask}).items():
            has = getattr(env.settings, name)
            if getattr(has, "name", has) != wanted:
                raise ConfigurationError(f"learning needs {name}={wanted!r}, not {has!r}")
        self.env, self.num_steps, self.device = env, num_steps, device
        self.against_itself = env.settings.opponent is None
        whole, self._slots = env.rollout(num_steps + 1)
        outputs = [getattr(whole, name) for name in (*_POSITION, "reward", "ended")]
        self._here = [tensor_of(output) for output in outputs]
        # On the environment's device these are the very memory that it writes to.
        self._there = [output.to(device) for output in self._here]
        self._is_tensors = isinstance(whole.reward, torch.Tensor)
        self._transfers = self._here[0].device != self._there[0].device
        self.observation, self.mask, self.action_count = self._there[:3]
        self.reward, self.ended = (array[1:] for array in self._there[3:])
        steps = (num_steps, env.num_envs)
        self.choice = torch.zeros(steps, dtype=torch.int64, device=device)
        self.log_probability = torch.zeros(steps, device=device)
        self.value = torch.zeros((num_steps + 1, env.num_envs), device=device)

    def begin(self, observation: np.ndarray, info: dict) -> None:
        """Takes what the environment's `reset` or `set_state` returned for the first positions."""
        last = self._slots[-1]
        last.observation[:], last.mask[:] = observation, info["action_mask"]
        if "action_count" in info:
            last.action_count[:] = info["action_count"]

    def begin_again(self) -> None:
        """Goes on from the positions after the last step."""
        for name in _POSITION:
            getattr(self._slots[0], name)[:] = getattr(self._slots[-1], name)
        self.transfer(0)

    def positions(self, steps: int | slice) -> Positions:
        """Returns the positions before a step, or before several, as they lie in memory."""
        return Positions(self.observation[steps], self.mask[steps], self.action_count[steps])

    def to_env(self, actions: torch.Tensor) -> torch.Tensor:
        """Returns actions where the environment takes them."""
        return actions.to(self._here[0].device)

    def step(self, number: int, actions: torch.Tensor) -> Buffers:
        """Plays (N,) actions as step `number`; returns its outputs where the environment is."""
        out = self._slots[number + 1]
        self.env.step(actions if self._is_tensors else actions.numpy(), out)
        return out

    def transfer(self, slot: int) -> None:
        """Brings the first positions (slot 0), or a step's outputs, to where the network is."""
        if self._transfers:
            for here, there in zip(self._here, self._there, strict=True):
                there[slot].copy_(here[slot], non_blocking=True)


def tensor_of(output) -> torch.Tensor:
    """Returns an array's memory as a tensor; words as int64, which PyTorch computes with."""
    tensor = output if isinstance(output, torch.Tensor) else torch.from_numpy(output)
    return tensor.view(torch.int64) if tensor.dtype == torch.uint64 else tensor
