import math

import numba
import numpy as np

MAX_THETA = math.radians(12)


@numba.njit(fastmath=True, error_model="numpy")
def step(state, action):
    """Returns the state of all carts a step later, (4, N), and which of them have fallen, (N,)."""
    after, fallen = np.empty_like(state), np.empty(len(action), np.bool_)
    for i in range(len(action)):
        x, x_dot, theta, theta_dot = state[0, i], state[1, i], state[2, i], state[3, i]
        # Angles are small, so short series are exact. A call would keep carts one after the other.
        z = theta * theta
        sin = 1 / 362880 - z / 39916800
        sin = theta * (1 - z * (1 / 6 - z * (1 / 120 - z * (1 / 5040 - z * sin))))
        cos = 1 / 40320 - z * (1 / 3628800 - z / 479001600)
        cos = 1 - z * (1 / 2 - z * (1 / 24 - z * (1 / 720 - z * cos)))
        force = 20.0 * action[i] - 10.0
        temp = (force + 0.05 * theta_dot * theta_dot * sin) * (1 / 1.1)
        theta_acc = (9.8 * sin - cos * temp) / (2 / 3 - 0.05 / 1.1 * cos * cos)
        x += 0.02 * x_dot
        theta += 0.02 * theta_dot
        after[0, i], after[1, i] = x, x_dot + 0.02 * (temp - 0.05 / 1.1 * theta_acc * cos)
        after[2, i], after[3, i] = theta, theta_dot + 0.02 * theta_acc
        fallen[i] = (abs(x) > 2.4) | (abs(theta) > MAX_THETA)
    return after, fallen
