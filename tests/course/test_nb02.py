"""Notebook 02: pools of processes play the same games, and where a step's time goes adds up."""

import resource
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rungs_course.notebooks import nb02_parallel, nb02_workers
from rungs_course.peers.open_spiel import OpenSpielStates
from tests.proof import lockstep


def test_work_of_every_process_lies_within_its_step_and_adds_up_to_it():
    timeline = nb02_parallel.timeline(6, 2, seed=0, steps=3, warmup=1)
    for _, rows in timeline.groupby("turn"):
        assert rows["process"].unique().tolist() == ["parent", "worker 1", "worker 2"]
        work = rows.groupby("process")["work"].apply(sorted).to_dict()
        assert work["worker 1"] == work["worker 2"] == ["pickle", "pipe", "step"]
        assert work["parent"] == sorted(["whole", *["send", "pipe", "unpickle", "copy"] * 2])
    step_ends = timeline[timeline["work"] == "whole"].set_index("turn")["end"]
    assert (timeline["start"] >= 0).all()
    assert (timeline["end"] >= timeline["start"]).all()
    parent = timeline[timeline["process"] == "parent"]
    assert (parent["end"] <= parent["turn"].map(step_ends)).all()
    parts = nb02_parallel.parts(timeline)
    assert set(parts["part"]) == set(nb02_parallel.PARTS)
    sums = parts.groupby("turn")["seconds"].sum()
    assert sums.to_list() == pytest.approx(step_ends.to_list())


def test_the_worker_that_answers_last_decides():
    parent = [("send", 0.0, 1.0), ("send", 1.0, 2.0), ("pipe", 5.0, 6.0), ("unpickle", 6.0, 7.0)]
    parent += [("copy", 7.0, 8.0), ("pipe", 15.0, 16.0), ("unpickle", 16.0, 18.0)]
    parent += [("copy", 18.0, 19.0), ("whole", 0.0, 19.0)]
    quick = [("step", 1.5, 4.0), ("pickle", 4.0, 5.0), ("pipe", 5.0, 6.0)]
    slow = [("step", 2.5, 13.0), ("pickle", 13.0, 14.0), ("pipe", 14.0, 15.5)]
    processes = {"parent": parent, "worker 1": quick, "worker 2": slow}
    rows = [(0, name, *row) for name, work in processes.items() for row in work]
    timeline = pd.DataFrame(rows, columns=["turn", "process", "work", "start", "end"])
    parts = nb02_parallel.parts(timeline)
    seconds = {"send": 2.0, "wake": 0.5, "step": 10.5, "pickle": 1.0, "pipe": 2.0}
    seconds |= {"unpickle": 2.0, "copy": 1.0}
    assert parts.set_index("part")["seconds"].to_dict() == pytest.approx(seconds)
    kinds = nb02_parallel.kinds(parts)
    assert (kinds["step the boards"], kinds.sum()) == pytest.approx((10.5, 19.0))
    assert nb02_parallel.unevenness(timeline).to_list() == pytest.approx([10.5 - 6.5])
    assert len(nb02_parallel.median_turn(timeline)) == len(timeline)
    late = timeline.replace({"end": {2.0: 3.0}})  # the parent loses its core in its second send
    assert nb02_parallel.parts(late).set_index("part")["seconds"]["wake"] == 0


def test_five_environments_at_once_are_promised_to_take_as_long_as_one():
    ends = [table["end"].max() for table in nb02_parallel.promised(5, 3.0, 0.1).values()]
    assert ends == pytest.approx([15.1, 3.1])


@pytest.mark.parametrize(
    "way", ["Python threads", pytest.param("joblib", marks=pytest.mark.system)]
)
def test_workers_of_python_play_the_same_games(way):
    envs = [nb02_parallel.shared_out(name, 5) for name in (way, "python")]
    lockstep.play(*envs, seed=0, steps=60)
    envs[0].close()


def test_a_pool_plays_all_games_of_another_project():
    pytest.importorskip("pyspiel")
    pool = nb02_parallel.Pool(OpenSpielStates, 3, 2)
    pool.reset(0)
    outputs = pool.step(pool.choose(np.random.default_rng(0)))
    assert [len(share[0]) for share in outputs] == [1, 2]
    pool.close()


def test_limits_are_counted_in_processes():
    table = nb02_parallel.process_limits(dict).set_index("resource")
    files = table.loc["open files of the parent"]
    assert files["each"] >= 1
    assert files["limit"] == resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    assert files["environments"] == files["limit"] // files["each"]
    assert table.loc["memory, bytes", "each"] > 2**16


def test_a_share_plays_the_same_games_every_time():
    share = nb02_workers.Share(3, 0, seed=1)
    states = []
    for _ in range(2):
        share.play(4)
        states.append(share._boards.buffers.save())
    for name, array in states[0].items():
        np.testing.assert_array_equal(states[1][name], array)


def test_another_interpreter_races_with_and_without_its_lock():
    python = Path(sys.executable)
    alias = str(python.parent / "." / python.name)  # this interpreter in place of another
    effort = {"steps": 1, "repeats": 2, "seed": 0}
    times = nb02_parallel.race_interpreters(alias, 2, 2, **effort)
    assert list(times) == nb02_parallel.THREADED
    assert times.groupby("lock").size().to_dict() == {"with": 2 * 2 * 2, "without": 2 * 2}
    assert set(times["threads"]) == {1, 2}
    assert (times["rate"] > 0).all()
