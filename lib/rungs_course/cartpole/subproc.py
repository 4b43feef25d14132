"""Parallel Python for CartPole: Stable-Baselines3's SubprocVecEnv, a process per environment."""

import contextlib
from collections.abc import Iterator
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from rungs.cartpole import CartPoleSettings
from rungs.devel import (
    TIMEOUT,
    Seed,
    end_if_unguarded,
    failure,
    limit,
    preload,
    seconds,
    stop,
)
from rungs.errors import ConfigurationError, RungsError, UnavailableError, install_hint
from rungs_course.cartpole.gymnasium import OneByOneCarts


class SubprocCarts(OneByOneCarts):
    """Gymnasium's `CartPoleEnv` behind SubprocVecEnv, with float64 and SAME_STEP.

    All processes are ended where one takes longer than `timeout` seconds (None: no limit) for a
    step, so that a suspended process can't block the environment for ever.
    """

    def __init__(
        self,
        num_envs: int,
        first_env: int,
        settings: CartPoleSettings,
        *,
        timeout: float | None = TIMEOUT,
    ):
        timeout = seconds("timeout", timeout)
        super().__init__(num_envs, first_env, settings)
        mode = settings.autoreset_mode
        if mode != AutoresetMode.SAME_STEP:
            raise ConfigurationError(
                f"autoreset_mode={mode.name!r}: SubprocVecEnv's is 'SAME_STEP'"
            )
        try:
            from stable_baselines3.common.vec_env import SubprocVecEnv
        except ImportError:
            raise UnavailableError(
                f"Stable-Baselines3 is not installed: {install_hint('sb3')}"
            ) from None
        end_if_unguarded()
        preload(SubprocVecEnv.__module__)  # imports PyTorch, which takes seconds
        self._dead: RungsError | None = None
        # In two steps, as we need to know its processes even where it fails.
        self._envs = SubprocVecEnv.__new__(SubprocVecEnv)
        with self._naming_the_dead():
            try:
                SubprocVecEnv.__init__(self._envs, [*self.makers])
            except (EOFError, OSError) as error:  # it asks the first process for its spaces
                raise failure(0, self._envs.processes[0], error, timeout) from None
        self._envs.remotes = [
            _Remote(worker, process, pipe, timeout)
            for worker, (process, pipe) in enumerate(
                zip(self._envs.processes, self._envs.remotes, strict=True)
            )
        ]
        self.episode -= 1  # so that the first is 0

    def close(self) -> None:
        """Stops the processes."""
        stop(self._envs.processes, self._envs.remotes)

    def reset(self, which: np.ndarray | None, seed: Seed, episode: int | None) -> None:
        self.seed = seed
        for i in range(self.num_envs) if which is None else np.flatnonzero(which).tolist():
            number = int(self.episode[i] + 1) if episode is None else episode
            with self._naming_the_dead():
                (observation,) = self._envs.env_method(
                    "begin", *self.seed_and_number_of(i), number, indices=i
                )
            self.episode[i] = number
            self.write_begun(i, observation)

    def step(self, actions: np.ndarray) -> int:
        actions = self.accepted(actions)
        out = self.outputs
        with self._naming_the_dead():
            out.observation[:], out.reward[:], out.ended[:], infos = self._envs.step(actions)
        for i, info in enumerate(infos):
            out.terminated[i], out.truncated[i] = info["terminated"], info["truncated"]
            if out.ended[i]:
                out.final_observation[i] = info["terminal_observation"]
                self.episode[i] += 1
        return int(out.ended.sum())

    def dump(self) -> dict:
        with self._naming_the_dead():
            self.state[:] = np.stack(self._envs.get_attr("state"), axis=1)
            self.steps[:] = self._envs.get_attr("steps")
        return super().dump()

    def load(self, arrays: dict, seed: Seed) -> None:
        super().load(arrays, seed)
        for i in range(self.num_envs):
            with self._naming_the_dead():
                number = int(self.episode[i])
                self._envs.env_method("begin", *self.seed_and_number_of(i), number, indices=i)
                self._envs.set_attr("state", self.state[:, i].copy(), indices=i)
                self._envs.set_attr("steps", int(self.steps[i]), indices=i)

    @contextlib.contextmanager
    def _naming_the_dead(self) -> Iterator[None]:
        if self._dead:
            raise self._dead
        try:
            yield
        except RungsError as error:
            self._dead = error
            self.close()
            raise


class _Remote:
    """Our end of SubprocVecEnv's pipe: with a timeout (s), and errors that name the process."""

    def __init__(self, worker: int, process: BaseProcess, pipe: Connection, timeout: float | None):
        limit(pipe, timeout)
        self._pipe, self._at, self._timeout = pipe, (worker, process), timeout
        self.close = pipe.close

    def send(self, message: Any) -> None:
        try:
            self._pipe.send(message)
        except OSError as error:
            raise failure(*self._at, error, self._timeout) from None

    def recv(self) -> Any:
        try:
            return self._pipe.recv()
        except (EOFError, OSError) as error:
            raise failure(*self._at, error, self._timeout) from None
