"""Proximal policy optimization (Schulman et al., 2017, arXiv:1707.06347) on any rung.

One update, top to bottom: `Learner.learn` plays (`Learner.play` fills a `Rollout`), computes
`advantages`, and goes through minibatches, for each of which `TorchPpo.improve` computes
`ppo_loss`, its gradients, and a step of Adam. `CppPpo`, in `cpp.py` of this folder, does the work
of `TorchPpo` by the C++ of `cpp/learn`.
"""

import copy
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from rungs._src.chess.vector_env import ChessVectorEnv
from rungs._src.core.arguments import integer, shown
from rungs._src.core.buffers import Buffers
from rungs._src.core.schema import schema_error
from rungs._src.core.tensors import as_tensor
from rungs._src.train import learners
from rungs._src.train.adam import Adam, FlatAdam
from rungs._src.train.device import Stopwatch, checked_device
from rungs._src.train.layers import SparseSquares
from rungs._src.train.legal_actions import Legal, Packed, Padded, Positions
from rungs._src.train.network import (
    LegalActionNetwork,
    PolicyValueNetwork,
    check_learns,
    scores_in_place,
)
from rungs._src.train.ranks import Ranks
from rungs._src.train.settings import PpoSettings
from rungs._src.train.torch_file import check_resumable
from rungs.errors import ConfigurationError, DivergedError, InvalidStateError

# The parts of an update's time: stepping the environment, copies to and from the device, choosing
# actions, and learning (advantages; losses, gradients and Adam of every minibatch). Only the first
# depends on the rung.
PARTS = ("generate", "transfer", "infer", "backward")

EPS = 1e-5  # of Adam
_NEXT_RANK = 1_000_003  # added to the seed for each rank

# The schema of `Learner.state_dict`; `check_resumable` validates the rest.
_STATE = {
    "network": {},
    "optimizer": {},
    "updates": int,
    "steps": int,
    "own": {"generator": torch.Tensor, "env": bytes},
}


class Sample(NamedTuple):
    """The actions that were chosen in N positions."""

    action: torch.Tensor  # (N,) int64, action ids
    choice: torch.Tensor  # (N,) int64, the action's index among its position's legal ones
    log_probability: torch.Tensor  # (N,) float32, of the action
    value: torch.Tensor  # (N,) float32, of the position


class Batch(NamedTuple):
    """P positions of an update or a minibatch, and the actions that were played there."""

    positions: Positions
    choice: torch.Tensor  # (P,) int64, the action's index among its position's legal ones
    old_log_probability: torch.Tensor  # (P,) float32, of the action when it was played
    advantage: torch.Tensor  # (P,) float32, how much better than expected it was
    returns: torch.Tensor  # (P,) float32, the target of the position's value

    def at(self, rows: torch.Tensor) -> "Batch":
        positions, *rest = self
        return Batch(positions.at(rows), *(array[rows] for array in rest))


Loss = tuple[torch.Tensor, dict[str, torch.Tensor]]  # the loss, and its parts by name, detached


