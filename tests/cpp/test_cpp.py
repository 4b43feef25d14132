"""The C++ by itself, under the address and undefined-behaviour sanitizers."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import rungs
from rungs import headers
from rungs.arguments import AUTORESET_MODES
from rungs.chess.perft import read_epd

HERE = Path(__file__).parent
DATA = HERE.parent / "data"
FLAGS = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
FLAGS += ["-fopenmp", "-ffp-contract=off"]
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wno-psabi"]

# With all of the processor's instructions, with those that any x86-64 has, and without vectors, as
# on a GPU.
MACHINES = {
    "native": ["-march=native"],
    "x86-64": ["-march=x86-64"],
    "plain": ["-march=native", "-DRUNGS_PLAIN_LANES"],
}


@pytest.fixture(scope="session", params=MACHINES)
def compiled(request, tmp_path_factory):
    """Compiles a program of this folder once."""
    folder = tmp_path_factory.mktemp(request.param)

    def program(name):
        binary = folder / name
        if not binary.exists():
            compile(name, binary, *FLAGS, *MACHINES[request.param], "-DREPLAY")
        return str(binary)

    return program


def compile(name, binary, *flags):
    command = ["g++", "-std=c++20", *flags, *WARNINGS, f"-I{headers.CPP}"]
    subprocess.run([*command, str(HERE / f"{name}.cpp"), "-o", str(binary)], check=True)


def run(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_invariants_at_every_node(compiled):
    leaves = sum(case.leaves.get(3, 0) for case in read_epd(DATA / "tricky.epd"))
    assert run(compiled("invariants"), DATA / "tricky.epd", 3) == f"{leaves} leaves\n"


def test_self_play_writes_only_its_buffers(compiled):
    assert run(compiled("play"), 200) == "played\n"
    assert run(compiled("play"), 200, DATA / "tricky.epd") == "played\n"


def test_any_text_is_refused_or_a_position(compiled, tmp_path):
    fens = [case.fen for case in read_epd(DATA / "tricky.epd")]
    for i, fen in enumerate(fens):
        (tmp_path / str(i)).write_text(fen)
    run(compiled("fuzz_fen"), 300, *tmp_path.iterdir())


def test_any_bytes_are_safe_actions(compiled, tmp_path):
    rng = np.random.default_rng(0)
    for settings in range(256):
        (tmp_path / str(settings)).write_bytes(bytes([settings]) + rng.bytes(300))
    run(compiled("fuzz_actions"), 1, *tmp_path.iterdir())


@pytest.mark.parametrize("num_envs", [1, 63, 300])
@pytest.mark.parametrize("autoreset", [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_cartpole_is_the_same_from_another_compiler(compiled, dtype, autoreset, num_envs):
    how = {"dtype": dtype, "autoreset_mode": autoreset, "max_episode_steps": 40, "workload": 2}
    env = rungs.make("cartpole", "cpp", num_envs, seed=2**63, first_env=5, **how)
    env.reset()
    env.step_many(170)
    expected = b"".join(array.tobytes() for array in env._dump().values())
    for at_once in (1, 34):
        arguments = (np.dtype(dtype).itemsize, num_envs, 170, AUTORESET_MODES.index(autoreset))
        command = [compiled("cartpole"), *map(str, arguments), str(at_once)]
        assert subprocess.run(command, capture_output=True, check=True).stdout == expected


def test_nothing_is_allocated_in_a_step(tmp_path):
    wrapped = ",".join(f"--wrap={name}" for name in ("malloc", "calloc", "realloc"))
    compile("allocation", tmp_path / "allocation", "-O2", "-march=native", f"-Wl,{wrapped}")
    assert run(tmp_path / "allocation", 500) == "nothing allocated\n"


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("clang++"), reason="libFuzzer needs clang++")
@pytest.mark.parametrize("target", ["fen", "actions"])
def test_the_fuzzer_finds_nothing(target):
    assert run(HERE / "fuzz.sh", target, 120).endswith("no fault\n")


@pytest.mark.slow
def test_invariants_of_many_positions(compiled):
    run(compiled("invariants"), DATA / "random.epd", 2)


@pytest.mark.slow
def test_self_play_longer(compiled):
    run(compiled("play"), 20_000)
    run(compiled("play"), 20_000, DATA / "random.epd")
