"""What editors and checkers read of `make`, and what `rungs.list()` says, is what there is."""

import dataclasses
import inspect
import os
import subprocess
import sys
import typing
from pathlib import Path

import pytest
from gymnasium.vector import AutoresetMode

import rungs
from rungs._src import cli, listing, registry
from rungs._src.cartpole.carts.cpp import CppCarts
from rungs._src.cartpole.carts.torch import EXECUTIONS
from rungs._src.chess.boards.multiprocessing import TRANSPORTS
from rungs._src.chess.boards.openmp import SCHEDULES
from rungs._src.chess.observation import OBSERVATIONS
from rungs._src.core.arguments import AUTORESET_MODES
from rungs._src.native.loader import COMPILERS
from rungs.cartpole import CartPoleKeywords, CartPoleRung, CartPoleSettings, CartPoleVectorEnv
from rungs.chess import ChessKeywords, ChessRung, ChessSettings, ChessVectorEnv
from rungs.errors import CompilerError, ConfigurationError, UnavailableError

ROOT = Path(__file__).parents[2]
KINDS = {
    "chess": (ChessKeywords, ChessRung, ChessSettings, ChessVectorEnv),
    "cartpole": (CartPoleKeywords, CartPoleRung, CartPoleSettings, CartPoleVectorEnv),
}


def literals(kind) -> set:
    """All values of the `Literal`s in a type."""
    if typing.get_origin(kind) is typing.Literal:
        return {*typing.get_args(kind)}
    return set().union(*map(literals, typing.get_args(kind)))


def own_rungs(env_id) -> list[rungs.Rung]:
    """The library's rungs, without those that others have registered."""
    return [rung for rung in rungs.rungs_of(env_id) if rung.makes.startswith(".")]


def keyword_only(function) -> set[str]:
    parameters = inspect.signature(function).parameters.values()
    return {each.name for each in parameters if each.kind == each.KEYWORD_ONLY}


@pytest.mark.parametrize("env_id", KINDS)
def test_make_has_a_typed_keyword_for_each_setting_and_no_other(env_id):
    keywords, rung_names, settings, env = KINDS[env_id]
    assert literals(rung_names) == {rung.name for rung in own_rungs(env_id)}
    there = {field.name for field in dataclasses.fields(settings)} | keyword_only(env)
    for rung in own_rungs(env_id):
        try:
            there |= keyword_only(registry._imported(rung.makes))
        except ImportError:
            pytest.skip(f"{rung.name} can't be imported")
    assert {*typing.get_type_hints(keywords)} == there - {"api"}  # which is the course's


class OtherCarts(CppCarts):
    pass


def test_a_rung_of_another_package_is_made_by_its_name(monkeypatch):
    monkeypatch.setitem(registry._RUNGS, "cartpole", registry._RUNGS["cartpole"])
    names = [rung.name for rung in rungs.rungs_of("cartpole")]
    other = rungs.Rung("other", "C++, again", f"{__name__}:OtherCarts")
    rungs.register_rung("cartpole", other)
    assert [rung.name for rung in rungs.rungs_of("cartpole")] == [*names, "other"]
    rungs.register_rung("cartpole", other, before=names[0])
    assert [rung.name for rung in rungs.rungs_of("cartpole")] == ["other", *names]
    assert isinstance(rungs.make("cartpole", "other", 2).carts, OtherCarts)
    with pytest.raises(ConfigurationError, match="before='other'"):
        rungs.register_rung("cartpole", other, before="other")
    with pytest.raises(ConfigurationError, match="go"):
        rungs.register_rung("go", other)


