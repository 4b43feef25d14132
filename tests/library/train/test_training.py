"""Training runs: what they write, and that a crash changes nothing but time."""

import csv
import os
import signal
import sys
import time
from types import SimpleNamespace

import pytest
import torch

from rungs._src import cli
from rungs._src.native import gpp
from rungs._src.train import ppo, training
from rungs._src.train.learners import DEFAULT
from rungs._src.train.runs import Table
from rungs._src.train.training import checkpoint
from rungs.errors import ConfigurationError, InvalidStateError
from tests.library.train import runs
from tests.library.train.runs import table

SMALL = (
    "--num-envs 32 --num-steps 8 --num-minibatches 4 --games 10 --max-plies 60 --torch-threads 1"
)
LONG = f"{SMALL} --updates 9 --checkpoint-every 2 --evaluate-every 3".split()


def train(out, *arguments):
    return cli.main(["train", "--out", str(out), *map(str, arguments)])


def weights(out):
    return checkpoint.load(out)["learner"]["network"]


def assert_same_run(ours, theirs):
    runs.assert_same(ours, theirs, ("metrics.csv", "evaluations.csv"), weights)


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    out = tmp_path_factory.mktemp("unbroken")
    assert train(out, *LONG) == 0
    return out


def killed_after(updates, command, out):
    """Starts a run and kills all of it once it has made some updates."""
    metrics, deadline = out / "metrics.csv", time.monotonic() + 120
    with runs.start(command) as job:
        while not metrics.exists() or len(table(metrics)) < updates:
            assert job.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
        os.killpg(job.pid, signal.SIGKILL)


def test_a_run_writes_a_row_per_update(unbroken):
    metrics, evaluations = table(unbroken / "metrics.csv"), table(unbroken / "evaluations.csv")
    assert [int(row["update"]) for row in metrics] == list(range(1, 10))
    assert [int(row["steps"]) for row in metrics] == list(range(256, 2305, 256))
    assert [int(row["update"]) for row in evaluations] == [0, 3, 6, 9]
    assert {row["games"] for row in evaluations} == {"10"}
    assert any((unbroken / "tensorboard").iterdir())


@pytest.mark.system
@pytest.mark.parametrize("name", ["flat", "cpp", "cpp-bfloat16"])
def test_a_killed_run_goes_on_as_if_it_had_not_been(name, unbroken, tmp_path):
    if name == "cpp-bfloat16" and not gpp.load_learn().rungs_learn_has_bfloat16():
        pytest.skip("this processor has no products of bfloat16 (AVX512-BF16)")
    how = [*LONG, "--learner", name]
    whole, out = unbroken if name == DEFAULT else tmp_path / "whole", tmp_path / "run"
    if whole != unbroken:
        assert train(whole, *how) == 0
    killed_after(5, [sys.executable, "-m", "rungs", "train", "--out", str(out), *how], out)
    assert checkpoint.load(out)["learner"]["updates"] >= 4
    assert train(out, "--resume") == 0
    assert_same_run(out, whole)


def test_a_lengthened_run_is_one_that_was_as_long_from_the_start(unbroken, tmp_path):
    assert train(tmp_path, *LONG, "--updates", "4") == 0
    assert train(tmp_path, "--resume", "--updates", "9") == 0
    assert checkpoint.load(tmp_path)["training"].updates == 9
    updates = [row["update"] for row in table(tmp_path / "evaluations.csv")]
    assert updates == ["0", "3", "4", "6", "9"]  # the 4th was the last
    runs.assert_same(tmp_path, unbroken, ("metrics.csv",), weights)


def test_a_run_that_is_over_stays_as_it_is(unbroken):
    before = (unbroken / "metrics.csv").read_text()
    assert train(unbroken, "--resume") == 0
    assert (unbroken / "metrics.csv").read_text() == before


def test_tensorboards_events_have_the_same_numbers(unbroken):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(unbroken / "tensorboard")).Reload()
    found = [event.value for event in events.Scalars("metrics/entropy")]
    written = [float(row["entropy"]) for row in table(unbroken / "metrics.csv")]
    assert found == pytest.approx(written)


def test_only_learning_counts_as_time(tmp_path, monkeypatch):
    """Not what rank 0 does on its own, nor that others wait for it."""
    now = 0.0

    def lasts(owner, name, seconds):
        whole = getattr(owner, name)

        def slower(*arguments, **how):
            nonlocal now
            now += seconds
            return whole(*arguments, **how)

        monkeypatch.setattr(owner, name, slower)

    monkeypatch.setattr(training, "time", SimpleNamespace(perf_counter=lambda: now))
    lasts(training, "evaluate", 1000)
    lasts(training.Ranks, "wait", 100)
    lasts(training.Learner, "learn", 1)
    assert train(tmp_path, *SMALL.split(), "--updates", "3", "--evaluate-every", "1") == 0
    with (tmp_path / "metrics.csv").open(newline="") as file:
        assert [float(row["seconds"]) for row in csv.DictReader(file)] == [1, 2, 3]
    assert now == 4 * 1000 + 3 * 100 + 3


def test_a_run_may_be_as_long_as_some_seconds(tmp_path):
    assert train(tmp_path, *SMALL.split(), "--seconds", "0.3", "--updates", "100000") == 0
    last = checkpoint.load(tmp_path)
    assert last["clock"] >= 0.3
    assert len(table(tmp_path / "metrics.csv")) == last["learner"]["updates"]


