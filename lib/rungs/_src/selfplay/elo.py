"""Ratings of players by all their results at once, with intervals.

The model is Bradley and Terry's (1952), in Elo's units: the expected score of one player against
another is 1 / (1 + 10 ** (-difference / 400)). A draw counts as half a win and half a loss. The
ratings maximise the likelihood of all results; only their differences mean something, so one
player's is set to 0.
"""

import math
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from rungs.errors import ConfigurationError

SCALE = math.log(10) / 400  # what a difference of one Elo point adds to the log of the odds
_Z = 1.959964  # 95 % of a normal distribution lies within this many standard deviations
_STEPS = 200


def expected(difference: float) -> float:
    """Returns the expected score of a player who is rated higher by `difference`."""
    return 1 / (1 + math.exp(-SCALE * difference))


def rate(
    results: Iterable[tuple[str, str, float]] | Mapping[tuple[str, str], tuple[float, float]],
    *,
    anchor: str,
    prior_draws: float = 2.0,
) -> pd.DataFrame:
    """Rates players by their results against each other.

    A player that has won everything would be rated infinitely high. So every player gets
    `prior_draws` additional draws, spread over its opponents like its games, as in BayesElo's prior
    (Coulom, 2008). With 0 the ratings are the maximum-likelihood ones.

    Intervals are those of a normal distribution whose covariance is the inverse of the
    log-likelihood's curvature. Draws make a score vary less than the model assumes, never more.

    Args:
        results: (player, opponent, points) of each game, with points 1, 1/2 or 0; or both players'
            points by their names, {("a", "b"): (3, 1)}.
        anchor: the player whose rating is 0.
        prior_draws: see above.

    Returns:
        A row per player, the best first: `player`, `elo`, `low` and `high` (95 %, of the difference
        to the anchor), `games`, `score` (points per game).

    Raises:
        ConfigurationError: a result is invalid, the anchor has not played, or the results don't
            determine a difference: no chain of games connects two players, or, with
            `prior_draws=0`, some never lost a point to the others. The message names them.
    """
    names, points = _points(results)
    if anchor not in names:
        raise ConfigurationError(f"anchor={anchor!r} has not played")
    games = points + points.T
    # The prior's draws between two players: half of them from each player's `prior_draws`.
    share = games / np.maximum(games.sum(axis=1, keepdims=True), 1e-300)
    prior = prior_draws / 2 * (share + share.T)
    won = points + prior / 2
    _check_connected(names, won)
    ratings, covariance = _fit(won, names.index(anchor))
    spread = _Z * np.sqrt(np.diag(covariance))
    table = pd.DataFrame({"player": names, "elo": ratings / SCALE})
    table["low"] = (ratings - spread) / SCALE
    table["high"] = (ratings + spread) / SCALE
    table["games"] = games.sum(axis=1).round().astype(int)
    table["score"] = points.sum(axis=1) / games.sum(axis=1)
    return table.sort_values("elo", ascending=False, ignore_index=True)


def _points(results) -> tuple[list[str], np.ndarray]:
    """Returns the players, and the points of each against each, (players, players)."""
    if isinstance(results, Mapping):
        pairs = [(a, b, *scored) for (a, b), scored in results.items()]
    else:
        pairs = [(a, b, won, 1 - won) for a, b, won in results]
    names = list(dict.fromkeys(name for a, b, *_ in pairs for name in (a, b)))
    points = np.zeros((len(names), len(names)))
    for a, b, won, lost in pairs:
        if a == b or not (0 <= won < math.inf and 0 <= lost < math.inf):
            raise ConfigurationError(f"{a!r} against {b!r}, {won} to {lost}, is not a result")
        points[names.index(a), names.index(b)] += won
        points[names.index(b), names.index(a)] += lost
    return names, points


def _check_connected(names: list[str], won: np.ndarray) -> None:
    """Rejects points, (P, P), for which a difference of ratings would be infinite (Ford, 1957)."""
    reach = (won > 0) | np.eye(len(names), dtype=bool)
    for _ in range(len(names).bit_length()):  # paths of twice the length each time
        reach = reach @ reach
    apart = np.argwhere(~reach)
    if len(apart):
        first, second = (names[i] for i in apart[0])
        raise ConfigurationError(
            f"nothing bounds how far {second!r} is above {first!r}: no chain of points from the "
            "one to the other"
        )


def _fit(won: np.ndarray, anchor: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns ratings, (P,), of most likelihood and their covariance, (P, P), in natural units."""
    free = np.arange(len(won)) != anchor
    games = won + won.T
    ratings = np.zeros(len(won))
    covariance = np.zeros_like(games)
    for _ in range(_STEPS):
        share = 1 / (1 + np.exp(ratings[None, :] - ratings[:, None]))
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
