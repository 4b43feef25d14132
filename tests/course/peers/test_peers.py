"""Other environments as their users step them, their actions in ours, and where they are."""

import importlib
import re
import sys
import tomllib
from pathlib import Path

import chess
import numpy as np
import pytest

from rungs._src.chess.actions import NUM_ACTIONS, action_of, target_of
from rungs._src.native import cache
from rungs.errors import CompilerError, ConfigurationError, UnavailableError
from rungs_course import peers
from rungs_course.paths import ROOT
from rungs_course.peers import agreement, cartpole, open_spiel, pettingzoo, pgx, pufferlib
from rungs_course.peers.peer import Step
from tests.processes import succeed


def test_every_peer_says_the_parts_of_its_step_and_an_unknown_one_is_refused():
    assert all(isinstance(peers.peer_class(name).STEP, Step) for name in peers.CHESS)
    with pytest.raises(ConfigurationError, match="'Fritz'"):
        peers.peer_class("Fritz")


def test_their_extras_install_them_or_they_say_what_does():
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for name, project in peers.PROJECTS.items():
        extras = pyproject["optional-dependencies"]
        requirements = pyproject["dependencies"] + extras.get(project.extra, [])
        distributions = [re.match(r"[\w-]+", line)[0] for line in requirements]
        installed = project.distribution in [d.replace("_", "-") for d in distributions]
        elsewhere = project.distribution in project.besides or bool(project.folder)
        assert installed != elsewhere, name


def new_peer(name, num_envs):
    if not peers.versions()[name]:
        pytest.skip(f"{name} is not installed")
    return peers.peer_class(name)(num_envs)


@pytest.mark.system
@pytest.mark.parametrize("name", [name for name in peers.CHESS if name != "chessenv"])
class TestChess:
    def test_it_plays_by_the_rules_in_some_games(self, name):
        tried, disagreements = agreement.compare(new_peer(name, 6), seed=1)
        assert tried[agreement.LEGAL] > 100
        # What peers are known to see otherwise is in the notebook; never moves and mates, but
        # for one in which several moves share an action.
        basic = (agreement.LEGAL, "checkmate", "stalemate")
        assert any(one.rule in basic for one in disagreements) == (name == "chess-env-rl")

    def test_it_goes_on_with_the_next_game(self, name):
        peer, rng = new_peer(name, 3), np.random.default_rng(0)
        peer.reset(0)
        ended = played = 0
        for _ in range(700):
            peer.step(peer.choose(rng))
            played += peer.played()
            ended += int(peer.ended.sum())
        assert ended >= 3
        assert played == 3 * 700 if name != "EnvPool" else 3 * 700 - ended <= played < 3 * 700


@pytest.mark.system
def test_envpool_leaves_the_environment_as_it_is():
    if not peers.versions()["EnvPool"]:
        pytest.skip("EnvPool is not installed")
    code = "import os; from rungs_course.peers.envpool import EnvPoolChess\n"
    code += "before = dict(os.environ); EnvPoolChess(1).reset(0); assert os.environ == before"
    succeed([sys.executable, "-c", code])


@pytest.mark.system
def test_what_pgx_compiles_is_kept_where_nobody_else_writes():
    new_peer("Pgx", 1)
    jax = importlib.import_module("jax")
    assert Path(jax.config.jax_compilation_cache_dir).parent == cache.directory()


@pytest.mark.parametrize("peer", [pgx, pettingzoo, open_spiel])
def test_actions_are_a_bijection_on_the_board(peer):
    on_board = np.array([a for a in range(NUM_ACTIONS) if target_of(a) is not None])
    np.testing.assert_array_equal(peer.TO_OURS[peer.TO_THEIRS[on_board]], on_board)
    assert (np.delete(peer.TO_THEIRS, on_board) == -1).all()


