"""Vectorised CartPole-v1 in other projects, as their users step it: actions of 0 or 1."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode

import rungs
from rungs.devel import preload
from rungs_course.cartpole import register
from rungs_course.peers import imported
from rungs_course.peers.envpool import maker
from rungs_course.peers.peer import Peer

_ID = "CartPole-v1"


class CartPole(Peer):
    """A batch whose `step` returns Gymnasium's tuple; in NEXT_STEP a reset is a step of its own."""

    _env: Any  # which derived classes make

    def __init__(self, num_envs: int, threads: int = 1):
        super().__init__(num_envs, threads)
        self._ended = np.zeros(num_envs, np.bool_)
        self._resets = 0
        self._next_step = True

    def choose(self, rng: np.random.Generator) -> np.ndarray:
        return rng.integers(2, size=self.num_envs)

    def reset(self, seed: int) -> None:
        self._env.reset(seed=seed)

    def step(self, actions: np.ndarray) -> tuple:
        self._resets = int(self._ended.sum())
        outcome = self._env.step(actions)
        self._ended = outcome[2] | outcome[3]
        return outcome

    def close(self) -> None:
        """Frees what it holds: environments, processes."""
        self._env.close()

    def played(self) -> int:
        return self.num_envs - self._resets * self._next_step


class OurCartPole(CartPole):
    """A rung of ours.

    `threads` are those of `openmp`, of `threads` and of PyTorch on the CPU; `at_once` above one
    plays random steps, by `step_many`.
    """

    def __init__(
        self,
        num_envs: int,
        threads: int = 1,
        *,
        rung: Any = "cpp",
        at_once: int = 1,
        **settings,
    ):
        super().__init__(num_envs, threads)
        if rung in ("openmp", "threads"):
            settings["threads"] = threads
        register()  # in each process of a race
        self._env = rungs.make("cartpole", rung, num_envs, **settings)
        self._at_once = at_once
        self._compiled = settings.get("execution") == "compile"
        self._device = getattr(self._env, "device", None)
        if self._device:
            import torch  # takes seconds that others need not spend

            self._torch = torch
            torch.set_num_threads(threads)

    def choose(self, rng: np.random.Generator):
        if self._at_once > 1:
            return None
        if not self._device:
            return super().choose(rng)
        actions = self._torch.randint(2, (self.num_envs,), device=self._device)
        self._wait()
        return actions

    def step(self, actions) -> tuple:
        """See `CartPole`; waits for a GPU."""
        if self._at_once > 1:
            outcome: tuple = self._env.step_many(self._at_once)
        else:
            outcome = self._env.step(actions)
        self._wait()
        return outcome

    def _wait(self) -> None:
        if self._device and self._device.type == "cuda":
            self._torch.cuda.synchronize()

    def close(self) -> None:
        """See `CartPole`."""
        super().close()
        if self._compiled:
            self._torch.compiler.reset()  # it holds only a few compiled functions

    def played(self) -> int:
        return self.num_envs * self._at_once


class GymnasiumCartPole(CartPole):
    """Gymnasium's own, by a `mode` of `gymnasium.make_vec`."""

    def __init__(self, num_envs: int, threads: int = 1, *, mode: str):
        super().__init__(num_envs, threads)
        self._env = gymnasium.make_vec(_ID, num_envs, vectorization_mode=mode)
        self._next_step = self._env.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP


class Sb3CartPole(CartPole):
    """Stable-Baselines3's: `DummyVecEnv`, or `SubprocVecEnv`, a process per environment."""

    def __init__(self, num_envs: int, threads: int = 1, *, processes: bool):
        super().__init__(num_envs, threads)
        sb3 = imported("Stable-Baselines3", "stable_baselines3.common.vec_env")
        if processes:
            preload(sb3.SubprocVecEnv.__module__)  # imports PyTorch, which takes seconds
        makers = [lambda: gymnasium.make(_ID)] * num_envs
        self._env = sb3.SubprocVecEnv(makers) if processes else sb3.DummyVecEnv(makers)
        self._next_step = False

    def reset(self, seed: int) -> None:
        self._env.seed(seed)
        self._env.reset()

    def step(self, actions: np.ndarray) -> tuple:
        return self._env.step(actions)


class EnvPoolCartPole(CartPole):
    """EnvPool's CartPole."""

    def __init__(self, num_envs: int, threads: int = 1):
        super().__init__(num_envs, threads)
        self._make = maker(_ID, num_envs, threads)

    def reset(self, seed: int) -> None:
        self._env = self._make(seed)
        self._env.reset()
