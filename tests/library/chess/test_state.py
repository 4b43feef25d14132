"""States that can be saved, gone on from and not mistaken; a wrong one changes nothing."""

import json

import gymnasium
import numpy as np
import pytest

import rungs
from rungs.errors import InvalidStateError
from rungs_course.measure.verify import verify
from tests.saved import assert_refused, join, refusal, split

SETTINGS = [
    {},
    {"mask": "bits", "opponent": "random", "obs": "bitplanes", "autoreset_mode": "NEXT_STEP"},
    {"opening_plies": (0, 9), "max_plies": 30, "autoreset_mode": "DISABLED"},
    {"mask": "list", "max_plies": 30, "autoreset_mode": "NEXT_STEP"},
    {"start": "chess960", "max_plies": 60, "obs": "planes"},
]


def walk(env, steps, seed):
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        outcome = env.step(env.sample_actions(rng))
        ended = outcome[2] | outcome[3]
        if env.metadata["autoreset_mode"].name == "DISABLED" and ended.any():
            env.reset(options={"reset_mask": ended})
        yield outcome


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("steps", [0, 100])
def test_it_goes_on_as_if_never_stopped(make, settings, steps):
    env = make(**settings)
    env.reset(seed=7)
    list(walk(env, steps, seed=1))
    state = env.get_state()
    again = make(**settings)  # one that goes on where the other was, while that goes astray
    restored, other_info = again.set_state(state)
    assert not other_info["reason"].any()
    assert again.get_state() == state
    list(walk(env, 20, seed=2))
    verify("restored", env.set_state(state), (restored, other_info), "by the state")
    for outcome, expected in zip(walk(env, 50, 3), walk(again, 50, 3), strict=True):
        verify("restored", outcome, expected, "in a step")
    assert env.fens() == again.fens()


def test_boards_that_ended_stay_ended(make):
    env, again = (make(1, autoreset_mode="DISABLED", max_plies=1) for _ in range(2))
    env.reset()
    env.step([524])
    again.set_state(env.get_state())
    assert again.legal_moves(0) == {}
    with pytest.raises(gymnasium.error.ResetNeeded, match="boards 0"):
        again.step([0])


def test_obs_and_mask_may_differ(make):
    env = make(mask="bits", obs="planes")
    env.reset(seed=1)
    lists = {"mask": "list", "obs": "planes", "dtype": "uint8"}
    for formats in ({"mask": "bool", "obs": "bitplanes"}, lists):
        other = make(**formats)
        other.set_state(env.get_state())
        assert other.fens() == env.fens()
        env.set_state(other.get_state())


OTHERS = {"num_envs": 4, "opponent": "random", "max_plies": 9, "autoreset_mode": "DISABLED"}
OTHERS |= {"opening_plies": (1, 2), "start_fens": ["4k3/8/8/8/8/8/8/4K2R w K - 0 1"]}
OTHERS |= {"start": "chess960"}


@pytest.mark.parametrize(("name", "value"), OTHERS.items())
def test_a_state_of_other_settings_is_refused(make, name, value):
    env = make()
    env.reset()
    with pytest.raises(InvalidStateError, match=name):
        make(**{name: value}).set_state(env.get_state())


def test_damaged_states_and_foreign_bytes_are_refused(make):
    env = make()
    env.reset()
    state = env.get_state()
    for at in (0, 5, 20, 200, -40, -1):
        flipped = bytearray(state)
        flipped[at] ^= 1
        with refusal(env, InvalidStateError):
            env.set_state(bytes(flipped))
    head, payload = split(state)
    sizes = [join(head | {"seed": 99}, other) for other in (b"", b"short", payload + bytes(8))]
    for useless in (*sizes, state[:-1], b"", b"x" * 99, "text", None):
        with refusal(env, InvalidStateError):
            env.set_state(useless)


# Bytes of a saved board, as `rungs::env::SavedBoard` has them.
KINGS, OWN, CASTLING, EN_PASSANT, HALFMOVE, BLACK = 40, 48, 56, 58, 59, 62
NOW, PLY, ENDED, NUM_PAST, REPETITIONS, REASON = 64, 88, 92, 93, 94, 95
ENV_BYTES, HISTORY_BYTES = 896, 520


def chess_env(rung="cpp", num_envs=3, steps=30, **settings):
    env = rungs.make("chess", rung, num_envs, opponent="random", **settings)
    env.reset(seed=0)
    for step in range(steps):
        env.step(env.sample_actions(step))
    return env


def overwrite(payload, at, value):
    payload[at : at + len(value)] = value
    return payload


