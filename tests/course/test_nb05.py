"""Notebook 05: what ranks do in a step, from their calls; and a sum that goes around a ring."""

import numpy as np
import pandas as pd
import pytest

from rungs_course import nb05_figures, nb05_messages, nb05_mpi


def calls_of(transport, rank, moments):
    rows = [(transport, rank, *moment) for moment in moments]
    return pd.DataFrame(rows, columns=["transport", "rank", "call", "begin", "end"])


@pytest.fixture
def calls():
    """A reset and two steps of two ranks, the second step by five seconds later."""
    leads = [("MPI_Ibcast", 0, 1), ("MPI_Wait", 1, 2), ("MPI_Barrier", 3, 4)]
    follows = [("MPI_Ibcast", 0, 0), ("MPI_Test", 0, 2), ("MPI_Barrier", 3, 4)]
    for at in (10, 25):
        leads += [("MPI_Ibcast", at, at + 0.5), ("MPI_Wait", at + 0.5, at + 1)]
        leads += [("MPI_Allreduce", at + 2, at + 4), ("MPI_Allreduce", at + 9, at + 10)]
        follows += [("MPI_Ibcast", 4, 4), ("MPI_Test", 5, at + 2)]
        follows += [("MPI_Allreduce", at + 3, at + 4), ("MPI_Allreduce", at + 8, at + 10)]
    return pd.concat([calls_of("shared", 0, leads), calls_of("shared", 1, follows)])


def test_work_is_what_lies_between_calls(calls):
    found = nb05_mpi.works(calls)
    assert found["step"].nunique() == 2  # the reset is none
    first = found[(found["rank"] == 0) & (found["step"] == found["step"].min())]
    assert list(first[["work", "begin", "end"]].itertuples(index=False, name=None)) == [
        ("order", 0, 1),
        ("check", 1, 2),
        ("agree", 2, 4),
        ("play", 4, 9),
        ("agree", 9, 10),
    ]
    other = found[(found["rank"] == 1) & (found["step"] == found["step"].min())]
    assert other.iloc[0][["work", "begin", "end"]].tolist() == ["order", 2, 2]


def test_what_is_sent_lies_around_check_and_play():
    moments = [("MPI_Ibcast", 0, 1), ("MPI_Wait", 1, 2), ("MPI_Scatterv", 2, 3)]
    moments += [("MPI_Allreduce", 4, 5), ("MPI_Igatherv", 7, 8), ("MPI_Waitall", 8, 9)]
    found = nb05_mpi.works(calls_of("messages", 0, [*moments, ("MPI_Allreduce", 9, 10)]))
    sent = found[found["work"] == "send"]
    assert sent[["begin", "end"]].to_numpy().tolist() == [[2, 3], [7, 9]]
    assert found.query("work == 'play'")[["begin", "end"]].to_numpy().tolist() == [[5, 7]]


def test_a_steps_cost_is_what_the_busiest_rank_plays_and_the_rest(calls):
    cost = nb05_mpi.fit_cost(nb05_mpi.works(calls), 12)
    # Ten seconds, of which the busiest checks and plays for six, each of them six boards.
    assert (cost.ply, cost.meeting) == pytest.approx((1.0, 4.0))


def test_rank_0_shares_a_step_out_among_its_works(calls):
    found = nb05_mpi.shares(nb05_mpi.works(calls)).loc["shared"]
    assert found.iloc[0].tolist() == pytest.approx([0.1, 0.1, 0.3, 0.5, 0])


@pytest.mark.parametrize("size", [2, 3, 5])
def test_a_sum_is_whole_everywhere_after_two_laps_of_a_ring(size):
    counts = nb05_mpi.ring(size)
    assert len(counts) == 2 * size - 1
    assert (counts[0] == 1).all()
    assert (counts[-1] == size).all()
    half = counts[size - 1]
    assert ((half == size).sum(axis=1) == 1).all()  # a part each is whole after one
    assert (np.diff(counts, axis=0) != 0).any(axis=2).all()  # no rank idles in any round


def messages(sizes, sends, trips):
    columns = {"bytes": [*sizes, *sizes], "what": ["send"] * len(sizes) + ["trip"] * len(sizes)}
    return pd.DataFrame(columns | {"repeat": 0, "seconds": [*sends, *trips]})


def test_the_protocol_changes_where_a_send_begins_to_wait():
    late, sizes = nb05_messages.LATE, [1, 64, 4096, 8192, 65536]
    waiting = [1e-6, 2e-6, 1e-6, late, 2 * late]
    assert nb05_messages.border(messages(sizes, waiting, waiting)) == (4096, 8192)
    for same in (1e-6, 2 * late):  # none waits, all wait
        assert nb05_messages.border(messages(sizes, [same] * 5, waiting)) is None


def test_each_protocol_has_a_latency_and_a_bandwidth_of_its_own():
    sizes = np.array([2**power for power in range(0, 22, 2)])
    large = sizes > 4096
    trips = np.where(large, 3e-5 + sizes / 2e9, 1e-6 + sizes / 5e8)
    links = nb05_figures.fit_links(messages(sizes, np.where(large, 1e-2, 0), trips))
    assert links["eager"] == pytest.approx((1e-6, 5e8))
    assert links["rendezvous"] == pytest.approx((3e-5, 2e9))
    (one,) = nb05_figures.fit_links(messages(sizes, 0 * sizes, 1e-6 + sizes / 1e9)).values()
    assert one == pytest.approx((1e-6, 1e9))


@pytest.mark.system
def test_messages_and_agreements_are_timed():
    pytest.importorskip("mpi4py")
    times = nb05_messages.race_messages([8, 2**20], repeats=2, warmup=1)
    assert times.groupby(["what", "bytes"]).size().tolist() == [2] * 4
    sends = times[times["what"] == "send"].set_index("bytes")["seconds"]
    assert (sends[2**20] > nb05_messages.LATE / 2).all()  # the receiver comes after LATE
    agreements = nb05_messages.race_agreements([2, 3], repeats=2, warmup=1)
    assert agreements.groupby("ranks").size().tolist() == [2, 2]
    assert (agreements["seconds"] > 0).all()


@pytest.mark.system
def test_ranks_race_and_their_calls_are_noted():
    pytest.importorskip("mpi4py")
    games = [{"num_envs": 16, "mask": "bits", "steps": 2}]
    settings = {"seed": 0, "repeats": 2, "warmup": 1}
    times, calls = nb05_mpi.race_layout(2, 1, games, teams=True, traced=(16, 3), **settings)
    assert set(times["racer"]) == {"cpp", "mpi", "openmp", "twice"}
    found = nb05_mpi.works(calls)
    assert found.groupby(["transport", "rank"])["step"].nunique().tolist() == [3] * 4
    assert (found["end"] >= found["begin"]).all()
    assert "send" in set(found.query("transport == 'messages'")["work"])
    assert "send" not in set(found.query("transport == 'shared'")["work"])
