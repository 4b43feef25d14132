"""No time is reported for rungs that are not the same."""

import itertools
import time

import numpy as np
import pytest

import rungs
from rungs.errors import MismatchError
from rungs_course.measure.race import output_floor, race

SETTINGS = {"seed": 1, "steps": 5, "repeats": 3, "warmup": 1}


def boards():
    return rungs.make("chess", "cpp", 4)


def test_a_row_per_racer_and_repeat():
    frame = race({"a": boards(), "b": boards()}, boards(), **SETTINGS)
    assert sorted(zip(frame["racer"], frame["repeat"], strict=True)) == [
        (racer, repeat) for racer in "ab" for repeat in range(3)
    ]
    assert (frame["plies"] == 20).all()
    assert (frame["seconds"] > 0).all()


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


def test_writing_the_outputs_takes_time():
    num_bytes, seconds = output_floor(boards())
    assert num_bytes == boards().num_envs * (72 + 4672 + 4 + 4)
    assert seconds > 0


def test_what_else_is_done_before_each_step_is_not_timed(monkeypatch):
    clock = itertools.count()  # ticks when it is looked at, and when something else is done
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock))
    times = race({"a": boards()}, boards(), between=lambda: next(clock), **SETTINGS)
    assert (times["seconds"] == SETTINGS["steps"]).all()
    alone = race({"a": boards()}, boards(), **SETTINGS)
    assert (alone["seconds"] == 1).all()
