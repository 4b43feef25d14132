"""Values of positions, -1 for a loss to 1 for a win, as UCI reports them."""

import math
from typing import Final

# Lichess's formula of the expected result of centipawns, v = 2 / (1 + exp(-_SLOPE * cp)) - 1.
_SLOPE: Final = 0.00368208
_MOST: Final = 10_000  # which is a value of 1, to 16 digits


def centipawns(value: float) -> int:
    """Returns ln((1 + v) / (1 - v)) / 0.00368208, rounded, and at most 10,000 either way."""
    if abs(value) >= 1:
        return _MOST if value > 0 else -_MOST
    cp = math.log((1 + value) / (1 - value)) / _SLOPE
    return round(max(-_MOST, min(cp, _MOST)))


def permille(value: float) -> tuple[int, int, int]:
    """Returns wins, draws and losses of 1,000 games that have this value.

    A value does not tell how many games are drawn. They are counted as if the two halves of a
    point were won independently, each with probability p = (1 + v) / 2: p^2, 2 p (1 - p) and
    (1 - p)^2.
    """
    p = (1 + max(-1.0, min(value, 1.0))) / 2
    wins, losses = round(1000 * p * p), round(1000 * (1 - p) * (1 - p))
    return wins, 1000 - wins - losses, losses
