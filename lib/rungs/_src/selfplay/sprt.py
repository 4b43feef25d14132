"""Matches that end when they are decided: a sequential test over pairs of games."""

import dataclasses
import math
from typing import Final

import numpy as np

from rungs._src.core.arguments import real
from rungs._src.selfplay.elo import SCORES, Pairs, expected
from rungs.errors import ConfigurationError

_NEVER: Final = 1e-3  # pairs, in place of none: what has not occurred is rare, not impossible


@dataclasses.dataclass(frozen=True)
class Sprt:
    """A match that ends when it is decided: a sequential probability ratio test (Wald, 1945).

    It decides between two differences of Elo. Neither says how often pairs are drawn: a
    hypothesis is as likely as the likeliest spread of points with its mean, as on Fishtest
    (a generalized test).

    Attributes:
        elo0, elo1: what the first player's lead is by either hypothesis; `elo1` is larger.
        alpha: how often `elo1` may be accepted where `elo0` is true.
        beta: how often `elo0` may be accepted where `elo1` is true.
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        for name in ("elo0", "elo1"):
            real(name, getattr(self, name), -1000, 1000)
        for name in ("alpha", "beta"):
            real(name, getattr(self, name), 1e-6, 0.5)
        if self.elo0 >= self.elo1:
            raise ConfigurationError(f"elo0={self.elo0} is not less than elo1={self.elo1}")

    def log_ratio(self, match: Pairs) -> float:
        """Returns the logarithm of how many times as likely `elo1` makes a match as `elo0`."""
        counts = np.maximum(match.counts, _NEVER)
        shares = counts / counts.sum()
        likeliest0, likeliest1 = (
            _likeliest(shares, expected(elo)) for elo in (self.elo0, self.elo1)
        )
        return float(counts @ np.log(likeliest1 / likeliest0))

    def accepted(self, match: Pairs) -> float | None:
        """Returns which of `elo0` and `elo1` a match has decided for; None while it goes on."""
        log_ratio = self.log_ratio(match)
        if log_ratio >= math.log((1 - self.beta) / self.alpha):
            return self.elo1
        if log_ratio <= math.log(self.beta / (1 - self.alpha)):
            return self.elo0
        return None


def _likeliest(shares: np.ndarray, mean: float) -> np.ndarray:
    """Returns the distribution of `SCORES` with a mean that makes the shares likeliest.

    By Lagrange's multiplier t it is shares / (1 + t (score - mean)), with the t for which its mean
    is right: the error falls with t, so that bisection finds it.
    """
    gap = SCORES - mean
    low, high = -1 / gap[-1], -1 / gap[0]
    for _ in range(50):
        t = (low + high) / 2
        if (shares * gap / (1 + t * gap)).sum() > 0:
            low = t
        else:
            high = t
    return shares / (1 + t * gap)
