"""Notebook 05: what ranks do in a step, from their calls, and what messages take."""

import numpy as np
import pandas as pd
import pytest

from rungs_course.notebooks import nb05_mpi


def calls_of(transport, rank, calls):
    rows = [(transport, rank, *call) for call in calls]
    return pd.DataFrame(rows, columns=["transport", "rank", "call", "begin", "end"])


@pytest.fixture(scope="module")
def works():
    """Of a reset and two steps of two ranks, with five seconds between the steps."""
    leads = [("MPI_Ibcast", 0, 1), ("MPI_Wait", 1, 2), ("MPI_Barrier", 3, 4)]
    follows = [("MPI_Ibcast", 0, 0), ("MPI_Test", 0, 2), ("MPI_Barrier", 3, 4)]
    for at in (10, 25):
        leads += [("MPI_Ibcast", at, at + 0.5), ("MPI_Wait", at + 0.5, at + 1)]
        leads += [("MPI_Allreduce", at + 2, at + 4), ("MPI_Allreduce", at + 9, at + 10)]
        follows += [("MPI_Ibcast", 4, 4), ("MPI_Test", 5, at + 2)]
        follows += [("MPI_Allreduce", at + 3, at + 4), ("MPI_Allreduce", at + 8, at + 10)]
    calls = pd.concat([calls_of("shared", 0, leads), calls_of("shared", 1, follows)])
    return nb05_mpi.works(calls)


def test_work_is_what_lies_between_calls(works):
    assert works["step"].nunique() == 2  # the reset is none
    first = works[works["step"] == works["step"].min()].set_index("rank")
    pieces = first.loc[0, ["work", "begin", "end"]].itertuples(index=False, name=None)
    expected = [("order", 0, 1), ("check", 1, 2), ("agree", 2, 4), ("play", 4, 9)]
    assert list(pieces) == [*expected, ("agree", 9, 10)]
    assert first.loc[1, ["work", "begin", "end"]].iloc[0].tolist() == ["order", 2, 2]


def test_what_is_sent_lies_around_check_and_play():
    calls = [("MPI_Ibcast", 0, 1), ("MPI_Wait", 1, 2), ("MPI_Scatterv", 2, 3)]
    calls += [("MPI_Allreduce", 4, 5), ("MPI_Igatherv", 7, 8), ("MPI_Waitall", 8, 9)]
    works = nb05_mpi.works(calls_of("messages", 0, [*calls, ("MPI_Allreduce", 9, 10)]))
    times = works.set_index("work")[["begin", "end"]]
    assert times.loc["send"].to_numpy().tolist() == [[2, 3], [7, 9]]
    assert times.loc["play"].tolist() == [5, 7]


def test_a_steps_cost_is_what_the_busiest_rank_plays_and_the_rest(works):
    costs = nb05_mpi.costs(works, 12).median()
    # Ten seconds, of which the busiest checks and plays for six, each of them six boards.
    assert (costs["ply"], costs["meeting"]) == pytest.approx((1.0, 4.0))
    shares = nb05_mpi.shares(works).loc["shared"]
    assert shares.iloc[0].tolist() == pytest.approx([0.1, 0.1, 0.3, 0.5, 0])


def messages(sizes, sends, trips):
    columns = {"bytes": [*sizes, *sizes], "what": ["send"] * len(sizes) + ["trip"] * len(sizes)}
    return pd.DataFrame(columns | {"repeat": 0, "seconds": [*sends, *trips]})


def test_the_protocol_changes_where_a_send_begins_to_wait():
    late, sizes = nb05_mpi.LATE, [1, 64, 4096, 8192, 65536]
    waiting = [1e-6, 2e-6, 1e-6, late, 2 * late]
    assert nb05_mpi.border(messages(sizes, waiting, waiting)) == (4096, 8192)
    for same in (1e-6, 2 * late):  # none waits, all wait
        assert nb05_mpi.border(messages(sizes, [same] * 5, waiting)) is None


def test_each_protocol_has_a_latency_and_a_bandwidth_of_its_own():
    sizes = np.array([2**power for power in range(0, 22, 2)])
    large = sizes > 4096
    trips = np.where(large, 3e-5 + sizes / 2e9, 1e-6 + sizes / 5e8)
    links = nb05_mpi.fit_links(messages(sizes, np.where(large, 1e-2, 0), trips))
    assert links["eager"] == pytest.approx((1e-6, 5e8))
    assert links["rendezvous"] == pytest.approx((3e-5, 2e9))
    (link,) = nb05_mpi.fit_links(messages(sizes, 0 * sizes, 1e-6 + sizes / 1e9)).values()
    assert link == pytest.approx((1e-6, 1e9))