class Learner:
    """A PPO learner: it plays, and learns from what it played.

    With the same seed on the CPU every rung of the environment gives the same weights, bit for bit:
    random numbers are drawn here, in one order, or are a function of the environment's seed.

    Args:
        env: of chess, with `obs="board"`, and a `mask` that the learner accepts.
        seed: of the weights, the games, the actions and the minibatches; 0 to 2^64 - 1.
        settings: how to learn. Minibatches must be of 2 positions or more, as the advantages of one
            have no standard deviation.
        device: where, "cpu" or "cuda".
        learner: what computes it, one of `train.learners`.
        network: to train; by default a `PolicyValueNetwork` with random weights of `seed`.
        ranks: the learners that this one learns together with, each on boards of its own.

    Raises:
        ConfigurationError: an argument is wrong; the message names it.
        UnavailableError: this machine lacks the device, or what the learner needs.

    Attributes:
        backend: computes network, gradients and optimizer: a `TorchPpo`, or one in C++.
        network: its weights as they are now.
        updates: the number of updates so far.
        steps: the number of actions played for them.
    """

    def __init__(
        self,
        env: ChessVectorEnv,
        *,
        seed: int = 0,
        settings: PpoSettings | None = None,
        device: str = "cpu",
        learner: str = learners.DEFAULT,
        network: LegalActionNetwork | None = None,
        ranks: Ranks | None = None,
    ):
        settings = PpoSettings() if settings is None else settings
        ranks = Ranks() if ranks is None else ranks
        arguments = {"env": env, "settings": settings, "ranks": ranks, "network": network}
        kinds = (ChessVectorEnv, PpoSettings, Ranks, LegalActionNetwork)
        for (name, argument), kind in zip(arguments.items(), kinds, strict=True):
            if not isinstance(argument, kind) and not (name == "network" and argument is None):
                raise ConfigurationError(f"{name}={shown(argument)} is not a {kind.__name__}")
        self.env, self.settings = env, settings
        self.seed, self.device = integer("seed", seed, 0, 2**64 - 1), checked_device(device)
        minibatches, positions = settings.num_minibatches, env.num_envs * settings.num_steps
        if positions % minibatches:
            raise ConfigurationError(
                f"num_minibatches={minibatches} do not divide {positions} positions"
            )
        if positions < 2 * minibatches:
            raise ConfigurationError(
                f"num_minibatches={minibatches} of {positions} positions are of 1 position each, "
                "not of 2 or more"
            )
        computes = learners.kind(learner)
        self.rollout = Rollout(env, self.settings.num_steps, self.device, computes.masks)
        torch.manual_seed(self.seed)
        self.backend = computes.make(network, self.settings, device=self.device, ranks=ranks)
        self.network: LegalActionNetwork = self.backend.network
        # Each rank samples other actions, on other boards.
        seed_of_rank = (self.seed + _NEXT_RANK * ranks.rank) % 2**64
        self.generator = torch.Generator(self.device).manual_seed(seed_of_rank)
        self.updates = self.steps = 0
        self._begun = False

    def begin(self, observation: np.ndarray, info: dict) -> None:
        """Starts from what the environment returned last."""
        self.rollout.begin(observation, info)
        self._begun = True

    def learn(self) -> dict[str, float]:
        """Plays one rollout and learns from it.

        Returns:
            Episodes that ended while playing, by "wins", "draws" and "losses"; "policy_loss",
            "value_loss", "entropy" (nats), "divergence" (of the old policy from the new one, in
            nats), means over the update; and seconds, by "generate", "transfer", "infer" and
            "backward".

        Raises:
            DivergedError: a loss or a gradient is not finite; the message names the update. The
                weights are those before that minibatch.
        """
        metrics = self.play()
        rollout, settings, watch = self.rollout, self.settings, Stopwatch(self.device)
        advantage = advantages(
            rollout.reward,
            rollout.ended,
            rollout.value,
            settings.gamma,
            settings.gae_lambda,
            against_itself=rollout.against_itself,
        )
        try:
            losses = self.backend.improve(rollout.batch(advantage), self.minibatches())
        except DivergedError as error:
            raise DivergedError(f"update {self.updates + 1}: {error}") from None
        watch.lap("backward")
        self.updates += 1
        self.steps += advantage.numel()
        return metrics | losses | dict(watch.seconds)

    @torch.no_grad()
    def play(self) -> dict[str, float]:
        """Plays from where the last steps ended, and fills the rollout.

        Truncated episodes are bootstrapped: the discounted value of the final observation is added
        to the last reward. In self-play it is subtracted, as that value is the opponent's.

        Returns:
            Episodes that ended, by "wins", "draws" and "losses", and seconds, by "generate",
            "transfer" and "infer".
        """
        if not self._begun:
            self.begin(*self.env.reset(seed=self.seed))
        rollout, gamma, backend = self.rollout, self.settings.gamma, self.backend
        watch, episodes = Stopwatch(self.device), Counter(wins=0, draws=0, losses=0)
        rollout.carry_over()
        watch.lap("transfer")
        for step in range(rollout.num_steps):
            played = backend.sample(rollout.positions(step), self.generator)
            rollout.choice[step], rollout.value[step] = played.choice, played.value
            rollout.log_probability[step] = played.log_probability
            watch.lap("infer")
            actions = rollout.to_env(played.action)
            watch.lap("transfer")
            out = rollout.step(step, actions)
            watch.lap("generate")
            rollout.transfer(step + 1)
            watch.lap("transfer")
            if out.ended.any():
                result = out.reward[out.ended]
                for name, points in (("wins", 1), ("draws", 0), ("losses", -1)):
                    episodes[name] += int((result == points).sum())
            if out.truncated.any():
                last = as_tensor(out.final_observation[out.truncated]).to(self.device)
                cut = as_tensor(out.truncated).to(self.device)
                discount = -gamma if rollout.against_itself else gamma
                rollout.reward[step, cut] += discount * backend.values(last)
        rollout.value[-1] = backend.values(rollout.observation[-1])
        watch.lap("infer")
        return {**episodes, **watch.seconds}

    def minibatches(self) -> Iterator[torch.Tensor]:
        """Yields the rows of each minibatch of an update, in random order."""
        played = self.rollout.choice.numel()
        for _ in range(self.settings.update_epochs):
            order = torch.randperm(played, generator=self.generator, device=self.device)
            yield from order.chunk(self.settings.num_minibatches)

    def state_dict(self) -> dict:
        """Returns a copy of all that training depends on; `load_state_dict` continues from it.

        "own" is this rank's, the rest is the same on all ranks.
        """
        rank_state = {"generator": self.generator.get_state(), "env": self.env.get_state()}
        counts = {"updates": self.updates, "steps": self.steps}
        return copy.deepcopy(self.backend.state_dict()) | counts | {"own": rank_state}

    def load_state_dict(self, state: dict) -> None:
        """Continues from what `state_dict` returned.

        Raises:
            InvalidStateError: it is of another network, optimizer or environment; nothing has
                changed.
        """
        if flaw := schema_error(state, _STATE, "the learner's state"):
            raise InvalidStateError(flaw)
        if min(state["updates"], state["steps"]) < 0:
            raise InvalidStateError(
                f"there were {state['updates']} updates of {state['steps']} steps"
            )
        check_resumable(self.backend, state)
        try:
            torch.Generator(self.device).set_state(state["own"]["generator"])
        except (RuntimeError, TypeError) as error:
            raise InvalidStateError(f"the generator of actions: {error}") from None
        self.begin(*self.env.set_state(state["own"]["env"]))
        self.generator.set_state(state["own"]["generator"])
        self.backend.load_state_dict(state)
        self.updates, self.steps = state["updates"], state["steps"]


