"""The rung `mpi` on several ranks, each a process, on one host or two."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rungs._src import cli
from rungs._src.processes.ranks import launch
from rungs.errors import ConfigurationError, UnavailableError, WorkerDiedError
from tests.hosts import ADDRESSES, two_hosts
from tests.library.chess.test_parallel import gone
from tests.processes import poll, succeed
from tests.tiers import system_tier

ROOT = Path(__file__).parents[3]

# Output of several ranks may be mixed up, so each has a file of its own.
SAY = """
import os
import sys
import rungs

folder, *transports = sys.argv[1:]

def say(*words):
    with open(os.path.join(folder, os.environ["PMI_RANK"]), "a") as file:
        print(*words, file=file)
"""

SAME = """
from tests.proof import lockstep

for transport in transports:
    for num_envs, opponent, mode, threads, formats in (
        (7, None, "SAME_STEP", 1, {"mask": "bits"}),
        (70, "random", "DISABLED", 2, {"obs": "bitplanes", "mask": "bits", "start": "chess960"}),
        (7, None, "NEXT_STEP", 2, {"mask": "list", "obs": "planes", "dtype": "bfloat16"}),
    ):
        settings = {"opponent": opponent, "autoreset_mode": mode, "max_plies": 20} | formats
        env = rungs.make("chess", "mpi", num_envs, threads=threads, transport=transport, **settings)
        if env.serve():
            continue
        other = rungs.make("chess", "cpp", num_envs, **settings)
        reasons = lockstep.play(env, other, seed=5, steps=25)
        lockstep.play(env, other, seed=[*range(num_envs, 0, -1)], steps=6, rollout=3)
        state = env.get_state()
        env.reset(seed=9)
        env.set_state(state)
        assert env.get_state() == state
        assert env.fens() == other.fens()
        env.close()
        env.close()
        assert sum(reasons.values()) > 5
        say("same on", transport)
"""

ILLEGAL = """
for gather in (True, False):
    env = rungs.make("chess", "mpi", 7, gather=gather)
    if env.serve():
        continue
    env.reset()
    before = env.fens()
    actions = [524] * env.num_envs
    for board in range(7):
        mine = board - env.first_board
        bad = list(actions)
        if 0 <= mine < env.num_envs:
            bad[mine] = 384
        try:
            env.step(bad)
        except rungs.errors.IllegalActionError as error:
            assert error.board == board and error.action == 384, error
            assert "RNBQKBNR w" in error.fen
        else:
            raise AssertionError("not refused")
        assert env.fens() == before
    env.step(actions)
    env.close()
    say("refused by all of", env.num_envs)
"""

APART = """
import numpy as np

seeds = [5, 2**64 - 1, 5, 0, 7, 6, 1]
settings = {"seed": seeds, "opponent": "random", "opening_plies": (0, 9), "max_plies": 9}
env = rungs.make("chess", "mpi", 7, gather=False, threads=1, **settings)
whole = rungs.make("chess", "cpp", 7, **settings)
mine = slice(env.first_board, env.first_board + env.num_envs)
for seed in (None, seeds[::-1], 3, None):
    observation, _ = env.reset(seed=seed[mine] if isinstance(seed, list) else seed)
    expected, _ = whole.reset(seed=seed)
    for step in range(20):  # and the next episodes
        np.testing.assert_array_equal(observation, expected[mine])
        actions = whole.sample_actions(step)
        observation, *_ = env.step(actions[mine])
        expected, *_ = whole.step(actions)
    assert env.fens() == whole.fens()[mine]
try:
    env.reset(seed=[1] * 8)
except rungs.errors.ConfigurationError:
    say("boards", mine)
"""

TOO_FEW = """
try:
    rungs.make("chess", "mpi", env.boards.ranks.size - 1)
except rungs.errors.ConfigurationError as error:
    say(error)
"""

ENDLESS = """
env = rungs.make("chess", "mpi", 8, threads=1)
open(os.path.join(folder, f"{os.environ['PMI_RANK']} {os.getpid()}"), "w").close()
if env.serve():
    sys.exit()
env.reset()
while True:
    env.step([min(env.legal_moves(board).values()) for board in range(8)])
"""


@pytest.fixture
def script(tmp_path, monkeypatch):
    """Writes a script whose ranks see the tests' modules."""
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}{os.pathsep}{ROOT / 'lib'}")

    def write(text):
        path = tmp_path / "script.py"
        path.write_text(text)
        return str(path)

    return write


@pytest.fixture
def printed(script, tmp_path):
    """Runs a script on some ranks; returns what they printed."""

    def run(ranks, text, *arguments):
        folder = tmp_path / "printed"
        folder.mkdir()
        launch(ranks, script(SAY + text), [str(folder), *arguments])
        return "".join(path.read_text() for path in folder.iterdir())

    return run


# Ranks that wait spin: no more of them than cores, except where all tests are run.
@pytest.mark.parametrize(
    ("ranks", "compiler"),
    [
        (2, "g++"),
        *system_tier((1, "g++"), (4, "g++")),
        *system_tier((2, "cling"), release=True),
    ],
)
def test_any_number_of_ranks_is_cpp(printed, ranks, compiler, monkeypatch):
    """In one job, as its start is what takes long."""
    monkeypatch.setenv("RUNGS_COMPILER", compiler)
    lines = printed(ranks, SAME + ILLEGAL + APART + TOO_FEW, "shared", "messages")
    assert lines.count("same on shared") == lines.count("same on messages") == 3
    # Where boards are gathered one rank steps all; else each steps its own, which are its share.
    assert lines.count("refused by all of 7\n") == (2 if ranks == 1 else 1)
    assert lines.count("refused by all of") == 1 + ranks
    assert lines.count("boards slice(") == ranks
    assert lines.count(f"num_envs={ranks - 1} is ") == ranks


