"""Portable `exp` and `log`, and counter-based noise: the reference of `cpp/search/numerics.hpp`.

`exp` and `log` use only +, -, *, / and powers of two, which IEEE 754 defines to the last bit, so a
search gives the same numbers on every processor; the system's `exp` and `log` would not. Both have
a relative error of about 1e-15.
"""

import dataclasses
import itertools
import math

from rungs._src.core import philox
from rungs._src.core.philox import Purpose

_LOG2E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10
_SHIFT = 6755399441055744.0  # 1.5 * 2^52: adding it rounds to an integer
_MIN_EXPONENT = -700.0
_EXP = [1.0 / math.factorial(n) for n in range(13, -1, -1)]
_LOG = [1.0 / n for n in range(21, 0, -2)]
_SQRT_HALF = math.sqrt(0.5)


def exp(x: float) -> float:
    """Returns e^x for x <= 700; x below -700 counts as -700, where e^x is about 1e-304."""
    x = max(x, _MIN_EXPONENT)
    k = (x * _LOG2E + _SHIFT) - _SHIFT
    r = (x - k * _LN2_HIGH) - k * _LN2_LOW
    p = 0.0
    for coefficient in _EXP:
        p = p * r + coefficient
    return math.ldexp(p, int(k))


def log(x: float) -> float:
    """Returns the natural logarithm of a positive number."""
    m, e = math.frexp(x)
    if m < _SQRT_HALF:
        m, e = 2 * m, e - 1
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    p = 0.0
    for coefficient in _LOG:
        p = p * z + coefficient
    return e * _LN2_HIGH + (e * _LN2_LOW + 2.0 * s * p)


@dataclasses.dataclass(frozen=True)
class Draws:
    """Random numbers of a search by purpose; `episode` counts games with that index before."""

    seed: int
    game: int
    episode: int
    ply: int

    def uniform(self, purpose: Purpose, action: int, attempt: int) -> tuple[float, ...]:
        """Returns four uniform numbers in the open interval (0, 1)."""
        use = int(purpose) | action << 8 | attempt << 21
        words = philox.words(self.seed, self.game, self.episode, self.ply, use)  # type: ignore[arg-type]
        return tuple((word + 0.5) / 2.0**32 for word in words)

    def gumbel(self, action: int) -> float:
        return -log(-log(self.uniform(Purpose.SEARCH_NOISE, action, 0)[0]))

    def gamma(self, action: int, alpha: float) -> float:
        """Draws from Gamma(alpha, 1) (Marsaglia and Tsang, ACM TOMS 2000)."""
        d = (alpha + 1.0 if alpha < 1 else alpha) - 1.0 / 3.0
        c = 1.0 / math.sqrt(9.0 * d)
        for attempt in itertools.count():
            a, b, accept, boost = self.uniform(Purpose.SEARCH_NOISE, action, attempt)
            x, y = 2.0 * a - 1.0, 2.0 * b - 1.0
            square = x * x + y * y
            if square >= 1:  # Marsaglia's polar method
                continue
            normal = x * math.sqrt(-2.0 * log(square) / square)
            v = 1.0 + c * normal
            if v <= 0:
                continue
            v = v * v * v
            if log(accept) < normal * normal / 2.0 + d - d * v + d * log(v):
                return d * v * (exp(log(boost) / alpha) if alpha < 1 else 1.0)
        raise AssertionError("unreachable")

    def choice(self) -> float:
        """Draws the uniform number by which PUCT samples an action from the visits."""
        return self.uniform(Purpose.SEARCH_CHOICE, 0, 0)[0]
