"""Notebook 02: where the time of a pool's step goes adds up."""

import pandas as pd
import pytest

from rungs_course.notebooks import nb02_parallel


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
    seconds = dict(zip(nb02_parallel.PARTS, (2, 0.5, 10.5, 1, 2, 2, 1), strict=True))
    assert parts.set_index("part")["seconds"].to_dict() == pytest.approx(seconds)
    kinds = nb02_parallel.kinds(parts)
    assert (kinds["step the boards"], kinds.sum()) == pytest.approx((10.5, 19.0))
    assert nb02_parallel.unevenness(timeline).to_list() == pytest.approx([10.5 - 6.5])
    assert len(nb02_parallel.median_turn(timeline)) == len(timeline)
    late = timeline.replace({"end": {2.0: 3.0}})  # the parent loses its core in its second send
    assert nb02_parallel.parts(late).set_index("part")["seconds"]["wake"] == 0


def test_times_of_all_processes_begin_with_their_step():
    notes = [(-1, "parent", "whole", 1.0, 4.0), (0, "parent", "whole", 5.0, 9.0)]
    notes += [(turn, "worker 1", "step", start, start + 1) for turn, start in ((-1, 2.0), (0, 7.0))]
    timeline = nb02_parallel.timeline(notes).set_index("work")
    assert (timeline["turn"] == 0).all()
    assert timeline.loc["step", ["start", "end"]].to_list() == [2.0, 3.0]
