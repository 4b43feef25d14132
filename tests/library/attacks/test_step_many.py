"""Many steps in a call: Ctrl-C ends it between two of them, and sums are exact."""

import pytest

import rungs
from tests.interrupt import interrupted
from tests.library.attacks.states import split


def press_ctrl_c(env, other):
    """Begins the same episodes in both, and presses Ctrl-C while the first steps without end."""
    for each in (env, other):
        each.reset(seed=3)
    interrupted(0.2, call=lambda: env.step_many(2**31 - 1))


@pytest.mark.parametrize("rung", ["cpp", "openmp", "threads", "torch"])
def test_ctrl_c_leaves_counters_and_state_consistent(rung):
    env, other = (rungs.make("cartpole", rung, 64) for _ in range(2))
    press_ctrl_c(env, other)
    head, _ = split(env.get_state())
    assert 0 < head["drawn"] < 2**31 - 1
    other.step_many(head["drawn"])
    assert env.get_state() == other.get_state()


def test_ctrl_c_leaves_boards_consistent():
    env, other = (rungs.make("chess", "cuda", 16, device="cpu") for _ in range(2))
    press_ctrl_c(env, other)
    left, launches = env.get_state(), range(200)
    assert any(
        other.step_many(env.boards.steps_at_once()) >= 0 and other.get_state() == left
        for _ in launches
    )


def test_sums_go_on_where_single_precision_ends():
    env = rungs.make("cartpole", "cpp", 1)
    env.reset(seed=0)
    steps = 2**24 + 9
    _, rewards, _ = env.step_many(steps)
    assert rewards.tolist() == [steps]
