"""C++ alone, under the address, undefined-behaviour and thread sanitizers."""

import subprocess
from pathlib import Path

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import rungs
from rungs._src import paths
from rungs._src.chess.perft import read_epd
from rungs._src.native import gpp, loader
from rungs._src.native.abi import described
from tests.processes import succeed
from tests.tiers import system_tier

HERE = Path(__file__).parent
DATA = HERE.parent / "data"
FLAGS = ["-std=c++20", f"-I{paths.CPP}", "-Wall", "-Wextra", "-Werror", "-Wno-psabi"]
# Reports name lines by -g1; whole debug information takes a third of the compile.
SANITIZED = ["-O1", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
SANITIZED += ["-fopenmp", "-ffp-contract=off", "-D_GLIBCXX_ASSERTIONS"]

# With all of the processor's instructions, with the vectors of any x86-64, and without vectors, as
# on a GPU: these write to memory in different ways. Without sanitizers, so only for what they
# compute: for another processor, which is simulated.
OPTIMIZED = ["-O2", "-fopenmp", "-ffp-contract=off"]
# What the address sanitizer finds, too, or no code here has; it takes a quarter of the compile.
REPEATED = "null,object-size,pointer-overflow,vptr,nonnull-attribute,returns-nonnull-attribute"
BUILDS = {
    "native": [*SANITIZED, f"-fno-sanitize={REPEATED}", "-march=native"],
    "x86-64": [*SANITIZED, "-march=x86-64"],
    "plain": [*SANITIZED, "-march=native", "-DRUNGS_SCALAR_LANES"],
    "arm": [*OPTIMIZED, "-static"],
    "threads": ["-O1", "-g1", "-fsanitize=thread", "-fopenmp", "-march=native"],
}
ARM_COMPILER, ARM = "aarch64-linux-gnu-g++", "qemu-aarch64"
NEEDS_ARM = pytest.mark.needs(ARM_COMPILER, ARM)


def built(program, build):
    """Returns the command that runs a program, which is compiled once for each of `BUILDS`."""
    source, flags = HERE / f"{program}.cpp", [*FLAGS, *BUILDS[build]]
    if build == "arm":
        return [ARM, gpp.build(f"{program}-arm", source, flags, ARM_COMPILER)]
    return [gpp.build(f"{program}-{build}", source, flags)]


@pytest.fixture
def checks():
    """The command that runs what does not depend on vectors."""
    return built("checks", "native")


ON_ARM = pytest.param("arm", marks=[pytest.mark.system, pytest.mark.release, NEEDS_ARM])


@pytest.fixture(params=["native", *system_tier("plain", "x86-64", release=True), ON_ARM])
def vector_checks(request):
    """The command that runs what vectors compute and write."""
    return built("checks", request.param)


def run(*command):
    return succeed(command)


@pytest.mark.parametrize("depth", [2, *system_tier(3, release=True)])
def test_invariants_at_every_node(vector_checks, depth):
    for file in ("tricky.epd", "chess960.epd")[: 4 - depth]:
        leaves = sum(case.leaves.get(depth, 0) for case in read_epd(DATA / file))
        assert run(*vector_checks, "trees", DATA / file, depth) == f"{leaves} leaves\n"


def test_perft_with_every_number_of_boards_at_once(vector_checks):
    for file in ("tricky.epd", "chess960.epd", "random.epd"):
        counts = sum(n <= 10_000 for case in read_epd(DATA / file) for n in case.leaves.values())
        assert counts > 10
        assert run(*vector_checks, "perft", DATA / file, 10_000) == f"{counts} counts\n"


def test_self_play_writes_only_its_buffers(vector_checks):
    assert run(*vector_checks, "self-play", 100) == "played\n"
    for file in ("tricky.epd", "chess960.epd"):
        assert run(*vector_checks, "self-play", 100, DATA / file) == "played\n"


def test_a_team_does_every_chunk_once(checks):
    assert run(*checks, "threads", 400) == "played\n"


@pytest.mark.system
def test_boards_and_searches_have_no_races():
    program = built("checks", "threads")
    assert run(*program, "threads", 2000) == "played\n"
    assert run(*program, "search", 6, DATA / "tricky.epd") == "searched\n"


def test_trees_stay_in_their_memory_and_add_up(checks):
    for file in ("tricky.epd", "chess960.epd"):
        assert run(*checks, "search", 4, DATA / file) == "searched\n"


def test_products_in_tiles_are_exact_by_a_stand_in_and_by_amx(vector_checks):
    assert run(*vector_checks, "tiles").startswith("multiplied")


@pytest.mark.parametrize(
    "machine", [*system_tier("native"), *system_tier("x86-64", release=True), ON_ARM]
)
def test_the_learner_stays_in_its_memory_and_threads_change_nothing(machine):
    assert run(*built("learner", machine), 1) == "learnt\n"


@pytest.mark.system
def test_the_learner_has_no_races():
    assert run(*built("learner", "threads"), 2) == "learnt\n"


def test_any_text_is_refused_or_a_position(checks, tmp_path):
    fens = [case.fen for case in read_epd(DATA / "tricky.epd")]
    for i, fen in enumerate(fens):
        (tmp_path / str(i)).write_text(fen)
    run(*checks, "fen", 300, *tmp_path.iterdir())


# Of each target: rounds, how many settings are left out between two, and bytes behind them.
FUZZED = {"actions": (1, 1, 150), "states": (8, 1, 2 + 3 * 4), "copies": (2, 5, 2 + 5)}


@pytest.mark.parametrize("target", FUZZED)
def test_any_bytes_are_refused_or_leave_everything_in_order(checks, target, tmp_path):
    rounds, every, size = FUZZED[target]
    rng = np.random.default_rng(0)
    for settings in range(0, 256, every):
        (tmp_path / str(settings)).write_bytes(bytes([settings]) + rng.bytes(size))
    run(*checks, target, rounds, *tmp_path.iterdir())


# Settings, by their number in `any_config`: every format of the observation and of the mask.
GAMES = {
    0: {},
    10: {"mask": "bits"},
    113: {"obs": "planes", "mask": "list", "opponent": "random", "max_plies": 20},
    184: {"obs": "bitplanes", "opening_plies": (0, 10)},
    217: {"obs": "planes", "dtype": "uint8", "opponent": "random", "opening_plies": (0, 10)}
    | {"autoreset_mode": AutoresetMode.NEXT_STEP},
    98: {"obs": "planes", "dtype": "bfloat16", "max_plies": 20},
}


@pytest.mark.parametrize("settings", GAMES)
def test_recorded_games_are_the_same_from_another_compiler(vector_checks, settings, tmp_path):
    num_envs, steps = (8192, 2) if settings == 0 else (20, 60)  # whole masks that are streamed
    env = rungs.make("chess", "cpp", num_envs, seed=1, **GAMES[settings])
    env.reset()
    _, (out,) = env.rollout(1)
    names = ["observation", "mask", "reward", "terminated", "truncated", "reason", "player"]
    actions, expected = [], []
    for step in range(steps):
        actions.append(env.sample_actions(step).astype(np.int64))
        env.step(actions[-1], out)
        expected += [getattr(out, name).tobytes() for name in names]
        if env.settings.autoreset_mode == AutoresetMode.SAME_STEP:
            expected.append(out.final_observation[out.ended].tobytes())
    games = tmp_path / "games"
    games.write_bytes(b"".join(step.tobytes() for step in actions))
    command = [*vector_checks, "games", str(settings), str(num_envs), games]
    assert subprocess.run(command, capture_output=True, check=True).stdout == b"".join(expected)


@pytest.mark.parametrize("num_envs", [1, 63, 300])
@pytest.mark.parametrize("autoreset", [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_cartpole_is_the_same_from_another_compiler(vector_checks, dtype, autoreset, num_envs):
    how = {"dtype": dtype, "autoreset_mode": autoreset, "max_episode_steps": 40, "workload": 2}
    env = rungs.make("cartpole", "cpp", num_envs, seed=2**63, first_env=5, **how)
    env.reset()
    env.step_many(170)
    expected = b"".join(array.tobytes() for array in env.carts.dump().values())
    mode = described(loader.load()).structures["CartPoleConfig"].number("autoreset", autoreset.name)
    for at_once in (1, 34):
        arguments = (np.dtype(dtype).itemsize, num_envs, 170, mode)
        command = [*vector_checks, "cartpole", *map(str, arguments), str(at_once)]
        assert subprocess.run(command, capture_output=True, check=True).stdout == expected


def test_nothing_is_allocated_in_a_step():
    wrapped = ",".join(f"--wrap={name}" for name in ("malloc", "calloc", "realloc"))
    flags = [*FLAGS, "-O0", "-fopenmp", "-march=native", f"-Wl,{wrapped}"]  # nothing is elided
    program = gpp.build("allocation", HERE / "allocation.cpp", flags)
    assert run(program, 100) == "nothing allocated\n"


@pytest.mark.slow
@pytest.mark.needs("clang++")
@pytest.mark.parametrize("target", ["fen", "actions", "states"])
def test_the_fuzzer_finds_nothing(target):
    assert run(HERE / "fuzz.sh", target, 120).endswith("no fault\n")


@pytest.mark.slow
def test_invariants_of_many_positions(checks):
    run(*checks, "trees", DATA / "random.epd", 2)


@pytest.mark.slow
def test_self_play_longer(checks):
    run(*checks, "self-play", 20_000)
    run(*checks, "self-play", 20_000, DATA / "random.epd")