NO_GAMES = {OWN: b"\xff" * 8, CASTLING: b"\xff\xff", EN_PASSANT: b"\x09", HALFMOVE: b"\x97"}
NO_GAMES |= {BLACK: b"\x02", NUM_PAST: b"\x65", PLY: b"\xff" * 4, ENDED: b"\x01"}
GOES_ON = (30).to_bytes(4, "little")  # though its episode is over
THREE_KINGS = ((1 << 4) | (1 << 60) | (1 << 12)).to_bytes(8, "little")


def test_a_board_that_no_game_leads_to():
    env = chess_env(steps=12, max_plies=30, autoreset_mode="NEXT_STEP")
    wrong = ((KINGS, bytes(8)), (KINGS, THREE_KINGS), (PLY, GOES_ON), *NO_GAMES.items())
    for at, value in wrong:
        head, payload = split(env.get_state())
        assert len(payload) == 3 * ENV_BYTES
        with refusal(env, InvalidStateError, "board 1"):
            env.set_state(join(head, overwrite(payload, ENV_BYTES + at, value)))


def test_what_can_be_found_anew_is_not_believed():
    env = chess_env()
    state = env.get_state()
    for at, value in ((NOW, b"\x55" * 8), (REPETITIONS, b"\x07"), (REASON, b"\x01")):
        head, payload = split(state)
        env.set_state(join(head, overwrite(payload, at, value)))
        assert env.get_state() == state


@pytest.mark.parametrize("value", [(8, 1), (0, 0), (0, 9), (2**32 - 1, 2**32 - 1), (3, 8)])
def test_a_history_outside_its_ring_or_of_another_game(value):
    env = chess_env(num_envs=2, obs="bitplanes")
    head, payload = split(env.get_state())
    ring = 2 * ENV_BYTES + HISTORY_BYTES + 512
    assert np.frombuffer(payload, np.uint32, 2, ring).tolist() != list(value)
    overwrite(payload, ring, np.array(value, np.uint32).tobytes())
    assert_refused(env, join(head, payload), "board 1.*history")


THERE_AND_BACK = ["g1f3", "g8f6", "f3g1", "f6g8"]
# Seed, number, episode, ply, ended, start and moves of a board, changed.
BOARDS = [
    lambda board: [],
    lambda board: board[:6],
    lambda board: [-1, *board[1:]],
    lambda board: [2**64, *board[1:]],
    lambda board: [0, -1, *board[2:]],
    lambda board: [0, 0, -1, *board[3:]],
    lambda board: [0, 0, 0, 10**6, *board[4:]],
    lambda board: [*board[:4], True, *board[5:]],
    lambda board: [*board[:5], "8/8/8/8/8/8/8/8 w - - 0 1", []],
    lambda board: [*board[:6], ["e2e5"]],
    lambda board: [*board[:6], board[6] * 2],
    lambda board: [*board[:6], [*THERE_AND_BACK * 2, "e2e4"]],
]


@pytest.mark.parametrize("rung", ["python", "multiprocessing"])
def test_moves_that_no_game_has(rung):
    env = chess_env(rung, steps=3)
    head, payload = split(env.get_state())
    board, *others = json.loads(payload)
    for boards in (others, *([change(board), *others] for change in BOARDS)):
        with refusal(env, InvalidStateError):
            env.set_state(join(head, json.dumps(boards).encode()))
    env.close()


HEADS = [
    lambda head: b"not json",
    lambda head: b"[" * 100_000,
    lambda head: head | {"seed": "x"},
    lambda head: head | {"seed": 2**64},
    lambda head: {name: value for name, value in head.items() if name != "seed"},
    lambda head: head | {"num_envs": 4},
    lambda head: head | {"version": 0},
]


def begun_carts():
    env = rungs.make("cartpole", "cpp", 3)
    env.reset(seed=0)
    return env


@pytest.mark.parametrize("change", HEADS)
@pytest.mark.parametrize("make", [chess_env, begun_carts])
def test_a_head_of_another_state_is_refused(make, change):
    env = make()
    head, payload = split(env.get_state())
    assert_refused(env, join(change(head), payload), "state")


def test_a_state_of_another_rung_or_without_history_is_refused():
    python, cpp = (chess_env(rung) for rung in ("python", "cpp"))
    planes = chess_env("threads", obs="planes")
    for env, other in ((python, cpp), (cpp, python), (planes, cpp)):
        with refusal(env, InvalidStateError, r"layout|history"):
            env.set_state(other.get_state())
    workers = chess_env("multiprocessing", workers=2)  # which have boards of the rung python
    for env, other in ((workers, python), (python, workers)):
        env.reset(seed=9)
        env.set_state(other.get_state())
        assert env.get_state() == other.get_state()
    workers.close()
