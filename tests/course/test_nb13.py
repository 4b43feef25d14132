"""Notebook 13: CartPole's experiments: sameness before times, turning points, and PPO."""

import numpy as np
import pandas as pd
import pytest

from rungs._src.cartpole.carts.carts import CartPoleSettings
from rungs._src.cartpole.carts.cpp import CppCarts
from rungs.errors import MismatchError
from rungs_course.machine.topology import Cache
from rungs_course.measure.noise import Factor
from rungs_course.notebooks import nb13_cartpole as nb13
from rungs_course.notebooks import nb13_layouts


def test_rungs_that_differ_are_named():
    racers = {"cpp": {"rung": "cpp"}, "torch": {"rung": "torch"}}
    nb13.check_same(racers, num_envs=5, steps=60, seed=1)
    racers["single"] = {"rung": "cpp", "dtype": "float32"}
    with pytest.raises(MismatchError, match="single: observation"):
        nb13.check_same(racers, num_envs=5, steps=60, seed=1)


def test_single_steps_have_a_share_of_their_bound_and_many_in_a_call_a_gain(monkeypatch):
    def race(entries, counts, *, steps, repeats):
        """A step takes a microsecond, a quarter of one where there are many in a call."""
        seconds = {name: 2e-5 if entry.at_once == 1 else 5e-6 for name, entry in entries.items()}
        rows = [(name, 20, i, 20, seconds[name]) for name in entries for i in range(repeats)]
        return pd.DataFrame(rows, columns=["racer", "num_envs", "repeat", "plies", "seconds"])

    monkeypatch.setattr(nb13.peer_race, "race", race)
    settings = {"a": {"rung": "cpp", "dtype": "float32"}}
    table = nb13.fusing(settings, {"a": 71e7}, steps={20: 32}, at_once=16, repeats=3)
    (row,) = table.itertuples()
    assert (row.bytes, row.bound, row.alone) == pytest.approx((71, 1e7, 1e6))
    assert nb13.share_of_bound(row).middle == pytest.approx(0.1)
    assert nb13.gain_of(row).middle == pytest.approx(4)


def test_a_turning_point_is_where_call_and_environments_cost_the_same():
    counts = np.array([1, 10, 100, 10_000, 100_000])
    lines = [
        pd.DataFrame(
            {"racer": "line", "num_envs": counts, "repeat": repeat, "call": fixed + 1e-8 * counts}
        )
        for repeat, fixed in enumerate((1e-5, 2e-5, 3e-5))
    ]
    flat = pd.DataFrame({"racer": "flat", "num_envs": counts, "repeat": 0, "call": 1e-3})
    short = lines[0][:2].assign(racer="short")
    turning = nb13.turning_points(pd.concat([*lines, flat, short])).set_index("racer")
    assert list(turning.index) == ["line", "flat"]  # two points are no line
    expected = {"fixed": 2e-5, "each": 1e-8, "low": 1500, "turning": 2000, "high": 2500}
    assert turning.loc["line"].to_dict() == pytest.approx(expected)
    assert turning.loc["flat", "fixed"] == pytest.approx(1e-3)
    assert np.isnan(turning.loc["flat", "turning"]) or turning.loc["flat", "turning"] > 1e9


def test_growth_is_the_power_of_the_work():
    rows = [
        (racer, 8, workload, repeat, 1e-6 + 1e-6 * workload**power)
        for racer, power in (("linear", 1.0), ("flat", 0.0))
        for workload in (1, 10, 1000)
        for repeat in range(2)
    ]
    work = pd.DataFrame(rows, columns=["racer", "num_envs", "workload", "repeat", "call"])
    exponents = nb13.growth(work).set_index(["racer", "repeat"])["exponent"]
    assert exponents["flat", 1] == 0
    assert exponents["linear", 0] == pytest.approx(np.log10(1001 / 2) / 3)


def test_the_error_falls_as_steps_get_finer():
    errors = nb13.exactness([1, 10, 100], seed=0)["error"].to_numpy()
    np.testing.assert_allclose(errors[:-1] / errors[1:], 10, rtol=0.25)


def test_operations_of_a_step_are_counted():
    counts = nb13.operations(3)
    assert counts["mul"] >= 10
    assert counts["div"] >= 1
    assert counts == nb13.operations(300)
    once, twice, thrice = (nb13.operations(3, workload=work).total() for work in (1, 2, 3))
    assert once == counts.total()
    assert 20 < twice - once == thrice - twice < once


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_what_a_step_moves_is_what_the_arrays_hold(dtype):
    num_envs = 64  # whole registers
    carts = CppCarts(num_envs, 0, CartPoleSettings(dtype=dtype))
    out = carts.outputs
    outputs = (out.observation, out.reward, out.terminated, out.truncated, out.ended)
    moved = sum(array.nbytes for array in (*outputs, *[carts.state, carts.steps] * 2))
    moved += np.zeros(num_envs, np.int64).nbytes  # actions
    assert sum(nb13.step_bytes(dtype).values()) * num_envs == moved


def test_a_quotient_of_factors_is_as_unsure_as_both():
    quotient = nb13.quotient(Factor(6.0, 5.0, 8.0, 7), Factor(2.0, 1.0, 2.5, 5))
    assert quotient == Factor(3.0, 2.0, 8.0, 5)


def test_carts_lie_in_the_second_cache_or_exceed_the_last():
    caches = [Cache(1, 2**15, 8, 64, 1), Cache(2, 2**19, 8, 64, 1), Cache(3, 2**25, 16, 64, 8)]
    assert nb13_layouts.places(caches, 1) == {"in a cache": 2**13, "in memory": 2**22}
    assert nb13_layouts.places([], 2**20)["in memory"] == 2**20


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

    @pytest.mark.system
    def test_rungs_with_the_same_bits_train_the_same_agent(self, ppo):
        names = ["cpp", "numba", "torch", "DummyVecEnv"]
        table = ppo.train_on_rungs(names, num_envs=4, seed=1, steps=256)
        agents = table.set_index("rung")["agent"]
        assert agents["cpp"] == agents["numba"] == agents["torch"]
        assert agents["cpp"] != agents["DummyVecEnv"]  # other first states
        assert ((table["stepping"] > 0) & (table["stepping"] < table["seconds"])).all()
