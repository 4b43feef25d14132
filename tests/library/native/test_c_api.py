"""Programs in other languages play the same games, by the C API, and are refused what is wrong."""

import ctypes
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import rungs
from rungs._src.chess.observation import OBSERVATIONS, format_name
from rungs._src.chess.settings import ChessSettings
from rungs._src.native import gpp
from rungs._src.native.abi import described
from tests.library.native import c_handles
from tests.library.native.c_handles import FORMATS, HEADER, CartPole, Chess, Search, refuses
from tests.processes import succeed

MASKS = {"bool": 0, "bits": 1, "list": 2}
AUTORESET = ("SAME_STEP", "NEXT_STEP", "DISABLED")
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
MATE_IN_ONE = "6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1"


def pair(num_envs, num_threads=1, **settings):
    """The same environments by the C API and by the package."""
    python_env = rungs.make("chess", "cpp", num_envs, **settings)
    given = python_env.settings
    opening_min, opening_max = given.opening_plies
    c_env = Chess(
        num_envs=num_envs,
        num_threads=num_threads,
        opponent=int(given.opponent == "random"),
        observation=FORMATS[format_name(given.obs, given.dtype)],
        mask=MASKS[given.mask],
        autoreset=AUTORESET.index(given.autoreset_mode.name),
        max_plies=given.max_plies or 0,
        first_env=python_env.first_board,
        opening_min=opening_min,
        opening_max=opening_max,
        start_fens=given.starts if "start" in settings or "start_fens" in settings else (),
    )
    return c_env, python_env


def cart_pair(num_envs, num_threads, dtype, mode, **more):
    """The same carts by the C API and by the package."""
    precision, autoreset = {"float64": 8, "float32": 4}[dtype], AUTORESET.index(mode)
    layout = {"precision": precision, "autoreset": autoreset, "num_threads": num_threads}
    python_env = rungs.make("cartpole", "cpp", num_envs, dtype=dtype, autoreset_mode=mode, **more)
    return CartPole(num_envs=num_envs, **layout, **more), python_env


CART_OUTPUTS = ("observation", "reward", "terminated", "truncated", "ended", "final_observation")
CHESS_OUTPUTS = (*CART_OUTPUTS, "mask", "reason", "player")


def check_same(c_env, outputs, names=CHESS_OUTPUTS):
    for name in names:
        assert getattr(c_env, name).tobytes() == getattr(outputs, name).tobytes(), name


def reset_both(c_env, python_env, seed=None, which=None):
    c_env.reset(seed, None if which is None else which.astype(np.uint8))
    python_env.reset(seed=seed, options=None if which is None else {"reset_mask": which})


def play_both(c_env, python_env, outputs, names, actions_of):
    """Resets two equal batches in every way, and steps them; returns how many episodes ended."""
    n, ended = python_env.num_envs, 0
    of_reset = {"observation", "mask", "player"} & {*names}
    seeds, some = np.arange(n, dtype=np.uint64) ** 7, np.arange(n) % 2 == 0
    for seed, which in ((7, None), (seeds, None), (None, None), (None, some)):
        reset_both(c_env, python_env, seed, which)
        for step in range(15):
            check_same(c_env, outputs, of_reset)
            actions = actions_of(step)
            ended += c_env.step(actions)
            python_env.step(actions)
            check_same(c_env, outputs, names)
            if python_env.autoreset_mode == AutoresetMode.DISABLED and outputs.ended.any():
                reset_both(c_env, python_env, which=outputs.ended.astype(np.bool_))
    return ended


SETTINGS = (
    {},
    {"obs": "planes", "mask": "list", "opponent": "random", "start": "chess960"},
    {"obs": "bitplanes", "mask": "bits", "max_plies": 20, "opening_plies": (1, 5)},
    {"opening_plies": (1, 5), "max_plies": 20, "opponent": "random", "first_board": 1_000_001},
    {"obs": "planes", "dtype": "uint8", "autoreset_mode": "NEXT_STEP", "max_plies": 9},
    {"obs": "planes", "dtype": "bfloat16", "start_fens": (MATE_IN_ONE,), "opponent": "random"},
    {"autoreset_mode": "DISABLED", "max_plies": 9},
)


@pytest.mark.parametrize(
    ("num_threads", "settings"),
    [(2, SETTINGS[0]), *((1 + i % 2, settings) for i, settings in enumerate(SETTINGS))],
)
def test_it_plays_the_same_games_as_the_rung_cpp(settings, num_threads):
    c_env, python_env = pair(300, num_threads, **settings)

    def sampled(step):
        actions = c_env.sample(step)
        assert (actions == python_env.sample_actions(step)).all()
        return actions

    ended = play_both(c_env, python_env, python_env.boards.buffers, CHESS_OUTPUTS, sampled)
    assert ended > 0 or not settings
    assert [c_env.fen(i) for i in range(300)] == python_env.fens()


