"""Whatever a caller gives: an error of ours, in one line, that names it; nothing has changed."""

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
from rungs._src.chess.perft import perft_cpp
from rungs._src.chess.policy import random_actions
from rungs._src.chess.unpack import unpack_mask, unpack_planes
from rungs._src.core.arguments import shown
from rungs._src.train.settings import PpoSettings, Training
from rungs.adapters.pettingzoo import raw_env
from rungs.adapters.sb3 import BatchVecEnv, CartPoleVecEnv, ChessVecEnv
from rungs.errors import ConfigurationError, EngineError, RungsError
from rungs_course import peers
from rungs_course.peers.open_spiel import TO_OURS, to_open_spiel, to_rungs

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
MASK = np.ones((2, 4672), np.bool_)


class Refuses:
    """A value that answers nothing that it is asked."""

    def __refuse(self, *_, **__):
        raise RuntimeError("no")

    __repr__ = __eq__ = __hash__ = __bool__ = __len__ = __iter__ = __refuse
    __index__ = __float__ = __array__ = __getitem__ = __refuse


# What no argument takes. Each was once a traceback somewhere.
USELESS = {
    "refuses": Refuses(),
    "negative": -1,
    "huge": 10**5000,
    "nan": math.nan,
    "bytes": b"chess",
    "long text": "kQ\ud800\0\n" * 10**5,
    "nested": [[[[]]], [[]]],
    "numbers for names": {1: 2},
    "texts": np.array(["random", "board"]),
    "objects": np.array([None, 1], object),
    "masked": np.ma.array([1, 2, 3], mask=[1, 0, 0]),
    "on no device": torch.empty(2, dtype=torch.int64, device="meta"),
}


def chess_with(name, rung="cpp"):
    return lambda value: rungs.make("chess", rung, 1, **{name: value})


def cartpole_with(name, rung="cpp"):
    return lambda value: rungs.make("cartpole", rung, 1, **{name: value})


def settings_with(settings, name):
    return lambda value: settings(**{name: value})


CHESS = (
    *("seed", "first_board", "opponent", "obs", "mask", "autoreset_mode", "max_plies"),
    *("start", "start_fens", "opening_plies", "api"),
)
CARTPOLE = ("seed", "first_env", "dtype", "workload", "max_episode_steps", "carts")
TRAINING = ("num_envs", "seed", "games", "device", "learner", "ppo", "seconds")
PPO = ("num_steps", "learning_rate", "gamma")

# Who takes an argument, by a word that a refusal names it with; what is in brackets tells apart.
TAKERS = {
    "environment": lambda value: rungs.make(value, "cpp", 1),
    "environment (async)": lambda value: rungs.make_async(value, 2),
    "rung": lambda value: rungs.make("chess", value, 1),
    "rung (Stable-Baselines3)": lambda value: ChessVecEnv(1, value),
    "rung (peers)": lambda value: peers.make(value, 1),
    "num_envs": lambda value: rungs.make("chess", "cpp", value),
    "num_envs (CartPole)": lambda value: rungs.make("cartpole", "cpp", value),
    "num_envs (Stable-Baselines3)": CartPoleVecEnv,
    "env (Stable-Baselines3)": BatchVecEnv,
    "render_mode": lambda value: raw_env(render_mode=value),
    "peer": peers.peer_class,
    **{name: chess_with(name) for name in CHESS},
    **{name: chess_with(name, "openmp") for name in ("threads", "schedule", "chunk")},
    "threads (ours)": chess_with("threads", "threads"),
    **{name: chess_with(name, "multiprocessing") for name in ("workers", "transport")},
    **{name: chess_with(name, "cuda") for name in ("device", "threads_per_block")},
    "start_fens (one)": lambda value: rungs.make("chess", "cpp", 1, start_fens=[START, value]),
    "opening_plies (most)": lambda value: rungs.make("chess", "cpp", 1, opening_plies=(0, value)),
    **{f"{name} (CartPole)": cartpole_with(name) for name in CARTPOLE},
    **{
        f"{name} (PyTorch)": cartpole_with(name, "torch")
        for name in ("device", "execution", "validate")
    },
    "path": UciEngine,
    "depth": lambda value: UciEngine("/bin/cat", depth=value),
    "timeout": lambda value: UciEngine("/bin/cat", timeout=value),
    "option": lambda value: UciEngine("/bin/cat", options=value),
    "action": lambda value: to_uci(value, START),
    "action (OpenSpiel)": to_rungs,
    "action (OpenSpiel, ours)": lambda value: to_open_spiel(value, [0, 1]),
    "uci": lambda value: from_uci(value, START),
    "chess960": lambda value: to_uci(524, START, value),
    "FEN": lambda value: to_uci(524, value),
    "FEN (perft_cpp)": lambda value: perft_cpp(value, 1),
    "depth (perft_cpp)": lambda value: perft_cpp(START, value),
    "mask": unpack_mask,
    "planes": unpack_planes,
    "mask (policy)": lambda value: random_actions(value, np.random.default_rng(0)),
    "rng": lambda value: random_actions(MASK, value),
    **{f"{name} (training)": settings_with(Training, name) for name in TRAINING},
    **{f"{name} (PPO)": settings_with(PpoSettings, name) for name in PPO},
}


