"""What every learner has: an agent, which acts, and improves by what came of it."""

from collections.abc import Iterable
from typing import NamedTuple, Protocol

import torch

from rungs._src.train.legal_actions import Positions
from rungs._src.train.network import LegalActionNetwork
from rungs.errors import ConfigurationError


class Sample(NamedTuple):
    """What was chosen in N positions.

    Attributes:
        action: (N,) int64, action ids.
        choice: (N,) int64, the action's place among its position's legal ones.
        log_probability: (N,) float32, of the action.
        value: (N,) float32, of the position.
    """

    action: torch.Tensor
    choice: torch.Tensor
    log_probability: torch.Tensor
    value: torch.Tensor


class Played(NamedTuple):
    """What an update learns from: P positions, and what was played there.

    Attributes:
        positions: P of them.
        choice: (P,) int64, the action's place among its position's legal ones.
        old: (P,) float32, the action's log-probability when it was played.
        advantage: (P,) float32, how much better than expected it turned out.
        outcome: (P,) float32, what the position's value should have been.
    """

    positions: Positions
    choice: torch.Tensor
    old: torch.Tensor
    advantage: torch.Tensor
    outcome: torch.Tensor

    def at(self, rows: torch.Tensor) -> "Played":
        """Returns (B,) int64 rows, a minibatch."""
        positions, *rest = self
        return Played(positions.at(rows), *(array[rows] for array in rest))


def check_minibatch(rows: torch.Tensor) -> None:
    """Refuses minibatches of fewer than 2 rows, whose advantages have no standard deviation.

    Raises:
        ConfigurationError: there are fewer.
    """
    if len(rows) < 2:
        raise ConfigurationError(f"rows: a minibatch of {len(rows)} positions, not of 2 or more")


class Agent(Protocol):
    """A network and its optimizer: a rung of the learners' ladder.

    All agents begin with the same weights, have the same loss and the same optimizer; only how it
    is computed differs. Randomness comes from the generators that they are given.

    Attributes:
        network: the weights as they are now.
    """

    network: LegalActionNetwork

    def sample(self, positions: Positions, generator: torch.Generator) -> Sample:
        """Chooses an action in every position, as likely as the network says.

        Args:
            positions: N of them, on the agent's device.
            generator: the randomness, on the same device.
        """

    def values(self, observation: torch.Tensor) -> torch.Tensor:
        """Returns the values, (N,) float32, of observations, (N, 72) int8."""

    def gradients(
        self, played: Played, rows: torch.Tensor
    ) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
        """Differentiates the loss of a minibatch, and changes no weight.

        Args:
            played: what was played.
            rows: (B,) int64, the minibatch's; 2 or more.

        Returns:
            The gradients by the names of the network's parameters, not yet scaled down; and the
            loss's parts: "policy_loss", "value_loss", "entropy" and "divergence".

        Raises:
            ConfigurationError: there are fewer rows; or the network's parameters are of another
                shape, dtype or device than when the agent was made, or one of them is frozen.
        """

    def improve(self, played: Played, minibatches: Iterable[torch.Tensor]) -> dict[str, float]:
        """Improves by each minibatch in turn.

        Args:
            played: what was played.
            minibatches: of its rows, (B,) int64; drawn one after the other.

        Returns:
            The means of the loss's parts.

        Raises:
            ConfigurationError: as of `gradients`.
            DivergedError: a minibatch's loss or gradient is not finite; the weights are those
                before it.
        """

    def state_dict(self) -> dict:
        """Returns "network", the weights, and "optimizer", as `train.adam.Adam` names it."""

    def load_state_dict(self, saved: dict) -> None:
        """Goes on from what another's `state_dict` returned, which `state.check` has looked at."""