@pytest.mark.parametrize("mode", AUTORESET)
@pytest.mark.parametrize(("dtype", "num_threads"), [("float64", 1), ("float32", 2)])
def test_its_carts_are_those_of_the_rung_cpp(mode, dtype, num_threads):
    carts = {"max_episode_steps": 9, "workload": 2}
    c_env, python_env = cart_pair(3001, num_threads, dtype, mode, **carts)
    outputs, pushes = (
        python_env.carts.outputs,
        np.random.default_rng(0).integers(2, size=(15, 3001)),
    )
    assert play_both(c_env, python_env, outputs, CART_OUTPUTS, pushes.__getitem__) > 3001


@pytest.mark.parametrize(("obs", "dtype"), OBSERVATIONS)
def test_every_observation_is_the_packages(obs, dtype):
    c_env, python_env = pair(3, obs=obs, dtype=dtype)
    reset_both(c_env, python_env, 1)
    check_same(c_env, python_env.boards.buffers)


def test_what_has_ended_waits_for_its_reset_where_autoreset_is_disabled():
    envs = Chess(num_envs=3, autoreset=2, start_fens=[MATE_IN_ONE])
    envs.reset(0)
    assert envs.step(np.full(3, 64 * 8 * 6 + 3)) == 3  # the rook goes seven squares north
    refuses(lambda: envs.step(np.full(3, 5)), r"environment 0: action 5 .*3R2k1")
    envs.reset(which=np.array([1, 0, 1], np.uint8))
    nothing = np.zeros(3, np.int64)
    refuses(lambda: envs.call("choose_actions", nothing, nothing), r"environment 1: .* 0 of 0")


def test_a_state_goes_on_bit_for_bit_and_a_position_can_be_set():
    settings = {"obs": "planes", "opponent": "random", "max_plies": 40}
    (env, _), (other, _) = (pair(5, mask=mask, **settings) for mask in ("list", "bits"))
    env.reset(np.arange(5, dtype=np.uint64))
    for step in range(20):
        env.step(env.sample(step))
    other.restore(env.save())
    for step in range(60):
        actions = env.sample(step)
        assert (other.sample(step) == actions).all()
        assert env.step(actions) == other.step(actions)
        check_same(env, other, ("observation", "reward", "ended", "reason", "player"))
    other.set_fen(3, MATE_IN_ONE)
    assert other.fen(3) == MATE_IN_ONE
    placed, _ = pair(5, obs="planes", mask="bits", start_fens=(MATE_IN_ONE,))
    placed.reset(0)
    for name in ("observation", "mask"):
        row, expected = (getattr(envs, name).reshape(5, -1)[3] for envs in (other, placed))
        np.testing.assert_array_equal(row, expected, name)


def test_a_state_of_anything_else_is_refused_and_nothing_has_changed():
    same = {"num_envs": 2, "observation": 2, "start_fens": [START, MATE_IN_ONE]}
    envs = Chess(**same)
    envs.reset(1)
    state, fens = envs.save(), [envs.fen(0), envs.fen(1)]
    rng, statuses = np.random.default_rng(0), []
    for _ in range(300):
        damaged = state.copy()
        damaged[rng.integers(len(state), size=4)] ^= rng.integers(1, 256, 4).astype(np.uint8)
        status = envs.library.rungs_chess_restore(
            envs.handle, c_handles.argument(damaged), ctypes.c_size_t(len(damaged))
        )
        statuses.append(status)
        if status:
            assert [envs.fen(0), envs.fen(1)] == fens
        else:  # what is random may have changed, and clocks
            envs.step(envs.sample(0))
            envs.restore(state)
    assert {*statuses} == {c_handles.OK, c_handles.STATE}
    Chess(**same, mask=1).restore(state)
    starts = ([MATE_IN_ONE, START], [START.replace(" 0 1", " 0 2"), MATE_IN_ONE])
    others = [{"num_envs": 3}, {"observation": 0}, {"first_env": 1}]
    for other in (*others, *({"start_fens": fens} for fens in starts)):
        refuses(lambda other=other: Chess(**same | other).restore(state), status=c_handles.STATE)


# Each is named with its value; some are wrong beside others alone.
WRONG = {
    Chess: {"num_envs": 0, "opponent": 2, "observation": len(FORMATS), "mask": -1, "autoreset": 3}
    | {"max_plies": -1, "opening_max": 1, "num_threads": 1025, "num_start_fens": 1, "size": 4},
    CartPole: {"num_envs": 0, "precision": 2, "autoreset": -1, "max_episode_steps": 0}
    | {"workload": 0, "num_threads": 2000},
    Search: {"num_games": 0, "simulations": 100_001, "nodes": 8, "policy": 2, "considered": 219}
    | {"observation": len(FORMATS), "keep": 2, "num_threads": 0, "temperature": float("nan")}
    | {"fraction": 1.5},
}
BESIDE = {"opening_max": {"opening_min": 2}, "nodes": {"simulations": 8}}


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, settings in WRONG.items() for name in settings]
)
def test_a_wrong_setting_is_named(kind, name):
    settings = {name: WRONG[kind][name]} | BESIDE.get(name, {})
    refuses(lambda: kind(**settings), rf"{name}: {settings[name]}\b", c_handles.ARGUMENT)


