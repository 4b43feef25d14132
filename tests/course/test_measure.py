"""Racers take turns, must do the same, and are judged beyond noise."""

import dataclasses
import itertools
import os
import threading
import time

import numpy as np
import pytest
import torch
from torch.overrides import TorchFunctionMode

import rungs
from rungs._src.train.attacks import attack_states
from rungs._src.train.legal_actions import Legal
from rungs._src.train.network import PolicyValueNetwork
from rungs._src.train.settings import PpoSettings
from rungs.errors import ConfigurationError, MismatchError
from rungs_course.measure import disturbance, noise, turns
from rungs_course.measure.cost import SEEN, operations
from rungs_course.measure.disturbance import CpuTimes, Usage, disturbances, usage
from rungs_course.measure.race import output_bytes, race
from rungs_course.measure.turns import rounds, timed_rounds
from rungs_course.measure.verify import verify
from tests.library.train import batches


def counting(calls: list, names: str) -> dict:
    """Racers that write their name down, and return how many calls there were."""
    return {name: lambda name=name: calls.append(name) or len(calls) for name in names}


def test_every_other_round_is_the_other_way_round():
    calls = []
    outcomes = list(itertools.islice(rounds(counting(calls, "abc")), 3))
    assert "".join(calls) in ("abccbaabc", "cbaabccba")
    assert [counts["a"] for counts in outcomes] == [i + 1 for i, c in enumerate(calls) if c == "a"]


def test_a_racer_begins_when_the_threads_of_the_one_before_are_asleep(monkeypatch):
    seconds = iter((0.0, 0.002, 0.002, 0.003, 0.003, 0.003))  # two windows with work, one without
    monkeypatch.setattr(turns, "_seconds_of_others", lambda: next(seconds))
    monkeypatch.setattr(turns, "_LONGEST", np.inf)
    began = []
    next(rounds({"a": lambda: began.append(next(seconds, None))}))
    assert began == [None]


def compute():
    end = time.thread_time() + 0.01
    while time.thread_time() < end:
        pass


def test_the_threads_of_others_are_measured():
    before, helper = turns._seconds_of_others(), threading.Thread(target=compute)
    helper.start()
    helper.join()
    assert turns._seconds_of_others() - before >= 0.01


def test_what_comes_before_the_clock_does_not_count():
    calls = []
    rows = list(timed_rounds(counting(calls, "ab"), repeats=2, warmup=3))
    assert len(calls) == 2 * (3 + 2)
    assert sorted(row[:2] for row in rows) == [*itertools.product("ab", range(2))]
    assert sorted(outcome for *_, outcome in rows) == [7, 8, 9, 10]


def test_an_interval_leaves_out_what_chance_allows():
    known = ((1, 0), (2, 0), (5, 0), (8, 0), (9, 1), (12, 2), (15, 3), (21, 5), (10_000, 4906))
    for count, left_out in known:
        low, high = noise.interval(range(count))
        assert (low, high) == (left_out, count - 1 - left_out), count


@pytest.mark.parametrize(
    ("ratios", "than", "beyond"),
    [
        ([1.1, 1.2, 1.3, 1.2, 1.1], 1, True),
        ([0.9, 0.8, 0.9, 0.8, 0.9], 1, True),
        ([1.1, 1.2, 0.99, 1.2, 1.1], 1, False),
        ([1.1, 1.2, 1.3, 1.2, 1.1], 1.25, False),
        ([1.2] * 5 + [np.nan], 1, False),
        ([1.1, 1.2, 1.3, 1.2], 1, False),
        ([1.2] + [np.nan] * 5, 1, False),
        ([1.2] + [np.inf] * 5, 1, False),
    ],
)
def test_a_factor_is_beyond_noise_where_no_repeat_is_on_the_other_side(ratios, than, beyond):
    assert noise.factor(ratios).beyond(than) == beyond


def test_two_that_took_no_turns_have_a_noise_each():
    factor = noise.factor_apart([2, 3, 4, 3, 3], [1, 2, 2, 2, 2.5, 2])
    assert (factor.middle, factor.repeats) == (1.5, 5)
    assert (factor.low, factor.high) == pytest.approx((2 / 2.5, 4 / 1))
    for seconds in (0.0, 1.0):
        assert not noise.factor_apart([seconds] * 5, [0.0] * 5).beyond()
    with pytest.raises(ConfigurationError, match="repeats"):
        noise.factor([])


