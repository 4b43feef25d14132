"""PPO on CartPole, by Stable-Baselines3, with our rungs and with its own environments."""

import functools
import hashlib
import math
import time
from collections.abc import Callable, Iterable
from typing import Any

import gymnasium
import numpy as np
import pandas as pd
from stable_baselines3 import PPO
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecEnv, VecEnvWrapper

from rungs.adapters.sb3 import CartPoleVecEnv
from rungs_course.learners import torch_threads

# PPO's settings by the number of environments: for few what RL Baselines3 Zoo found, with constant
# rates; for many, larger batches, each learnt from less often.
_COMMON = {"gae_lambda": 0.8, "gamma": 0.98, "clip_range": 0.2}
_FEW = {"n_steps": 32, "batch_size": 256, "n_epochs": 20, "learning_rate": 1e-3}
_MANY = {"n_steps": 16, "batch_size": 512, "n_epochs": 10, "learning_rate": 3e-3}
MANY = 64  # environments


def vec_env(rung: Any, num_envs: int, seed: int) -> VecEnv:
    """Makes CartPole-v1 as a vector environment of Stable-Baselines3: on a rung, or "DummyVecEnv"
    or "SubprocVecEnv" around Gymnasium's.
    """
    sb3_classes = {"DummyVecEnv": DummyVecEnv, "SubprocVecEnv": SubprocVecEnv}
    if rung not in sb3_classes:
        return CartPoleVecEnv(num_envs, rung, seed=seed)
    env = sb3_classes[rung]([_make] * num_envs)
    env.seed(seed)
    return env


def learn(
    make: Callable[[], VecEnv],
    *,
    seed: int,
    steps: int,
    evaluations: int,
    episodes: int,
    until: float = math.inf,
    **ppo: Any,
) -> pd.DataFrame:
    """Trains an agent, and plays it on Gymnasium's own CartPole after equal parts of the steps, and
    before the first; ends once its reward is `until`. `ppo` overrides PPO's settings.

    Returns a row per evaluation: `steps`, `seconds` of training until then, without evaluations,
    and `reward`, the mean of episodes.
    """
    with torch_threads(1):  # so small a network gains nothing from more
        env, judge = make(), DummyVecEnv([_make] * episodes)
        try:
            model, rows, seconds = _ppo(env, seed, **ppo), [], 0.0
            for part in range(evaluations + 1):
                if part:
                    start = time.perf_counter()
                    model.learn(steps // evaluations, reset_num_timesteps=False)
                    seconds += time.perf_counter() - start
                judge.seed(seed)
                reward, _ = evaluate_policy(model, judge, n_eval_episodes=episodes, warn=False)
                rows.append((model.num_timesteps, seconds, reward))
                if reward >= until:  # type: ignore[operator]  # a mean, as episodes are not listed
                    break
        finally:
            env.close()
            judge.close()
    return pd.DataFrame(rows, columns=["steps", "seconds", "reward"])


def learning(
    systems: dict[str, tuple[str, int]], seeds: int, *, seed: int = 0, **settings
) -> pd.DataFrame:
    """Trains on several systems (rung and number of environments of `vec_env`) with `seeds` seeds
    each, in turns.

    Returns as `learn`, with `system`, `seed` and `evaluation`, its number.
    """
    frames = []
    for number in range(seed, seed + seeds):
        for name, (rung, num_envs) in systems.items():
            make = functools.partial(vec_env, rung, num_envs, number)
            frame = learn(make, seed=number, **settings)
            frames.append(frame.assign(system=name, seed=number, evaluation=frame.index))
    return pd.concat(frames, ignore_index=True)


def train_on_rungs(names: Iterable[str], *, num_envs: int, seed: int, steps: int) -> pd.DataFrame:
    """Trains the same agent on one rung after the other, without evaluations.

    Returns a row per rung: `rung`; `seconds` of training, of which `stepping` are the
    environment's; and `agent`, a digest of the network's weights: the same where the same was
    learnt.
    """
    rows = []
    for rung in names:
        with torch_threads(1):  # so small a network gains nothing from more
            env = _Timed(vec_env(rung, num_envs, seed))
            try:
                model = _ppo(env, seed)
                start = time.perf_counter()
                model.learn(steps)
                seconds = time.perf_counter() - start
            finally:
                env.close()
        digest = hashlib.blake2b(digest_size=4)
        for weights in model.policy.state_dict().values():
            digest.update(weights.numpy().tobytes())
        rows.append((rung, seconds, env.seconds, digest.hexdigest()))
    return pd.DataFrame(rows, columns=["rung", "seconds", "stepping", "agent"])


def seconds_until(frame: pd.DataFrame, reward: float) -> pd.DataFrame:
    """Returns when agents of `learning` first reached a reward.

    A row per system: `system`, `reached` (seeds that did), `seeds`, and of those that did the
    medians of `steps` and `seconds`.
    """
    rows = []
    for system, group in frame.groupby("system", sort=False):
        firsts = group[group["reward"] >= reward].groupby("seed").first()
        medians = firsts[["steps", "seconds"]].median()
        rows.append((system, len(firsts), group["seed"].nunique(), *medians))
    return pd.DataFrame(rows, columns=["system", "reached", "seeds", "steps", "seconds"])


class _Timed(VecEnvWrapper):
    """Adds up the `seconds` that steps take."""

    def __init__(self, env: VecEnv):
        super().__init__(env)
        self.seconds = 0.0

    def reset(self) -> Any:
        return self.venv.reset()

    def step_async(self, actions: np.ndarray) -> None:
        self._start = time.perf_counter()
        self.venv.step_async(actions)

    def step_wait(self) -> Any:
        outcome = self.venv.step_wait()
        self.seconds += time.perf_counter() - self._start
        return outcome


def _ppo(env: VecEnv, seed: int, **changed: Any) -> PPO:
    settings: dict[str, Any] = _COMMON | (_MANY if env.num_envs >= MANY else _FEW) | changed
    return PPO("MlpPolicy", env, seed=seed, device="cpu", **settings)


def _make() -> gymnasium.Env:
    return gymnasium.make("CartPole-v1")
