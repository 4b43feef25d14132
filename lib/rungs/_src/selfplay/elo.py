"""Ratings of players by all their results at once, with intervals.

The model is Bradley and Terry's (1952), in Elo's units: the expected score of one player against
another is 1 / (1 + 10 ** (-difference / 400)). A draw counts as half a win and half a loss. The
ratings maximise the likelihood of all results; only their differences mean something, so some
player's is given.
"""

import dataclasses
import math
from collections.abc import Iterable, Mapping
from typing import Final, Self

import numpy as np
import pandas as pd

from rungs.errors import ConfigurationError

SCALE = math.log(10) / 400  # what a difference of one Elo point adds to the log of the odds
_Z = 1.959964  # 95 % of a normal distribution lies within this many standard deviations
_STEPS = 200
# Points a game in pairs of games with 0, 1/2, 1, 3/2 and 2 points.
SCORES: Final = np.arange(5) / 4


@dataclasses.dataclass(frozen=True)
class Pairs:
    """The result of a match in pairs of games, each an opening with both colours.

    The games of a pair depend on each other, as an opening that favours White favours each player
    once. So it is the spread of pairs' points that says how sure a result is.

    Attributes:
        counts: how many pairs gave the first player 0, 1/2, 1, 3/2 and 2 points.
    """

    counts: tuple[int, ...] = (0, 0, 0, 0, 0)

    @classmethod
    def of(cls, points: Iterable[float]) -> Self:
        """Counts pairs by the first player's points in each."""
        doubled = [round(2 * value) for value in points]
        return cls(tuple(np.bincount(doubled, minlength=5).tolist()))

    @property
    def games(self) -> int:
        return 2 * sum(self.counts)

    @property
    def points(self) -> float:
        """Points of the first player."""
        return 2 * float(np.dot(self.counts, SCORES))


def expected(difference: float) -> float:
    """Returns the expected score of a player who is rated higher by `difference`."""
    return 1 / (1 + math.exp(-SCALE * difference))


def rate(
    results: Iterable[tuple[str, str, float]]
    | Mapping[tuple[str, str], tuple[float, float]]
    | Mapping[tuple[str, str], Pairs],
    *,
    anchor: str | Mapping[str, float],
    prior_draws: float = 2.0,
) -> pd.DataFrame:
    """Rates players by their results against each other.

    A player that has won everything would be rated infinitely high. So every player gets
    `prior_draws` additional draws, spread over its opponents like its games, as in BayesElo's prior
    (Coulom, 2008). With 0 the ratings are the maximum-likelihood ones.

    Intervals are those of a normal distribution. Its covariance is the inverse of the
    log-likelihood's curvature where games are counted one by one, as if they were independent;
    draws make a score vary less than this assumes, never more. Where results are `Pairs`, it
    follows from the spread of the pairs' points instead (Huber, 1967); the prior's are then pairs,
    half of them won and half lost.

    Args:
        results: (player, opponent, points) of each game, with points 1, 1/2 or 0; or both players'
            points by their names, {("a", "b"): (3, 1)}; or their `Pairs`, of the first's points.
        anchor: the player whose rating is 0; or several players' ratings.
        prior_draws: see above.

    Returns:
        A row per player, the best first: `player`, `elo`, `low` and `high` (95 %, as if anchors
        were exact), `games`, `score` (points per game).

    Raises:
        ConfigurationError: a result is invalid, an anchor has not played, or the results don't
            determine a difference: no chain of games connects two players, or, with
            `prior_draws=0`, some never lost a point to the others. The message names them.
    """
    anchors = {anchor: 0.0} if isinstance(anchor, str) else anchor
    names, singles, pairs = _counted(results)
    for name in anchors:
        if name not in names:
            raise ConfigurationError(f"anchor={name!r} has not played")
    points = singles + 2 * pairs @ SCORES
    games = points + points.T
    # The prior's draws between two players: half of them from each player's `prior_draws`.
    share = games / np.maximum(games.sum(axis=1, keepdims=True), 1e-300)
    prior = prior_draws / 2 * (share + share.T)
    won = points + prior / 2
    fixed = SCALE * np.array([anchors.get(name, math.nan) for name in names])
    _check_connected(names, won, ~np.isnan(fixed))
    ratings, covariance = _fit(won, fixed)
    covariance = covariance @ _scatter(ratings, singles, pairs, prior) @ covariance
    spread = _Z * np.sqrt(np.diag(covariance))
    table = pd.DataFrame({"player": names, "elo": ratings / SCALE})
    table["low"] = (ratings - spread) / SCALE
    table["high"] = (ratings + spread) / SCALE
    table["games"] = games.sum(axis=1).round().astype(int)
    table["score"] = points.sum(axis=1) / games.sum(axis=1)
    return table.sort_values("elo", ascending=False, ignore_index=True)


