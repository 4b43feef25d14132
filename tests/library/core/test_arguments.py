"""Useless arguments end in one of our errors, in one line, that names them; nothing changes."""

import math
import pickle
import types

import gymnasium
import numpy as np
import pytest
import torch

import rungs
from rungs._src.chess.actions import from_uci, to_uci
from rungs._src.chess.engine import UciEngine
from rungs._src.chess.policy import random_actions
from rungs._src.chess.unpack import unpack_mask
from rungs._src.core import arguments
from rungs._src.train.settings import PpoSettings, Training
from rungs.adapters.pettingzoo import raw_env
from rungs.adapters.sb3 import BatchVecEnv, ChessVecEnv
from rungs.errors import RungsError

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
MASK = np.ones((2, 4672), np.bool_)


class Refuses:
    """A value whose every method raises."""

    def __refuse(self, *_, **__):
        raise RuntimeError("no")

    __repr__ = __eq__ = __hash__ = __bool__ = __len__ = __iter__ = __refuse
    __index__ = __float__ = __array__ = __getitem__ = __refuse


# Values that no argument takes.
USELESS = (
    Refuses(),
    -1,
    10**5000,
    math.nan,
    b"chess",
    "kQ\ud800\0\n" * 10**5,
    [[[[]]], [[]]],
    {1: 2},
    np.array(["random", "board"]),
    np.ma.array([1, 2, 3], mask=[1, 0, 0]),
    torch.empty(2, dtype=torch.int64, device="meta"),
)


def refusal(call, *args, **kwargs) -> str:
    """Returns the message of the error that a call must raise: one of ours, in one short line."""
    with pytest.raises((RungsError, gymnasium.error.Error)) as caught:
        call(*args, **kwargs)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 1200
    return message


def begun(**settings):
    env = rungs.make("chess", "cpp", 2, **settings)
    env.reset()
    return env


