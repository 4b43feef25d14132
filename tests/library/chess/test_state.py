"""States that can be saved, gone on from, and not mistaken."""

import gymnasium
import numpy as np
import pytest

import rungs
from rungs._src.chess.policy import random_actions
from rungs.errors import InvalidStateError
from rungs_course.measure.verify import assert_same, verify

SETTINGS = [
    {},
    {"mask": "bits", "opponent": "random", "obs": "bitplanes", "autoreset_mode": "NEXT_STEP"},
    {"opening_plies": (0, 9), "max_plies": 30, "autoreset_mode": "DISABLED"},
    {"mask": "list", "max_plies": 30, "autoreset_mode": "NEXT_STEP"},
    {"start": "chess960", "max_plies": 60, "obs": "planes"},
]


def walk(env, info, steps, seed):
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        outcome = env.step(random_actions(info["action_mask"], rng))
        info = outcome[-1]
        ended = outcome[2] | outcome[3]
        if env.metadata["autoreset_mode"].name == "DISABLED" and ended.any():
            info = env.reset(options={"reset_mask": ended})[1]
        yield outcome


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("steps", [0, 1, 150])
def test_it_goes_on_as_if_never_stopped(make, settings, steps):
    env = make(**settings)
    observation, info = env.reset(seed=7)
    for outcome in walk(env, info, steps, seed=1):
        observation, *_, info = outcome
    state = env.get_state()
    again = make(**settings)  # one that goes on where the other was, while that goes astray
    seen, other_info = again.set_state(state)
    assert not other_info["reason"].any()
    assert again.get_state() == state
    for _ in walk(env, info, 20, seed=2):
        pass
    observation, info = env.set_state(state)
    assert_same("observation", observation, seen)
    for ours, theirs in zip(walk(env, info, 60, 3), walk(again, other_info, 60, 3), strict=True):
        verify("restored", ours, theirs, "in a step")
    assert env.fens() == again.fens()


def test_repetitions_are_remembered(make):
    env = make(1)
    env.reset()
    shuffle = ("g1f3", "g8f6", "f3g1", "f6g8")
    for move in shuffle:
        env.step([env.legal_moves(0)[move]])
    again = make(1)
    again.set_state(env.get_state())
    for move in shuffle:
        *_, terminated, _, _ = again.step([again.legal_moves(0)[move]])
    assert terminated[0]


def test_boards_that_ended_stay_ended(make):
    env = make(1, autoreset_mode="DISABLED", max_plies=1)
    env.reset()
    env.step([env.legal_moves(0)["e2e4"]])
    again = make(1, autoreset_mode="DISABLED", max_plies=1)
    again.set_state(env.get_state())
    assert again.legal_moves(0) == {}
    with pytest.raises(gymnasium.error.ResetNeeded, match="boards 0 have ended"):
        again.step([0])


def test_obs_and_mask_may_differ(make):
    env = make(mask="bits", obs="planes")
    env.reset(seed=1)
    others = [{"mask": "bool", "obs": "bitplanes"}, {"mask": "list"}]
    for formats in (others[0], others[1] | {"obs": "planes", "dtype": "uint8"}):
        other = make(**formats)
        other.set_state(env.get_state())
        assert other.fens() == env.fens()
        env.set_state(other.get_state())


@pytest.mark.parametrize("at", [0, 5, 20, 200, -40, -1])
def test_a_changed_byte_is_refused(make, at):
    env = make()
    env.reset()
    state = bytearray(env.get_state())
    state[at] ^= 1
    before = env.fens()
    with pytest.raises(InvalidStateError):
        env.set_state(bytes(state))
    assert env.fens() == before


@pytest.mark.parametrize("state", [b"", b"x" * 99, "text", None])
def test_foreign_bytes_are_refused(make, state):
    env = make()
    env.reset()
    with pytest.raises(InvalidStateError):
        env.set_state(state)


def test_a_cut_state_is_refused(make):
    env = make()
    env.reset()
    with pytest.raises(InvalidStateError, match="checksum"):
        env.set_state(env.get_state()[:-1])


@pytest.mark.parametrize(
    ("other", "named"),
    [
        ({"num_envs": 4}, "num_envs"),
        ({"opponent": "random"}, "opponent"),
        ({"max_plies": 9}, "max_plies"),
        ({"autoreset_mode": "DISABLED"}, "autoreset_mode"),
        ({"opening_plies": (1, 2)}, "opening_plies"),
        ({"start_fens": ["4k3/8/8/8/8/8/8/4K2R w K - 0 1"]}, "start_fens"),
        ({"start": "chess960"}, "start"),
    ],
)
def test_a_state_of_other_settings_is_refused(make, other, named):
    env = make()
    env.reset()
    with pytest.raises(InvalidStateError, match=named):
        make(**other).set_state(env.get_state())


def test_a_state_of_another_rung_or_version_is_refused(monkeypatch):
    envs = [rungs.make("chess", rung, 1) for rung in ("python", "cpp")]
    for env in envs:
        env.reset()
    for ours, theirs in (envs, envs[::-1]):
        with pytest.raises(InvalidStateError, match="layout"):
            ours.set_state(theirs.get_state())
    state = envs[0].get_state()
    monkeypatch.setattr("rungs._src.core.state.VERSION", -1)
    with pytest.raises(InvalidStateError, match="version"):
        envs[0].set_state(state)


def test_a_state_without_history_is_no_state_with_it():
    env, planes = (rungs.make("chess", "cpp", 1, obs=obs) for obs in ("board", "planes"))
    env.reset()
    with pytest.raises(InvalidStateError, match="history"):
        planes.set_state(env.get_state())