def refusal(call, *arguments, **named) -> str:
    """The message of the error of ours that a call ends in: one line, and not a long one."""
    with pytest.raises((RungsError, gymnasium.error.Error)) as caught:
        call(*arguments, **named)
    told = str(caught.value)
    assert "\n" not in told
    assert len(told) < 1200
    return told


@pytest.mark.parametrize("name", TAKERS)
def test_a_useless_argument_is_refused_by_name(name):
    for value in USELESS.values():
        told = refusal(TAKERS[name], value)
        assert name.split(" (")[0].lower() in told.lower(), told


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
    for actions in (*USELESS.values(), None, {}, [], "ab", 0, True, *pairs):
        refusal(boards.step, actions)
    assert (boards.fens(), boards.get_state()) == before
    boards.step(torch.tensor([524, 524]))


def test_useless_actions_of_carts_are_refused_and_change_nothing(carts):
    carts.reset(seed=0)
    before = carts.get_state()
    masked = np.ma.array([1, 0], mask=[True, False])
    for actions in (masked, *USELESS.values(), None, [], 0, [2, 0], [True, False], [0.0, 1.0]):
        refusal(carts.step, actions)
        twice = np.ma.stack([masked] * 2) if actions is masked else [actions, actions]
        refusal(carts.step_many, 2, twice)
    assert carts.get_state() == before
    carts.step((0, 1))


def test_useless_options_seeds_and_masks_of_a_reset_are_refused(boards, carts):
    for env in (boards, carts):
        env.reset(seed=0)
        before = env.get_state()
        for value in (*USELESS.values(), 5, "x", [], 0, "", False, [("reset_mask", None)]):
            refusal(env.reset, options=value)
        masked = np.ma.array([True, False], mask=[True, False])
        wrong = ([True, False], np.ones(2), np.ones((2, 1), np.bool_), masked)
        for value in (*USELESS.values(), *wrong):
            assert "reset_mask" in refusal(env.reset, options={"reset_mask": value})
        for value in (*USELESS.values(), True, np.True_, 0.0, np.float64(1), "0", 2**64):
            assert "seed" in refusal(env.reset, seed=value)
        for name in ("mask", "", 5, ("reset_mask",), "x" * 10**6):
            assert "unknown reset options" in refusal(env.reset, options={name: None})
        assert env.get_state() == before
        env.reset(options=types.MappingProxyType({}))


def test_what_is_no_rollout_is_refused(boards):
    boards.reset(seed=0)
    actions, before = [524, 524], boards.get_state()
    whole, (slot, _) = boards.rollout(2)
    kind = type(slot)
    short = kind(**{name: array for name, array in vars(slot).items() if name != "reward"})
    turned = kind(**dict(reversed(vars(slot).items())))
    listed = kind(**vars(slot) | {"reward": [0.0, 0.0]})
    other = rungs.make("chess", "cpp", 2, mask="bits").rollout(1)[1][0]
    outs = (5, {}, [], vars(slot), kind(), whole, short, turned, listed, other, *USELESS.values())
    for out in outs:
        assert "out is not" in refusal(boards.step, actions, out)
    assert boards.get_state() == before
    boards.step(actions, slot)


def test_an_array_is_no_rollout_of_tensors():
    arrays, tensors = (
        rungs.make("chess", rung, 2)
        if rung == "cpp"
        else rungs.make("chess", rung, 2, device="cpu")
        for rung in ("cpp", "cuda")
    )
    for env, other in ((arrays, tensors), (tensors, arrays)):
        env.reset(seed=0)
        assert "out is not" in refusal(env.step, [524, 524], other.rollout(1)[1][0])


def test_useless_lengths_and_boards_are_refused(boards):
    boards.reset(seed=0)
    for value in (*USELESS.values(), None, 0.0, "1", [1]):
        assert "length" in refusal(boards.rollout, value)
        assert "board" in refusal(boards.legal_moves, value)


def test_legal_moves_are_the_rules_whatever_is_written_to_the_mask(boards):
    _, info = boards.reset(seed=0)
    legal = boards.legal_moves(0)
    info["action_mask"][:] = True
    assert boards.legal_moves(0) == legal
    assert len(legal) == 20


SETTINGS = {
    "max_plies": np.int64(5),
    "seed": np.uint64(2**64 - 1),
    "obs": np.str_("planes"),
    "opening_plies": np.array([0, 2]),
    "start_fens": np.array([START, START]),
}


def test_what_is_kept_is_what_it_stands_for():
    """Settings of NumPy's kinds were accepted, and then fatal in `get_state`."""
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


@pytest.mark.parametrize("fens", [{START}, {START: 1}, START, (), iter(())])
def test_starts_come_in_an_order(fens):
    assert "start_fens" in refusal(rungs.make, "chess", "cpp", 1, start_fens=fens)


