"""Proximal policy optimization (Schulman et al., 2017, arXiv:1707.06347) on any rung.

Read top to bottom: a learner that plays and improves in turns, how good each action turned out to
be, and what is improved.
"""

from collections import Counter
from typing import Any

import numpy as np
import torch
from torch import nn

from rungs.chess.vector_env import ChessVectorEnv
from rungs.errors import ConfigurationError, InvalidStateError
from rungs.train.adam import Adam
from rungs.train.network import PolicyValueNetwork
from rungs.train.policy import sample
from rungs.train.ranks import Ranks
from rungs.train.rollout import Rollout, tensor_of
from rungs.train.settings import PpoSettings
from rungs.train.stopwatch import Stopwatch

_NEXT_RANK = 1_000_003  # between seeds


class Learner:
    """A network that learns from what it plays.

    With the same seed on the CPU every rung gives the same weights, bit for bit: whatever is random
    is drawn here, in one order, or is a function of the environment's seed.

    Args:
        env: of chess, with `obs="board"` and `mask="bits"`.
        seed: of the weights, the games, the actions and the minibatches.
        settings: how to learn.
        device: where, "cpu" or "cuda".
        compile: whether `torch.compile` compiles the network.
        network: what learns; by default a `PolicyValueNetwork` with weights of `seed`.
        ranks: the learners that this one learns together with, each on boards of its own.

    Attributes:
        network: the network.
        updates: how many there were.
        steps: how many actions were played for them.
    """

    def __init__(
        self,
        env: ChessVectorEnv,
        *,
        seed: int = 0,
        settings: PpoSettings | None = None,
        device: str = "cpu",
        compile: bool = False,
        network: nn.Module | None = None,
        ranks: Ranks | None = None,
    ):
        self.env, self.seed, self.settings = env, seed, settings or PpoSettings()
        self.device = torch.device(device)
        minibatches = self.settings.num_minibatches
        positions = env.num_envs * self.settings.num_steps
        if positions % minibatches:
            raise ConfigurationError(
                f"num_minibatches={minibatches} do not divide {positions} positions"
            )
        self.rollout = Rollout(env, self.settings.num_steps, self.device)
        torch.manual_seed(seed)
        self.network = (network or PolicyValueNetwork()).to(self.device)
        ranks = ranks or Ranks()
        self._playing = _compiled(self.network) if compile else self.network
        self._learning = ranks.wrap(self._playing)
        self.optimizer = Adam(self.network.parameters(), self.settings.learning_rate, eps=1e-5)
        # Ranks have boards of their own, and actions of their own.
        own = (seed + _NEXT_RANK * ranks.rank) % 2**64
        self.generator = torch.Generator(self.device).manual_seed(own)
        self.updates = self.steps = 0
        self._begun = False

    def begin(self, observation: np.ndarray, info: dict) -> None:
        """Learns from the environment as it stands, which is what it returned last."""
        self.rollout.begin(observation, info)
        self._begun = True

    def learn(self) -> dict[str, float]:
        """Plays and improves once.

        Returns:
            Episodes that ended while playing, by "wins", "draws" and "losses"; "policy_loss",
            "value_loss", "entropy" (nats), "divergence" (of the old policy from the new one, in
            nats), means over the update; and seconds, by "generate", "transfer", "infer" and
            "backward".
        """
        if not self._begun:
            self.begin(*self.env.reset(seed=self.seed))
        rollout, settings = self.rollout, self.settings
        metrics = self.play()
        watch = Stopwatch(self.device)
        advantage = advantages(
            rollout.reward,
            rollout.ended,
            rollout.value,
            settings.gamma,
            settings.gae_lambda,
            against_itself=rollout.against_itself,
        )
        losses = self._improve(advantage)
        watch.lap("backward")
        self.updates += 1
        self.steps += advantage.numel()
        return metrics | losses | dict(watch.seconds)

    @torch.no_grad()
    def play(self) -> dict[str, float]:
        """Plays from where the last steps ended, and fills the rollout.

        An episode that was truncated is not over: its last reward has the discounted value of the
        position it came to added, or what the opponent would have there subtracted.

        Returns:
            Episodes that ended, by "wins", "draws" and "losses", and seconds, by "generate",
            "transfer" and "infer".
        """
        rollout, gamma = self.rollout, self.settings.gamma
        network: Any = self._playing  # a module, or compiled from one
        watch, episodes = Stopwatch(self.device), Counter(wins=0, draws=0, losses=0)
        rollout.begin_again()
        watch.lap("transfer")
        for step in range(rollout.num_steps):
            played = sample(network, rollout.observation[step], rollout.mask[step], self.generator)
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
                last = tensor_of(out.final_observation[out.truncated]).to(self.device)
                cut = tensor_of(out.truncated).to(self.device)
                onward = -gamma if rollout.against_itself else gamma
                rollout.reward[step, cut] += onward * network.values(last)
        rollout.value[-1] = network.values(rollout.observation[-1])
        watch.lap("infer")
        return {**episodes, **watch.seconds}

    def save(self) -> dict:
        """Returns what decides what comes next, for `load`: "own" of this rank, the rest of any."""
        return {
            "network": self.network.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "updates": self.updates,
            "steps": self.steps,
            "own": {"generator": self.generator.get_state(), "env": self.env.get_state()},
        }

    def load(self, saved: dict) -> None:
        """Goes on from what `save` returned, in a learner made like that one.

        Raises:
            InvalidStateError: it is of another network, optimizer or environment; nothing has
                changed.
        """
        self._check(saved)
        self.begin(*self.env.set_state(saved["own"]["env"]))
        self.generator.set_state(saved["own"]["generator"])
        self.network.load_state_dict(saved["network"])
        self.optimizer.load_state_dict(saved["optimizer"])
        self.updates, self.steps = saved["updates"], saved["steps"]

    def _check(self, saved: dict) -> None:
        """Refuses what PyTorch would refuse half-way, or only when it learns."""
        ours = self.optimizer.state_dict()["param_groups"]
        if not _alike(saved["network"], self.network.state_dict()):
            raise InvalidStateError("the weights are of another network")
        if saved["optimizer"].get("param_groups") != ours:
            raise InvalidStateError("the optimizer has other settings")
        parameters, state = list(self.network.parameters()), saved["optimizer"].get("state")
        moments = [
            {"step": torch.zeros(()), "exp_avg": weights, "exp_avg_sq": weights}
            for weights in parameters
        ]
        # There are none before the first update.
        if state != {} and not _alike(state, dict(enumerate(moments))):
            raise InvalidStateError("the optimizer is of another network")
        try:
            torch.Generator(self.device).set_state(saved["own"]["generator"])
        except (RuntimeError, TypeError) as error:
            raise InvalidStateError(f"the generator of actions: {error}") from None

    def _improve(self, advantage: torch.Tensor) -> dict[str, float]:
        """Goes through what was played, in minibatches in random order."""
        rollout, settings = self.rollout, self.settings
        played = {
            "observation": rollout.observation[:-1],
            "mask": rollout.mask[:-1],
            "choice": rollout.choice,
            "old": rollout.log_probability,
            "advantage": advantage,
            "outcome": advantage + rollout.value[:-1],
        }
        played = {name: array.flatten(0, 1) for name, array in played.items()}
        totals: dict[str, Any] = {}
        for _ in range(settings.update_epochs):
            order = torch.randperm(advantage.numel(), generator=self.generator, device=self.device)
            for rows in order.chunk(settings.num_minibatches):
                loss, parts = ppo_loss(
                    self._learning, {name: array[rows] for name, array in played.items()}, settings
                )
                self.optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.network.parameters(), settings.max_grad_norm)
                self.optimizer.step()
                for name, value in parts.items():
                    totals[name] = totals.get(name, 0) + value
        count = settings.update_epochs * settings.num_minibatches
        return {name: float(total) / count for name, total in totals.items()}


