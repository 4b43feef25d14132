"""Training on torchrun's ranks and on MPI's, on one host and on two, and when one of them dies."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from rungs._src import cli
from rungs._src.core import state
from rungs._src.train.settings import Training, share_of_cores
from rungs._src.train.training import checkpoint, make_env
from tests.hosts import ADDRESSES, CABLES, two_hosts
from tests.library.chess.test_parallel import CORES, gone
from tests.library.train.runs import table
from tests.library.train.test_training import assert_same_run, weights
from tests.quick_start import QUICK_START

ROOT = Path(__file__).parents[3]
RUN = "--num-envs 16 --num-steps 8 --num-minibatches 2 --updates 8 --games 4 --max-plies 40"
RUN += " --torch-threads 1 --checkpoint-every 3 --evaluate-every 4"
TRAIN = ("-m", "rungs", "train")
# The Python rung is the first to be ready.
PYTHON, CPP, ON_MPI = (
    (*f"--rung {rung} {RUN}".split(), "--out") for rung in ("python", "cpp", "mpi")
)
TORCHRUN = (sys.executable, "-m", "torch.distributed.run")
MPI = (sys.executable, "-m", "rungs", "mpi")
# One OpenMP thread, as torchrun would choose too, with a warning.
PATHS = f"{ROOT}{os.pathsep}{ROOT / 'lib'}"
ENVIRONMENT = os.environ | QUICK_START | {"PYTHONPATH": PATHS, "OMP_NUM_THREADS": "1"}


def torchrun(ranks, *more):
    """The command that starts ranks here, at a port that is free."""
    return [*TORCHRUN, "--standalone", "--nproc-per-node", ranks, *more]


def mishaps(plan, *more):
    """What to start in place of `-m rungs train`, for ranks to fail as planned."""
    return ["-m", "tests.library.train.mishap", json.dumps(plan), "train", *more]


def start(command, environment=ENVIRONMENT):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(list(map(str, command)), env=environment, **pipes)


def finish(*jobs):
    """What each job said on stdout and stderr by its end, in order; none outlives this."""
    try:
        return [job.communicate(timeout=300) for job in jobs]
    finally:
        for job in jobs:
            job.kill()


def train(command, environment=ENVIRONMENT):
    """Runs a command that succeeds; returns what it said on stdout and stderr."""
    job = start(command, environment)
    ((out, err),) = finish(job)
    assert job.returncode == 0, err
    return out, err


def updates(said):
    return list(map(int, re.findall(r"^update (\d+),", said, re.MULTILINE)))


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    """A run of three ranks, of which nothing broke."""
    out = tmp_path_factory.mktemp("three")
    said, _ = train(torchrun(3, *TRAIN, *PYTHON, out))
    assert updates(said) == list(range(1, 9))
    return out


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    """A run of one rank, of which nothing broke."""
    out = tmp_path_factory.mktemp("one")
    assert cli.main(["train", *CPP, str(out)]) == 0
    return out


@pytest.fixture
def hosts():
    with two_hosts() as hosts:
        yield hosts


@pytest.mark.system
def test_all_ranks_learn_together_each_from_its_own_boards(three, one):
    metrics = table(three / "metrics.csv")
    assert [int(row["update"]) for row in metrics] == list(range(1, 9))
    assert [int(row["steps"]) for row in metrics] == [3 * 16 * 8 * k for k in range(1, 9)]
    # An episode takes 40 plies at most, so of 64 steps each board of each rank begins a fourth.
    episodes = sum(int(row[name]) for row in metrics for name in ("wins", "draws", "losses"))
    assert episodes >= 3 * 3 * 16
    assert [int(row["update"]) for row in table(three / "evaluations.csv")] == [0, 4, 8]
    for rank, own in enumerate(checkpoint.load(three)["own"]):
        state.unpack(own["env"], {"first_board": 16 * rank, "num_envs": 16}, {}, 16)
    assert any(not torch.equal(weights(three)[name], weights(one)[name]) for name in weights(one))


@pytest.mark.system
def test_a_run_whose_ranks_die_is_the_one_that_never_broke(three, tmp_path):
    """One raises before there is a checkpoint, and one is killed half-way through writing one."""
    out = tmp_path / "run"
    plan = [[0, 1, "raises", 3], [1, 0, "torn", 2]]
    said, errors = train(torchrun(3, "--max-restarts", 3, *mishaps(plan, *PYTHON, out)))
    assert updates(said) == [1, 2, *range(1, 7), *range(4, 9)]
    assert said.count("continuing after update 3\n") == 1
    assert_same_run(out, three)
    assert sorted(os.listdir(out)) == sorted(os.listdir(three))

    for rank in range(3):
        learnt = torch.load(tmp_path / f"{rank}.pt")
        assert all(torch.equal(learnt[name], tensor) for name, tensor in weights(out).items())

    assert "RuntimeError: as asked" in errors
    assert "rungs: worker 2 lost another" in errors
    assert "gloo" not in errors


@pytest.mark.system
def test_a_checkpoint_is_gone_on_from_by_as_many_ranks_only(three, one, capsys):
    before = {path: path.read_bytes() for out in (three, one) for path in out.glob("*.*")}
    assert cli.main(["train", "--resume", "--out", str(three)]) == 2
    assert capsys.readouterr().err.endswith("the run had 3 ranks, not 1\n")
    job = start(torchrun(2, *TRAIN, "--resume", "--out", one))
    ((_, errors),) = finish(job)
    assert job.returncode == 1
    said, _, summary = errors.partition("Root Cause")
    assert "the run had 1 ranks, not 2" in said
    assert "the run had 1 ranks, not 2" in summary
    assert {path: path.read_bytes() for path in before} == before


def test_only_the_same_job_of_torchrun_goes_on_by_itself(tmp_path, monkeypatch, capsys):
    command = ["train", *CPP, str(tmp_path), "--updates", "2"]
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "ours")
    assert cli.main(command) == 0
    before = (tmp_path / "metrics.csv").read_text()
    assert cli.main(command) == 0
    assert "continuing after update 2" in capsys.readouterr().out
    assert cli.main([*command, "--seed", "5"]) == 2
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "another")
    assert cli.main(command) == 2
    monkeypatch.delenv("TORCHELASTIC_RUN_ID")
    assert cli.main(command) == 2
    assert capsys.readouterr().err.count("holds a run already") == 3
    assert (tmp_path / "metrics.csv").read_text() == before


def test_ranks_on_a_machine_share_its_cores(monkeypatch):
    for ranks in (1, 2, 2 * CORES):
        monkeypatch.setenv("LOCAL_WORLD_SIZE", str(ranks))
        share = max(1, CORES // ranks)
        assert share_of_cores() == Training().torch_threads == share
        for rung in ("openmp", "threads"):
            assert make_env(Training(rung=rung, num_envs=2)).boards.threads == share
    assert make_env(Training(rung="openmp", num_envs=2, how={"threads": 2})).boards.threads == 2


@pytest.mark.system
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_no_rank_outlives_torchrun(tmp_path, number):
    out = tmp_path / "endless"
    job = start(torchrun(2, *TRAIN, *PYTHON, out, "--updates", "1000000"))
    try:
        deadline = time.monotonic() + 120
        while not (out / "metrics.csv").exists() or not table(out / "metrics.csv"):
            assert job.poll() is None, job.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        pids = processes(out)
        assert len(pids) == 3
        job.send_signal(number)
        assert gone(pids)
    finally:
        job.kill()
        job.communicate(timeout=30)


def processes(named):
    """The ids of those whose command names a path."""
    pids = [int(entry) for entry in os.listdir("/proc") if entry.isdecimal()]
    return [pid for pid in pids if str(named) in command_of(pid)]


def command_of(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


@pytest.mark.system
def test_a_killed_mpi_rank_ends_all_and_what_goes_on_is_cpp(one, tmp_path):
    out = tmp_path / "run"
    job = start([*MPI, "-n", 3, *mishaps([[0, 2, "deserts", 2]], *ON_MPI, out)])
    ((said, errors),) = finish(job)
    assert job.returncode == 1
    # On a busy machine those that mpiexec kills may be named too, as they may have died first.
    named = r"^rungs: worker (.+ or )?2 \(process \d+\)( or .+)? died: SIGKILL$"
    assert re.search(named, errors, re.MULTILINE)
    assert updates(said) == list(range(1, 7))
    assert checkpoint.load(out)["learner"]["updates"] == 3
    said, _ = train([*MPI, "-n", 2, *TRAIN, "--resume", "--out", out])
    assert updates(said) == list(range(4, 9))
    assert_same_run(out, one)


@pytest.mark.system
def test_ranks_on_two_hosts_are_three_on_one_also_when_one_is_killed(hosts, three, tmp_path):
    """One of torchrun's nodes has two ranks, the other has one, which is killed."""
    out = tmp_path / "run"
    nodes = []
    for host, ranks in enumerate((2, 1)):
        node = ["--nnodes", 2, "--nproc-per-node", ranks, "--max-restarts", 1, "--rdzv-id", "two"]
        node += ["--rdzv-backend", "c10d", "--rdzv-endpoint", f"{ADDRESSES[0]}:29400"]
        # Which would be found out by name, but these hosts have none.
        node += ["--rdzv-conf", f"is_host={host == 0}", "--local-addr", ADDRESSES[host]]
        command = [*TORCHRUN, *node, *mishaps([[0, 2, "killed", 5]], *PYTHON, out)]
        cable = {"GLOO_SOCKET_IFNAME": CABLES[host]}
        nodes.append(start(hosts.on(host, *command), ENVIRONMENT | cable))
    said = finish(*nodes)
    assert [node.returncode for node in nodes] == [0, 0], said
    assert updates(said[0][0]) == [*range(1, 5), *range(4, 9)]
    assert_same_run(out, three)


@pytest.mark.system
def test_mpi_ranks_on_two_hosts_play_for_a_learner_and_it_learns_as_from_cpp(hosts, one, tmp_path):
    out = tmp_path / "run"
    command = [*MPI, "-n", 2, "--hosts", ",".join(ADDRESSES), *TRAIN, *ON_MPI, out]
    command += ["-p", "transport=messages"]
    train(hosts.on(0, *command), ENVIRONMENT | hosts.mpi_environment(tmp_path))
    assert_same_run(out, one)
