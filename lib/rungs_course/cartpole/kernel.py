"""CartPole as CUDA kernels, a thread for each environment, compiled by Numba.

Where `NUMBA_ENABLE_CUDASIM=1` is set before Numba is imported, its simulator runs the same code.
"""

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numba import config, cuda

from rungs.devel import FORCE, SECONDS, Physics, Purpose, philox, physics

SIMULATED = bool(config.ENABLE_CUDASIM)

_REALS: dict[int, type[Any]] = {4: np.float32, 8: np.float64}
_START, _ACTION = int(Purpose.CARTPOLE_START), int(Purpose.CARTPOLE_ACTION)

_on_device = cuda.jit(device=True)
_words = _on_device(philox.words)


@_on_device
def _random_word(seed, env, actions_drawn):
    """Returns the 32 random actions that action number `actions_drawn` is one of, as bits."""
    first, second, third, fourth = _words(seed, env, actions_drawn // 128, 0, _ACTION)
    part = actions_drawn // 32 % 4
    if part < 2:
        return second if part else first
    return fourth if part == 3 else third


def _product(itemsize: int) -> Callable:
    """Returns a multiplication that the compiler doesn't fuse with the sum that follows."""
    if SIMULATED:
        return operator.mul
    from numba.cuda import libdevice

    rounded = libdevice.fmul_rn if itemsize == 4 else libdevice.dmul_rn
    return _on_device(lambda a, b: rounded(a, b))


def _physics(itemsize: int) -> Physics:
    return physics(itemsize, real=_REALS[itemsize], product=_product(itemsize), compiled=_on_device)


def source(itemsize: int, mode: AutoresetMode, random_actions: bool, many: bool) -> Callable:
    """Returns the kernel in Python, for one kind of batch.

    With `random_actions` it draws the actions; with `many` it takes several steps and adds up
    rewards and ends.
    """
    real, advance, fallen = _REALS[itemsize], *_physics(itemsize)[:2]
    start_of = _physics(8).start
    force = real(FORCE)
    same_step, next_step = mode == AutoresetMode.SAME_STEP, mode == AutoresetMode.NEXT_STEP

    @_on_device
    def begin(seed, env, episode):
        a, b, c, d = _words(seed, env, episode, 0, _START)
        return (
            real(start_of(float(a))),
            real(start_of(float(b))),
            real(start_of(float(c))),
            real(start_of(float(d))),
        )

    def kernel(
        seed,
        seeds,  # each environment's; of length 0 where all have `seed`
        first_env,
        max_steps,
        workload,
        count,
        actions_drawn,
        actions,
        state,
        steps,
        episode,
        observation,
        reward,
        terminated,
        truncated,
        ended,
        final_observation,
        rewards,
        ends,
    ):
        i = cuda.grid(1)
        if i >= steps.shape[0]:
            return
        key, env = seed, first_env + i
        if seeds.shape[0]:
            key, env = int(seeds[i]), 0
        x, x_dot, theta, theta_dot = state[0, i], state[1, i], state[2, i], state[3, i]
        age, over = steps[i], next_step and ended[i]
        down, late, resets, total, number = False, False, False, 0, 0
        word, tau = 0, real(SECONDS / workload)
        for step in range(count):
            if random_actions:
                if step == 0 or (actions_drawn + step) % 32 == 0:
                    word = _random_word(key, env, actions_drawn + step)
                right = word >> (actions_drawn + step) % 32 & 1
            else:
                right = actions[step, i]
            resets = next_step and over
            if resets:
                episode[i] += 1
                x, x_dot, theta, theta_dot = begin(key, env, int(episode[i]))
                age, down, late = 0, False, False
            else:
                push = force if right else -force
                for _ in range(workload):
                    x, x_dot, theta, theta_dot = advance(x, x_dot, theta, theta_dot, push, tau)
                age += 1
                down, late = fallen(x, theta), age >= max_steps
            over = down or late
            if same_step and over:
                final_observation[0, i], final_observation[1, i] = x, x_dot
                final_observation[2, i], final_observation[3, i] = theta, theta_dot
                episode[i] += 1
                x, x_dot, theta, theta_dot = begin(key, env, int(episode[i]))
                age = 0
            if many:
                total += 0 if resets else 1
                number += 1 if over else 0
        state[0, i], state[1, i], state[2, i], state[3, i] = x, x_dot, theta, theta_dot
        observation[0, i], observation[1, i] = x, x_dot
        observation[2, i], observation[3, i] = theta, theta_dot
        steps[i], reward[i] = age, 0 if resets else 1
        terminated[i], truncated[i], ended[i] = down, late, over
        if many:
            rewards[i], ends[i] = total, number

    return kernel


@functools.cache
def compiled(
    itemsize: int,
    mode: AutoresetMode,
    random_actions: bool,
    many: bool,
    threads_per_block: int,
) -> Any:
    """Returns the kernel of `source`, to be launched in blocks of `threads_per_block`."""
    kernel = source(itemsize, mode, random_actions, many)
    if SIMULATED:
        return cuda.jit(kernel)
    from numba.cuda.core import config as cuda_config

    cuda_config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # a small grid is no mistake here
    # Without link-time optimisation, so that the code that tests read is the code that runs.
    return cuda.jit(launch_bounds=threads_per_block, lto=False)(kernel)
