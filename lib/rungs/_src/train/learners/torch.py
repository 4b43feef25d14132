"""Agents in PyTorch, each made of parts: how legal actions are read, and how they are weighed."""

import math
from collections.abc import Callable, Iterable

import torch
from torch import nn

from rungs._src.train.adam import Adam, FlatAdam
from rungs._src.train.distributions import Distribution, Packed, Padded
from rungs._src.train.learners.agent import Played, Sample, check_minibatch
from rungs._src.train.legal_actions import Legal, Positions, from_bits, from_lists
from rungs._src.train.loss import ppo_loss
from rungs._src.train.network import (
    LegalActionNetwork,
    PolicyValueNetwork,
    check_learns,
    scores_in_place,
)
from rungs._src.train.ranks import Ranks
from rungs._src.train.settings import PpoSettings
from rungs._src.train.squares import SparseSquares
from rungs.errors import ConfigurationError, DivergedError


class TorchAgent:
    """An agent whose gradients are autograd's; see `rungs._src.train.learners.agent.Agent`.

    Args:
        network: what learns.
        settings: how to learn.
        device: where.
        ranks: the learners that this one learns together with.
        legal: reads the legal actions of positions.
        distribution: makes their probabilities of their scores, a `Distribution`.
        optimizer: moves the weights.
    """

    def __init__(
        self,
        network: LegalActionNetwork,
        settings: PpoSettings,
        *,
        device: torch.device,
        ranks: Ranks,
        legal: Callable[[Positions], Legal],
        distribution: Callable[[Legal, torch.Tensor], Distribution],
        optimizer: type[Adam] | type[FlatAdam] = Adam,
    ):
        self.network, self._settings = network.to(device), settings
        self._legal, self._distribution = legal, distribution
        self._parameters = _described(self.network)
        # First, as it may move the weights to where it wants them.
        self._optimizer = optimizer(self.network.parameters(), settings.learning_rate, eps=1e-5)
        self._playing = _Scores(self.network)
        self._learning = ranks.wrap(self._playing)

    @torch.no_grad()
    def sample(self, positions: Positions, generator: torch.Generator) -> Sample:
        """See `Agent.sample`."""
        distribution, value = self._look(self._playing, positions)
        choice = distribution.sample(generator)
        action, new = distribution.action(choice), distribution.log_probability(choice)
        return Sample(action, choice, new, value)

    @torch.no_grad()
    def values(self, observation: torch.Tensor) -> torch.Tensor:
        """See `Agent.values`."""
        return self.network.values(observation)

    def gradients(
        self, played: Played, rows: torch.Tensor
    ) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
        """See `Agent.gradients`."""
        self._check_parameters()
        return self._differentiate(played, rows)

    @torch.enable_grad()
    def _differentiate(
        self, played: Played, rows: torch.Tensor
    ) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
        check_minibatch(rows)
        self._optimizer.zero_grad()
        batch = played.at(rows)
        distribution, value = self._look(self._learning, batch.positions)
        new, entropy = distribution.log_probability(batch.choice), distribution.entropy()
        loss, parts = ppo_loss(new, entropy, value, batch, self._settings)
        loss.backward()
        named = self.network.named_parameters()
        return {name: each.grad for name, each in named}, parts  # type: ignore[misc]  # all have one

    def improve(self, played: Played, minibatches: Iterable[torch.Tensor]) -> dict[str, float]:
        """See `Agent.improve`."""
        self._check_parameters()
        every = []
        for rows in minibatches:
            every.append(self._differentiate(played, rows)[1])
            norm = self._optimizer.clip(self._settings.max_grad_norm)
            _check_finite(every[-1], norm)
            self._optimizer.step()
        return {name: float(sum(each[name] for each in every)) / len(every) for name in every[0]}

    def state_dict(self) -> dict:
        """See `Agent.state_dict`."""
        return {
            "network": self.network.state_dict(),
            "optimizer": self._optimizer.state_dict(),
        }

    def load_state_dict(self, saved: dict) -> None:
        """See `Agent.load_state_dict`."""
        self.network.load_state_dict(saved["network"])
        self._optimizer.load_state_dict(saved["optimizer"])

    def _check_parameters(self) -> None:
        """Makes sure that what the optimizer moves is what the network computes with, and learns.

        Raises:
            ConfigurationError: it isn't, or a parameter is frozen.
        """
        check_learns(self.network)
        if _described(self.network) != self._parameters:
            raise ConfigurationError(
                "network: its parameters are others than when the learner was made, or of another "
                "shape, dtype or device"
            )

    def _look(self, scores: nn.Module, positions: Positions) -> tuple[Distribution, torch.Tensor]:
        """Returns the probabilities of all legal actions, and the positions' values."""
        legal = self._legal(positions)
        logits, value = scores(positions.observation, legal)
        return self._distribution(legal, logits), value


