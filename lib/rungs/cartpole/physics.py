"""Gymnasium's CartPole-v1, line by line as `cpp/cartpole/physics.hpp`, for arrays and tensors.

In double precision both give the same bits. Products are never fused with sums.
"""

import dataclasses
import math

GRAVITY, MASS_OF_CART, MASS_OF_POLE = 9.8, 1.0, 0.1
MASS = MASS_OF_POLE + MASS_OF_CART
LENGTH = 0.5  # half the pole's, metres
MASS_LENGTH = MASS_OF_POLE * LENGTH
FORCE = 10.0  # newtons, to either side
SECONDS = 0.02  # per step
MOST_X = 2.4  # metres from the middle
MOST_THETA = 12 * 2 * math.pi / 360  # radians from upright

# Where an episode starts: all four within this, either way.
START = 0.05

_SINE = (-1 / 6, 1 / 120, -1 / 5040, 1 / 362880, -1 / 39916800)
_COSINE = (-1 / 2, 1 / 24, -1 / 720, 1 / 40320, -1 / 3628800)

# How many terms of a series count, by the bytes of a number.
_TERMS = {4: 3, 8: 5}


@dataclasses.dataclass(frozen=True)
class Physics:
    """The physics in one precision.

    Attributes:
        itemsize: bytes of a number, 4 or 8.
        mass: `MASS`. A tensor on the device where states are on a GPU: PyTorch would multiply by
            the reciprocal of a number, and round otherwise.
    """

    itemsize: int = 8
    mass: object = MASS

    def advance(self, x, x_dot, theta, theta_dot, force) -> tuple:
        """The state a step later, (x, x_dot, theta, theta_dot), under a force on the cart.

        Args:
            x: (N,), metres; all others likewise.
            x_dot: metres per second.
            theta: radians from upright, within `MOST_THETA`.
            theta_dot: radians per second.
            force: newtons.
        """
        sin, cos = self.sine(theta), self.cosine(theta)
        temp = (force + MASS_LENGTH * (theta_dot * theta_dot) * sin) / self.mass
        theta_acc = (GRAVITY * sin - cos * temp) / (
            LENGTH * (4.0 / 3.0 - MASS_OF_POLE * (cos * cos) / self.mass)
        )
        x_acc = temp - MASS_LENGTH * theta_acc * cos / self.mass
        return (
            x + SECONDS * x_dot,
            x_dot + SECONDS * x_acc,
            theta + SECONDS * theta_dot,
            theta_dot + SECONDS * theta_acc,
        )

    def sine(self, angle):
        """The sine of small angles, radians."""
        z = angle * angle
        return angle + angle * z * self._series(_SINE, z)

    def cosine(self, angle):
        """The cosine of small angles, radians."""
        z = angle * angle
        return 1.0 + z * self._series(_COSINE, z)

    def _series(self, terms: tuple, z):
        *lower, total = terms[: _TERMS[self.itemsize]]
        for term in reversed(lower):
            total = total * z + term
        return total


def fallen(x, theta):
    """Where the cart has left the rail or the pole leans too far."""
    return (x < -MOST_X) | (x > MOST_X) | (theta < -MOST_THETA) | (theta > MOST_THETA)
