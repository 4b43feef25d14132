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
    # What a thread alone needs stays in its registers; memory is asked for actions only.
    x, x_dot, theta, theta_dot = state[0, i], state[1, i], state[2, i], state[3, i]
    steps = 0
    while steps < action.shape[0] and not fallen(x, theta):
        x, x_dot, theta, theta_dot = advance(x, x_dot, theta, theta_dot, action[steps, i])
        steps += 1
    state[0, i], state[1, i], state[2, i], state[3, i] = x, x_dot, theta, theta_dot
    lasted[i] = steps
