"""Parallel Python for CartPole: Stable-Baselines3's SubprocVecEnv, a process per environment."""

import contextlib

import numpy as np
from gymnasium.vector import AutoresetMode

from rungs.cartpole.carts.one_by_one import OneByOneCarts
from rungs.cartpole.settings import CartPoleSettings
from rungs.errors import ConfigurationError, UnavailableError, WorkerDiedError
from rungs.processes.workers import preload


class SubprocCarts(OneByOneCarts):
    """Gymnasium's `CartPoleEnv` behind SubprocVecEnv, the first study's baseline.

    See `Carts` for arguments. `dtype` is "float64" and `autoreset_mode` SAME_STEP.

    Raises:
        ConfigurationError: another `dtype` or `autoreset_mode`.
        UnavailableError: Stable-Baselines3 is not installed.
        WorkerDiedError: a process died, then or in any later call.
    """

    def __init__(self, num_envs: int, first_env: int, settings: CartPoleSettings):
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
                "Stable-Baselines3 is not installed: pip install stable-baselines3"
            ) from None
        preload(SubprocVecEnv.__module__)  # imports PyTorch, which takes seconds
        self._envs = SubprocVecEnv(self.makers)
        self.arrays.episode -= 1  # so that the first is 0
        self._dead: WorkerDiedError | None = None

    def close(self) -> None:
        """Stops the processes."""
        with contextlib.suppress(EOFError, OSError):
            self._envs.close()
        for process in self._envs.processes:
            process.kill()
            process.join()

    def reset(self, which: np.ndarray | None, seed: int, episode: int | None) -> None:
        self.seed = seed
        for i in range(self.num_envs) if which is None else np.flatnonzero(which).tolist():
            number = int(self.arrays.episode[i] + 1) if episode is None else episode
            with self._naming_the_dead():
                (observation,) = self._envs.env_method("begin", self.seed, number, indices=i)
            self.arrays.episode[i] = number
            self.begun_at(i, observation)

    def step(self, actions: np.ndarray) -> int:
        actions = self.accepted(actions)
        out = self.outputs
        with self._naming_the_dead():
            out.observation[:], out.reward[:], out.ended[:], infos = self._envs.step(actions)
        for i, info in enumerate(infos):
            out.terminated[i], out.truncated[i] = info["terminated"], info["truncated"]
            if out.ended[i]:
                out.final_observation[i] = info["terminal_observation"]
                self.arrays.episode[i] += 1
        return int(out.ended.sum())

    def dump(self) -> dict:
        with self._naming_the_dead():
            self.arrays.state[:] = np.stack(self._envs.get_attr("state"), axis=1)
            self.arrays.steps[:] = self._envs.get_attr("steps")
        return self.arrays.dump()

    def load(self, arrays: dict, seed: int) -> None:
        self.seed = seed
        self.arrays.load(arrays)
        for i in range(self.num_envs):
            with self._naming_the_dead():
                number = int(self.arrays.episode[i])
                self._envs.env_method("begin", self.seed, number, indices=i)
                self._envs.set_attr("state", self.arrays.state[:, i].copy(), indices=i)
                self._envs.set_attr("steps", int(self.arrays.steps[i]), indices=i)

    @contextlib.contextmanager
    def _naming_the_dead(self):
        if self._dead:
            raise self._dead
        try:
            yield
        except (EOFError, OSError):
            dead = next((p for p in self._envs.processes if not p.is_alive()), None)
            worker = self._envs.processes.index(dead) if dead else 0
            self.close()
            why = f"(process {dead.pid}) died" if dead else "does not answer"
            self._dead = WorkerDiedError(worker, why)
            raise self._dead from None
