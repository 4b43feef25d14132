"""Notebook 13: the tensor operations of CartPole's step, and PPO."""

import pandas as pd
import pytest

from rungs_course.notebooks import nb13_cartpole as nb13
from rungs_course.peers.cartpole import OurCartPole
from rungs_course.peers.race import Entry, race
from tests.course.notebooks import from_page


def test_operations_of_a_step_are_counted():
    counts = nb13.operations(3)
    assert counts["mul"] >= 10
    assert counts["div"] >= 1
    assert counts == nb13.operations(300)
    once, twice, thrice = (nb13.operations(3, workload=work).total() for work in (1, 2, 3))
    assert once == counts.total()
    assert 20 < twice - once == thrice - twice < once


def test_a_turning_point_is_where_the_lines_of_a_race_say():
    entry = Entry(OurCartPole, {"rung": "cpp"})
    rounds = {"steps": lambda num_envs: 2, "repeats": 3, "warmup": 1, "seed": 0}
    times = race({"cpp": entry}, [1, 16, 256], threads=1, **rounds)
    times["call"] = 2e-6 + 1e-8 * times["num_envs"]
    (row,) = from_page("13_cartpole")["turning_points"](times).itertuples()
    assert (row.fixed, row.each, row.turning) == pytest.approx((2e-6, 1e-8, 200))


class TestPpo:
    @pytest.fixture
    def ppo(self):
        pytest.importorskip("stable_baselines3")
        from rungs_course.notebooks import nb13_ppo

        return nb13_ppo

    def test_a_reward_is_reached_when_it_first_is(self, ppo):
        rows = [
            ("a", seed, 100 * evaluation, 2.0 * evaluation, reward)
            for seed, curve in enumerate([[1, 480, 10], [1, 2, 500], [1, 1, 1]])
            for evaluation, reward in enumerate(curve)
        ]
        table = pd.DataFrame(rows, columns=["system", "seed", "steps", "seconds", "reward"])
        (row,) = ppo.seconds_until(table, 475).itertuples()
        assert (row.reached, row.seeds, row.steps, row.seconds) == (2, 3, 150, 3.0)

    @pytest.mark.parametrize(("until", "evaluations"), [(0, [0]), (501, [0, 1, 2])])
    def test_training_ends_with_the_reward(self, ppo, until, evaluations):
        settings = {"steps": 64, "evaluations": 2, "episodes": 1, "n_steps": 8, "batch_size": 32}
        table = ppo.learning({"a": ("cpp", 4)}, 1, until=until, **settings)
        assert table["evaluation"].tolist() == evaluations
        assert table["steps"].tolist() == [32 * number for number in evaluations]

    @pytest.mark.system
    def test_rungs_with_the_same_bits_train_the_same_agent(self, ppo):
        names = ["cpp", "numba", "torch", "DummyVecEnv"]
        table = ppo.train_on_rungs(names, num_envs=4, seed=1, steps=256)
        agents = table.set_index("rung")["agent"]
        assert agents["cpp"] == agents["numba"] == agents["torch"]
        assert agents["cpp"] != agents["DummyVecEnv"]  # other first states
        assert ((table["stepping"] > 0) & (table["stepping"] < table["seconds"])).all()
