"""What is noted of a pool adds up, and none of it lies outside the step that it belongs to."""

import pandas as pd
import pytest

from rungs_course import nb02_parallel


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
    parts = nb02_parallel.parts(frame).set_index("part")["seconds"].to_dict()
    assert parts == {
        "send": 2.0,
        "wake": 0.5,
        "step": 10.5,
        "pickle": 1.0,
        "pipe": 2.0,
        "unpickle": 2.0,
        "copy": 1.0,
    }
    assert nb02_parallel.unevenness(frame).to_list() == [10.5 - 6.5]
    assert len(nb02_parallel.median_turn(frame)) == len(frame)


def test_five_environments_at_once_are_promised_to_take_as_long_as_one():
    ends = {
        title: frame["end"].max() for title, frame in nb02_parallel.promised(5, 3.0, 0.1).items()
    }
    assert list(ends.values()) == pytest.approx([15.1, 3.1])
