import math

from numba import cuda


@cuda.jit(device=True)
def advance(x, x_dot, theta, theta_dot, right):
    """Returns a cart's four numbers a step later, pushed right or left."""
    sin, cos = math.sin(theta), math.cos(theta)
    temp = ((10.0 if right else -10.0) + 0.05 * theta_dot * theta_dot * sin) / 1.1
    theta_acc = (9.8 * sin - cos * temp) / (0.5 * (4 / 3 - 0.1 * cos * cos / 1.1))
    x_acc = temp - 0.05 * theta_acc * cos / 1.1
    return (
        x + 0.02 * x_dot,
        x_dot + 0.02 * x_acc,
        theta + 0.02 * theta_dot,
        theta_dot + 0.02 * theta_acc,
    )


@cuda.jit(device=True)
def fallen(x, theta):
    """Returns whether a cart has left the track, or its pole leans too far."""
    return abs(x) > 2.4 or abs(theta) > math.radians(12)


@cuda.jit
def play(state, action, lasted):
    """Plays T steps of N carts, a thread each: state (4, N), action (T, N), lasted (N,)."""
    i = cuda.grid(1)
    if i >= lasted.size:
        return
    lasted[i] = 0
    for step in range(action.shape[0]):
        if fallen(state[0, i], state[2, i]):
            return
        after = advance(state[0, i], state[1, i], state[2, i], state[3, i], action[step, i])
        state[0, i], state[1, i], state[2, i], state[3, i] = after
        lasted[i] += 1
