"""States with a right checksum and wrong content are refused, and nothing changes."""

import json

import chess
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rungs
from rungs._src.chess.policy import random_actions
from rungs._src.chess.settings import PLAYABLE
from rungs.errors import InvalidStateError
from tests.library.attacks.states import join, split

# Bytes of a saved board, as `rungs::env::ChessEnv` has them.
PAWNS, KINGS, OWN, CASTLING, EN_PASSANT, HALFMOVE, BLACK = 0, 40, 48, 56, 58, 59, 62
LEGAL, NOW, NUM_PAST, REPETITIONS, REASON = 64, 1448, 1456, 1457, 1458
NUMBER, PLY, ENDED = 1464, 1472, 1476
ENV_BYTES, HISTORY_BYTES = 1480, 520


THERE_AND_BACK = ["g1f3", "g8f6", "f3g1", "f6g8"]


def chess_env(rung="cpp", num_envs=3, steps=30, **how):
    env = rungs.make("chess", rung, num_envs, opponent="random", **how)
    _, info = env.reset(seed=0)
    rng = np.random.default_rng(0)
    for _ in range(steps):
        *_, info = env.step(random_actions(info["action_mask"], rng))
    return env


def refused(env, state, match):
    before = env.get_state()
    with pytest.raises(InvalidStateError, match=match):
        env.set_state(state)
    assert env.get_state() == before
    env.close()


@pytest.mark.parametrize(
    ("at", "value"),
    [
        (KINGS, bytes(8)),
        (KINGS, ((1 << 4) | (1 << 60) | (1 << 12)).to_bytes(8, "little")),
        (OWN, b"\xff" * 8),
        (CASTLING, b"\xff\xff"),
        (EN_PASSANT, b"\x09"),
        (HALFMOVE, b"\x97"),
        (BLACK, b"\x02"),
        (NUM_PAST, b"\x65"),
        (PLY, b"\xff" * 4),
        (ENDED, b"\x01\0\0\0"),
    ],
)
def test_a_board_that_no_game_leads_to(at, value):
    env = chess_env()
    head, payload = split(env.get_state())
    assert len(payload) == 3 * ENV_BYTES
    start = ENV_BYTES + at
    payload[start : start + len(value)] = value
    refused(env, join(head, payload), "board 1")


@pytest.mark.parametrize(
    ("at", "value"),
    [
        (LEGAL, b"\xff" * 584),
        (LEGAL, bytes(584)),
        (NOW, b"\x55" * 8),
        (REPETITIONS, b"\x07"),
        (REASON, b"\x01"),
    ],
)
def test_what_can_be_found_anew_is_not_believed(at, value):
    env = chess_env()
    state = env.get_state()
    head, payload = split(state)
    payload[at : at + len(value)] = value
    env.set_state(join(head, payload))
    assert env.get_state() == state


@pytest.mark.parametrize("number", [9, 2**32 - 1])
def test_any_boards_numbers_may_be_drawn(number):
    env, place = chess_env(max_plies=40), slice(NUMBER, NUMBER + 4)
    head, payload = split(env.get_state())
    payload[place] = number.to_bytes(4, "little")
    env.set_state(join(head, payload))
    for _ in range(100):
        env.step([min(env.legal_moves(board).values()) for board in range(3)])
    assert split(env.get_state())[1][place] == payload[place]


@pytest.mark.parametrize("value", [(8, 1), (0, 0), (0, 9), (2**32 - 1, 2**32 - 1), (3, 8)])
def test_a_history_outside_its_ring_or_of_another_game(value):
    env = chess_env(num_envs=2, obs="bitplanes")
    head, payload = split(env.get_state())
    ring = 2 * ENV_BYTES + HISTORY_BYTES + 512
    assert np.frombuffer(payload, np.uint32, 2, ring).tolist() != list(value)
    payload[ring : ring + 8] = np.array(value, np.uint32).tobytes()
    refused(env, join(head, payload), "board 1.*history")


def test_a_board_that_goes_on_though_its_episode_is_over():
    env = chess_env(steps=12, max_plies=20, autoreset_mode="NEXT_STEP")
    head, payload = split(env.get_state())
    payload[PLY : PLY + 4] = (20).to_bytes(4, "little")
    refused(env, join(head, payload), "board 0 of the state: its episode is over, and goes on")


@pytest.mark.parametrize(
    "change",
    [
        lambda boards: boards[:-1],
        lambda boards: [[], *boards[1:]],
        lambda boards: [boards[0][:5], *boards[1:]],
        lambda boards: [[-1, *boards[0][1:]], *boards[1:]],
        lambda boards: [[0, -1, *boards[0][2:]], *boards[1:]],
        lambda boards: [[0, 0, 10**6, *boards[0][3:]], *boards[1:]],
        lambda boards: [[*boards[0][:3], True, *boards[0][4:]], *boards[1:]],
        lambda boards: [[*boards[0][:4], "8/8/8/8/8/8/8/8 w - - 0 1", []], *boards[1:]],
        lambda boards: [[*boards[0][:5], ["e2e5"]], *boards[1:]],
        lambda boards: [[*boards[0][:5], boards[0][5] * 2], *boards[1:]],
        lambda boards: [[*boards[0][:5], [*THERE_AND_BACK * 2, "e2e4"]], *boards[1:]],
    ],
)
def test_moves_that_no_game_has(change):
    env = chess_env("python", steps=3)
    head, payload = split(env.get_state())
    wrong = json.dumps(change(json.loads(payload))).encode()
    refused(env, join(head, wrong), "state")