def _described(network: nn.Module) -> list[tuple]:
    """Lists a network's parameters, each an object of its own, and what they are."""
    every = network.parameters()
    return [(id(each), each.shape, each.dtype, each.device) for each in every]


def _check_finite(parts: dict[str, torch.Tensor], norm: torch.Tensor) -> None:
    """Makes sure that a loss and its gradient are numbers, before weights are moved.

    Raises:
        DivergedError: they aren't.
    """
    loss = parts["policy_loss"] + parts["value_loss"] + parts["entropy"]
    if not math.isfinite(loss + norm):  # one wait for a GPU
        named = {name: float(part) for name, part in parts.items()}
        raise DivergedError(f"a loss of parts {named}, a gradient of norm {float(norm)}")


class _Scores(nn.Module):
    """Calls `scores` where a module is called, which is all that DDP sees of one."""

    def __init__(self, network: LegalActionNetwork):
        super().__init__()
        self.network = network

    def forward(self, observation: torch.Tensor, legal: Legal):
        return self.network.scores(observation, legal)


def _bits(positions: Positions) -> Legal:
    return from_bits(positions.mask)


def _lists(positions: Positions) -> Legal:
    return from_lists(positions.mask, positions.action_count)


def reference(network: LegalActionNetwork | None, settings: PpoSettings, **how) -> TorchAgent:
    """Makes the agent that all others are compared with: PyTorch as one writes it.

    Args:
        network: what learns; by default a `PolicyValueNetwork`.
        settings: how to learn.
        **how: device and ranks, see `TorchAgent`.
    """
    made = network or PolicyValueNetwork()
    return TorchAgent(made, settings, legal=_bits, distribution=Padded, **how)


def lists(network: LegalActionNetwork | None, settings: PpoSettings, **how) -> TorchAgent:
    """Has the legal actions listed by the environment; arguments as of `reference`."""
    made = network or PolicyValueNetwork()
    return TorchAgent(made, settings, legal=_lists, distribution=Padded, **how)


def sparse(network: LegalActionNetwork | None, settings: PpoSettings, **how) -> TorchAgent:
    """Also adds up columns of the first layer; arguments as of `reference`."""
    made = network or PolicyValueNetwork(squares=SparseSquares)
    return TorchAgent(made, settings, legal=_lists, distribution=Padded, **how)


def packed(network: LegalActionNetwork | None, settings: PpoSettings, **how) -> TorchAgent:
    """Also leaves out what pads rows of legal actions; arguments as of `reference`."""
    made = network or PolicyValueNetwork(squares=SparseSquares)
    return TorchAgent(made, settings, legal=_lists, distribution=Packed, **how)


def in_place(network: LegalActionNetwork | None, settings: PpoSettings, **how) -> TorchAgent:
    """Also multiplies queries and keys where they are; arguments as of `reference`."""
    made = network or PolicyValueNetwork(squares=SparseSquares, score=scores_in_place)
    return TorchAgent(made, settings, legal=_lists, distribution=Packed, **how)


def flat(network: LegalActionNetwork | None, settings: PpoSettings, **how) -> TorchAgent:
    """Also has weights, gradients and moments as one vector each; arguments as of `reference`."""
    made = network or PolicyValueNetwork(squares=SparseSquares, score=scores_in_place)
    how |= {"distribution": Packed, "optimizer": FlatAdam}
    return TorchAgent(made, settings, legal=_lists, **how)
