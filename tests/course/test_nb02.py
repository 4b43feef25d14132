"""Notebook 02: pools of processes play the same games, and where a step's time goes adds up."""

import queue

import numpy as np
import pandas as pd
import pytest

from rungs.chess import ChessSettings
from rungs.devel.envs import PythonBoards
from rungs_course.notebooks import nb02_parallel, nb02_workers


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
    seconds = {
        "send": 2,
        "wake": 0.5,
        "step": 10.5,
        "pickle": 1,
        "pipe": 2,
        "unpickle": 2,
        "copy": 1,
    }
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


def test_times_of_all_processes_begin_with_their_step():
    notes = [(-1, "parent", "whole", 1.0, 4.0), (0, "parent", "whole", 5.0, 9.0)]
    notes += [(turn, "worker 1", "step", start, start + 1) for turn, start in ((-1, 2.0), (0, 7.0))]
    timeline = nb02_parallel.timeline(notes).set_index("work")
    assert (timeline["turn"] == 0).all()
    assert timeline.loc["step", ["start", "end"]].to_list() == [2.0, 3.0]


def test_a_served_board_plays_as_the_rung():
    env = PythonBoards(1, 0, ChessSettings())
    env.reset(None, 3, 0)
    requests, replies = queue.Queue(), queue.Queue()
    board, action = env.save(np.array([0]))[0], int(env.sample(np.random.default_rng(0))[0])
    for request in (board, action, "fen", None):
        requests.put(request)
    nb02_workers.serve_board(7, requests, replies)
    number, ended, outputs = replies.get()
    assert (number, ended) == (7, env.step(np.array([action])))
    assert all((array == getattr(env.buffers, name)).all() for name, array in outputs.items())
    assert replies.get() == env.fen(0)


def test_a_share_plays_the_same_games_every_time():
    share = nb02_workers.Share(3, 0, seed=1)
    states = []
    for _ in range(2):
        share.play(4)
        states.append(share._boards.buffers.save())
    assert all((states[1][name] == array).all() for name, array in states[0].items())
