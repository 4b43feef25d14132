"""A network as a player and as a search's evaluator, and its score over many games."""

import contextlib
import dataclasses
import math
from typing import Any

import numpy as np
import torch

import rungs
from rungs._src.chess.engine import UciEngine
from rungs._src.core.arguments import integer
from rungs._src.train.device import checked_device
from rungs._src.train.legal_actions import from_lists, sampled
from rungs._src.train.network import LegalActionNetwork

_Z = 1.959964  # 95 % of a normal distribution lies within this many standard deviations


def interval_of_share(share: float, games: int) -> tuple[float, float]:
    """Returns where a share, 0 to 1, of games is expected with 95 % confidence, by Wilson (1927).

    The interval assumes that games are won or lost. Draws, which count as half, make a share vary
    less than that, never more.
    """
    center = share + _Z**2 / (2 * games)
    spread = _Z * math.sqrt(share * (1 - share) / games + _Z**2 / (4 * games**2))
    low, high = ((center + sign * spread) / (1 + _Z**2 / games) for sign in (-1, 1))
    return low, high


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """Results of some games, of which those that were cut short are draws."""

    wins: int
    draws: int
    losses: int

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """Points per game: 1 for a win, 1/2 for a draw."""
        return (self.wins + self.draws / 2) / self.games

    def interval(self) -> tuple[float, float]:
        """Returns where the expected score lies with 95 % confidence, see `interval_of_share`."""
        return interval_of_share(self.score, self.games)

    def row(self) -> dict[str, float]:
        """Returns everything, for a table."""
        low, high = self.interval()
        counts = dataclasses.asdict(self)
        return counts | {"games": self.games, "score": self.score, "low": low, "high": high}


def evaluate(
    network,
    *,
    opponent: str | UciEngine = "random",
    games: int = 200,
    seed: int = 0,
    max_plies: int = 200,
    device: str = "cpu",
) -> Evaluation:
    """Plays `games` games side by side, as White and as Black in turns, one on each board.

    Actions are sampled as in training.

    Args:
        network: as `rungs.train.PolicyValueNetwork`, on `device`.
        opponent: as in `rungs.chess.ChessSettings`.
        games: how many, at least 2.
        seed: of the opponent and of the actions.
        max_plies: games are cut short there, as draws.
        device: where the network is.

    Raises:
        ConfigurationError: `games` is less than 2, or another argument is wrong.
        UnavailableError: there is no such device.
        EngineError: the engine failed.
        DivergedError: the network gives a probability that is not finite.
    """
    games = integer("games", games, 2, 2**20)
    policy = NetworkPolicy(network, seed=seed, device=device)
    settings: dict[str, Any] = {
        "opponent": opponent,
        "mask": "bits",
        "max_plies": max_plies,
        "seed": seed,
    }
    with contextlib.closing(rungs.make("chess", "cpp", games, **settings)) as env:
        observation, info = env.reset()
        result = np.full(games, np.nan, np.float32)
        while np.isnan(result).any():
            observation, reward, terminated, truncated, info = env.step(
                policy(observation, info["action_mask"])
            )
            first = (terminated | truncated) & np.isnan(result)
            result[first] = reward[first]
    return Evaluation(*(int((result == points).sum()) for points in (1, 0, -1)))


class NetworkPolicy:
    """A network that plays: from an environment's outputs to actions, as NumPy arrays.

    Args:
        network: as `rungs.train.LegalActionNetwork`, on `device`.
        seed: of the actions, 0 to 2^64 - 1.
        device: "cpu" or "cuda".

    Raises:
        ConfigurationError: a wrong seed or device.
        UnavailableError: there is no such device.
    """

    def __init__(self, network, *, seed: int, device: str = "cpu"):
        self._network, self._device = network, checked_device(device)
        seed = integer("seed", seed, 0, 2**64 - 1)
        self._generator = torch.Generator(self._device).manual_seed(seed)

    @torch.no_grad()
    def __call__(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Returns (N,) int64 actions for (N, 72) int8 observations and (N, 73) uint64 masks.

        A probability that is not finite is a DivergedError.
        """
        position, legal = (
            torch.from_numpy(array).to(self._device) for array in (observation, mask.view(np.int64))
        )
        actions, log_probabilities, _ = self._network(position, legal)
        choice = sampled(log_probabilities, self._generator)
        return actions.gather(1, choice[:, None]).squeeze(1).cpu().numpy()


class NetworkEvaluator:
    """A PyTorch network as an evaluator.

    Args:
        network: a `rungs.train.LegalActionNetwork`, whose `scores` is called.
        device: where it is.

    Raises:
        ConfigurationError: there is no such kind of device.
        UnavailableError: there is no such device.
    """

    def __init__(self, network: LegalActionNetwork, device: str = "cpu"):
        self._network, self._device = network, checked_device(device)

    def __call__(
        self, observation: np.ndarray, actions: np.ndarray, counts: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Evaluates leaves; see `rungs.search.Search.run`. Values are clipped to [-1, 1]."""
        with torch.inference_mode():
            position, lists, count = (
                torch.from_numpy(array).to(self._device) for array in (observation, actions, counts)
            )
            legal = from_lists(lists, count)
            scores, values = self._network.scores(position, legal)
            places = (legal.board, legal.place())
            logits = scores.new_zeros(lists.shape).index_put(places, scores)
            return logits.cpu().numpy(), values.clamp(-1, 1).cpu().numpy()
