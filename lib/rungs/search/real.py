"""Functions of real numbers made of +, -, *, / and powers of two, as `cpp/search/numerics.hpp`.

Every processor rounds these operations alike, which libraries' exp and log are not bound to. So a
search is the same everywhere. Both are right to some 1e-15.
"""

import math

_LOG2E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10
_SHIFT = 6755399441055744.0  # 1.5 * 2^52: what is added to it is rounded to a whole number
_LEAST = -700.0
_EXP = [1.0 / math.factorial(n) for n in range(13, -1, -1)]
_LOG = [1.0 / n for n in range(21, 0, -2)]
_SQRT_HALF = math.sqrt(0.5)


def exp(x: float) -> float:
    """Returns e^x, for x up to 700; below -700 it is as at -700, which is some 1e-304."""
    x = max(x, _LEAST)
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