def test_a_wrong_position_to_start_from_is_refused():
    for fen in (
        "8/8/8/8/8/8/8/8 w - - 0 1",
        "3R2k1/5ppp/8/8/8/8/8/K7 b - - 0 1",  # over
        "k7/8/8/8/8/8/8/1R5K w - - 0 60000",
        "7k/8/8/8/8/8/PPPPPPP1/QQQK4 w - - 0 1",  # more moves than a list holds
    ):
        refuses(lambda fen=fen: Chess(start_fens=[fen], mask=2), fen, c_handles.FEN)


def test_what_comes_too_early_and_what_is_wrong_is_refused():
    envs = Chess(num_envs=2)
    for early in (envs.save, lambda: envs.step([0, 0]), lambda: envs.fen(0), envs.reset):
        refuses(early, "rungs_chess_reset", c_handles.ORDER)
    envs.reset(0)
    before = envs.save()
    for call, why in (
        (lambda: envs.step([0, 4672]), "environment 0: action 0"),
        (lambda: envs.fen(2), "env: 2"),
        (lambda: envs.set_fen(0, "nonsense"), "nonsense"),
        (lambda: envs.reset(which=np.array([0, 2], np.uint8)), r"which\[1\]: 2"),
        (lambda: envs.call("get_fen", 0, b"", ctypes.c_size_t(5)), "5 bytes"),
        (lambda: envs.call("step", None, None), "rungs_chess_step.*null"),
    ):
        refuses(call, why)
    assert (envs.save() == before).all()


def test_what_is_wrong_of_carts_is_refused():
    carts = CartPole(num_envs=2, autoreset=2, max_episode_steps=1)
    refuses(lambda: carts.step([0, 0]), "rungs_cartpole_reset", c_handles.ORDER)
    carts.reset(0)
    refuses(lambda: carts.step([0, 2]), "environment 1: action 2", c_handles.ILLEGAL_ACTION)
    assert carts.step([0, 1]) == 2
    carts.reset(which=np.array([1, 0], np.uint8))
    refuses(lambda: carts.step([0, 0]), "environment 1", c_handles.ORDER)


def test_an_older_program_gets_defaults_and_a_newer_one_is_told_of_fields_that_are_missing():
    class Newer(ctypes.Structure):
        known = described(gpp.load()).structures["rungs_chess_config"]
        _fields_ = (("known", known), ("more", ctypes.c_int64))

    api, handle = c_handles.library(), ctypes.c_void_p()
    for more in (0, 1):
        config = Newer(more=7)
        api.rungs_chess_config_init(ctypes.byref(config), ctypes.c_size_t(ctypes.sizeof(Newer)))
        assert (config.known.size, config.known.num_envs) == (ctypes.sizeof(Newer), 1)
        assert config.more == 0
        config.more = more
        status = api.rungs_chess_create(ctypes.byref(config), ctypes.byref(handle))
        assert (status, bool(handle)) == ((c_handles.ARGUMENT, False) if more else (0, True))
        api.rungs_chess_destroy(handle)
    older = c_handles.ChessConfig(size=c_handles.ChessConfig.opponent.offset, num_envs=3, mask=9)
    assert api.rungs_chess_create(ctypes.byref(older), ctypes.byref(handle)) == 0
    outputs = c_handles.ChessOutputs(size=c_handles.ChessOutputs.mask.offset, mask=5)
    assert api.rungs_chess_get_outputs(handle, ctypes.byref(outputs)) == 0
    assert (outputs.observation_bytes, outputs.mask) == (72, 5)  # no byte beyond its size
    api.rungs_chess_destroy(handle)


def test_messages_are_the_calling_threads():
    api = c_handles.library()

    def fail(fen):
        leaves = ctypes.c_int64()
        status = api.rungs_perft(fen, 2, 1, ctypes.byref(leaves))
        return status, api.rungs_error_message()

    with ThreadPoolExecutor(1) as other:
        assert fail(b"here")[0] == c_handles.FEN
        assert b"there" in other.submit(fail, b"there").result()[1]
    assert b"here" in api.rungs_error_message()


def test_perft_counts_the_published_leaves():
    api, leaves = c_handles.library(), ctypes.c_int64()
    start = ChessSettings().starts[0].encode()
    for threads, depth, count in ((1, 3, 8902), (2, 5, 4865609)):
        assert api.rungs_perft(start, depth, threads, ctypes.byref(leaves)) == 0
        assert leaves.value == count


def exported(library):
    listed = succeed(["nm", "-D", "--defined-only", library])
    return {line.split()[2].split("@")[0] for line in listed.splitlines()}


def declared():
    functions = re.findall(r"^RUNGS_API .*?(rungs_\w+)\(", HEADER.read_text(), re.MULTILINE)
    assert functions
    assert len(functions) == len({*functions})
    return {*functions}


def test_the_library_has_what_the_header_declares_and_nothing_else_of_ours():
    names = exported(gpp.load()._name)
    assert {name for name in names if "rungs" in name} == declared()