def _alike(found, ours) -> bool:
    """Returns whether dicts of dicts of tensors have the same keys, shapes and dtypes."""
    if isinstance(ours, torch.Tensor):
        same = isinstance(found, torch.Tensor) and found.shape == ours.shape
        return same and found.dtype == ours.dtype
    same = isinstance(found, dict) and found.keys() == ours.keys()
    return same and all(_alike(found[name], ours[name]) for name in ours)


def _compiled(network: nn.Module) -> nn.Module:
    # How wide rows of legal actions are is known only when it runs, and no reason to stop there.
    torch._dynamo.config.capture_scalar_outputs = True
    return torch.compile(network, dynamic=True)  # type: ignore[return-value]  # as a module


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

    Schulman et al., 2016, arXiv:1506.02438, equation 16, from the last step to the first.

    Args:
        reward: (T, N) float32, of each action.
        ended: (T, N) bool, whether its episode ended with it.
        value: (T + 1, N) float32, of the positions before and after.
        gamma: the discount.
        gae_lambda: how much of a later surprise counts.
        against_itself: whether the position after an action is the opponent's, whose gain is our
            loss.

    Returns:
        (T, N) float32.
    """
    result = torch.zeros_like(reward)
    later = torch.zeros_like(reward[0])
    onward = gamma * (-1 if against_itself else 1) * ~ended
    for step in reversed(range(len(reward))):
        surprise = reward[step] + onward[step] * value[step + 1] - value[step]
        later = surprise + gae_lambda * onward[step] * later
        result[step] = later
    return result


def ppo_loss(network, batch: dict[str, torch.Tensor], settings: PpoSettings):
    """Returns the clipped objective (equation 7), the value's error and the entropy (equation 9).

    Args:
        network: as `rungs.train.network.PolicyValueNetwork`.
        batch: rows of "observation", "mask", "choice", "old" (log-probability when played),
            "advantage" and "outcome" (what the value should have been).
        settings: weights and the clip.

    Returns:
        The loss, and its parts by name, detached.
    """
    _, log_probabilities, value = network(batch["observation"], batch["mask"])
    chosen = log_probabilities.gather(1, batch["choice"][:, None]).squeeze(1)
    ratio = (chosen - batch["old"]).exp()
    advantage = batch["advantage"]
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    clipped = ratio.clamp(1 - settings.clip_coef, 1 + settings.clip_coef)
    policy_loss = -torch.minimum(ratio * advantage, clipped * advantage).mean()
    value_loss = (value - batch["outcome"]).square().mean()
    # 0 instead of -inf beyond the legal actions: they add nothing, and neither do their gradients.
    finite = log_probabilities.masked_fill(log_probabilities.isinf(), 0.0)
    entropy = -(finite.exp() * finite).sum(1).mean()
    loss = policy_loss + settings.vf_coef * value_loss - settings.ent_coef * entropy
    parts = {
        "policy_loss": policy_loss,
        "value_loss": value_loss,
        "entropy": entropy,
        "divergence": (ratio - 1 - (chosen - batch["old"])).mean(),
    }
    return loss, {name: part.detach() for name, part in parts.items()}
