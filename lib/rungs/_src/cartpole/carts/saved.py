"""Carts out of saved states, which are refused where no episode leads to them."""

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import DTypeLike

from rungs._src.cartpole.physics import MOST_THETA, MOST_X, SECONDS
from rungs._src.cartpole.settings import CartPoleSettings
from rungs.errors import InvalidStateError


def saved_arrays(
    payload: bytes, num_envs: int, settings: CartPoleSettings
) -> dict[str, np.ndarray]:
    """Returns what `rungs._src.cartpole.carts.carts.Carts.dump` gave.

    Args:
        payload: the arrays' bytes, one after the other.
        num_envs: how many carts, N.
        settings: theirs.

    Raises:
        InvalidStateError: no episode leads to it; the message names an environment.
    """
    kinds: dict[str, tuple[int, DTypeLike]] = {
        "state": (4, settings.dtype),
        "steps": (1, np.int32),
        "episode": (1, np.uint32),
        "ended": (1, np.uint8),
    }
    size = sum(rows * num_envs * np.dtype(dtype).itemsize for rows, dtype in kinds.values())
    if len(payload) != size:
        raise InvalidStateError(f"the state holds {len(payload)} bytes of carts, not {size}")
    arrays, at = {}, 0
    for name, (rows, dtype) in kinds.items():
        array = np.frombuffer(payload, dtype, rows * num_envs, at)
        arrays[name], at = array.reshape(rows, num_envs), at + array.nbytes
    state, (steps,), (episode,), (ended,) = arrays.values()
    x, x_dot, theta, theta_dot = np.abs(state)
    real = state.dtype.type
    over = (x > real(MOST_X)) | (theta > real(MOST_THETA)) | (steps >= settings.max_episode_steps)
    _refuse("a number that is none", ~np.isfinite(state).all(axis=0))
    # What stood within its limits a step ago was no faster than from one to the other, and a push
    # adds a hundredth of that; so it is no further beyond them either than that speed takes it.
    for place, speed, limit in ((x, x_dot, MOST_X), (theta, theta_dot, MOST_THETA)):
        _refuse("a speed that no cart reaches", speed > real(2 * 2 * limit / SECONDS))
        _refuse("a place that no cart reaches", place > real(limit + 2 * 2 * limit))
    _refuse("a number of steps below 0", steps < 0)
    _refuse("a flag that is neither 0 nor 1", ended > 1)
    if settings.autoreset_mode == AutoresetMode.SAME_STEP:
        _refuse("an episode that is over, where the next begins at once", over)
    else:
        _refuse("an episode that is over and goes on, or has ended and is not over", over != ended)
    return {"state": state, "steps": steps, "episode": episode, "ended": ended.view(np.bool_)}


def _refuse(what: str, wrong: np.ndarray) -> None:
    if wrong.any():
        raise InvalidStateError(f"environment {int(wrong.argmax())} of the state has {what}")
