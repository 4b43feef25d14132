"""Notebook 13: CartPole's experiments: sameness before times, turning points, and PPO."""

import numpy as np
import pandas as pd
import pytest

from rungs._src.cartpole.carts.carts import CartPoleSettings
from rungs._src.cartpole.carts.cpp import CppCarts
from rungs.errors import MismatchError
from rungs_course import nb13_cartpole as nb13
from rungs_course import nb13_layouts
from rungs_course.machine.topology import Cache
from rungs_course.measure.noise import Factor
from rungs_course.peers.cartpole import OurCartPole
from rungs_course.peers.race import Entry

TIMING = {"repeats": 2, "warmup": 1, "seed": 0}


def test_rungs_that_differ_are_named():
    racers = {"cpp": {"rung": "cpp"}, "torch": {"rung": "torch"}}
    nb13.check_same(racers, num_envs=5, steps=60, seed=1)
    racers["single"] = {"rung": "cpp", "dtype": "float32"}
    with pytest.raises(MismatchError, match="single: observation differs in step"):
        nb13.check_same(racers, num_envs=5, steps=60, seed=1)


@pytest.mark.system
def test_steps_are_timed_over_the_number_of_environments():
    entries = {
        "cpp": Entry(OurCartPole),
        "torch": Entry(OurCartPole, {"rung": "torch"}, max_envs=4),
    }
    times = nb13.step_times(entries, [4, 100], budget=1000, **TIMING)
    assert set(times.query("num_envs == 100")["racer"]) == {"cpp"}
    steps = times["plies"] / times["num_envs"]
    assert steps.groupby(times["num_envs"]).unique().map(list).to_dict() == {4: [250], 100: [10]}
    np.testing.assert_allclose(times["call"] * steps, times["seconds"])


@pytest.mark.system
def test_a_call_of_many_steps_counts_them_all():
    times = nb13.step_times({"cpp": Entry(OurCartPole, {"at_once": 7})}, [4], budget=1, **TIMING)
    assert (times["plies"] == 8 * 7 * 4).all()


def test_a_turning_point_is_where_call_and_environments_cost_the_same():
    counts = np.array([1, 10, 100, 10_000, 100_000])
    frames = [
        pd.DataFrame(
            {"racer": "line", "num_envs": counts, "repeat": repeat, "call": a + 1e-8 * counts}
        )
        for repeat, a in enumerate((1e-5, 2e-5, 3e-5))
    ]
    flat = pd.DataFrame({"racer": "flat", "num_envs": counts, "repeat": 0, "call": 1e-3})
    short = frames[0][:2].assign(racer="short")
    turning = nb13.turning_points(pd.concat([*frames, flat, short])).set_index("racer")
    assert list(turning.index) == ["line", "flat"]  # two points are no line
    expected = {"fixed": 2e-5, "each": 1e-8, "turning": 2000, "low": 1500, "high": 2500}
    for name, value in expected.items():
        assert turning.loc["line", name] == pytest.approx(value)
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
    table = nb13.growth(work).set_index(["racer", "repeat"])["exponent"]
    assert table["flat", 1] == 0
    assert table["linear", 0] == pytest.approx(np.log10(1001 / 2) / 3)


def test_the_error_falls_as_steps_get_finer():
    table = nb13.exactness([1, 10, 100], seed=0)
    assert table["error"].is_monotonic_decreasing
    np.testing.assert_allclose(table["error"][:-1] / table["error"][1:].to_numpy(), 10, rtol=0.25)


def test_operations_of_a_step_are_counted():
    counted = nb13.operations(3)
    assert counted["mul"] >= 10
    assert counted["div"] >= 1
    assert counted == nb13.operations(300)
    once, twice, thrice = (nb13.operations(3, workload=work).total() for work in (1, 2, 3))
    assert once == counted.total()
    assert 20 < twice - once == thrice - twice < once


def test_what_a_step_moves_is_what_the_arrays_hold():
    num_envs = 64  # whole registers
    for dtype in ("float64", "float32"):
        arrays = CppCarts(num_envs, 0, CartPoleSettings(dtype=dtype))
        out = arrays.outputs
        written = (
            *(arrays.state, arrays.steps, out.observation, out.reward),
            *(out.terminated, out.truncated, out.ended),
        )
        moved = sum(array.nbytes for array in (*written, arrays.state, arrays.steps))
        actions = np.zeros(num_envs, np.int64)
        assert sum(nb13.step_bytes(dtype).values()) * num_envs == moved + actions.nbytes