@pytest.mark.parametrize("plies", [{0, 2}, "02", b"02", (0, 1, 2), {0: 0, 1: 1}])
def test_openings_are_a_pair_in_order(plies):
    assert "opening_plies" in refusal(rungs.make, "chess", "cpp", 1, opening_plies=plies)


@pytest.mark.parametrize(
    ("fen", "why"),
    [
        (START.replace("0 1", "0 " + "9" * 5000), "fullmove"),
        ("k" * 10**6 + " w - -", "rows"),
        (" " * 10**6, "6 fields"),
        (5, "not a FEN"),
    ],
)
def test_a_start_that_is_no_fen_is_named_and_shortened(fen, why):
    told = refusal(rungs.make, "chess", "cpp", 1, start_fens=[fen])
    assert told.startswith("start_fens: ")
    assert why in told
    assert len(told) < 700


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"Hash": 0.5}, "Hash=0.5"),
        ({"Log": "x\nquit"}, "Log='x"),
        ({5: 1}, "option 5"),
        ([("Hash", 1)], "not a dict"),
    ],
)
def test_an_option_that_no_engine_takes_is_named(options, named):
    assert named in refusal(UciEngine, "/bin/cat", options=options)


def test_a_policy_needs_something_legal():
    mask = MASK.copy()
    mask[1] = False
    with pytest.raises(ConfigurationError, match="board 1 has no legal action"):
        random_actions(mask, np.random.default_rng(0))
    for kind in (MASK.astype(np.int8), MASK[0], MASK[:, :73], MASK.tolist(), torch.tensor(MASK)):
        assert "mask=" in refusal(random_actions, kind, np.random.default_rng(0))
    for rng in (0, None, np.random, np.random.RandomState(0)):
        assert "rng=" in refusal(random_actions, MASK, rng)


def test_adapters_refuse_what_they_do_not_do():
    vec = ChessVecEnv(2, "cpp")
    refusal(vec.action_masks)
    for options in ({"start": 5}, [{"reset_mask": [True]}] * 2, [{"a": 1}, {}], [5, 5]):
        vec.set_options(options)
        assert "options" in refusal(vec.reset) or "reset_mask" in refusal(vec.reset)
    vec.set_options({})
    vec.reset()
    for actions in (*USELESS.values(), None, [0.5, 1.5]):
        vec.step_async(actions)
        refusal(vec.step_wait)
    for mode in ("NEXT_STEP", "DISABLED"):
        env = rungs.make("chess", "cpp", 1, autoreset_mode=mode)
        assert "SAME_STEP" in refusal(BatchVecEnv, env)
    game = raw_env()
    game.reset(seed=0)
    for agent in (*USELESS.values(), None, "player_2", 0):
        for ask in (game.observe, game.action_space, game.observation_space):
            assert "agent" in refusal(ask, agent)
    for action in (*USELESS.values(), None, "e2e4", 0.5, True, [524], 4672):
        refusal(game.step, action)
    game.step(524)


def test_halves_refuse_actions_and_wait_for_others():
    env = rungs.make_async("chess", 4)
    env.reset(seed=0)
    env.recv()
    for actions in (*USELESS.values(), None, [0.5, 0.5], [524]):
        refusal(env.send, actions)
    env.send([524, 524])
    env.recv()
    refusal(env.reset, seed="x")
    env.close()


def test_openspiels_actions_off_the_board_are_refused():
    for action in (-1, len(TO_OURS), int(np.flatnonzero(TO_OURS < 0)[0])):
        assert "action=" in refusal(to_rungs, action)
    assert "not legal" in refusal(to_open_spiel, 524, [])


@pytest.mark.parametrize("name", ["seed", "num_envs", "mask", "obs", "first_board", "opponent", 5])
def test_a_training_run_refuses_settings_that_it_would_overwrite(name):
    assert str(name) in refusal(Training, how={name: 1})


def test_values_are_shown_on_one_line_and_short():
    assert shown("kQ") == "'kQ'"
    assert shown(10**5000).startswith("0x")
    assert shown([10**5000]) == "a list"
    for value in USELESS.values():
        assert len(shown(value)) < 250
        assert "\n" not in shown(value)


REPLIES = {
    "bestmove 0000": "no move",
    "bestmove": "no move",
    "bestmove e7e5": "illegal",
    "bestmove e2e4q": "illegal",
    "bestmove " + "e" * 10**5: "eee",
}


@pytest.mark.parametrize("reply", REPLIES)
def test_an_engine_that_makes_no_move_is_named_with_the_position(tmp_path, reply):
    program = tmp_path / "engine"
    program.write_text(
        "#!/bin/sh\nwhile read -r word rest; do case $word in uci) echo uciok;; "
        f"isready) echo readyok;; go) printf '{reply}\\n';; quit) exit;; esac; done\n"
    )
    program.chmod(0o755)
    env = rungs.make("chess", "cpp", 1, first_board=7, opponent=UciEngine(program))
    with pytest.raises(EngineError, match="board 7") as caught:
        env.reset()
    told = str(caught.value)
    assert str(program) in told
    assert START in told
    assert REPLIES[reply] in told
    assert len(told) < 1200
    env.close()