def advantages(
    reward: torch.Tensor,
    ended: torch.Tensor,
    value: torch.Tensor,
    gamma: float,
    gae_lambda: float,
    *,
    against_itself: bool = False,
) -> torch.Tensor:
    """Returns how much better than expected each action was: generalized advantage estimation.

    Schulman et al., 2016, arXiv:1506.02438, equation 16, from the last step to the first. `reward`
    and `ended` are (T, N), `value` (T + 1, N). `against_itself`: the position after an action is
    the opponent's, whose gain is a loss.
    """
    result = torch.zeros_like(reward)
    advantage = torch.zeros_like(reward[0])
    discount = gamma * (-1 if against_itself else 1) * ~ended
    for step in reversed(range(len(reward))):
        td_error = reward[step] + discount[step] * value[step + 1] - value[step]
        advantage = td_error + gae_lambda * discount[step] * advantage
        result[step] = advantage
    return result


def ppo_loss(
    log_probability: torch.Tensor,
    entropy: torch.Tensor,
    value: torch.Tensor,
    batch: Batch,
    settings: PpoSettings,
) -> Loss:
    """Returns the clipped objective (equation 7) with the value's error and entropy (equation 9),
    and its parts by name, detached.

    `log_probability`, `entropy` and `value`, (B,), are the network's present ones: of the batch's
    actions, in nats, and of its positions.
    """
    ratio = (log_probability - batch.old_log_probability).exp()
    advantage = batch.advantage
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    clipped = ratio.clamp(1 - settings.clip_coef, 1 + settings.clip_coef)
    policy_loss = -torch.minimum(ratio * advantage, clipped * advantage).mean()
    value_loss = (value - batch.returns).square().mean()
    mean_entropy = entropy.mean()
    loss = policy_loss + settings.vf_coef * value_loss - settings.ent_coef * mean_entropy
    parts = {
        "policy_loss": policy_loss,
        "value_loss": value_loss,
        "entropy": mean_entropy,
        "divergence": (ratio - 1 - (log_probability - batch.old_log_probability)).mean(),
    }
    return loss, {name: part.detach() for name, part in parts.items()}


