"""The race of peers: who takes part, what is counted, and what is left behind."""

import multiprocessing
import os

import numpy as np
import pandas as pd
import pytest

from rungs.errors import WorkerDiedError
from rungs_course.peers import race as peer_race
from rungs_course.peers.cartpole import GymnasiumCartPole
from rungs_course.peers.ours import OurChess
from rungs_course.peers.peer import Peer
from rungs_course.peers.race import Entry

HOW = {"steps": 4, "repeats": 3, "warmup": 1, "seed": 0}


class Idle(Peer):
    """Plays on all but one of its environments, and says on which cores it may."""

    def reset(self, seed):
        pass

    def choose(self, rng):
        return np.zeros(self.num_envs)

    def step(self, actions):
        return (sorted(os.sched_getaffinity(0)),)

    def played(self):
        return self.num_envs - 1


class Closed(Idle):
    """Says how many of its kind were closed in this process."""

    closed = 0

    def step(self, actions):
        return (os.getpid(), Closed.closed)

    def close(self):
        Closed.closed += 1


class Broken(Idle):
    def step(self, actions):
        raise ZeroDivisionError


def test_it_times_every_racer_at_every_count():
    entries = {"cpp": Entry(OurChess), "python": Entry(OurChess, {"rung": "python"}, max_envs=2)}
    times = peer_race.race(entries, [1, 8], **HOW)
    assert len(times) == 3 * (2 + 1)
    assert set(times.query("num_envs == 8")["racer"]) == {"cpp"}
    assert (times["seconds"] > 0).all()
    assert times.groupby("num_envs")["plies"].unique().to_dict() == {1: [4], 8: [32]}
    assert not multiprocessing.active_children()


def test_what_was_only_a_reset_is_not_counted():
    times = peer_race.race({"idle": Entry(Idle)}, [4], **HOW)
    assert (times["plies"] == 4 * 3).all()


@pytest.mark.system
def test_processes_share_the_boards_and_have_a_core_each():
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        pytest.skip("one core")
    entry = Entry(Idle, processes=True)
    times = peer_race.race({"idle": entry}, [1, 5], threads=2, **HOW)
    assert times["num_envs"].unique() == [5]  # one board can't be shared
    assert (times["plies"] == 4 * (5 - 2)).all()
    racer = peer_race._Racer(entry, 2)
    racer.begin(5, 0)
    outputs = racer._pool.call(peer_race._PeerProcess.step, [(None,), (None,)])
    assert [output[1][0] for output in outputs] == [[cores[0]], [cores[1]]]
    racer.close()


def test_a_racer_alone_has_the_cores_asked_for():
    racer = peer_race._Racer(Entry(Idle), 1)
    racer.begin(3, 0)
    ((_, (cores,)),) = racer._pool.call(peer_race._PeerProcess.step, [(None,)])
    assert len(cores) == 1
    racer.close()


def test_a_racer_stays_in_its_process_for_all_counts_and_closes_what_it_had():
    racer = peer_race._Racer(Entry(Closed), 1)
    lines = []
    for num_envs in (3, 5, 7):
        racer.begin(num_envs, 0)
        ((_, said),) = racer._pool.call(peer_race._PeerProcess.step, [(None,)])
        lines.append(said)
    racer.close()
    assert lines == [(lines[0][0], closed) for closed in range(3)]


def test_steps_may_depend_on_the_count():
    how = HOW | {"steps": lambda count: 8 // count}
    times = peer_race.race({"idle": Entry(Idle)}, [2, 4], **how)
    assert times.groupby("num_envs")["plies"].unique().to_dict() == {2: [4], 4: [6]}


@pytest.mark.system
def test_a_field_stays_for_rules_cases_and_races():
    entries = {"python": Entry(OurChess, {"rung": "python"}), "idle": Entry(Idle)}
    with peer_race.Field(entries) as field:
        ((tried, found),) = field.compare(["python"], 2, seed=0).values()
        assert tried["legal moves"] > 10
        assert not found
        asked = field.ask({"python": ["most-moves-white", "mate-by-black"]})
        assert [one.status for one in asked["python"]] == ["passes", "passes"]
        assert len(field.race([2], **HOW)) == 2 * 3
        assert len(multiprocessing.active_children()) == 2
    assert not multiprocessing.active_children()


def test_a_racer_with_processes_of_its_own():
    entry = Entry(GymnasiumCartPole, {"mode": "async"}, parent=True)
    times = peer_race.race({"async": entry}, [2], **HOW)
    assert (times["plies"] > 0).all()
    assert not multiprocessing.active_children()


@pytest.mark.system
def test_one_that_breaks_ends_the_race_and_all_processes():
    with pytest.raises(WorkerDiedError, match="ZeroDivisionError"):
        peer_race.race({"cpp": Entry(OurChess), "broken": Entry(Broken)}, [2], **HOW)
    assert not multiprocessing.active_children()


def test_each_is_judged_at_its_best():
    seconds = {("a", 4): (1, 2, 4), ("a", 8): (1, 1, 9), ("b", 4): (10, 10, 20)}
    rows = [(*key, repeat, 8, s) for key, each in seconds.items() for repeat, s in enumerate(each)]
    times = pd.DataFrame(rows, columns=["racer", "num_envs", "repeat", "plies", "seconds"])
    first, second = peer_race.best(times).to_dict("records")
    assert (first["racer"], first["num_envs"], first["rate"]) == ("a", 8, 8)
    assert second["racer"] == "b"
    assert (second["rate"], second["low"], second["high"]) == pytest.approx((0.8, 0.6, 0.8))
    gain = peer_race.gain(times, "b", "a")
    assert (gain.middle, gain.repeats) == (pytest.approx(10), 3)
    assert (gain.low, gain.high) == (pytest.approx(8 / 9 / 0.8), pytest.approx(8 / 0.4))
