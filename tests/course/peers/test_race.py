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

EFFORT = {"steps": 4, "repeats": 3, "warmup": 1, "seed": 0}


class Idle(Peer):
    """Plays on all but one of its environments; says how many before it were closed, and where."""

    closed = 0

    def reset(self, seed):
        pass

    def choose(self, rng):
        return np.zeros(self.num_envs)

    def step(self, actions):
        return (Idle.closed, os.getpid(), sorted(os.sched_getaffinity(0)))

    def played(self):
        return self.num_envs - 1

    def close(self):
        Idle.closed += 1


class Broken(Idle):
    def step(self, actions):
        raise ZeroDivisionError


def plies(times):
    return times.groupby(["racer", "num_envs"])["plies"].unique().map(list).to_dict()


def test_it_times_every_racer_at_every_count():
    entries = {"cpp": Entry(OurChess), "idle": Entry(Idle, max_envs=4)}
    effort = EFFORT | {"steps": lambda count: 8 // count}
    times = peer_race.race(entries, [2, 4, 8], **effort)
    expected = {("cpp", 2): [8], ("cpp", 4): [8], ("cpp", 8): [8]}
    # What was only a reset isn't counted.
    assert plies(times) == expected | {("idle", 2): [4], ("idle", 4): [6]}
    assert (times.groupby(["racer", "num_envs"]).size() == 3).all()
    assert (times["seconds"] > 0).all()
    assert not multiprocessing.active_children()


@pytest.mark.system
def test_processes_share_the_boards_and_have_a_core_each():
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        pytest.skip("one core")
    entry = Entry(Idle, processes=True)
    times = peer_race.race({"idle": entry}, [1, 5], threads=2, **EFFORT)
    assert plies(times) == {("idle", 5): [4 * (5 - 2)]}  # one board can't be shared
    racer = peer_race._Racer(entry, 2)
    racer.begin(5, 0)
    outputs = racer._pool.call(peer_race._PeerProcess.step, [(None,), (None,)])
    assert [output[1][-1] for output in outputs] == [[cores[0]], [cores[1]]]
    racer.close()


def test_a_racer_stays_in_its_process_on_one_core_and_closes_what_it_had():
    racer = peer_race._Racer(Entry(Idle), 1)
    outputs = []
    for num_envs in (3, 5, 7):
        racer.begin(num_envs, 0)
        ((_, output),) = racer._pool.call(peer_race._PeerProcess.step, [(None,)])
        outputs.append(output)
    racer.close()
    closed, pids, cores = zip(*outputs, strict=True)
    assert closed == (0, 1, 2)
    assert len(set(pids)) == 1
    assert [len(cores_of_racer) for cores_of_racer in cores] == [1, 1, 1]


@pytest.mark.system
def test_a_field_stays_for_rules_cases_and_races():
    entries = {"python": Entry(OurChess, {"rung": "python"}), "idle": Entry(Idle)}
    with peer_race.Field(entries) as field:
        ((tried, disagreements),) = field.compare(["python"], 2, seed=0).values()
        assert tried["legal moves"] > 10
        assert not disagreements
        answers = field.ask({"python": ["most-moves-white", "mate-by-black"]})
        assert [answer.status for answer in answers["python"]] == ["passes", "passes"]
        assert len(field.race([2], **EFFORT)) == 2 * 3
        times = field.race([1, 2], at_best=5, **EFFORT)
        assert times.groupby("racer")["repeat"].agg(list).tolist() == [[*range(2 * 3 + 5)]] * 2
        last = times[times["repeat"] >= 2 * 3].groupby("racer")["num_envs"].unique()
        best = peer_race.best(times[times["repeat"] < 2 * 3]).set_index("racer")["num_envs"]
        assert last.explode().to_dict() == best.to_dict()
        assert len(multiprocessing.active_children()) == 2
    assert not multiprocessing.active_children()


@pytest.mark.system
def test_a_racer_with_processes_of_its_own():
    entry = Entry(GymnasiumCartPole, {"mode": "async"}, parent=True)
    times = peer_race.race({"async": entry}, [2], **EFFORT)
    assert (times["plies"] > 0).all()
    assert not multiprocessing.active_children()


def test_one_that_breaks_ends_the_race_and_all_processes():
    with pytest.raises(WorkerDiedError, match="ZeroDivisionError"):
        peer_race.race({"idle": Entry(Idle), "broken": Entry(Broken)}, [2], **EFFORT)
    assert not multiprocessing.active_children()


def test_each_is_judged_at_its_best():
    seconds = {("a", 4): (1, 2, 4), ("a", 8): (1, 1, 9), ("b", 4): (10, 10, 20)}
    rows = [(*key, i, 8, value) for key in seconds for i, value in enumerate(seconds[key])]
    times = pd.DataFrame(rows, columns=["racer", "num_envs", "repeat", "plies", "seconds"])
    first, second = peer_race.best(times).to_dict("records")
    assert (first["racer"], first["num_envs"], first["rate"]) == ("a", 8, pytest.approx(8))
    assert second["racer"] == "b"
    assert (second["rate"], second["low"], second["high"]) == pytest.approx((0.8, 0.6, 0.8))
    gain = peer_race.gain(times, "b", "a")
    assert gain.repeats == 3
    assert (gain.low, gain.middle, gain.high) == pytest.approx((8 / 9 / 0.8, 10, 8 / 0.4))


def test_rounds_of_both_at_their_best_are_compared_one_by_one():
    rows = [("a", 4, 0, 8, 1.0), ("a", 8, 1, 8, 0.1), ("b", 4, 0, 8, 9.0), ("b", 8, 1, 8, 2.0)]
    for i, slow in enumerate([1, 2, 4, 8, 16], start=2):  # a machine that becomes slower
        rows += [("a", 4, i, 8, slow), ("b", 8, i, 8, slow * (3 if i == 3 else 2))]
    times = pd.DataFrame(rows, columns=["racer", "num_envs", "repeat", "plies", "seconds"])
    assert peer_race.best(times).set_index("racer")["num_envs"].to_dict() == {"a": 4, "b": 8}
    gain = peer_race.gain(times, "b", "a")
    assert (gain.repeats, gain.low, gain.middle, gain.high) == (5, 2, 2, 3)
