"""The whole system, environment and learner: how fast it is, and which part of it says so."""

import functools
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from rungs._src.chess.boards.cpp import CppBoards
from rungs._src.chess.buffers import POSITION, Buffers
from rungs._src.chess.policy import random_actions
from rungs._src.chess.vector_env import ChessVectorEnv
from rungs._src.train.ppo import PARTS, Learner
from rungs._src.train.settings import PpoSettings
from rungs_course import peers
from rungs_course.learners import mask as learner_mask
from rungs_course.measure.quartiles import quartiles
from rungs_course.measure.turns import timed_rounds

GAMES = {"opponent": "random", "mask": "bits", "max_plies": 200}


class NullEnv(ChessVectorEnv):
    """An environment that costs nothing: however it is stepped, it stays where it is.

    Its outputs have the shapes and dtypes of a real one's, and hold what that gives `in_play`, or
    what `stay_at` was given. The first step that writes to some memory copies them there; later
    ones find them there.
    """

    def __init__(self, num_envs: int, **settings):
        super().__init__(num_envs, CppBoards, **settings)

    def reset(self, *, seed: int | None = None, options: dict | None = None):
        """See `ChessVectorEnv.reset`."""
        _, info = in_play(super(), seed)  # type: ignore[arg-type]  # as the env that it is
        for flag in ("reward", "terminated", "truncated", "ended", "reason"):
            getattr(self.boards.buffers, flag).fill(0)
        self._written: dict[int, Buffers] = {}
        return self.boards.buffers.observation, info

    def stay_at(self, env: ChessVectorEnv):
        """Takes over the positions of a real one as it stands.

        Returns:
            observation and info, as `reset` does.
        """
        for name in POSITION:
            getattr(self.boards.buffers, name)[:] = getattr(env.boards.buffers, name)
        for out in self._written.values():
            out.restore(vars(self.boards.buffers))
        return self.boards.buffers.observation, self._info()

    def step(self, actions, out: Buffers | None = None):
        """Does nothing; see `ChessVectorEnv.step`."""
        out = out or self.boards.buffers
        if id(out) not in self._written:
            out.restore(vars(self.boards.buffers))
            self._written[id(out)] = out
        info = {"action_mask": out.mask}
        return out.observation, out.reward, out.terminated, out.truncated, info


def in_play(env: ChessVectorEnv, seed: int | None):
    """Resets an environment and plays some steps at random, so that it is in the middle of games.

    Returns:
        observation and info, as they are then.
    """
    observation, info = env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    for _ in range(12):
        observation, *_, info = env.step(random_actions(info["action_mask"], rng))
    return observation, info


def make(name: str, num_envs: int, **settings) -> ChessVectorEnv:
    """Makes an environment to learn from: a rung, a peer, or "null", which costs nothing.

    Args:
        name: of it.
        num_envs: number of boards.
        **settings: of its own.

    Raises:
        UnavailableError: the peer is not installed.
    """
    if name == "null":
        return NullEnv(num_envs, **GAMES | settings)
    return peers.make(name, num_envs, **GAMES | settings)


def race_learners(learners: dict[str, Learner], *, repeats: int, warmup: int) -> pd.DataFrame:
    """Times updates of several learners, which take turns.

    What a network takes depends on how many actions are legal. So before each update of one with a
    `NullEnv`, untimed, that goes to where the first real one has come to.

    Args:
        learners: by name, one with a real environment among them.
        repeats: updates timed.
        warmup: updates made first, untimed.

    Returns:
        A row per learner, repeat and part: `racer`, `repeat`, `positions` (that an update learns
        from), `part` (of `rungs_course.measure.cost.PARTS`), `seconds`.
    """
    first = next(each for each in learners.values() if not isinstance(each.env, NullEnv))

    def learn(each: Learner) -> dict[str, float]:
        if isinstance(each.env, NullEnv):
            each.begin(*each.env.stay_at(first.env))
        return each.learn()

    racers = {name: functools.partial(learn, each) for name, each in learners.items()}
    rows = []
    for name, repeat, times in timed_rounds(racers, repeats=repeats, warmup=warmup):
        positions = learners[name].env.num_envs * learners[name].settings.num_steps
        rows += [(name, repeat, positions, part, times[part]) for part in PARTS]
    return pd.DataFrame(rows, columns=["racer", "repeat", "positions", "part", "seconds"])


def race_updates(
    max_boards: dict[str, int],
    shapes: Iterable[tuple[int, int]],
    *,
    seed: int,
    repeats: int,
    warmup: int,
    device: str = "cpu",
    learner: str = "torch",
) -> pd.DataFrame:
    """Times updates that go once through what was played on some boards for some steps.

    Args:
        max_boards: the largest number of boards, by name as of `make`.
        shapes: (boards, steps).
        seed: of games, weights and actions.
        repeats: updates timed.
        warmup: updates made first.
        device: where the network is.
        learner: how is learnt, of `rungs_course.learners`.

    Returns:
        As `race_learners`, with `num_envs` and `length` beside.
    """
    frames = []
    for num_envs, length in shapes:
        settings = PpoSettings(num_steps=length, update_epochs=1, num_minibatches=1)
        how: dict[str, Any] = {"settings": settings, "device": device, "learner": learner}
        learners = {
            name: make_learner(name, num_envs, seed, **how)
            for name in max_boards
            if num_envs <= max_boards[name]
        }
        frame = race_learners(learners, repeats=repeats, warmup=warmup)
        frames.append(frame.assign(num_envs=num_envs, length=length))
        for each in learners.values():
            each.env.close()
    return pd.concat(frames, ignore_index=True)


def against_null(updates: pd.DataFrame) -> pd.DataFrame:
    """Says how near training comes to what it would be with an environment that costs nothing.

    Args:
        updates: of `race_updates`, with the racer "null".

    Returns:
        A row per number of boards and other racer: `num_envs`, `racer`, `of_null` (the updates per
        second of it over those of "null", repeat by repeat, their median) and its quartiles `low`
        and `high`, and `generate`, the share of generating in an update's time.
    """
    wide = updates.pivot_table(
        index=["num_envs", "repeat"], columns="racer", values="seconds", aggfunc="sum"
    )
    share = (1 / wide.drop(columns="null")).mul(wide["null"], axis=0)
    groups = share.melt(ignore_index=False, value_name="of_null").dropna().reset_index()
    result = quartiles(groups.groupby(["num_envs", "racer"])["of_null"], "of_null")
    medians = updates.groupby(["num_envs", "racer", "part"])["seconds"].median().unstack()
    result["generate"] = medians["generate"] / medians.sum(axis=1)
    return result.reset_index()


def make_learner(
    name: str,
    num_envs: int,
    seed: int,
    *,
    rung: dict[str, Any] | None = None,
    learner: str = "torch",
    **how,
) -> Learner:
    """Makes a learner in the middle of games: all systems begin with the same positions.

    Args:
        name: of its environment, as of `make`.
        num_envs: number of boards.
        seed: of games, weights and actions.
        rung: settings of the rung's own.
        learner: how it learns, of `rungs_course.learners`.
        **how: of `Learner`.
    """
    env = make(name, num_envs, **(rung or {}), mask=learner_mask(learner))
    made = Learner(env, seed=seed, learner=learner, **how)
    made.begin(*(env.reset(seed=seed) if name == "null" else in_play(env, seed)))
    return made