@pytest.fixture
def endless(script, tmp_path):
    """A job of three ranks that does not end, and their process ids by rank."""
    folder = tmp_path / "pids"
    folder.mkdir()
    command = [sys.executable, "-m", "rungs", "mpi", "-n", "3", script(SAY + ENDLESS), folder]
    job = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        poll(lambda: len(os.listdir(folder)) == 3 or job.poll() is not None)
        yield job, dict(map(int, rank.split()) for rank in os.listdir(folder))
    finally:
        job.terminate()
        job.communicate(timeout=60)


@pytest.mark.system
@pytest.mark.parametrize("rank", [0, 2])
def test_a_killed_rank_is_named_and_takes_all_with_it(endless, rank):
    job, pids = endless
    os.kill(pids[rank], signal.SIGKILL)
    _, errors = job.communicate(timeout=60)
    assert job.returncode == 1
    # Ranks that began to exit in between may have died first, too.
    (died,) = [line for line in errors.splitlines() if line.startswith("rungs: worker ")]
    assert f"{rank} (process {pids[rank]})" in died
    assert died.endswith("died: SIGKILL")
    assert gone(pids.values())


@pytest.mark.system
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_no_rank_outlives_its_launcher(endless, number):
    job, pids = endless
    job.send_signal(number)
    job.communicate(timeout=60)
    assert gone(pids.values())


RAISES = """
import rungs
from mpi4py import MPI

rungs.make("chess", "mpi", 8, seed=-1 if MPI.COMM_WORLD.rank == 1 else 0).serve()
"""


def test_a_rank_that_raises_before_others_ends_all_of_them_and_is_named(script, capfd):
    with pytest.raises(WorkerDiedError, match="worker 1 raised"):
        launch(2, script(RAISES))
    assert "ConfigurationError: seed=-1" in capfd.readouterr().err


def test_wrong_use_is_named(script, monkeypatch, tmp_path, capsys):
    with pytest.raises(ConfigurationError, match="ranks=0"):
        launch(0, script(SAME))
    with pytest.raises(ConfigurationError, match=r"nowhere\.py"):
        launch(1, "nowhere.py")
    for module in ("nowhere", "no.where", "rungs._src.cli.nowhere", ""):
        assert cli.main(["mpi", "-n", "2", "-m", module]) == 2
        assert f"no module {module}" in capsys.readouterr().err
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UnavailableError, match="mpiexec"):
        launch(1, script(SAME))


# One job for all cases, as its start is what takes long.
DIFFER = """
from mpi4py import MPI

cases = [
    ("threads", {"threads": 1}, {"threads": "two"}),
    ("obs", {"obs": "planes"}, {"max_plies": 3}),
    ("gather", {"gather": True}, {"gather": False}),
]
others = {"num_envs": 64, "seed": 1, "transport": "messages", "opponent": "random"}
cases += [(name, {}, {name: value}) for name, value in others.items()]
rank = MPI.COMM_WORLD.rank
for name, first, other in cases:
    for gather in (True, False):
        settings = {"gather": gather} | (other if rank == 1 else first)
        try:
            rungs.make("chess", "mpi", **{"num_envs": 8} | settings)
        except rungs.errors.ConfigurationError as error:
            assert f"{name}=" in str(error) and "rank 1" in str(error), error
            say("refused")
env = rungs.make("chess", "mpi", 8, threads=1)
if not env.serve():
    env.reset()
    env.close()
say("and goes on")
"""


@pytest.mark.system
def test_every_rank_says_what_differs(printed):
    lines = printed(3, DIFFER)
    assert lines.count("refused\n") == 3 * 2 * 7
    assert lines.count("and goes on\n") == 3


@pytest.mark.system
def test_boards_on_two_hosts_are_the_same(tmp_path):
    script, folder = tmp_path / "same.py", tmp_path / "printed"
    folder.mkdir()
    statement = "say(os.readlink('/proc/self/ns/net'), env.boards.shared)"
    script.write_text(SAY + SAME.replace("if env.serve", f"{statement}\n        if env.serve"))
    job = [sys.executable, "-m", "rungs", "mpi", "-n", "4", "--hosts", ",".join(ADDRESSES)]
    paths = {"PYTHONPATH": f"{ROOT}:{ROOT / 'lib'}"}
    with two_hosts() as hosts:
        succeed(
            hosts.on(0, *job, str(script), str(folder), "messages"),
            env=hosts.mpi_environment(tmp_path) | paths,
            timeout=300,
        )
    lines = {path.name: path.read_text().splitlines() for path in folder.iterdir()}
    assert sorted(lines) == list("0123")
    ranks = [{line for line in lines[rank] if "net:" in line} for rank in lines]
    # Nothing is shared, so that all goes by the cable.
    assert all(len(places) == 1 and "False" in min(places) for places in ranks)
    assert len(set.union(*ranks)) == 2  # hosts
    assert lines["0"].count("same on messages") == 3