SETTINGS = {"seed": 1, "steps": 5, "repeats": 3, "warmup": 1}


def boards():
    return rungs.make("chess", "cpp", 4)


@pytest.mark.parametrize("output", ["observation", "mask", "reward", "player"])
def test_a_single_wrong_bit_stops_the_race(output):
    liar = boards()
    step = liar.step

    def lie(actions):
        result = step(actions)
        getattr(liar.boards.buffers, output).view(np.uint8).flat[-1] ^= 1
        return result

    liar.step = lie
    with pytest.raises(MismatchError, match="liar"):
        race({"honest": boards(), "liar": liar}, boards(), **SETTINGS)


def test_bytes_of_a_step_are_those_of_its_outputs():
    assert output_bytes(boards()) == boards().num_envs * (72 + 4672 + 4 + 4)


def test_a_row_per_racer_and_repeat_has_the_time_of_its_steps_alone(monkeypatch):
    clock = itertools.count()  # ticks when it is looked at, and when something else is done
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock))
    racers = {"a": boards(), "b": boards()}
    times = race(racers, boards(), between=lambda: next(clock), **SETTINGS)
    rows = sorted(zip(times["racer"], times["repeat"], strict=True))
    assert rows == [*itertools.product("ab", range(3))]
    assert (times["plies"] == 20).all()
    assert (times["seconds"] == SETTINGS["steps"]).all()
    assert (race(racers, boards(), **SETTINGS)["seconds"] == 1).all()


def outcome(**changed):
    info = {
        "action_mask": np.ones((2, 3), np.bool_),
        "final_obs": np.array([[1, 2], [3, 4]]),
        "_final_obs": np.array([True, False]),
        "final_info": {"reason": np.array([5, 6])},
    }
    flags = np.zeros(2, np.bool_)
    parts = {"observation": np.zeros((2, 4), np.int8), "reward": np.zeros(2, np.float32)}
    parts |= {"terminated": flags, "truncated": flags} | info
    parts |= changed
    return *(parts.pop(name) for name in list(parts)[:4]), parts


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"observation": np.zeros((2, 4), np.int16)}, "observation.*int16"),
        ({"observation": np.zeros((2, 3), np.int8)}, r"observation.*\(2, 3\)"),
        ({"reward": np.array([0, -0.0], np.float32)}, "reward"),
        ({"truncated": np.array([False, True])}, "truncated"),
        ({"action_mask": np.zeros((2, 3), np.bool_)}, "action_mask"),
        ({"final_obs": np.array([[1, 0], [3, 4]])}, "final_obs"),
        ({"final_info": {"reason": np.array([0, 6])}}, "final_info.*reason"),
        ({"player": 0}, "info"),
    ],
)
def test_what_differs_is_named(changed, named):
    with pytest.raises(MismatchError, match=f"liar.*{named}.*step 3"):
        verify("liar", outcome(**changed), outcome(), "in step 3")


def test_rows_of_episodes_that_go_on_do_not_count():
    finals = {"final_obs": np.array([[1, 2], [0, 0]]), "final_info": {"reason": np.array([5, 0])}}
    verify("honest", outcome(**finals), outcome(), "in step 3")


class Products(TorchFunctionMode):
    """Counts the operations of matrix products; PyTorch's own counter takes 7 s to import."""

    operations = 0

    def __torch_function__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if function.__name__ in ("linear", "matmul"):
            self.operations += 2 * result.numel() * args[0].shape[-1]
        return result


@pytest.mark.parametrize("sizes", [(16, 1, 8), (32, 3, 8)])
def test_products_are_counted(sizes):
    network, count = PolicyValueNetwork(*sizes), 4
    observation = batches.positions("list", None, count).observation
    none = torch.zeros(count, dtype=torch.int64)
    legal = Legal(none[:0], none[:0], none)
    width = network.query.in_features
    dense = 2 * 840 * width
    needed = (64 + SEEN) * width + 2 * 8 * width  # of the first layer
    with Products() as products:
        network.scores(observation, legal)
    with Products() as attacks:  # read off tables by products
        attack_states(observation)
    forward = (products.operations - attacks.operations) / count
    counted = operations(network, legal=0)
    assert counted.infer == forward - dense + needed
    # Differentiated by both factors, but for the first layer's zeros and ones.
    assert counted.learn - counted.infer == 2 * (forward - dense) + needed
    more = operations(network, legal=10).infer - counted.infer
    assert more == 10 * 3 * network.query.out_features