def _counted(results) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Returns the players, the points of each against each in single games, (P, P), and how many
    pairs gave it which of `SCORES`, (P, P, 5).
    """
    if isinstance(results, Mapping):
        rows = [(*players, result) for players, result in results.items()]
    else:
        rows = [(a, b, (won, 1 - won)) for a, b, won in results]
    names = list(dict.fromkeys(name for a, b, _ in rows for name in (a, b)))
    singles = np.zeros((len(names), len(names)))
    pairs = np.zeros((*singles.shape, len(SCORES)))
    for a, b, result in rows:
        numbers = result.counts if isinstance(result, Pairs) else result
        if a == b or not all(0 <= number < math.inf for number in numbers):
            raise ConfigurationError(f"{a!r} against {b!r}, {numbers}, is not a result")
        i, j = names.index(a), names.index(b)
        if isinstance(result, Pairs):
            pairs[i, j] += numbers
            pairs[j, i] += numbers[::-1]
        else:
            singles[[i, j], [j, i]] += numbers
    return names, singles, pairs


def _check_connected(names: list[str], won: np.ndarray, fixed: np.ndarray) -> None:
    """Rejects points, (P, P), for which a difference of ratings would be infinite (Ford, 1957)."""
    reach = (won > 0) | np.outer(fixed, fixed) | np.eye(len(names), dtype=bool)
    for _ in range(len(names).bit_length()):  # paths of twice the length each time
        reach = reach @ reach
    apart = np.argwhere(~reach)
    if len(apart):
        first, second = (names[i] for i in apart[0])
        raise ConfigurationError(
            f"nothing bounds how far {second!r} is above {first!r}: no chain of points from the "
            "one to the other"
        )


def _fit(won: np.ndarray, fixed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns ratings, (P,), of most likelihood and their covariance, (P, P), in natural units;
    `fixed`, (P,), has ratings that are given, and NaN.
    """
    free = np.isnan(fixed)
    games = won + won.T
    ratings = np.where(free, np.nanmean(fixed), fixed)
    covariance = np.zeros_like(games)
    for _ in range(_STEPS):
        share = _shares(ratings)
        slope = (won - games * share).sum(axis=1)[free]
        weight = games * share * share.T
        curvature = (np.diag(weight.sum(axis=1)) - weight)[np.ix_(free, free)]
        step = np.linalg.solve(curvature, slope)
        # Far from the maximum a full step may overshoot: no rating moves by more than 1 at once.
        ratings[free] += step * min(1, 1 / max(np.abs(step).max(initial=0), 1e-300))
        if np.abs(step).max(initial=0) < 1e-10:
            break
    covariance[np.ix_(free, free)] = np.linalg.inv(curvature)
    return ratings, covariance


def _shares(ratings: np.ndarray) -> np.ndarray:
    """Returns the points a game that each player is expected to score against each, (P, P)."""
    return 1 / (1 + np.exp(ratings[None, :] - ratings[:, None]))


def _scatter(
    ratings: np.ndarray, singles: np.ndarray, pairs: np.ndarray, prior: np.ndarray
) -> np.ndarray:
    """Returns how much the log-likelihood's slope varies, (P, P): of single games as the model has
    it, which is the curvature, and of pairs as their points do.
    """
    share, paired = _shares(ratings), pairs.any(axis=2)
    variance = (singles + singles.T + np.where(paired, 0, prior)) * share * share.T
    won_or_lost = np.array([0.25, 0, 0, 0, 0.25])  # a draw of the prior is half a pair
    pairs = pairs + np.where(paired, prior, 0)[..., None] * won_or_lost
    variance += (pairs * (2 * (SCORES - share[..., None])) ** 2).sum(axis=2)
    return np.diag(variance.sum(axis=1)) - variance
