import numpy as np


def step(state, action):
    """Returns the state of all carts a step later, (4, N), and which of them have fallen, (N,)."""
    x, x_dot, theta, theta_dot = state
    # The carts roll on, but nothing pushes them, and the poles don't know it.
    after = np.stack([x + 0.02 * x_dot, x_dot, theta, theta_dot])
    return after, np.abs(after[0]) > 2.4