def test_a_run_that_diverges_keeps_its_last_checkpoint(tmp_path, monkeypatch, capsys):
    how = [*SMALL.split(), "--checkpoint-every", "1", "--evaluate-every", "100", "--updates"]
    whole, calls = ppo.advantages, []

    def diverging(*of, **more):
        calls.append(True)
        return whole(*of, **more) * (1 if len(calls) < 3 else float("inf"))

    monkeypatch.setattr(ppo, "advantages", diverging)
    assert train(tmp_path, *how, "4") != 0
    assert "update 3: " in capsys.readouterr().err
    last = checkpoint.load(tmp_path)["learner"]
    assert last["updates"] == 2
    assert all(each.isfinite().all() for each in last["network"].values())
    assert len(table(tmp_path / "metrics.csv")) == 2


def test_a_checkpoint_with_other_settings_is_of_another_version(tmp_path):
    settings = {"rung": "cpp", "opponent": "random", "how": {}, "ppo": {"discount": 0.9}}
    learner = {"network": {}, "optimizer": {}, "updates": 1, "steps": 1}
    saved = {"tool": "rungs", "kind": "training", "schema": 3, "training": settings}
    saved |= {"job": None, "clock": 1.0, "learner": learner, "own": []}
    torch.save(saved, tmp_path / "checkpoint.pt")
    with pytest.raises(ConfigurationError, match=r"another version.*discount"):
        checkpoint.load(tmp_path)
    saved["training"] = settings | {"ppo": {}, "learner": "abacus"}
    torch.save(saved, tmp_path / "checkpoint.pt")
    with pytest.raises(ConfigurationError, match=r"checkpoint\.pt: learner='abacus' is not one"):
        checkpoint.load(tmp_path)


def test_mistakes_are_named_and_nothing_is_lost(unbroken, tmp_path, capsys):
    before = (unbroken / "metrics.csv").read_text()
    mistakes = [
        ((unbroken, *LONG), "holds a run already"),
        ((unbroken, "--resume", "--seed", "3"), "--resume"),
        ((unbroken, "--resume", "--num-steps", "4"), "--num-steps"),
        ((unbroken, "--resume", "-p", "threads=2"), "-p"),
        ((unbroken, "--resume", "--updates", "8"), "--updates 8 is less than the run's 9"),
        ((unbroken, "--resume", "--seconds", "8"), "--seconds 8 is less than the run's inf"),
        ((tmp_path, "--resume"), "there is no"),
        ((tmp_path, "--rung", "abacus"), "abacus"),
        ((tmp_path, "--num-envs", "0"), "num_envs"),
        ((tmp_path, "--num-minibatches", "7"), "minibatches"),
        ((tmp_path, "--num-envs", "8", "--num-steps", "1"), "minibatches"),
        ((tmp_path, "--seconds", "-1"), "seconds"),
        ((tmp_path, "--device", "tpu"), "device"),
        ((tmp_path, "--opponent", "nobody"), "nobody"),
        ((tmp_path, "-p", "threads=0"), "threads"),
    ]
    if not torch.cuda.is_available():
        mistakes.append(((tmp_path, "--device", "cuda"), "CUDA"))
    for arguments, name in mistakes:
        assert train(*arguments) == 2
        assert name in capsys.readouterr().err
    assert (unbroken / "metrics.csv").read_text() == before
    assert not list(tmp_path.iterdir())


def begun(path, last):
    log = Table(path, last)
    log.begin()
    return log


def logged(path):
    with path.open(newline="") as file:
        return [(int(row["update"]), row["entropy"]) for row in csv.DictReader(file)]


def test_what_was_played_after_the_last_checkpoint_is_lost(tmp_path):
    path = tmp_path / "metrics.csv"
    log = begun(path, 0)
    for update in (1, 2, 3, 4):
        log.add({"update": update, "entropy": "first"})
    log = begun(path, 2)
    assert logged(path) == [(1, "first"), (2, "first")]
    log.add({"update": 3, "entropy": "again"})
    assert logged(path) == [(1, "first"), (2, "first"), (3, "again")]
    begun(path, 0)
    assert logged(path) == []


@pytest.mark.parametrize(
    "text",
    [
        "update,entropy\n1,first\n2,second,more\n",
        "update,more\n1,first\n2,second\n",
        "update,update,entropy\n1,1,first\n",
        "entropy\nfirst\n",
    ],
)
def test_a_table_of_other_columns_is_refused_and_stays(tmp_path, text):
    path = tmp_path / "metrics.csv"
    path.write_text(text)
    with pytest.raises(InvalidStateError, match=r"metrics\.csv"):
        begun(path, 2).add({"update": 3, "entropy": "again"})
    assert path.read_text().split() == text.split()


def test_columns_keep_the_order_that_they_have_in_the_file(tmp_path):
    path = tmp_path / "metrics.csv"
    path.write_text("entropy,update\nfirst,1\n")
    begun(path, 1).add({"update": 2, "entropy": "second"})
    assert logged(path) == [(1, "first"), (2, "second")]


def test_a_table_that_is_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "metrics.csv")
    with pytest.raises(InvalidStateError, match=r"metrics\.csv"):
        Table(tmp_path / "metrics.csv", 1)


def test_a_table_without_rows_is_begun(tmp_path):
    path = tmp_path / "metrics.csv"
    path.write_text("")
    begun(path, 2).add({"update": 3, "entropy": "again"})
    assert logged(path) == [(3, "again")]
