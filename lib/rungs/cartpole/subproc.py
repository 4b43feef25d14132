"""Parallel Python for CartPole: Stable-Baselines3's SubprocVecEnv, a process per environment."""

import contextlib

import numpy as np
from gymnasium.vector import AutoresetMode

from rungs.cartpole.one_env import OneByOneEnv
from rungs.errors import ConfigurationError, UnavailableError, WorkerDiedError
from rungs.processes.workers import preload


class SubprocCartPoleEnv(OneByOneEnv):
    """Gymnasium's `CartPoleEnv` behind SubprocVecEnv, the first study's baseline.

    See `CartPoleVectorEnv` for arguments and outputs. `dtype` is "float64" and `autoreset_mode`
    SAME_STEP.

    Raises:
        ConfigurationError: another `dtype` or `autoreset_mode`.
        UnavailableError: Stable-Baselines3 is not installed.
        WorkerDiedError: a process died, then or in any later call.
    """

    def __init__(self, num_envs: int, **settings):
        super().__init__(num_envs, **settings)
        if self.autoreset_mode != AutoresetMode.SAME_STEP:
            raise ConfigurationError(
                f"autoreset_mode={self.autoreset_mode.name!r}: SubprocVecEnv's is 'SAME_STEP'"
            )
        try:
            from stable_baselines3.common.vec_env import SubprocVecEnv
        except ImportError:
            raise UnavailableError(
                "Stable-Baselines3 is not installed: pip install stable-baselines3"
            ) from None
        preload(SubprocVecEnv.__module__)  # imports PyTorch, which takes seconds
        self._envs = SubprocVecEnv(self._makers)
        self._arrays.episode -= 1  # so that the first is 0

    def close_extras(self, **kwargs) -> None:
        """Stops the processes (called by `close`)."""
        with contextlib.suppress(EOFError, OSError):
            self._envs.close()
        for process in self._envs.processes:
            process.kill()
            process.join()

    def _reset(self, which: np.ndarray | None, episode: int | None) -> None:
        for i in range(self.num_envs) if which is None else np.flatnonzero(which).tolist():
            number = int(self._arrays.episode[i] + 1) if episode is None else episode
            with self._naming_the_dead():
                (observation,) = self._envs.env_method("begin", self._seed, number, indices=i)
            self._arrays.episode[i] = number
            self._begun_at(i, observation)

    def _step(self, actions: np.ndarray) -> int:
        self._refuse_invalid(actions)
        out = self._outputs
        with self._naming_the_dead():
            out.observation[:], out.reward[:], out.ended[:], infos = self._envs.step(actions)
        for i, info in enumerate(infos):
            out.terminated[i], out.truncated[i] = info["terminated"], info["truncated"]
            if out.ended[i]:
                out.final_observation[i] = info["terminal_observation"]
                self._arrays.episode[i] += 1
        return int(out.ended.sum())

    def _dump(self) -> dict:
        with self._naming_the_dead():
            self._arrays.state[:] = np.stack(self._envs.get_attr("state"), axis=1)
            self._arrays.steps[:] = self._envs.get_attr("steps")
        return self._arrays.dump()

    def _load(self, arrays: dict) -> None:
        self._arrays.load(arrays)
        for i in range(self.num_envs):
            with self._naming_the_dead():
                number = int(self._arrays.episode[i])
                self._envs.env_method("begin", self._seed, number, indices=i)
                self._envs.set_attr("state", self._arrays.state[:, i].copy(), indices=i)
                self._envs.set_attr("steps", int(self._arrays.steps[i]), indices=i)

    @contextlib.contextmanager
    def _naming_the_dead(self):
        try:
            yield
        except (EOFError, OSError):
            dead = next((p for p in self._envs.processes if not p.is_alive()), None)
            worker = self._envs.processes.index(dead) if dead else 0
            self.close()
            why = f"(process {dead.pid}) died" if dead else "does not answer"
            raise WorkerDiedError(worker, why) from None
