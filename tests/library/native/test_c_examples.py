"""The examples in other languages compile and print what the same games in Python do."""

import re
import shutil
import subprocess

import numpy as np
import pytest

import rungs
from rungs._src import paths
from rungs._src.native import gpp
from rungs.chess import Reason
from rungs.search import Puct, Search
from tests.library.native.c_handles import HEADER
from tests.processes import succeed
from tests.proof.instructions import recorded

EXAMPLES = paths.CPP.parent / "docs" / "howto" / "c"
N, STEPS = 512, 400
FEN = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR w KQkq - 0 1"
# Others than the recorded compiler may warn of more.
WARNINGS = ["-Wall", "-Wextra", *(["-Werror"] if gpp.version() == recorded()[0] else [])]
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
def printed():
    """The numbers and the FEN that the examples print, of games in Python."""
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
    return str(episodes), str(mates), env.fens()[0]


def link(folder, program):
    where = [f"-I{HEADER.parent}", f"-L{folder}", "-lrungs", f"-Wl,-rpath,{folder}"]
    return [*where, "-lgomp", "-o", program]


def assert_prints(program, printed):
    text = succeed([program]).rstrip()
    *numbers, fen = printed
    assert re.findall(r"\d+", text)[: len(numbers)] == numbers
    assert text.endswith(fen)


@pytest.mark.parametrize("name", COMPILERS)
def test_it_plays_in_c_and_in_cpp(name, folder, printed, tmp_path):
    program = tmp_path / "play"
    succeed([*COMPILERS[name], *WARNINGS, EXAMPLES / name, *link(folder, program)])
    assert_prints(program, printed)


def test_an_agent_searches_in_c(folder, tmp_path):
    from rungs.selfplay import untrained
    from rungs.train import CppNetwork, flat_weights

    network = untrained(seed=3).network
    weights = flat_weights(network).astype(np.float16)
    (tmp_path / "agent.bin").write_bytes(b"{}\n" + weights.tobytes())
    program = tmp_path / "agent"
    succeed([*COMPILERS["play.c"], *WARNINGS, EXAMPLES / "agent.c", *link(folder, program)])
    text = succeed([program, tmp_path / "agent.bin", "40", FEN])
    policy = Puct(fraction=0.0, temperature=0.0)
    with Search(1, simulations=40, policy=policy, keep=False) as search:
        search.begin([FEN])
        result = search.run(CppNetwork(network, compiler="g++").evaluate)
    numbers = [str(result.chosen[0]), f"{result.value[0]:.4f}"]
    assert re.findall(r"-?\d[.\d]*", text)[:2] == numbers
    damaged = subprocess.run([program, EXAMPLES / "agent.c", "40"], capture_output=True, text=True)
    assert damaged.returncode == 1
    assert "num_weights" in damaged.stderr


@pytest.mark.skipif(not shutil.which("rustc"), reason="Rust's compiler is not installed")
def test_it_plays_in_rust(folder, printed, tmp_path):
    program = tmp_path / "play"
    link = ["-L", folder, "-l", "rungs", "-l", "gomp", "-C", f"link-arg=-Wl,-rpath,{folder}"]
    succeed(["rustc", "-O", "--deny", "warnings", EXAMPLES / "play.rs", *link, "-o", program])
    assert_prints(program, printed)


def test_the_header_is_also_of_older_cpp():
    succeed(["g++", "-x", "c++", "-std=c++11", "-pedantic", *WARNINGS, "-fsyntax-only", HEADER])
