"""Cling compiles what g++ does: once, to the same games, and with errors that say what to do."""

import os
import shutil
import subprocess
import sys

import pytest

import rungs
from rungs._src import paths
from rungs._src.native import cling
from rungs.errors import CompilerError
from rungs_course.measure.verify import verify_games
from tests.processes import succeed
from tests.proof import lockstep

pytestmark = pytest.mark.system

STEP = "import rungs; rungs.make('chess', 'cpp', 1).reset()"


def start(code, **environment):
    others = {name: value for name, value in os.environ.items() if "CLING" not in name}
    environment = others | {"RUNGS_COMPILER": "cling"} | environment
    output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen([sys.executable, "-c", code], env=environment, **output)


def output_of(process, status):
    output, _ = process.communicate(timeout=300)
    assert process.returncode == status, output
    return output


def test_two_processes_at_once_on_a_fresh_machine(tmp_path):
    for process in [start(STEP, XDG_CACHE_HOME=str(tmp_path)) for _ in range(2)]:
        output_of(process, 0)
    assert len(list((tmp_path / "rungs").glob("cling-*-*"))) == 1


def test_cppyy_imported_too_early():
    assert "CompilerError: cppyy" in output_of(start(f"import cppyy\n{STEP}"), 1)


def test_headers_that_do_not_compile(tmp_path):
    folder = shutil.copytree(paths.CPP, tmp_path / "cpp")
    (folder / "chess" / "boards.hpp").write_text("#pragma once\nthis is no C++;\n")
    use = f"import pathlib, rungs._src.paths as p; p.CPP = pathlib.Path({str(folder)!r})"
    output = output_of(start(f"{use}\n{STEP}"), 1)
    assert "CompilerError" in output
    assert "bindings/chess.cpp" in output


@pytest.mark.parametrize(
    "load",
    [cling.load, cling.load_learn, lambda: rungs.make("chess", "cpp", 1, compiler="cling")],
    ids=["load", "load_learn", "make"],
)
@pytest.mark.release
def test_headers_changed_since_they_were_loaded(load, tmp_path, monkeypatch):
    load()
    shutil.copytree(paths.CPP, tmp_path / "cpp")
    (tmp_path / "cpp" / "chess" / "boards.hpp").write_text("// changed")
    monkeypatch.setattr(paths, "CPP", tmp_path / "cpp")
    with pytest.raises(CompilerError, match="restart"):
        load()


def test_where_memory_is_limited_the_limit_is_named():
    script = """
import resource, sys
import rungs
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]) << 20,) * 2)
try:
    rungs.make("chess", "cpp", 2, compiler="cling").reset()
except rungs.errors.CompilerError as error:
    print(error)
"""
    for limit, named in ((300, "ulimit -v"), (500, "")):
        printed = succeed([sys.executable, "-c", script, limit])
        assert named in printed
        assert bool(printed) == bool(named)


# Cling compiles OpenMP's pragmas wrong in any but the first code that has some.
@pytest.mark.parametrize(
    ("rung", "team"),
    [("cpp", {}), ("openmp", {"threads": 2}), ("openmp", {"threads": 2, "schedule": "dynamic"})],
)
def test_g_plus_plus_gives_the_same_games_as_cling(rung, team):
    by_gpp = rungs.make("chess", "cpp", 64, opponent="random", compiler="g++")
    by_cling = rungs.make("chess", rung, 64, opponent="random", compiler="cling", **team)
    reasons = lockstep.play(by_gpp, by_cling, seed=3, steps=500)
    assert sum(reasons.values()) > 10


@pytest.mark.parametrize("rung", ["cpp", "openmp"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_it_rounds_as_cling_does(dtype, rung):
    envs = {
        name: rungs.make("cartpole", rung, 300, dtype=dtype, compiler=name)
        for name in ("cling", "g++")
    }
    verify_games(envs, seed=1, steps=40)
