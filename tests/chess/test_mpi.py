"""The MPI rung on one to four ranks, each a process."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rungs import cli
from rungs.errors import ConfigurationError, UnavailableError, WorkerDiedError
from rungs.mpi import launch
from tests.chess.test_parallel import gone

ROOT = Path(__file__).parents[2]

SAME = """
import sys
import rungs
from tests import lockstep

num_envs, opponent, obs, mode, threads, transport = int(sys.argv[1]), *sys.argv[2:]
settings = {"opponent": None if opponent == "none" else opponent, "obs": obs, "mask": "bits"}
settings |= {"autoreset_mode": mode, "max_plies": 40}
team = {"threads": int(threads), "transport": transport}
env = rungs.make("chess", "mpi", num_envs, **team, **settings)
if env.serve():
    sys.exit()
other = rungs.make("chess", "cpp", num_envs, **settings)
reasons = lockstep.play(env, other, seed=5, steps=80)
lockstep.play(env, other, seed=6, steps=40, rollout=3)
state = env.get_state()
env.step([min(env.legal_moves(board).values(), default=0) for board in range(num_envs)])
env.set_state(state)
assert env.get_state() == state
assert env.fens() == other.fens()
env.close()
env.close()
print("episodes:", sum(reasons.values()))
"""

ILLEGAL = """
import sys
import rungs

env = rungs.make("chess", "mpi", 7, gather=sys.argv[1] == "gather")
if env.serve():
    sys.exit()
env.reset()
before = env.fens()
actions = [524] * env.num_envs
for board in range(7):
    mine = board - env._first[env.rank]
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
print("refused", env.num_envs, flush=True)
"""

APART = """
import numpy as np
import rungs

env = rungs.make("chess", "mpi", 7, gather=False, opponent="random", threads=1)
whole = rungs.make("chess", "cpp", 7, opponent="random")
mine = slice(env.first_board, env.first_board + env.num_envs)
seen, _ = env.reset(seed=3)
all_seen, _ = whole.reset(seed=3)
for _ in range(80):
    np.testing.assert_array_equal(seen, all_seen[mine])
    actions = np.array([min(whole.legal_moves(board).values()) for board in range(7)])
    seen, *_ = env.step(actions[mine])
    all_seen, *_ = whole.step(actions)
assert env.fens() == whole.fens()[mine]
print("boards", mine, flush=True)
"""

ENDLESS = """
import os
import pathlib
import sys
import rungs

env = rungs.make("chess", "mpi", 8, threads=1)
pathlib.Path(sys.argv[2], str(os.getpid())).touch()
if env.serve():
    sys.exit()
env.reset()
if sys.argv[1] == "raise":
    raise RuntimeError("as asked")
while True:
    env.step([min(env.legal_moves(board).values()) for board in range(8)])
"""


@pytest.fixture
def script(tmp_path, monkeypatch):
    """Writes a script whose ranks see the tests' modules."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    def write(text):
        path = tmp_path / "script.py"
        path.write_text(text)
        return str(path)

    return write


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("transport", ["shared", "messages"])
@pytest.mark.parametrize(
    "settings",
    [("7", "none", "board", "SAME_STEP", "1"), ("70", "random", "bitplanes", "DISABLED", "2")],
)
def test_any_number_of_ranks_is_cpp(script, capfd, ranks, settings, transport):
    launch(ranks, script(SAME), [*settings, transport])
    assert int(capfd.readouterr().out.split("episodes:")[1]) > 5


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("gather", ["gather", "apart"])
def test_an_illegal_action_anywhere_stops_all_ranks(script, capfd, ranks, gather):
    launch(ranks, script(ILLEGAL), [gather])
    assert capfd.readouterr().out.count("refused") == (1 if gather == "gather" else ranks)


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_ranks_that_keep_to_themselves_have_their_share(script, capfd, ranks):
    launch(ranks, script(APART))
    assert capfd.readouterr().out.count("slice(") == ranks


@pytest.fixture
def start(script, tmp_path):
    """Starts a job of three ranks that ends in some way; returns it and their process ids."""
    jobs = []

    def begin(how):
        folder = tmp_path / "pids"
        folder.mkdir()
        command = [sys.executable, "-m", "rungs", "mpi", "-n", "3", script(ENDLESS), how, folder]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        job = subprocess.Popen(list(map(str, command)), **pipes)
        jobs.append(job)
        while len(pids := os.listdir(folder)) < 3:
            time.sleep(0.01)
        return job, list(map(int, pids))

    yield begin
    for job in jobs:
        job.terminate()
        job.communicate(timeout=10)


def rank_of(pid):
    environment = Path(f"/proc/{pid}/environ").read_text().split("\0")
    (rank,) = [entry for entry in environment if entry.startswith("PMI_RANK=")]
    return int(rank.split("=")[1])


@pytest.mark.parametrize("rank", [0, 1, 2])
@pytest.mark.parametrize("delay", [0.0, 0.7])
def test_a_killed_rank_is_named_and_takes_all_with_it(start, rank, delay):
    job, pids = start("")
    (victim,) = [pid for pid in pids if rank_of(pid) == rank]
    time.sleep(delay)
    os.kill(victim, signal.SIGKILL)
    began = time.monotonic()
    _, said = job.communicate(timeout=30)
    assert time.monotonic() - began < 5
    assert job.returncode == 1
    assert f"rungs: worker {rank} (process {victim}) died: SIGKILL" in said
    assert gone(pids)


def test_a_rank_that_raises_is_named(start):
    job, pids = start("raise")
    _, said = job.communicate(timeout=30)
    assert job.returncode == 1
    assert "RuntimeError: as asked" in said
    assert "rungs: worker 0 raised" in said
    assert gone(pids)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_no_rank_outlives_its_launcher(start, number):
    job, pids = start("")
    time.sleep(0.5)
    job.send_signal(number)
    job.communicate(timeout=30)
    assert gone(pids, seconds=10)


def test_an_error_is_raised_to_who_launches(script):
    with pytest.raises(WorkerDiedError, match=r"worker [01] raised"):
        launch(2, script("1 / 0"))


def test_wrong_use_is_named(script, monkeypatch, tmp_path, capsys):
    with pytest.raises(ConfigurationError, match="ranks=0"):
        launch(0, script(SAME))
    with pytest.raises(ConfigurationError, match=r"no script nowhere\.py"):
        launch(1, "nowhere.py")
    assert cli.main(["mpi", "-n", "2", "nowhere.py"]) == 2
    assert "nowhere.py" in capsys.readouterr().err
    for module in ("nowhere", "no.where", "rungs.cli.nowhere", ""):
        assert cli.main(["mpi", "-n", "2", "-m", module]) == 2
        assert f"rungs: no module {module}" in capsys.readouterr().err
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UnavailableError, match="mpiexec"):
        launch(1, script(SAME))


def test_fewer_boards_than_ranks_are_refused(script, capfd):
    text = "import rungs; rungs.make('chess', 'mpi', 2)"
    with pytest.raises(WorkerDiedError):
        launch(3, script(text))
    assert "num_envs=2 is less than one board for each of 3 ranks" in capfd.readouterr().err
