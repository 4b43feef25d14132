"""The examples in other languages compile and print what the same games in Python do."""

import shutil
import subprocess

import numpy as np
import pytest

import rungs
from rungs._src import paths
from rungs._src.native import gpp
from rungs.chess import Reason
from tests.library.native.test_c_api import HEADER

EXAMPLES = paths.CPP.parent / "docs" / "howto" / "c"
N, STEPS = 512, 400
COMPILERS = {
    "play.c": ["gcc", "-std=c99", "-pedantic"],
    "play.cpp": ["g++", "-std=c++17", "-pedantic"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with librungs.so."""
    folder = tmp_path_factory.mktemp("lib")
    shutil.copy(gpp.load()._name, folder / "librungs.so")
    return folder


@pytest.fixture(scope="module")
def line():
    """What the examples print, of games in Python."""
    env = rungs.make("chess", "cpp", N, mask="list")
    _, info = env.reset(seed=7)
    random, mates, episodes = 1, 0, 0
    for _ in range(STEPS):
        drawn = np.zeros(N, np.int64)
        for i in range(N):
            random = (random * 1664525 + 1013904223) % 2**32
            drawn[i] = random >> 16
        ranks = drawn % info["action_count"]
        *_, info = env.step(info["action_mask"][np.arange(N), ranks].astype(np.int64))
        episodes += np.count_nonzero(info["reason"])
        mates += np.count_nonzero(info["reason"] == Reason.CHECKMATE)
    assert episodes > mates > 0
    return f"{episodes} episodes ended, {mates} by mate; environment 0: {env.fens()[0]}\n"


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", COMPILERS)
def test_it_plays_in_c_and_in_cpp(name, folder, line, tmp_path):
    warnings = ["-Wall", "-Wextra", "-Werror"]
    where = [f"-I{HEADER.parent}", f"-L{folder}", "-lrungs", f"-Wl,-rpath,{folder}"]
    program = tmp_path / "play"
    run([*COMPILERS[name], *warnings, EXAMPLES / name, *where, "-lgomp", "-o", program])
    assert run([program]) == line


@pytest.mark.skipif(not shutil.which("rustc"), reason="Rust's compiler is not installed")
def test_it_plays_in_rust(folder, line, tmp_path):
    program = tmp_path / "play"
    link = ["-L", folder, "-l", "rungs", "-l", "gomp", "-C", f"link-arg=-Wl,-rpath,{folder}"]
    run(["rustc", "-O", "--deny", "warnings", EXAMPLES / "play.rs", *link, "-o", program])
    assert run([program]) == line


@pytest.mark.parametrize("compiler", ["gcc -x c -std=c99", "g++ -x c++ -std=c++11"])
def test_the_header_is_plain_c_and_cpp(compiler):
    warnings = ["-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    run([*compiler.split(), *warnings, HEADER])
