"""Factors between two measurements, with intervals that separate them from noise."""

import dataclasses
import math
from collections.abc import Iterable

import numpy as np
import scipy.special

from rungs.errors import ConfigurationError

MIN_REPEATS = 5  # repeats that give a spread
EQUAL = 0.1  # a factor whose whole interval is this close to 1 says that two are equal

# The most that an interval may miss, both sides together: as the extremes of five repeats do.
_MISSES = 1 / 16


@dataclasses.dataclass(frozen=True)
class Factor:
    """The ratio of two measurements."""

    middle: float  # median
    low: float  # bounds of at least 93.75 % confidence, given five repeats
    high: float
    repeats: int

    @property
    def judged(self) -> bool:
        """Whether there are enough repeats to judge noise, and their median is a number."""
        return self.repeats >= MIN_REPEATS and math.isfinite(self.middle)

    def beyond(self, value: float = 1.0) -> bool:
        """Returns whether it is larger or smaller than `value` beyond its noise."""
        return self.judged and not self.low <= value <= self.high

    def equals_within(self, value: float = 1.0) -> float | None:
        """Returns how far from `value` it is at most, as a share of it; None if that may be more
        than a tenth.
        """
        farthest = max(self.high / value - 1, 1 - self.low / value)
        return farthest if self.judged and farthest <= EQUAL else None

    def widened(self, lost: float) -> "Factor":
        """Returns the factor as it may be if one of the two alone lost a share of its time to other
        programs: its true time is then 1 - `lost` of the measured one.
        """
        kept = max(1 - lost, 0)
        high = self.high / kept if kept else math.inf
        return dataclasses.replace(self, low=self.low * kept, high=high)


def factor(ratios: Iterable[float]) -> Factor:
    """Returns the factor of two racers that took turns, from their ratios repeat by repeat."""
    ratios = np.asarray(list(ratios), float)
    low, high = interval(ratios)
    return Factor(float(np.median(ratios)), low, high, len(ratios))


def factor_apart(numerators: Iterable[float], denominators: Iterable[float]) -> Factor:
    """Returns the factor ours / theirs of two that took no turns: both have noise of their own."""
    numerators, denominators = (
        np.asarray(list(values), float) for values in (numerators, denominators)
    )
    (low, high), (least, most) = interval(numerators), interval(denominators)
    above = np.array([np.median(numerators), low, high])
    with np.errstate(divide="ignore", invalid="ignore"):  # of 0 seconds: then it is not judged
        middle, low, high = map(float, above / [np.median(denominators), most, least])
    return Factor(middle, low, high, min(len(numerators), len(denominators)))


def interval(values: Iterable[float]) -> tuple[float, float]:
    """Returns a confidence interval of the median, whatever the distribution.

    That k of n values lie on one side of their distribution's median is as likely as k heads in n
    throws of a coin. With fewer than five values it is from the least to the most.
    """
    values = np.sort(np.asarray(list(values), float))
    if not len(values):
        raise ConfigurationError("there are no repeats: they have no median")
    most = (len(values) - 1) // 2  # that may be left out on a side
    missed = 2 * scipy.special.bdtr(np.arange(most + 1), len(values), 0.5)
    left_out = max(0, int(np.searchsorted(missed, _MISSES, side="right")) - 1)
    return float(values[left_out]), float(values[-1 - left_out])
