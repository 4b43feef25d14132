"""Notebook 04: ways to share a step out play the same games, and what they cost."""

import os

import numpy as np
import pandas as pd
import pytest

import rungs
from rungs.errors import MismatchError, UnavailableError
from rungs_course import teams
from rungs_course.measure import over_boards
from rungs_course.notebooks import nb04_counters, nb04_openmp
from tests.proof import lockstep


@pytest.mark.parametrize("boards", [1, 65])
@pytest.mark.parametrize("way", teams.WAYS + teams.BARRIERS)
def test_every_way_plays_the_same_games(way, boards):
    envs = [teams.make(way, boards, 2), rungs.make("chess", "cpp", boards)]
    lockstep.play(*envs, seed=0, steps=120)


def test_threads_that_never_meet_play_them_too_and_other_games_are_noticed():
    before, actions, after = nb04_openmp.random_games(9, 12, seed=0)
    env = teams.make("chunked", 9, 2)
    env.reset(seed=0)
    games = (env.boards, env.boards.play_apart, False, before, actions)
    assert nb04_openmp.seconds_of_games(*games, after) > 0
    with pytest.raises(MismatchError):
        nb04_openmp.seconds_of_games(*games, [*after[1:], after[0]])


def test_lines_that_two_threads_write_to():
    lines = nb04_openmp.shared_lines(128, 2).set_index(["way", "array"])[["lines", "shared"]]
    # 128 rewards of four bytes are eight lines; dealt out in blocks, all are of both threads.
    assert lines.loc[("naive", "reward")].tolist() == [8, 8]
    assert lines.loc[("chunked", "reward")].tolist() == [8, 0]
    assert lines.loc[("padded", "reward")].tolist() == [16, 0]
    # A mask is of whole lines.
    assert lines.loc[("naive", "mask")].tolist() == [128 * 73, 0]
    assert lines.loc["padded"]["shared"].sum() == 0


def test_a_line_that_two_threads_write_to_in_turn_moves_each_time():
    moved = nb04_openmp.moves(nb04_openmp.writes(128, 2)).groupby("way")["moved"].sum()
    assert moved.to_dict() == {"naive": 14, "chunked": 0, "padded": 0}


class TestCosts:
    @staticmethod
    def times_of(ply, call, meeting, slower=1.0):
        """Times of two threads whose costs these are."""
        rows = []
        for boards in (64, 4096):
            one, half = ply * boards, ply * boards / 2 * slower
            ways = {"alone": one + call, "alone, one call": one, "apart": half}
            ways |= {"meeting, one call": half + meeting, "meeting": half + meeting + call}
            rows += [(boards, repeat, *way) for repeat in range(3) for way in ways.items()]
        return pd.DataFrame(rows, columns=["num_envs", "repeat", "way", "seconds"])

    def test_time_is_taken_apart(self):
        parts = nb04_openmp.parts(self.times_of(1e-7, 2e-6, 3e-6, slower=1.5), 2)
        shares = parts.query("num_envs == 64").groupby("part")["share"].first().to_dict()
        expected = {"at the same time": 0.5, "synchronisation": 3 / 3.2, "calls": 2 / 3.2}
        assert shares == pytest.approx(expected)

    def test_a_serial_fraction_is_what_synchronisation_and_calls_make_it(self):
        fractions = nb04_openmp.serial_fractions(self.times_of(1e-7, 2e-6, 3e-6), 2)
        assert fractions[64].middle == pytest.approx((3e-6 + 2e-6 / 2) / 8.4e-6 * 2)
        assert fractions[4096].middle < fractions[64].middle / 10

    def test_costs_are_fitted_and_tell_the_speedup(self):
        times = self.times_of(1e-7, 2e-6, 3e-6)
        assert nb04_openmp.costs(times)["meeting"].tolist() == pytest.approx([3e-6] * 3)
        cost = nb04_openmp.fit_cost(times)
        assert (cost.ply, cost.call, cost.meeting) == pytest.approx((1e-7, 2e-6, 3e-6))
        few, many = cost.speedup(np.array([1, 4096]), 2)
        assert few < 1
        assert many == pytest.approx(1.95, abs=0.05)
        assert nb04_openmp.fit_cost(self.times_of(1e-7, -2e-6, 3e-6)).call == 0

    def test_speedups_are_of_the_whole_step(self):
        speedups = nb04_openmp.speedups(self.times_of(1e-7, 2e-6, 3e-6)).set_index("num_envs")
        assert speedups["speedup"][64] == pytest.approx(8.4 / 8.2)


def test_a_gain_is_how_many_times_as_fast_a_racer_is_repeat_by_repeat():
    rows = [
        (racer, 64, repeat, slowness * seconds)
        for repeat, slowness in enumerate((1.0, 3.0, 2.0))
        for racer, seconds in (("python", 8.0), ("cpp", 0.5))
    ]
    times = pd.DataFrame(rows, columns=["racer", "num_envs", "repeat", "seconds"])
    (row,) = over_boards.gains(times, "python").itertuples()
    assert (row.racer, row.num_envs) == ("cpp", 64)
    assert (row.low, row.gain, row.high) == pytest.approx((16, 16, 16))


def test_every_thread_counts_to_the_end_in_a_counter_of_its_own():
    api = nb04_counters.compiled.load_course()
    memory = np.zeros(64, np.int64)
    api.rungs_counters_count(memory.ctypes.data, 16, 1000, 3)
    assert np.flatnonzero(memory).tolist() == [0, 2, 4]
    assert set(memory[memory > 0].tolist()) == {1000}


def test_loops_do_the_same_in_all():
    loops = nb04_counters.works(2048, 1_000_000)
    assert loops["even"].sum() == pytest.approx(1_000_000, rel=1e-3)
    assert loops["growing"].sum() == pytest.approx(1_000_000, rel=1e-2)
    assert (np.diff(loops["growing"]) >= 0).all()
    assert loops["growing"][-1] > 1.9 * loops["even"][0]


def test_a_sum_that_differs_is_noticed(monkeypatch):
    class Course:
        def rungs_counters_loop(self, work, iterations, schedule, chunk, threads):
            return threads

    monkeypatch.setattr(nb04_counters.compiled, "load_course", Course)
    with pytest.raises(MismatchError, match="sum"):
        nb04_counters.race_schedules({"even": np.ones(3, np.int64)}, 2, repeats=1, warmup=0)


def test_pinned_threads_stay_on_a_core_and_are_free_again():
    if refusal := nb04_counters.pin_refusal():
        pytest.skip(refusal)
    before = os.sched_getaffinity(0)
    with nb04_counters.pinned(2):
        assert len(os.sched_getaffinity(0)) == 1
    assert os.sched_getaffinity(0) == before


def test_threads_that_cant_be_pinned_are_refused(monkeypatch):
    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(nb04_counters, "usable_cores", lambda: 2)
    monkeypatch.setattr(os, "sched_setaffinity", refuse)
    assert "Operation not permitted" in nb04_counters.pin_refusal()
    monkeypatch.setattr(nb04_counters, "usable_cores", lambda: 1)
    with pytest.raises(UnavailableError, match="one core"), nb04_counters.pinned(2):
        pass