def test_moves_that_no_game_has_are_refused_by_workers():
    env = chess_env("multiprocessing", steps=3, workers=2)
    head, payload = split(env.get_state())
    *others, last = json.loads(payload)
    wrong = json.dumps([*others, [*last[:5], ["e2e5"]]]).encode()
    refused(env, join(head, wrong), "state")


HEADS = [
    lambda head: b"not json",
    lambda head: b"[" * 100_000,
    lambda head: head | {"seed": "x"},
    lambda head: head | {"seed": 2**64},
    lambda head: {name: value for name, value in head.items() if name != "seed"},
    lambda head: head | {"num_envs": 4},
    lambda head: head | {"version": 0},
]


@pytest.mark.parametrize("change", HEADS)
@pytest.mark.parametrize("make", [chess_env, lambda: cartpole_env("cpp")])
def test_a_head_that_says_something_else(make, change):
    env = make()
    head, payload = split(env.get_state())
    refused(env, join(change(head), payload), "state")


@pytest.mark.parametrize("rung", ["cpp", "python"])
@pytest.mark.parametrize("payload", [b"", b"short", lambda payload: payload + b"\0" * 8])
def test_a_payload_of_another_size(rung, payload):
    env = chess_env(rung, steps=1)
    head, original = split(env.get_state())
    wrong = payload(original) if callable(payload) else payload
    refused(env, join(head | {"seed": 99}, wrong), "state")


def cartpole_env(rung, num_envs=3, **how):
    env = rungs.make("cartpole", rung, num_envs, **how)
    env.reset(seed=0)
    env.step_many(5)
    return env


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("state", np.nan),
        ("state", 3.0),
        ("speed", 1e300),
        ("steps", -1),
        ("steps", 500),
        ("ended", 255),
    ],
)
@pytest.mark.parametrize("mode", ["SAME_STEP", "NEXT_STEP"])
@pytest.mark.parametrize("rung", ["cpp", "gymnasium", "torch"])
def test_a_cart_that_no_episode_leads_to(rung, mode, name, value):
    env = cartpole_env(rung, **({"autoreset_mode": mode}))
    head, payload = split(env.get_state())
    assert len(payload) == 123
    places = {"state": (8 * 7, "f8"), "speed": (8 * 10, "f8"), "steps": (100, "i4")}
    at, dtype = (places | {"ended": (121, "u1")})[name]  # theta, its speed, ... of the second
    payload[at : at + np.dtype(dtype).itemsize] = np.array(value, dtype).tobytes()
    refused(env, join(head, payload), "environment 1 of the state")


@pytest.mark.parametrize("theta", [1e300, 1.1])
def test_a_cart_that_ended_further_than_a_step_takes_it(theta):
    env = cartpole_env("cpp", autoreset_mode="NEXT_STEP")
    head, payload = split(env.get_state())
    payload[8 * 7 : 8 * 8] = np.array(theta).tobytes()
    payload[121] = 1
    refused(env, join(head, payload), "environment 1 of the state has a place that no cart")


@settings(max_examples=60, deadline=None)
@given(
    changes=st.lists(
        st.tuples(st.integers(0, 3 * (ENV_BYTES + HISTORY_BYTES) - 1), st.integers(0, 255)),
        min_size=1,
        max_size=4,
    )
)
def test_any_change_of_a_chess_state(chess_state, changes):
    env, state = chess_state
    head, payload = split(state)
    for at, value in changes:
        payload[at] = value
    try:
        _, info = env.set_state(join(head, payload))
    except InvalidStateError:
        return
    rng = np.random.default_rng(0)
    for _ in range(6):
        for fen in env.fens():
            assert not chess.Board(fen).status() & ~PLAYABLE, fen
        *_, info = env.step(random_actions(info["action_mask"], rng))


@pytest.fixture(scope="module")
def chess_state():
    env = chess_env(obs="bitplanes")
    return env, env.get_state()


@settings(max_examples=60, deadline=None)
@given(
    changes=st.lists(st.tuples(st.integers(0, 122), st.integers(0, 255)), min_size=1, max_size=4)
)
def test_any_change_of_a_cartpole_state(cartpole_state, changes):
    env, state = cartpole_state
    head, payload = split(state)
    for at, value in changes:
        payload[at] = value
    try:
        observation, _ = env.set_state(join(head, payload))
    except InvalidStateError:
        return
    assert np.isfinite(observation).all()
    observation, _, ended = env.step_many(600)
    assert np.isfinite(observation).all()
    assert (ended > 0).all()


@pytest.fixture(scope="module", params=["SAME_STEP", "NEXT_STEP"])
def cartpole_state(request):
    env = cartpole_env("cpp", autoreset_mode=request.param)
    return env, env.get_state()
