"""What a message takes: a latency, and its bytes over a bandwidth; and the fit of such sums."""

from typing import NamedTuple

import numpy as np
import scipy.optimize


class Link(NamedTuple):
    """A connection between processes."""

    latency: float  # seconds that a message takes, however short it is
    bandwidth: float  # bytes per second that a process sends while it receives as many


def fit(terms, seconds) -> np.ndarray:
    """Fits the coefficients, none below 0, of two terms whose sum is some times; (2,) float64.

    Least squares of relative errors, so that a microsecond counts where there are few.
    """
    scaled = np.asarray(terms, float) / np.asarray(seconds, float)[:, None]
    best, _ = scipy.optimize.nnls(scaled, np.ones(len(scaled)))
    return best