@pytest.mark.parametrize(
    ("peer_class", "settings", "same_step"),
    [
        (cartpole.GymnasiumCartPole, {"mode": "vector_entry_point"}, False),
        (cartpole.GymnasiumCartPole, {"mode": "sync"}, False),
        (cartpole.Sb3CartPole, {"processes": False}, True),
        pytest.param(cartpole.Sb3CartPole, {"processes": True}, True, marks=pytest.mark.system),
        (cartpole.EnvPoolCartPole, {}, False),
    ],
)
def test_cartpole_counts_what_it_played(peer_class, settings, same_step):
    try:
        peer = peer_class(4, **settings)
    except UnavailableError as error:
        pytest.skip(str(error))
    rng = np.random.default_rng(0)
    peer.reset(0)
    played = 0
    for _ in range(120):
        peer.step(peer.choose(rng))
        played += peer.played()
    # A random policy falls over after some twenty steps.
    assert (played == 480) if same_step else (440 < played < 480)
    peer.close()


def test_our_cartpole_counts_all_steps_of_a_call():
    peer = cartpole.OurCartPole(4, at_once=7)
    peer.reset(0)
    peer.step(peer.choose(np.random.default_rng(0)))
    assert peer.played() == 7 * 4


MODULES = {"OpenSpiel": "pyspiel", "PettingZoo": "pettingzoo.classic", "Pgx": "jax"}
MODULES |= {"EnvPool": "envpool", "NChess": "nchess", "chess-env-rl": "chess_env_rl"}


@pytest.mark.parametrize(("name", "module"), MODULES.items())
def test_what_is_not_installed_says_so(name, module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    makers = [peers.peer_class(name)]
    if name == "OpenSpiel":
        makers.append(lambda num_envs: peers.make(name, num_envs))
    for make in makers:
        with pytest.raises(UnavailableError, match=f"{name}.*pip install"):
            make(1)


@pytest.mark.parametrize(
    ("name", "variable", "module"),
    [("chessenv", "RUNGS_CHESSENV", "fastchessenv"), ("pgx1", "RUNGS_PGX1", "pgx1")],
)
def test_a_clone_is_found_by_its_folder_and_its_version_is_its_commit(
    name, variable, module, tmp_path, monkeypatch
):
    monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UnavailableError, match=variable):
        peers.peer_class(name)(1)
    monkeypatch.delitem(sys.modules, module)
    (tmp_path / f"{module}.py").write_text("import clone_not_built")
    monkeypatch.setenv(variable, str(tmp_path))
    with pytest.raises(UnavailableError, match="clone_not_built"):
        peers.peer_class(name)(1)
    assert peers.versions()[name] == "commit unknown"
    clone = tmp_path / "clone"
    git = ["git", "-C", clone, "-c", "user.name=a", "-c", "user.email=b"]
    succeed(["git", "init", "--quiet", clone])
    succeed([*git, "commit", "--quiet", "--allow-empty", "-m", "c"])
    monkeypatch.setenv(variable, str(clone))
    commit = peers.versions()[name].removeprefix("commit ")
    assert len(commit) > 6
    assert succeed([*git, "rev-parse", "HEAD"]).startswith(commit)


HEADERS = {"PufferLib": ["ocean/chess/chess.h", "raylib-5.5/include/raylib.h"]}
HEADERS |= {"libchess": ["Position.h"]}


@pytest.mark.parametrize(("name", "headers"), HEADERS.items())
def test_a_clone_of_c_is_named_and_holds_what_is_compiled(name, headers, tmp_path, monkeypatch):
    def refused(error, match):
        with pytest.raises(error, match=match):
            peers.peer_class(name)(1)

    variable = f"RUNGS_{name.upper()}"
    monkeypatch.delenv(variable, raising=False)
    refused(UnavailableError, variable)
    monkeypatch.setenv(variable, str(tmp_path))
    for header in map(Path, headers):
        refused(UnavailableError, re.escape(header.name))
        (tmp_path / header).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / header).write_text("#error not chess")
    refused(CompilerError, r"not chess|clang\+\+")  # where that is not installed


def test_pufferlibs_moves_are_ours():
    actions = pufferlib.to_ours()
    e2e4, a7b8n, e1g1 = (chess.Move.from_uci(move) for move in ("e2e4", "a7b8n", "e1g1"))
    for move in (e2e4, a7b8n, e1g1):
        code = move.from_square + 64 * move.to_square + 4096 * (move.promotion or 0)
        assert actions[0, code] == action_of(move, black=False)
    assert actions[1, chess.E7 + 64 * chess.E5] == action_of(e2e4, black=False)
    assert actions[0, 0] == -1
