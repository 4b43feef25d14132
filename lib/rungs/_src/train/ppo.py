"""Proximal policy optimization (Schulman et al., 2017, arXiv:1707.06347) on any rung.

Read top to bottom: a learner that plays and improves in turns, and how good each action turned out
to be. `train.loss` is what is improved; `train.learners` are ways to compute that.
"""

import copy
from collections import Counter
from collections.abc import Iterator

import numpy as np
import torch

from rungs._src.chess.vector_env import ChessVectorEnv
from rungs._src.core.arguments import integer, shown
from rungs._src.core.schema import schema_error
from rungs._src.train import learners
from rungs._src.train.device import checked_device
from rungs._src.train.learners.agent import Played
from rungs._src.train.learners.state import check
from rungs._src.train.legal_actions import Positions
from rungs._src.train.network import LegalActionNetwork
from rungs._src.train.ranks import Ranks
from rungs._src.train.rollout import Rollout, tensor_of
from rungs._src.train.settings import PpoSettings
from rungs._src.train.stopwatch import Stopwatch
from rungs.errors import ConfigurationError, DivergedError, InvalidStateError

# What the time of an update is spent on. A rung changes the first part alone.
PARTS = ("generate", "transfer", "infer", "backward")

_NEXT_RANK = 1_000_003  # between seeds

# What `Learner.save` returns, beside what `check` looks at.
_SAVED = {
    "network": {},
    "optimizer": {},
    "updates": int,
    "steps": int,
    "own": {"generator": torch.Tensor, "env": bytes},
}


class Learner:
    """An agent that learns from what it plays.

    With the same seed on the CPU every rung of the environment gives the same weights, bit for bit:
    whatever is random is drawn here, in one order, or is a function of the environment's seed.

    Args:
        env: of chess, with `obs="board"`, and the learner's `mask`.
        seed: of the weights, the games, the actions and the minibatches; 0 to 2^64 - 1.
        settings: how to learn. Minibatches must be of 2 positions or more, as the advantages of one
            have no standard deviation.
        device: where, "cpu" or "cuda".
        learner: how it is computed, one of `train.learners`.
        network: what learns; by default a `PolicyValueNetwork` with weights of `seed`.
        ranks: the learners that this one learns together with, each on boards of its own.

    Raises:
        ConfigurationError: an argument is wrong; the message names it.
        UnavailableError: this machine lacks the device, or what the learner needs.

    Attributes:
        agent: the learner's.
        network: its weights as they are now.
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
        learner: str = "torch",
        network: LegalActionNetwork | None = None,
        ranks: Ranks | None = None,
    ):
        settings = PpoSettings() if settings is None else settings
        ranks = Ranks() if ranks is None else ranks
        for name, argument, kind in (
            *(("env", env, ChessVectorEnv), ("settings", settings, PpoSettings)),
            *(("ranks", ranks, Ranks), ("network", network, LegalActionNetwork | None)),
        ):
            if not isinstance(argument, kind):
                wanted = getattr(kind, "__name__", LegalActionNetwork.__name__)
                raise ConfigurationError(f"{name}={shown(argument)} is no {wanted}")
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
        mask = learners.rung(learner).mask
        self.rollout = Rollout(env, self.settings.num_steps, self.device, mask)
        torch.manual_seed(self.seed)
        self.agent = learners.make(learner, network, self.settings, device=self.device, ranks=ranks)
        self.network = self.agent.network
        # Ranks have boards of their own, and actions of their own.
        own = (self.seed + _NEXT_RANK * ranks.rank) % 2**64
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

        Raises:
            DivergedError: a loss or a gradient is not finite; the message names the update. The
                weights are those before the minibatch that it was of.
        """
        try:
            return self._learn()
        except DivergedError as error:
            raise DivergedError(f"update {self.updates + 1}: {error}") from None

    def _learn(self) -> dict[str, float]:
        """See `learn`; the update is not named."""
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
        losses = self.agent.improve(self._played(advantage), self._minibatches())
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
        if not self._begun:
            self.begin(*self.env.reset(seed=self.seed))
        rollout, gamma, agent = self.rollout, self.settings.gamma, self.agent
        watch, episodes = Stopwatch(self.device), Counter(wins=0, draws=0, losses=0)
        rollout.begin_again()
        watch.lap("transfer")
        for step in range(rollout.num_steps):
            played = agent.sample(rollout.positions(step), self.generator)
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
                rollout.reward[step, cut] += onward * agent.values(last)
        rollout.value[-1] = agent.values(rollout.observation[-1])
        watch.lap("infer")
        return {**episodes, **watch.seconds}

    def save(self) -> dict:
        """Returns what decides what comes next, for `load`: "own" of this rank, the rest of any.

        Nothing of it changes when the learner goes on.
        """
        own = {"generator": self.generator.get_state(), "env": self.env.get_state()}
        counts = {"updates": self.updates, "steps": self.steps}
        return copy.deepcopy(self.agent.state_dict()) | counts | {"own": own}

    def load(self, saved: dict) -> None:
        """Goes on from what `save` returned, in a learner made like that one.

        Raises:
            InvalidStateError: it is of another network, optimizer or environment; nothing has
                changed.
        """
        if wrong := schema_error(saved, _SAVED, "what was saved"):
            raise InvalidStateError(wrong)
        if min(saved["updates"], saved["steps"]) < 0:
            raise InvalidStateError(
                f"there were {saved['updates']} updates of {saved['steps']} steps"
            )
        check(self.agent, saved)
        try:
            torch.Generator(self.device).set_state(saved["own"]["generator"])
        except (RuntimeError, TypeError) as error:
            raise InvalidStateError(f"the generator of actions: {error}") from None
        self.begin(*self.env.set_state(saved["own"]["env"]))
        self.generator.set_state(saved["own"]["generator"])
        self.agent.load_state_dict(saved)
        self.updates, self.steps = saved["updates"], saved["steps"]

    def _played(self, advantage: torch.Tensor) -> Played:
        """Returns what was played as one row per position."""
        rollout = self.rollout
        positions = (array.flatten(0, 1) for array in rollout.positions(slice(-1)))
        outcome = advantage + rollout.value[:-1]
        rest = (rollout.choice, rollout.log_probability, advantage, outcome)
        return Played(Positions(*positions), *(array.flatten(0, 1) for array in rest))

    def _minibatches(self) -> Iterator[torch.Tensor]:
        """Goes through what was played, in random order."""
        played = self.rollout.choice.numel()
        for _ in range(self.settings.update_epochs):
            order = torch.randperm(played, generator=self.generator, device=self.device)
            yield from order.chunk(self.settings.num_minibatches)


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
