"""Compiling: once, whole, and with errors that say what to do."""

import os
import shutil
import subprocess
import sys

import pytest

import rungs
from rungs._src import paths
from rungs._src.native import cling
from rungs.errors import CompilerError

pytestmark = pytest.mark.system

STEP = "import rungs; rungs.make('chess', 'cpp', 1).reset()"


def start(code, **environment):
    others = {name: value for name, value in os.environ.items() if "CLING" not in name}
    environment = others | {"RUNGS_COMPILER": "cling"} | environment
    output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen([sys.executable, "-c", code], env=environment, **output)


def test_two_processes_at_once_on_a_fresh_machine(tmp_path):
    both = [start(STEP, XDG_CACHE_HOME=str(tmp_path)) for _ in range(2)]
    for process in both:
        output, _ = process.communicate(timeout=300)
        assert process.returncode == 0, output
    assert len(list((tmp_path / "rungs").glob("cling-*-*"))) == 1


def test_cppyy_imported_too_early():
    process = start(f"import cppyy\n{STEP}")
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 1
    assert "CompilerError: cppyy" in output


def test_headers_that_do_not_compile(tmp_path):
    folder = shutil.copytree(paths.CPP, tmp_path / "cpp")
    (folder / "chess" / "boards.hpp").write_text("#pragma once\nthis is no C++;\n")
    use = f"import pathlib, rungs._src.paths as p; p.CPP = pathlib.Path({str(folder)!r})"
    process = start(f"{use}\n{STEP}")
    output, _ = process.communicate(timeout=300)
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
        command = [sys.executable, "-c", script, str(limit)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert named in done.stdout
        assert bool(done.stdout) == bool(named)
