"""PPO on CartPole: what is learnt, by which clock, and how seeds are put together."""

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("stable_baselines3")
from rungs_course import nb13_ppo as cartpole


@pytest.mark.system
def test_an_agent_learns_and_is_played_on_gymnasiums():
    frame = cartpole.learn(
        lambda: cartpole.vec_env("cpp", 64, 1), seed=1, steps=40_960, evaluations=4, episodes=4
    )
    assert list(frame["steps"]) == [0, 10_240, 20_480, 30_720, 40_960]
    assert frame["seconds"].iloc[0] == 0
    assert frame["seconds"].is_monotonic_increasing
    assert frame["reward"].iloc[-1] > 3 * frame["reward"].iloc[0]


@pytest.mark.system
def test_every_system_has_every_seed():
    systems = {"ours": ("cpp", 8), "theirs": ("DummyVecEnv", 8), "numba": ("numba", 8)}
    frame = cartpole.learning(systems, 2, seed=5, steps=256, evaluations=1, episodes=1)
    assert set(frame.groupby("system")["seed"].unique().map(tuple)) == {(5, 6)}
    assert len(frame) == 3 * 2 * 2
    # The same bits on every rung: the same agent.
    ours, numba = (
        frame[frame["system"] == name].drop(columns=["system", "seconds"]).to_numpy()
        for name in ("ours", "numba")
    )
    np.testing.assert_array_equal(ours, numba)


@pytest.mark.system
def test_rungs_with_the_same_bits_train_the_same_agent():
    table = cartpole.train_on_rungs(["cpp", "torch", "DummyVecEnv"], num_envs=4, seed=1, steps=256)
    agents = table.set_index("rung")["agent"]
    assert agents["cpp"] == agents["torch"]
    assert agents["cpp"] != agents["DummyVecEnv"]  # other first states
    assert ((table["stepping"] > 0) & (table["stepping"] < table["seconds"])).all()


def table(rewards):
    rows = [
        ("a", seed, evaluation, 100 * evaluation, 2.0 * evaluation, reward)
        for seed, curve in enumerate(rewards)
        for evaluation, reward in enumerate(curve)
    ]
    columns = ["system", "seed", "evaluation", "steps", "seconds", "reward"]
    return pd.DataFrame(rows, columns=columns)


def test_seeds_have_a_mean_and_an_interval_of_students_t():
    means = cartpole.over_seeds(table([[1, 100], [2, 200], [3, 300]]))
    assert list(means["reward"]) == [2, 200]
    # 4.30265 standard errors of 100 / sqrt(3)
    assert means["high"].iloc[1] == pytest.approx(200 + 4.30265 * 100 / 3**0.5, rel=1e-4)
    assert means["low"].iloc[1] == pytest.approx(200 - 4.30265 * 100 / 3**0.5, rel=1e-4)
    assert cartpole.over_seeds(table([[1, 2]]))["low"].isna().all()


def test_a_reward_is_reached_when_it_first_is():
    (row,) = cartpole.seconds_until(table([[1, 480, 10], [1, 2, 500], [1, 1, 1]]), 475).itertuples()
    assert (row.reached, row.seeds, row.steps, row.seconds) == (2, 3, 150, 3.0)
