"""Notebook 11: whole systems that learn, timed, and what limits them."""

import functools

import numpy as np
import pandas as pd
import pytest
import torch

import rungs
from rungs._src.train.network import PolicyValueNetwork
from rungs._src.train.settings import PpoSettings
from rungs_course.learners import torch_threads
from rungs_course.measure.cost import ONE_STEP, PARTS, operations
from rungs_course.notebooks import nb11_full_system as nb11
from rungs_course.notebooks import nb11_loops as loops


class TestNullEnv:
    def test_it_stays_where_a_real_one_began(self):
        null, real = (nb11.make(name, 8) for name in ("null", "cpp"))
        observation, info = null.reset(seed=3)
        expected, expected_info = nb11.in_play(real, 3)
        np.testing.assert_array_equal(observation, expected)
        rollout, steps = null.rollout(3)
        for out in steps * 2:
            observation, reward, terminated, truncated, info = null.step(np.zeros(8, int), out)
            np.testing.assert_array_equal(observation, expected)
            np.testing.assert_array_equal(info["action_mask"], expected_info["action_mask"])
            assert not reward.any()
            assert not (terminated | truncated).any()
        assert np.shares_memory(observation, rollout.observation)

    def test_it_goes_where_a_real_one_has_come_to(self):
        make = functools.partial(nb11.make_learner, num_envs=8, seed=0, settings=ONE_STEP)
        learners = {name: make(name) for name in ("cpp", "null")}
        nb11.race_learners(learners, repeats=2, warmup=0)
        real, null = (learner.rollout for learner in learners.values())
        # Its turn was the last one, after the other's.
        for name in ("observation", "mask"):
            for positions in getattr(null, name):
                np.testing.assert_array_equal(positions, getattr(real, name)[-1])
        assert not null.ended.any()


@pytest.mark.parametrize("warmup", [0, 1])
def test_learners_are_listed_in_the_order_given(warmup):
    times = nb11.race_cases(
        {name: (name, {}) for name in ("openmp", "cpp", "null")},
        8,
        settings=ONE_STEP,
        seed=0,
        repeats=2,
        warmup=warmup,
    )
    assert list(times["racer"].unique()) == ["openmp", "cpp", "null"]


def test_the_table_says_rates_gains_and_shares():
    seconds = {"torch": (1.0, 1.0, 2.0, 6.0), "cpp-bfloat16": (1.0, 0.0, 1.0, 0.5)}
    rows = [
        (name, repeat, 10, *part)
        for name, parts in seconds.items()
        for repeat in range(3)
        for part in zip(PARTS, parts, strict=True)
    ]
    times = pd.DataFrame(rows, columns=["racer", "repeat", "positions", "part", "seconds"])
    work = operations(PolicyValueNetwork())
    peaks = {"float32": 1000.0, "bfloat16": 4000.0}
    table = nb11.learners_table(times, PpoSettings(), peaks).set_index("learner")
    assert table["peak"].to_dict() == {"torch": "float32", "cpp-bfloat16": "bfloat16"}
    assert table["steps_per_second"].tolist() == pytest.approx([1.0, 4.0])
    assert table["gain"].tolist() == pytest.approx([1.0, 4.0])
    parts = table.loc["torch", ["generate", "infer", "backward"]]
    assert parts.tolist() == pytest.approx([1.0, 3.0, 6.0])
    update = work.update(PpoSettings())
    assert table["share"].tolist() == pytest.approx([update / 1000, 4 * update / 4000])
    shares = table.loc["cpp-bfloat16", ["infer_share", "learn_share"]]
    expected = [10 * work.infer / 1.0 / 4000, 10 * 2 * work.learn / 0.5 / 4000]
    assert shares.tolist() == pytest.approx(expected)
    assert nb11.learners_table(times, PpoSettings(), {})["share"].isna().all()


def test_time_to_a_share_of_wins():
    rows = [
        (name, seed, steps, steps / speed, wins, 10)
        for name, speed, last in (("torch", 1, 9), ("fast", 5, 8))
        for seed in (0, 1)
        for steps, wins in ((0, 0), (100, 5), (200, last + seed))
    ]
    names = ["learner", "seed", "steps", "seconds", "wins", "games"]
    slow, fast = nb11.time_to_wins(pd.DataFrame(rows, columns=names), 0.9).itertuples()
    assert (slow.learner, slow.seeds, slow.reached, slow.seconds) == ("torch", 2, 2, 200)
    assert (fast.reached, fast.steps, fast.seconds) == (1, 200, 40)
    assert fast.wins == pytest.approx(0.85)
    # Student's t of one degree of freedom, 12.706, times the mean's standard error, 0.05.
    assert fast.wins - fast.low == pytest.approx(12.7062 * 0.05, rel=1e-4)
    assert fast.high == 1  # a share


@pytest.mark.parametrize("agent_class", [loops.Masked, loops.Listed])
def test_cleanrls_loop_learns_from_legal_actions(agent_class):
    torch.manual_seed(0)
    agent = agent_class()
    env = rungs.make("chess", "cpp", 8, **nb11.GAMES | {"mask": agent.mask, "max_plies": 20})
    before = next(agent.parameters()).detach().clone()
    updates = loops.cleanrl(env, agent, PpoSettings(num_steps=4, num_minibatches=2), seed=1)
    with torch_threads(1):
        for _ in range(3):
            next(updates)  # an action that is not legal would raise
    assert not torch.equal(before, next(agent.parameters()))