def test_an_update_plays_once_and_learns_in_every_epoch():
    work = operations(PolicyValueNetwork(16, 1, 8))
    once, twice = (work.update(PpoSettings(update_epochs=epochs)) for epochs in (1, 2))
    assert once == work.infer + work.learn
    assert twice - once == work.learn


TICKS = os.sysconf("SC_CLK_TCK")
START = Usage(0.0, CpuTimes(0, 0, 0, 0), 0.0, 0, 0.0, 0.0)


def used(seconds=10.0, program=10.0, others=0.0, stolen=0.0, switches=0, preempted=0, waited=0.0):
    """A program has computed on two cores, next to others."""
    ticks = [round(amount * TICKS) for amount in (program + others, stolen, 2 * seconds)]
    return Usage(seconds, CpuTimes(*ticks, switches), program, preempted, program, waited)


@pytest.mark.parametrize(
    ("case", "by_design", "words"),
    [
        (used(), False, []),  # a program does not disturb itself
        (used(program=20.0), False, []),
        (used(seconds=0.1, program=0.0, others=0.2), False, []),  # a moment tells nothing
        (used(others=4.0), False, ["other programs"]),
        (used(stolen=1.0), False, ["hypervisor"]),
        (used(stolen=1.0, switches=1000), False, ["hypervisor"]),  # 50 a second and core
        (used(stolen=1.0, switches=4000), False, []),  # from waking cores
        (used(preempted=2500, waited=1.0), False, ["waited"]),
        (used(preempted=2500, waited=0.1), False, []),  # for moments only
        (used(preempted=10, waited=1.0), False, []),  # from sleeping and waking
        (used(preempted=2500, waited=1.0), True, []),  # threads that share cores by design
        (used(others=4.0, preempted=2500, waited=1.0), True, ["other programs"]),
    ],
)
def test_each_disturbance_is_named_and_no_other(case, by_design, words):
    phrases = disturbances(START, case, threads_share_cores=by_design)
    assert len(phrases) == len(words)
    assert all(word in reason for word, reason in zip(words, phrases, strict=True))


def test_a_system_without_counts_of_cores_tells_of_threads_only():
    unknown = dataclasses.replace(START, cores=None)
    case = dataclasses.replace(used(others=4.0, preempted=2500, waited=1.0), cores=None)
    assert len(disturbances(unknown, case)) == 1


def test_usage_counts_this_process():
    before = usage()
    compute()
    after = usage()
    assert after.process_seconds > before.process_seconds
    assert after.ran > before.ran
    assert after.waited >= before.waited >= 0
    thread = threading.Thread(target=compute)
    thread.start()
    thread.join()  # also what a thread ran that has ended
    assert usage().ran >= after.ran + 0.01


def test_times_are_busy_stolen_or_idle(tmp_path, monkeypatch):
    stat = tmp_path / "stat"
    monkeypatch.setattr(disturbance, "STAT", stat)

    def write(user, idle, stolen, switches):
        times = f"cpu  {user} 0 0 {idle} 0 0 0 {stolen} 0 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n"
        stat.write_text(f"{times}ctxt {switches}\nbtime 1\n")

    assert disturbance.cpu_times() is None  # the system tells nothing
    assert disturbance.stolen_since(None) is None
    assert disturbance.busy_for(0) is None
    write(60, 30, 10, switches=7)
    before = disturbance.cpu_times()
    assert before == CpuTimes(60, 10, 100, 7)
    assert disturbance.stolen_since(before) is None  # no time has passed
    monkeypatch.setattr(disturbance.time, "sleep", lambda seconds: write(75, 110, 15, switches=27))
    assert disturbance.busy_for(0.2) == pytest.approx(0.2)
    stolen = disturbance.stolen_since(before)
    assert stolen.share == pytest.approx(0.05)
    assert stolen.switches == pytest.approx(0.2 * TICKS)