@pytest.mark.system
def test_many_steps_stand_beside_single_ones():
    how = {"single": {"rung": "cpp", "dtype": "float32"}}
    table = nb13.fusing(
        how, {"single": 71e9}, steps={20: 32, 300: 8}, at_once=16, threads=1, **TIMING
    )
    assert table["num_envs"].tolist() == [20, 300]
    _, row = table.itertuples()
    assert (row.racer, row.bytes, row.bound) == ("single", 71, 1e9)
    assert row.of_bound == pytest.approx(row.alone / 1e9)  # medians of an even number of runs
    assert row.gain == pytest.approx(row.fused / row.alone)
    assert nb13.share_of_bound(row).low <= row.of_bound <= nb13.share_of_bound(row).high
    assert row.gain_low <= row.gain <= row.gain_high


def test_a_quotient_of_factors_is_as_unsure_as_both():
    found = nb13.quotient(Factor(6.0, 5.0, 8.0, 7), Factor(2.0, 1.0, 2.5, 5))
    assert found == Factor(3.0, 2.0, 8.0, 5)


def test_carts_lie_in_the_second_cache_or_exceed_the_last():
    caches = [Cache(1, 2**15, 8, 64, 1), Cache(2, 2**19, 8, 64, 1), Cache(3, 2**25, 16, 64, 8)]
    assert nb13_layouts.places(caches, 1) == {"in a cache": 2**13, "in memory": 2**22}
    assert nb13_layouts.places([], 2**20)["in memory"] == 2**20


@pytest.mark.system
def test_layouts_are_raced_on_the_same_carts():
    times = nb13_layouts.race_layouts({"in a cache": 96}, seconds=1e-5, repeats=2, warmup=1, seed=0)
    assert times.groupby(["work", "layout"]).size().tolist() == [2] * 4
    assert (times["seconds"] > 0).all()
    nb13_layouts.draw_layouts(times).draw_without_rendering()


@pytest.fixture
def ppo():
    pytest.importorskip("stable_baselines3")
    from rungs_course import nb13_ppo

    return nb13_ppo


@pytest.mark.system
def test_an_agent_learns_and_is_played_on_gymnasiums(ppo):
    frame = ppo.learn(
        lambda: ppo.vec_env("cpp", 64, 1), seed=1, steps=40_960, evaluations=4, episodes=4
    )
    assert list(frame["steps"]) == [0, 10_240, 20_480, 30_720, 40_960]
    assert frame["seconds"].iloc[0] == 0
    assert frame["seconds"].is_monotonic_increasing
    assert frame["reward"].iloc[-1] > 3 * frame["reward"].iloc[0]


@pytest.mark.system
def test_every_system_has_every_seed(ppo):
    systems = {"ours": ("cpp", 8), "theirs": ("DummyVecEnv", 8), "numba": ("numba", 8)}
    frame = ppo.learning(systems, 2, seed=5, steps=256, evaluations=1, episodes=1)
    assert set(frame.groupby("system")["seed"].unique().map(tuple)) == {(5, 6)}
    assert len(frame) == 3 * 2 * 2
    # The same bits on every rung: the same agent.
    ours, numba = (
        frame[frame["system"] == name].drop(columns=["system", "seconds"]).to_numpy()
        for name in ("ours", "numba")
    )
    np.testing.assert_array_equal(ours, numba)


@pytest.mark.system
def test_rungs_with_the_same_bits_train_the_same_agent(ppo):
    table = ppo.train_on_rungs(["cpp", "torch", "DummyVecEnv"], num_envs=4, seed=1, steps=256)
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


def test_a_reward_is_reached_when_it_first_is(ppo):
    (row,) = ppo.seconds_until(table([[1, 480, 10], [1, 2, 500], [1, 1, 1]]), 475).itertuples()
    assert (row.reached, row.seeds, row.steps, row.seconds) == (2, 3, 150, 3.0)
