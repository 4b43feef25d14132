"""Training on torchrun's ranks and on MPI's, on one host and on two, and when one of them dies."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from rungs._src import cli
from rungs._src.core import state
from rungs._src.machine.cpu import usable_cores
from rungs._src.selfplay.examples import DTYPES, Examples
from rungs._src.train.settings import Training, share_of_cores
from rungs._src.train.training import make_env
from tests.hosts import ADDRESSES, CABLES, two_hosts
from tests.library.chess.test_parallel import gone
from tests.library.train.runs import PPO, SELFPLAY, column
from tests.processes import poll

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
ENVIRONMENT = os.environ | {"PYTHONPATH": PATHS, "OMP_NUM_THREADS": "1"}
RANKS = 2


def torchrun(*command):
    """Returns the command that starts ranks here, at a port that is free."""
    return [*TORCHRUN, "--standalone", "--nproc-per-node", RANKS, *command]


def mishaps(plan, *command):
    """Returns what to start in place of `-m rungs`, for ranks to fail as planned."""
    return ["-m", "tests.library.train.mishap", json.dumps(plan), *command]


def start(command, environment=ENVIRONMENT):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(list(map(str, command)), env=environment, **pipes)


def finish(*jobs):
    """Returns each job's stdout and stderr, in order; none outlives this."""
    try:
        return [job.communicate(timeout=300) for job in jobs]
    finally:
        for job in jobs:
            job.kill()


def train(command, environment=ENVIRONMENT):
    """Runs a command that succeeds; returns its stdout and stderr."""
    job = start(command, environment)
    ((out, err),) = finish(job)
    assert job.returncode == 0, err
    return out, err


def updates(out):
    return list(map(int, re.findall(r"^update (\d+),", out, re.MULTILINE)))


def weights(out):
    return PPO.learner_state(out)["network"]


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """The folder of a run of two ranks, of which nothing broke."""
    out = tmp_path_factory.mktemp("two")
    lines, _ = train(torchrun(*TRAIN, *PYTHON, out))
    assert updates(lines) == list(range(1, 9))
    return out


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    """The folder of a run of one rank, of which nothing broke."""
    out = tmp_path_factory.mktemp("one")
    assert cli.main(["train", *CPP, str(out)]) == 0
    return out


@pytest.mark.system
def test_all_ranks_learn_together_each_from_its_own_boards(two, one):
    metrics = two / "metrics.csv"
    assert column(metrics, "update") == list("12345678")
    assert column(metrics, "steps") == [str(RANKS * 16 * 8 * k) for k in range(1, 9)]
    # An episode takes 40 plies at most, so of 64 steps each board of each rank begins a fourth.
    episodes = sum(sum(map(int, column(metrics, name))) for name in ("wins", "draws", "losses"))
    assert episodes >= RANKS * 3 * 16
    assert column(two / "evaluations.csv", "update") == ["0", "4", "8"]
    for rank, rank_state in enumerate(PPO.load(two)["own"]):
        state.unpack(rank_state["env"], {"first_board": 16 * rank, "num_envs": 16}, {}, 16)
    assert any(not torch.equal(weights(two)[name], weights(one)[name]) for name in weights(one))


@pytest.mark.system
def test_a_run_whose_ranks_die_is_the_one_that_never_broke(two, tmp_path):
    """One raises before there is a checkpoint, and one is killed half-way through writing one."""
    out = tmp_path / "run"
    plan = [[0, 1, "raises", 3], [1, 0, "torn", 2]]
    lines, errors = train(torchrun("--max-restarts", 3, *mishaps(plan, "train", *PYTHON, out)))
    assert updates(lines) == [1, 2, *range(1, 7), *range(4, 9)]
    PPO.assert_same(out, two)
    assert sorted(os.listdir(out)) == sorted(os.listdir(two))
    for rank in range(RANKS):
        learnt = torch.load(tmp_path / f"{rank}.pt")
        assert all(torch.equal(learnt[name], tensor) for name, tensor in weights(out).items())
    assert "RuntimeError: as asked" in errors
    assert "rungs: worker 1 lost another" in errors
    assert "gloo" not in errors


@pytest.mark.system
def test_a_checkpoint_is_gone_on_from_by_as_many_ranks_only(one):
    before = {path: path.read_bytes() for path in one.glob("*.*")}
    job = start(torchrun(*TRAIN, "--resume", "--out", one))
    ((_, errors),) = finish(job)
    assert job.returncode == 1
    lines, _, summary = errors.partition("Root Cause")
    assert "1 ranks, not 2" in lines
    assert "1 ranks, not 2" in summary
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
    assert capsys.readouterr().err.count("--resume") == 3
    assert (tmp_path / "metrics.csv").read_text() == before


