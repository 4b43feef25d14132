"""Notebook 02: pools of processes play the same games, and where a step's time goes adds up."""

import os
import resource
import sys

import numpy as np
import pandas as pd
import pytest

from rungs_course import nb02_parallel, nb02_workers, paths
from rungs_course.measure import results
from rungs_course.nb02_parallel import process_limits
from rungs_course.peers.open_spiel import OpenSpielStates
from tests.proof import lockstep


@pytest.fixture(scope="module")
def noted():
    return nb02_parallel.timeline(6, 2, seed=0, steps=3, warmup=1)


def test_every_process_is_in_every_step(noted):
    for _, rows in noted.groupby("turn"):
        assert rows["process"].unique().tolist() == ["parent", "worker 1", "worker 2"]
        work = rows.groupby("process")["work"].apply(sorted).to_dict()
        assert work["worker 1"] == work["worker 2"] == ["pickle", "pipe", "step"]
        assert work["parent"] == sorted(["whole", *["send", "pipe", "unpickle", "copy"] * 2])


def test_work_lies_within_its_step(noted):
    ends = noted[noted["work"] == "whole"].set_index("turn")["end"]
    assert (noted["start"] >= 0).all()
    assert (noted["end"] >= noted["start"]).all()
    parents = noted[noted["process"] == "parent"]
    assert (parents["end"] <= parents["turn"].map(ends)).all()


def test_parts_add_up_to_the_step(noted):
    parts = nb02_parallel.parts(noted)
    whole = noted[noted["work"] == "whole"].set_index("turn")["end"]
    assert parts.groupby("turn")["seconds"].sum().to_list() == pytest.approx(whole.to_list())
    assert set(parts["part"]) == set(nb02_parallel.PARTS)


def test_the_worker_that_answers_last_decides():
    parent = [("send", 0.0, 1.0), ("send", 1.0, 2.0), ("pipe", 5.0, 6.0), ("unpickle", 6.0, 7.0)]
    parent += [("copy", 7.0, 8.0), ("pipe", 15.0, 16.0), ("unpickle", 16.0, 18.0)]
    parent += [("copy", 18.0, 19.0), ("whole", 0.0, 19.0)]
    quick = [("step", 1.5, 4.0), ("pickle", 4.0, 5.0), ("pipe", 5.0, 6.0)]
    slow = [("step", 2.5, 13.0), ("pickle", 13.0, 14.0), ("pipe", 14.0, 15.5)]
    processes = {"parent": parent, "worker 1": quick, "worker 2": slow}
    rows = [(0, name, *row) for name, work in processes.items() for row in work]
    frame = pd.DataFrame(rows, columns=["turn", "process", "work", "start", "end"])
    parts = nb02_parallel.parts(frame)
    seconds = parts.set_index("part")["seconds"].to_dict()
    expected = {"send": 2.0, "wake": 0.5, "step": 10.5, "pickle": 1.0, "pipe": 2.0}
    assert seconds == expected | {"unpickle": 2.0, "copy": 1.0}
    kinds = nb02_parallel.kinds(parts)
    assert kinds["step the boards"] == 10.5
    assert kinds.sum() == 19.0
    assert nb02_parallel.unevenness(frame).to_list() == [10.5 - 6.5]
    assert len(nb02_parallel.median_turn(frame)) == len(frame)
    late = frame.replace({"end": {2.0: 3.0}})  # the parent loses its core in its second send
    assert nb02_parallel.parts(late).set_index("part")["seconds"]["wake"] == 0


def test_five_environments_at_once_are_promised_to_take_as_long_as_one():
    ends = {
        title: frame["end"].max() for title, frame in nb02_parallel.promised(5, 3.0, 0.1).items()
    }
    assert list(ends.values()) == pytest.approx([15.1, 3.1])


@pytest.mark.parametrize(
    "way",
    [
        *("Python threads", "shared", "a process each"),
        pytest.param("joblib", marks=pytest.mark.system),
    ],
)
def test_every_way_plays_the_same_games(way):
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


def test_as_many_processes_as_games_where_asked_for():
    pytest.importorskip("pyspiel")
    settings = {"plies": 4, "max_steps": 1, "max_each": 2, "seed": 0, "repeats": 2, "warmup": 0}
    times = nb02_parallel.race_open_spiel([2, 4], **settings)
    assert (times["plies"] == times["num_envs"]).all()
    raced = times.groupby("num_envs")["racer"].unique().map(sorted).to_dict()
    assert raced == {2: ["a process each", "python", "queue"], 4: ["python", "queue"]}


def test_processes_are_looked_at_and_ended():
    limits = process_limits(dict)
    assert limits.attrs["seconds"] > 0
    table = limits.set_index("resource")
    files = table.loc["open files of the parent"]
    assert files["each"] >= 1
    assert files["limit"] == resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    assert files["environments"] == files["limit"] // files["each"]
    assert table.loc["memory, bytes", "each"] > 2**16


def test_shares_are_timed_alone_and_side_by_side():
    times = nb02_parallel.side_by_side(5, 2, steps=2, seed=0, repeats=2, warmup=0)
    assert times["processes"].value_counts().to_dict() == {1: 2, 2: 2}
    assert (times["seconds"] > 0).all()


def test_a_share_plays_the_same_games_every_time():
    share = nb02_workers.Share(3, 0, seed=1)
    share.play(4)
    first = share._boards.buffers.save()
    share.play(4)
    again = share._boards.buffers.save()
    assert all(np.array_equal(first[name], again[name]) for name in first)


def test_threads_of_an_interpreter_are_timed_in_turns():
    rows = nb02_workers.race_threads(2, 2, steps=1, repeats=3, seed=0)
    assert [row[:2] for row in rows] == [(n, repeat) for repeat in range(3) for n in (1, 2)]
    assert all(rate > 0 for _, _, rate in rows)


def test_another_interpreter_tells_its_rows_and_its_lock():
    # Any other Python does for a test: here the same one, by the name of another.
    times = nb02_parallel.race_interpreters(
        os.path.join(os.path.dirname(sys.executable), ".", os.path.basename(sys.executable)),
        2,
        2,
        steps=1,
        repeats=2,
        seed=0,
    )
    assert list(times) == nb02_parallel.THREADED
    assert len(times) == 3 * 2 * 2
    assert set(times["lock"]) == {"with", "without"}


def test_recorded_threads_of_an_interpreter_without_its_lock_can_be_drawn():
    table = results.load(paths.ROOT / "data" / "ablations" / "free_threaded.csv")
    assert list(table) == nb02_parallel.THREADED
    assert {"with", "without"} == set(table["lock"])
    assert nb02_parallel.draw_interpreters(table).axes[0].get_xlabel().startswith("plies")


@pytest.mark.system
def test_messages_come_back_by_pipe_and_by_queues():
    times = nb02_parallel.race_messages(100, trips=3, repeats=2, warmup=1)
    assert times.groupby("way").size().to_dict() == {"pipe": 2, "queues": 2}
    assert (times["seconds"] > 0).all()
