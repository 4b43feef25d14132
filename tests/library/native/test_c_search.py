"""Searches by the C API find what the package's find, to the last bit."""

import ctypes
import dataclasses

import numpy as np
import pytest

import rungs
from rungs._src.chess.observation import format_name
from rungs._src.search.settings import Gumbel, Puct, SearchSettings
from rungs.search import Search as OurSearch
from tests.library.native import c_handles
from tests.library.native.c_handles import FORMATS, RESULTS, Chess, Search, refuses
from tests.library.search.made_up import ENDINGS, evaluate, random_fens

START = SearchSettings().chess(()).starts[0]


def check_same(c_search, result):
    for name in RESULTS:
        np.testing.assert_array_equal(getattr(c_search, name), getattr(result, name), name)


SETTINGS = [
    ("gumbel", 1, {}),
    ("puct", 2, {}),
    ("gumbel", 2, {"obs": "planes", "dtype": "uint8", "keep": False}),
    ("puct", 1, {"obs": "bitplanes", "nodes": 40}),
]


@pytest.mark.parametrize(("policy", "num_threads", "more"), SETTINGS)
def test_it_finds_the_same_as_the_package(policy, more, num_threads):
    rng = np.random.default_rng(3)
    fens = [*ENDINGS, *random_fens(rng, 5)]
    n = len(fens)
    python_search = OurSearch(n, policy=policy, simulations=24, seed=5, **more)
    settings = python_search.settings
    c_search = Search(
        num_games=n,
        policy=["gumbel", "puct"].index(policy),
        simulations=24,
        seed=5,
        num_threads=num_threads,
        keep=int(more.get("keep", True)),
        nodes=more.get("nodes", 0),
        observation=FORMATS[format_name(settings.obs, settings.dtype)],
    )
    python_search.begin()  # the first episode was the constructor's
    for fens_of_episode in ([START] * n, [START] * n, fens):
        for game, fen in enumerate(fens_of_episode):
            c_search.call("begin", game, fen.encode())
    python_search.begin(fens)
    for simulations in (24, 7, 24):
        which = rng.random(n) < 0.8
        result = python_search.run(evaluate, which, simulations)
        c_search.run(evaluate, which.astype(np.uint8), simulations)
        check_same(c_search, result)
        python_search.advance(result.chosen)
        c_search.call("advance", result.chosen)
        assert [c_search.fen(i) for i in range(n)] == python_search.fens()
        assert c_search.reason.tolist() == python_search.reasons.tolist()


def test_games_begin_where_environments_are():
    settings = {"obs": "planes", "opening_plies": (6, 12)}
    env = rungs.make("chess", "cpp", 6, mask="list", **settings)
    envs = Chess(num_envs=6, observation=1, opening_min=6, opening_max=12, mask=2)
    env.reset(seed=4)
    envs.reset(4)
    python_search, c_search = OurSearch(6, obs="planes"), Search(num_games=6, observation=1)
    python_search.begin(env)
    c_search.call("begin_envs", envs.handle, None)
    c_search.run(evaluate)
    check_same(c_search, python_search.run(evaluate))
    for wrong, why in (
        (Chess(num_envs=6, observation=1), "rungs_chess_reset"),
        (Chess(num_envs=5, observation=1), "5 .* 6"),
        (Chess(num_envs=6), "history"),
    ):
        if "reset" not in why:
            wrong.reset(0)
        refuses(lambda wrong=wrong: c_search.call("begin_envs", wrong.handle, None), why)


def test_a_tree_is_looked_at_as_by_the_package_also_while_it_grows():
    quiet = {"fraction": 0.0, "temperature": 0.0}
    c_search, python_search = (
        Search(simulations=60, policy=1, **quiet),
        OurSearch(1, simulations=60, policy=Puct(**quiet)),
    )
    c_rows, rows = [], []

    def look_by_c(*path):
        c_search.call("look", 0, np.array(path, np.int16) if path else None, len(path))
        c_rows.append({name: getattr(c_search, name).copy() for name in RESULTS})

    def look(*path):
        result = python_search.look(0, path)
        rows.append({name: getattr(result, name).copy() for name in RESULTS})

    refuses(look_by_c, "game 0")
    c_search.call("begin", 0, START.encode())
    c_search.run(lambda *leaves: look_by_c() or evaluate(*leaves))
    result = python_search.run(lambda *leaves: look() or evaluate(*leaves))
    for path in ((), (int(result.chosen[0]),), (5,)):  # the last one leads nowhere
        look_by_c(*path)
        look(*path)
    for c_row, row in zip(c_rows, rows, strict=True):
        # Where no simulation has gone on from a node C still gives what its evaluation was.
        names = RESULTS if row["visits"].any() else ("visits", "policy", "action_values", "chosen")
        for name in names:
            np.testing.assert_array_equal(c_row[name], row[name], name)
    assert c_search.nodes[0] == len(python_search.tree(0).parent)
    refuses(lambda: c_search.call("look", 0, None, 2), "null")


def test_defaults_are_the_packages():
    search, settings = Search(), SearchSettings()
    assert search.config.simulations == settings.simulations
    assert (search.config.keep, search.config.seed) == (settings.keep, settings.seed)
    for policy in (Gumbel(), Puct()):
        for field in dataclasses.fields(policy):
            assert getattr(search.config, field.name) == getattr(policy, field.name), field.name


def test_what_is_wrong_or_comes_too_early_is_refused_and_changes_nothing():
    search = Search(num_games=2)
    search.call("begin", 0, START.encode())
    for early in (
        lambda: search.run(evaluate),
        lambda: search.fen(1),
        lambda: search.call("advance", np.array([-1, 5])),
        search.simulate,
        lambda: search.call("finish"),
    ):
        refuses(early, status=c_handles.ORDER)
    search.call("begin", 1, START.encode())
    search.call("start", None, ctypes.c_int32(0))
    assert search.simulate() == 2
    zeros, wrong = np.zeros((2, 218), np.float32), np.full((2, 218), np.nan, np.float32)
    values = np.zeros(2, np.float32)
    for call, why in (
        (search.simulate, "2 leaves"),
        (lambda: search.simulate(zeros[:, :19].copy(), values), "stride: 19 .* 20"),
        (lambda: search.simulate(wrong, values), "game 0: .*NaN"),
        (lambda: search.simulate(zeros, values + 2), "game 0"),
        (lambda: search.call("advance", np.array([-1, 5])), "game 1: action 5 .* rnb"),
        (lambda: search.call("begin", 2, START.encode()), "game: 2"),
        (lambda: search.call("begin", 0, b"nonsense"), "nonsense"),
        (lambda: search.call("start", None, ctypes.c_int32(33)), "simulations: 33"),
        (lambda: Search(num_games=2**31 - 1, simulations=100_000), "memory"),
    ):
        refuses(call, why)
    leaves = 2
    while leaves:
        leaves = search.simulate(zeros[:leaves], values[:leaves])
    search.call("finish")
    assert (search.visits.sum(axis=1) == 32).all()
    search.call("advance", np.full(2, -1))
    refuses(lambda: search.call("finish"), "simulations")