class TorchBackend:
    """A network and its optimizer in PyTorch."""

    def __init__(
        self,
        network: LegalActionNetwork,
        learning_rate: float,
        max_grad_norm: float,
        optimizer: type[Adam] = Adam,
    ):
        self.network, self._max_grad_norm = network, max_grad_norm
        self._parameters = _described(network)
        self._optimizer = optimizer(network.parameters(), learning_rate, EPS)

    @torch.enable_grad()
    def differentiate(self, loss: Callable[..., Loss], *arguments) -> Loss:
        """Computes the gradients of a loss, not yet clipped; returns what it returned."""
        check_learns(self.network)
        if _described(self.network) != self._parameters:
            raise ConfigurationError(
                "network: its parameters are others than when the learner was made, or of another "
                "shape, dtype or device"
            )
        self._optimizer.zero_grad()
        total, parts = loss(*arguments)
        total.backward()
        return total.detach(), parts

    def step(self, loss: Callable[..., Loss], *arguments) -> dict[str, torch.Tensor]:
        """Takes a step down a loss, and returns its parts; a DivergedError changes no weight."""
        total, parts = self.differentiate(loss, *arguments)
        norm = self._optimizer.clip(self._max_grad_norm)
        if not math.isfinite(total + norm):  # one wait for a GPU
            named = {name: float(part) for name, part in parts.items()}
            raise DivergedError(f"a loss is not finite: {named}, gradient norm {float(norm)}")
        self._optimizer.step()
        return parts

    def state_dict(self) -> dict:
        """Returns "network", the weights, and "optimizer", named as `torch.optim.Adam`'s state."""
        return {"network": self.network.state_dict(), "optimizer": self._optimizer.state_dict()}

    def load_state_dict(self, state: dict) -> None:
        """Continues from a `state_dict`; raises InvalidStateError if it can't."""
        check_resumable(self, state)
        self.network.load_state_dict(state["network"])
        self._optimizer.load_state_dict(state["optimizer"])


class TorchPpo(TorchBackend):
    """PPO in PyTorch; its methods, first weights, loss and optimizer are those of all backends."""

    def __init__(
        self,
        network: LegalActionNetwork | None,
        settings: PpoSettings,
        *,
        device: torch.device,
        ranks: Ranks,
        distribution: Callable[[Legal, torch.Tensor], Packed | Padded] = Packed,
        optimizer: type[Adam] = FlatAdam,
    ):
        network = network or PolicyValueNetwork(squares=SparseSquares, score=scores_in_place)
        network = network.to(device)
        # First, as the optimizer may move the weights in memory.
        super().__init__(network, settings.learning_rate, settings.max_grad_norm, optimizer)
        self._settings, self._distribution = settings, distribution
        self._playing = _Scores(network)
        self._learning = ranks.wrap(self._playing)

    @torch.no_grad()
    def sample(self, positions: Positions, generator: torch.Generator) -> Sample:
        """Samples an action in each of N positions from the network's policy."""
        distribution, value = self._forward(self._playing, positions)
        choice = distribution.sample(generator)
        action, log_probability = distribution.action(choice), distribution.log_probability(choice)
        return Sample(action, choice, log_probability, value)

    @torch.no_grad()
    def values(self, observation: torch.Tensor) -> torch.Tensor:
        """Returns the values, (N,) float32, of observations, (N, 72) int8."""
        return self.network.values(observation)

    def improve(self, batch: Batch, minibatches: Iterable[torch.Tensor]) -> dict[str, float]:
        """Takes a step for each minibatch, (B,) int64 rows; returns means of the loss's parts."""
        losses = [self.step(self.loss, batch, rows) for rows in minibatches]
        return {name: float(sum(loss[name] for loss in losses)) / len(losses) for name in losses[0]}

    def gradients(
        self, batch: Batch, rows: torch.Tensor
    ) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
        """Returns the gradients of 2 rows or more by names, not yet clipped, and the parts."""
        _, parts = self.differentiate(self.loss, batch, rows)
        named = self.network.named_parameters()
        return {name: parameter.grad for name, parameter in named}, parts  # type: ignore[misc]  # all have one

    def loss(self, batch: Batch, rows: torch.Tensor) -> Loss:
        """Returns the loss of a minibatch of 2 rows or more, and its parts."""
        check_minibatch(rows)
        minibatch = batch.at(rows)
        distribution, value = self._forward(self._learning, minibatch.positions)
        log_probability = distribution.log_probability(minibatch.choice)
        return ppo_loss(log_probability, distribution.entropy(), value, minibatch, self._settings)

    def _forward(
        self, scores: nn.Module, positions: Positions
    ) -> tuple[Packed | Padded, torch.Tensor]:
        """Returns the probabilities of all legal actions, and the positions' values."""
        legal = positions.legal()
        logits, value = scores(positions.observation, legal)
        return self._distribution(legal, logits), value


