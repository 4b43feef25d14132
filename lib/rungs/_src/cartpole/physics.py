"""The physics of Gymnasium's CartPole-v1 for Python and Numba, as `cpp/cartpole/physics.hpp`."""

import math
import operator
from collections.abc import Callable
from typing import NamedTuple

GRAVITY, MASS_OF_CART, MASS_OF_POLE = 9.8, 1.0, 0.1
MASS = MASS_OF_POLE + MASS_OF_CART
LENGTH = 0.5  # half the pole's, metres
MASS_LENGTH = MASS_OF_POLE * LENGTH
FORCE = 10.0  # newtons, to either side
SECONDS = 0.02  # per step
MAX_X = 2.4  # metres from the middle
MAX_THETA = 12 * 2 * math.pi / 360  # radians from upright

# Where an episode starts: all four within this, either way.
START = 0.05

_SINE = (-1 / 6, 1 / 120, -1 / 5040, 1 / 362880, -1 / 39916800)
_COSINE = (-1 / 2, 1 / 24, -1 / 720, 1 / 40320, -1 / 3628800)

# The number of terms of a series, by the bytes of a number.
_TERMS = {4: 3, 8: 5}


class Physics(NamedTuple):
    """The physics in one precision: functions of numbers, or of arrays of them."""

    # (x, x_dot, theta, theta_dot, force, tau) -> the state `tau` seconds later, in metres, radians
    # from upright (about within `MAX_THETA`), seconds and newtons.
    advance: Callable
    fallen: Callable  # (x, theta) -> whether the cart has left the rail or the pole leans too far
    start: Callable  # 32 random bits, as a float64 -> a number of an episode's first state
    sine: Callable  # of a small angle, in radians
    cosine: Callable


def physics(
    itemsize: int = 8,
    *,
    real: Callable = float,
    product: Callable = operator.mul,
    compiled: Callable = lambda function: function,
) -> Physics:
    """Makes the physics of numbers of `itemsize` bytes, 4 or 8.

    `real` makes a constant of that precision (a float takes that of the arrays it meets), `product`
    multiplies where a sum follows and is never fused with it, and `compiled` wraps each function.
    """
    terms = _TERMS[itemsize]
    last_sine, *sine_terms = map(real, reversed(_SINE[:terms]))
    last_cosine, *cosine_terms = map(real, reversed(_COSINE[:terms]))
    sines, cosines = tuple(sine_terms), tuple(cosine_terms)  # which Numba can compile
    one, four_thirds, length = map(real, (1, 4 / 3, LENGTH))
    gravity, mass_of_pole, mass_length = map(real, (GRAVITY, MASS_OF_POLE, MASS_LENGTH))
    per_mass, max_x, max_theta = map(real, (1 / MASS, MAX_X, MAX_THETA))

    @compiled
    def sine(angle):
        z = angle * angle
        total = last_sine
        for term in sines:
            total = product(total, z) + term
        return angle + product(angle * z, total)

    @compiled
    def cosine(angle):
        z = angle * angle
        total = last_cosine
        for term in cosines:
            total = product(total, z) + term
        return one + product(z, total)

    @compiled
    def advance(x, x_dot, theta, theta_dot, force, tau):
        sin, cos = sine(theta), cosine(theta)
        pushed = force + product(mass_length * (theta_dot * theta_dot), sin)
        temp = product(pushed, per_mass)
        theta_acc = (product(gravity, sin) - product(cos, temp)) / (
            length * (four_thirds - product(mass_of_pole * (cos * cos), per_mass))
        )
        x_acc = temp - product(mass_length * theta_acc * cos, per_mass)
        return (
            x + product(tau, x_dot),
            x_dot + product(tau, x_acc),
            theta + product(tau, theta_dot),
            theta_dot + product(tau, theta_acc),
        )

    @compiled
    def fallen(x, theta):
        return (x < -max_x) | (x > max_x) | (theta < -max_theta) | (theta > max_theta)

    @compiled
    def start(word):
        return product(2 * START, word * 2.0**-32) - START

    return Physics(advance, fallen, start, sine, cosine)
