import math

import numpy as np


def step(state, action):
    """Returns the state of all carts a step later, (4, N), and which of them have fallen, (N,)."""
    after, fallen = np.empty_like(state), np.empty(len(action), bool)
    for i in range(len(action)):
        x, x_dot, theta, theta_dot = state[:, i]
        force = 10.0 if action[i] == 1 else -10.0
        sin, cos = math.sin(theta), math.cos(theta)
        temp = (force + 0.05 * theta_dot * theta_dot * sin) / 1.1
        theta_acc = (9.8 * sin - cos * temp) / (0.5 * (4 / 3 - 0.1 * cos * cos / 1.1))
        x_acc = temp - 0.05 * theta_acc * cos / 1.1
        x, theta = x + 0.02 * x_dot, theta + 0.02 * theta_dot
        after[:, i] = x, x_dot + 0.02 * x_acc, theta, theta_dot + 0.02 * theta_acc
        fallen[i] = abs(x) > 2.4 or abs(theta) > math.radians(12)
    return after, fallen