# Every kind of check, and after it an argument or two that are checked in their own way.
CALLS = {
    "integer": lambda value: arguments.integer("integer", value, 0, 9),
    "real": lambda value: arguments.real("real", value, 0, 9),
    "seconds": lambda value: arguments.seconds("seconds", value),
    "boolean": lambda value: arguments.boolean("boolean", value),
    "choice": lambda value: arguments.choice("choice", value, ("a", None)),
    "actions": lambda value: arguments.checked_actions(value, (2,)),
    "indices": lambda value: arguments.checked_indices("indices", value, 2),
    "autoreset_mode": arguments.autoreset_mode,
    "environment": lambda value: rungs.make(value, "cpp", 1),
    "rung": lambda value: rungs.make("chess", value, 1),
    "num_envs": lambda value: rungs.make("chess", "cpp", value),
    "opponent": lambda value: rungs.make("chess", "cpp", 1, opponent=value),
    "start_fens": lambda value: rungs.make("chess", "cpp", 1, start_fens=value),
    "start_fens[1]": lambda value: rungs.make("chess", "cpp", 1, start_fens=[START, value]),
    "opening_plies": lambda value: rungs.make("chess", "cpp", 1, opening_plies=value),
    "dtype": lambda value: rungs.make("cartpole", "cpp", 1, dtype=value),
    "length": lambda value: begun().rollout(value),
    "board": lambda value: begun().legal_moves(value),
    "path": UciEngine,
    "depth": lambda value: UciEngine("/bin/cat", depth=value),
    "nodes": lambda value: UciEngine("/bin/cat", nodes=value),
    "engine seconds": lambda value: UciEngine("/bin/cat", seconds=value),
    "skill": lambda value: UciEngine("/bin/cat", skill=value),
    "elo": lambda value: UciEngine("/bin/cat", elo=value),
    "timeout": lambda value: UciEngine("/bin/cat", timeout=value),
    "option": lambda value: UciEngine("/bin/cat", options=value),
    "action": lambda value: to_uci(value, START),
    "uci": lambda value: from_uci(value, START),
    "FEN": lambda value: to_uci(524, value),
    "mask": unpack_mask,
    "rng": lambda value: random_actions(MASK, value),
    "games": lambda value: Training(games=value),
    "ppo": lambda value: Training(ppo=value),
    "gamma": lambda value: PpoSettings(gamma=value),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_useless_argument_is_refused_by_name(name):
    for value in USELESS:
        message = refusal(CALLS[name], value)
        assert name.lower() in message.lower(), message


@pytest.fixture(scope="module", params=["python", "cpp", "cuda"])
def boards(request):
    how = {"device": "cpu"} if request.param == "cuda" else {}
    env = rungs.make("chess", request.param, 2, **how)
    yield env
    env.close()


@pytest.fixture(scope="module", params=["gymnasium", "cpp", "torch"])
def carts(request):
    return rungs.make("cartpole", request.param, 2)


def test_useless_actions_are_refused_and_change_nothing(boards):
    boards.reset(seed=0)
    before = boards.fens(), boards.get_state()
    pairs = [[value, value] for value in (None, True, 0.0, "e2e4", b"e2", {}, 2**63, 2**64, 1j)]
    arrays = [np.full(2, 524, dtype) for dtype in (float, np.bool_, np.uint64)]
    arrays += [np.full(shape, 524) for shape in (3, (2, 1))]
    for actions in (*USELESS, None, {}, [], "ab", 0, True, *pairs, *arrays):
        refusal(boards.step, actions)
    assert (boards.fens(), boards.get_state()) == before
    _, info = boards.reset(seed=0)
    boards.step(torch.tensor([524, 524]))
    info["action_mask"][:] = True  # which the rules don't read
    assert len(boards.legal_moves(0)) == 20


def test_a_bool_is_no_number_of_anything(boards, carts):
    boards.reset(seed=0)
    carts.reset(seed=0)
    calls = {
        "board": lambda: boards.legal_moves(True),
        "action": lambda: to_uci(True, START),
        "indices[0]": lambda: boards.snapshot([True, 0]),
        "target[1]": lambda: boards.copy_boards([0, 1], (1, np.False_)),
        "actions[0]": lambda: boards.step([True, 524]),
        "actions[1]": lambda: carts.step([0, True]),
    }
    for name, call in calls.items():
        assert f"{name}=" in refusal(call)


def test_useless_actions_of_carts_are_refused_and_change_nothing(carts):
    carts.reset(seed=0)
    before = carts.get_state()
    masked = np.ma.array([1, 0], mask=[True, False])
    shapes = np.zeros(3, int), np.zeros((2, 1), int)
    for actions in (masked, *USELESS, *shapes, None, [], 0, [2, 0], [True, False], [0.0, 1.0]):
        refusal(carts.step, actions)
        twice = np.ma.stack([masked] * 2) if actions is masked else [actions, actions]
        refusal(carts.step_many, 2, twice)
    assert carts.get_state() == before
    carts.step((0, 1))


def test_useless_options_seeds_and_masks_of_a_reset_are_refused(boards, carts):
    for env in (boards, carts):
        env.reset(seed=0)
        before = env.get_state()
        for value in (*USELESS, 5, "x", [], 0, "", False, [("reset_mask", None)]):
            refusal(env.reset, options=value)
        masked = np.ma.array([True, False], mask=[True, False])
        wrong = ([True, False], np.ones(2), np.ones((2, 1), np.bool_), masked)
        for value in (*USELESS, *wrong):
            assert "reset_mask" in refusal(env.reset, options={"reset_mask": value})
        for value in (*USELESS, True, np.True_, 0.0, np.float64(1), "0", 2**64):
            assert "seed" in refusal(env.reset, seed=value)
        for name in ("mask", "", 5, ("reset_mask",), "x" * 10**6):
            assert "options" in refusal(env.reset, options={name: None})
        assert env.get_state() == before
        env.reset(options=types.MappingProxyType({}))


SETTINGS = {
    "max_plies": np.int64(5),
    "seed": np.uint64(2**64 - 1),
    "obs": np.str_("planes"),
    "opening_plies": np.array([0, 2]),
    "start_fens": np.array([START, START]),
}


def test_settings_of_numpys_types_are_kept_as_pythons():
    plain = {name: value.tolist() for name, value in SETTINGS.items()}
    env, same = (rungs.make("chess", "cpp", 2, **given) for given in (SETTINGS, plain))
    for each in (env, same):
        each.reset()
    assert env.settings == same.settings
    assert env.get_state() == same.get_state()
    training = Training(num_envs=np.int64(4), seconds=np.float64(2), seed=np.uint64(3))
    ppo = PpoSettings(num_steps=np.int64(4), gamma=np.float32(0.5), learning_rate=1)
    values = [value for each in (env.settings, training, ppo) for value in vars(each).values()]
    assert not [value for value in values if type(value).__module__ == "numpy"]
    engine = UciEngine("/bin/cat", np.int64(2), np.float64(1), types.MappingProxyType({"Hash": 1}))
    assert pickle.loads(pickle.dumps(engine)) == engine == UciEngine("/bin/cat", 2, 1, {"Hash": 1})


def test_what_has_an_order_is_a_sequence():
    for value in ({START}, {START: 1}, START, (), iter(())):  # without an order, or none
        assert "start_fens" in refusal(CALLS["start_fens"], value)
    for value in ({0, 2}, "02", b"02", (0, 1, 2), {0: 0, 1: 1}):
        assert "opening_plies" in refusal(CALLS["opening_plies"], value)


def test_adapters_refuse_useless_arguments():
    vec = ChessVecEnv(2, "cpp")
    for options in (3, [], "x", {"start": 5}, [{"reset_mask": [True]}] * 2, [{}, {"a": 1}], [5, 5]):
        vec.set_options(options)
        assert "options" in refusal(vec.reset) or "reset_mask" in refusal(vec.reset)
    vec.set_options({})
    vec.reset()
    for actions in (*USELESS, None, [0.5, 1.5]):
        vec.step_async(actions)
        refusal(vec.step_wait)
    assert "SAME_STEP" in refusal(BatchVecEnv, begun(autoreset_mode="NEXT_STEP"))
    game = raw_env()
    game.reset(seed=0)
    for agent in (*USELESS, None, "player_2", 0):
        assert "agent" in refusal(game.observe, agent)
    for action in (*USELESS, None, "e2e4", 0.5, True, [524], 4672):
        refusal(game.step, action)
    game.step(524)


def test_a_training_refuses_settings_that_it_would_overwrite():
    for name in ("seed", 5):
        assert str(name) in refusal(Training, rung_settings={name: 1})


def test_values_are_shown_on_one_short_line():
    assert arguments.shown("kQ") == "'kQ'"
    for value in USELESS:
        assert len(arguments.shown(value)) < 250
        assert "\n" not in arguments.shown(value)
