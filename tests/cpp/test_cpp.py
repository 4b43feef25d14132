"""The C++ by itself, under the address and undefined-behaviour sanitizers."""

import subprocess
from pathlib import Path

import pytest

from rungs import headers
from rungs.chess.perft import read_epd

HERE = Path(__file__).parent
DATA = HERE.parent / "data"
FLAGS = ["-std=c++20", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wno-psabi"]

# With all of the processor's instructions, and with those that any x86-64 has.
MACHINES = ("native", "x86-64")


@pytest.fixture(scope="session", params=MACHINES)
def compiled(request, tmp_path_factory):
    """Compiles a program of this folder once."""
    folder = tmp_path_factory.mktemp(request.param)

    def program(name):
        binary = folder / name
        if not binary.exists():
            machine = f"-march={request.param}"
            source = str(HERE / f"{name}.cpp")
            include = f"-I{headers.CPP}"
            command = ["g++", *FLAGS, *WARNINGS, machine, include, source, "-o", str(binary)]
            subprocess.run(command, check=True)
        return str(binary)

    return program


def run(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_invariants_at_every_node(compiled):
    leaves = sum(case.leaves.get(3, 0) for case in read_epd(DATA / "tricky.epd"))
    assert run(compiled("invariants"), DATA / "tricky.epd", 3) == f"{leaves} leaves\n"


def test_self_play_writes_only_its_buffers(compiled):
    assert run(compiled("play"), 300) == "played\n"


@pytest.mark.slow
def test_invariants_of_many_positions(compiled):
    run(compiled("invariants"), DATA / "random.epd", 2)


@pytest.mark.slow
def test_self_play_longer(compiled):
    run(compiled("play"), 20_000)