def test_ranks_on_a_machine_share_its_cores(monkeypatch):
    for ranks in (1, 2, 2 * usable_cores()):
        monkeypatch.setenv("LOCAL_WORLD_SIZE", str(ranks))
        share = max(1, usable_cores() // ranks)
        assert share_of_cores() == Training().torch_threads == share
        for rung in ("openmp", "threads"):
            assert make_env(Training(rung=rung, num_envs=2)).boards.threads == share
    two = Training(rung="openmp", num_envs=2, rung_settings={"threads": 2})
    assert make_env(two).boards.threads == 2


@pytest.mark.system
def test_no_rank_outlives_torchrun(tmp_path):
    out = tmp_path / "endless"
    job = start(torchrun(*TRAIN, *PYTHON, out, "--updates", "1000000"))
    metrics = out / "metrics.csv"
    try:
        poll(lambda: (metrics.exists() and column(metrics, "update")) or job.poll() is not None)
        children = Path(f"/proc/{job.pid}/task").glob("*/children")
        ranks = [int(rank) for by_thread in children for rank in by_thread.read_text().split()]
        assert len(ranks) >= RANKS
    finally:
        job.kill()
        job.communicate(timeout=30)
    assert gone(ranks)


@pytest.mark.system
def test_a_killed_mpi_rank_ends_all_and_what_goes_on_is_cpp(one, tmp_path):
    out = tmp_path / "run"
    job = start([*MPI, "-n", 2, *mishaps([[0, 1, "deserts", 2]], "train", *ON_MPI, out)])
    ((lines, errors),) = finish(job)
    assert job.returncode == 1
    # On a busy machine those that mpiexec kills may be named too, as they may have died first.
    named = r"^rungs: worker (.+ or )?1 \(process \d+\)( or .+)? died: SIGKILL$"
    assert re.search(named, errors, re.MULTILINE)
    assert updates(lines) == list(range(1, 7))
    assert PPO.learner_state(out)["updates"] == 3
    lines, _ = train([*MPI, "-n", 1, *TRAIN, "--resume", "--out", out])
    assert updates(lines) == list(range(4, 9))
    PPO.assert_same(out, one)


@pytest.mark.release
@pytest.mark.system
def test_ranks_on_two_hosts_are_two_on_one_also_when_one_is_killed(two, tmp_path):
    out = tmp_path / "run"
    nodes = []
    with two_hosts() as hosts:
        for host in range(2):
            node = ["--nnodes", 2, "--nproc-per-node", 1, "--max-restarts", 1, "--rdzv-id", "two"]
            node += ["--rdzv-backend", "c10d", "--rdzv-endpoint", f"{ADDRESSES[0]}:29400"]
            # Which would be found out by name, but these hosts have none.
            node += ["--rdzv-conf", f"is_host={host == 0}", "--local-addr", ADDRESSES[host]]
            command = [*TORCHRUN, *node, *mishaps([[0, 1, "killed", 5]], "train", *PYTHON, out)]
            cable = {"GLOO_SOCKET_IFNAME": CABLES[host]}
            nodes.append(start(hosts.on(host, *command), ENVIRONMENT | cable))
        output = finish(*nodes)
    assert [node.returncode for node in nodes] == [0, 0], output
    # Which of the nodes has rank 0, and so prints, is torchrun's choice.
    assert [*range(1, 5), *range(4, 9)] in [updates(lines) for lines, _ in output]
    PPO.assert_same(out, two)


# In one update of as many plies games end, so that there are positions.
SELF_PLAY = (*f"{SELFPLAY.options} --plies 48 --updates 3".split(), "--out")


def rows(shard):
    """The positions of a shard, each as bytes, sorted."""
    examples = Examples(**{name: shard[name] for name in DTYPES})
    parts = (examples.observation, examples.count, examples.actions(), examples.policies())
    parts += (examples.outcome, examples.value)
    return sorted(zip(*([row.tobytes() for row in part] for part in parts), strict=True))


@pytest.mark.release
@pytest.mark.system
def test_ranks_of_self_play_play_what_one_plays_and_go_on_when_killed(tmp_path):
    out, unbroken, alone = tmp_path / "run", tmp_path / "unbroken", tmp_path / "alone"
    train(torchrun("-m", "rungs", "selfplay", *SELF_PLAY, unbroken))
    boards = ["--num-envs", RANKS * 8, "--updates", 1]
    assert SELFPLAY.run(alone, *SELF_PLAY[:-1], *boards) == 0
    first, second = (np.load(run / "positions" / "000001.npz") for run in (unbroken, alone))
    assert len(first["count"]) > 100
    assert rows(first) == rows(second)

    job = start(torchrun(*mishaps([[0, 0, "killed", 3]], "selfplay", *SELF_PLAY, out)))
    finish(job)
    assert job.returncode != 0
    assert SELFPLAY.learner_state(out)["updates"] == 2
    train(torchrun("-m", "rungs", "selfplay", "--resume", "--out", out))
    SELFPLAY.assert_same(out, unbroken)
    assert SELFPLAY.run(out, "--resume") == 2  # by one process