@pytest.mark.parametrize("env_id", KINDS)
def test_its_choices_are_those_that_are_checked(env_id):
    keywords, _, settings, _ = KINDS[env_id]
    hints = typing.get_type_hints(keywords)
    checked = {
        field.name: {*field.metadata["choices"]} - {None}
        for field in dataclasses.fields(settings)
        if field.metadata["choices"]
    }
    checked["autoreset_mode"] = {each.name for each in AUTORESET_MODES}
    checked["autoreset_mode"] |= {each.value for each in AUTORESET_MODES}
    checked["compiler"] = {*COMPILERS}
    if env_id == "chess":
        checked |= {"schedule": {*SCHEDULES}, "transport": {*TRANSPORTS, "messages"}}
        checked |= {"dtype": {dtype for _, dtype in OBSERVATIONS}, "opponent": {"random"}}
    else:
        checked |= {"execution": {*EXECUTIONS}}
    for name, values in checked.items():
        assert literals(hints[name]) == values, name
    assert AutoresetMode in typing.get_args(hints["autoreset_mode"])


@pytest.mark.system
def test_checkers_find_typos_and_know_what_outputs_are(tmp_path):
    path = tmp_path / "user.py"
    path.write_text(
        """import rungs

env = rungs.make("chess", "cpp", 8, opponent="random", mask="bits", start_fens=["8"])
observation, reward, *_ = env.step(env.sample_actions())
reveal_type(observation)
reveal_type(rungs.make("cartpole", "torch").reset()[0])
rungs.make("chess", "cqp")
rungs.make("ches")
rungs.make("chess", oponent="random")
rungs.make("chess", mask="bit")
rungs.make("cartpole", max_plies=3)
for rung in rungs.rungs_of("chess"):
    rungs.make("chess", rung.name)
"""
    )
    command = [sys.executable, "-m", "mypy", "--ignore-missing-imports", str(path)]
    environment = os.environ | {"MYPYPATH": str(ROOT / "lib")}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment)
    lines = [line.partition("user.py:")[2] for line in done.stdout.splitlines()]
    notes = [line for line in lines if "Revealed type" in line]
    assert "ndarray" in notes[0]
    assert "Tensor" in notes[1]
    wrong = {int(line.split(":")[0]) for line in lines if " error: " in line}
    assert wrong == {7, 8, 9, 10, 11}, done.stdout


def test_what_may_have_been_meant_is_named():
    for meant, *arguments in (
        ("chess", "ches", "cpp"),
        ("threads", "chess", "thread"),
        ("openmp", "cartpole", "opnemp"),
        ("chess", "go"),
    ):
        with pytest.raises(ConfigurationError, match=rf"\b{meant}\b"):
            rungs.make(*arguments)


LISTED = [one for one in rungs.list() if one.rung != "mpi"]  # which is made on ranks


@pytest.mark.parametrize("one", LISTED, ids=lambda one: f"{one.env_id}-{one.rung}")
def test_the_list_says_what_can_be_made(one):
    if not one.missing:
        rungs.make(one.env_id, one.rung, 1).close()
        return
    with pytest.raises((UnavailableError, CompilerError)):
        rungs.make(one.env_id, one.rung, 1)


def test_the_list_is_all_rungs_as_a_table_which_the_command_prints(capsys):
    listed = rungs.list()
    names = [(env, rung.name) for env in ("chess", "cartpole") for rung in rungs.rungs_of(env)]
    assert [(one.env_id, one.rung) for one in listed] == names
    lines = repr(listed).splitlines()
    assert [tuple(line.split()[:2]) for line in lines] == names
    assert cli.main(["list"]) == 0
    assert capsys.readouterr().out == f"{listed}\n"


def test_the_list_says_what_is_missing_and_how_to_get_it(monkeypatch):
    monkeypatch.setenv("RUNGS_COMPILER", "g++")
    monkeypatch.setattr(listing, "_is_installed", lambda module: module != "torch")
    monkeypatch.setattr(listing.gpp, "is_here", lambda: False)
    missing = {(one.env_id, one.rung): one.missing for one in rungs.list()}
    assert missing["chess", "python"] == ""
    assert "install" in missing["chess", "cpp"]
    assert "'.[train]'" in str(missing)
    monkeypatch.setenv("RUNGS_COMPILER", "gcc")
    missing = {(one.env_id, one.rung): one.missing for one in rungs.list()}
    assert "RUNGS_COMPILER='gcc'" in missing["cartpole", "threads"]