class _Scores(nn.Module):
    """A module whose call is the network's `scores`: DDP wraps only the call of a module."""

    def __init__(self, network: LegalActionNetwork):
        super().__init__()
        self.network = network

    def forward(self, observation: torch.Tensor, legal: Legal):
        return self.network.scores(observation, legal)


class Rollout:
    """T steps of all boards, which the environment writes to where the network reads them."""

    def __init__(
        self,
        env: ChessVectorEnv,
        num_steps: int,
        device: torch.device,
        masks: tuple[str, ...] = ("bits",),
    ):
        wanted = {"obs": ("board",), "autoreset_mode": ("SAME_STEP",), "mask": masks}
        for name, formats in wanted.items():
            value = getattr(env.settings, name)
            if getattr(value, "name", value) not in formats:
                raise ConfigurationError(f"learning needs {name}={formats[0]!r}, not {value!r}")
        self.env, self.num_steps, self.device = env, num_steps, device
        self.against_itself = env.settings.opponent is None
        buffers, self._slots = env.rollout(num_steps + 1)
        outputs = [getattr(buffers, name) for name in (*Positions._fields, "reward", "ended")]
        self._env_arrays = [as_tensor(output) for output in outputs]
        # On the environment's device these share the memory that it writes to.
        self._device_arrays = [output.to(device) for output in self._env_arrays]
        self._is_tensors = isinstance(buffers.reward, torch.Tensor)
        self._transfers = self._env_arrays[0].device != self._device_arrays[0].device
        # (T + 1, N, ...) of positions, and (T, N) of actions: see `Positions` and `Sample`.
        self.observation, self.mask, self.action_count = self._device_arrays[:3]
        self.reward, self.ended = (array[1:] for array in self._device_arrays[3:])
        steps = (num_steps, env.num_envs)
        self.choice = torch.zeros(steps, dtype=torch.int64, device=device)
        self.log_probability = torch.zeros(steps, device=device)
        self.value = torch.zeros((num_steps + 1, env.num_envs), device=device)

    def begin(self, observation: np.ndarray, info: dict) -> None:
        """Begins at the positions that the environment's `reset` or `set_state` returned."""
        last = self._slots[-1]
        last.observation[:], last.mask[:] = observation, info["action_mask"]
        if "action_count" in info:
            last.action_count[:] = info["action_count"]

    def carry_over(self) -> None:
        """Continues from the positions after the last step."""
        for name in Positions._fields:
            getattr(self._slots[0], name)[:] = getattr(self._slots[-1], name)
        self.transfer(0)

    def positions(self, steps: int | slice) -> Positions:
        """Returns the positions before a step, or before several, as they lie in memory."""
        return Positions(self.observation[steps], self.mask[steps], self.action_count[steps])

    def batch(self, advantage: torch.Tensor) -> Batch:
        """Returns the T * N positions and actions, with the (T, N) advantages of these."""
        positions = (array.flatten(0, 1) for array in self.positions(slice(-1)))
        returns = advantage + self.value[:-1]
        rest = (self.choice, self.log_probability, advantage, returns)
        return Batch(Positions(*positions), *(array.flatten(0, 1) for array in rest))

    def to_env(self, actions: torch.Tensor) -> torch.Tensor:
        return actions.to(self._env_arrays[0].device)

    def step(self, number: int, actions: torch.Tensor) -> Buffers:
        """Plays (N,) actions as step `number`; returns its outputs on the environment's device."""
        out = self._slots[number + 1]
        self.env.step(actions if self._is_tensors else actions.numpy(), out)
        return out

    def transfer(self, slot: int) -> None:
        """Copies the first positions (slot 0), or a step's outputs, to the network's device."""
        if self._transfers:
            for env_array, device_array in zip(self._env_arrays, self._device_arrays, strict=True):
                device_array[slot].copy_(env_array[slot], non_blocking=True)


def check_minibatch(rows: torch.Tensor) -> None:
    """Rejects minibatches of fewer than 2 rows, whose advantages have no standard deviation."""
    if len(rows) < 2:
        raise ConfigurationError(f"rows: a minibatch of {len(rows)} positions, not of 2 or more")


def _described(network: nn.Module) -> list[tuple]:
    """Lists the identity, shape, dtype and device of each of a network's parameters."""
    return [(id(p), p.shape, p.dtype, p.device) for p in network.parameters()]
