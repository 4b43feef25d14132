"""Training runs of PPO: what they write and what they refuse."""

import os
import sys
from types import SimpleNamespace

import pytest
import torch

from rungs._src.native import loader
from rungs._src.train import training
from rungs._src.train.runs import CHECKPOINT, Table
from rungs.errors import InvalidStateError
from tests.library.train.runs import PPO, SELFPLAY, TRAINERS, column
from tests.library.train.test_learners import available
from tests.saved import contents, rows_of


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    out = tmp_path_factory.mktemp("unbroken")
    assert PPO.begin(out) == 0
    return out


def test_a_run_writes_a_row_per_update(unbroken):
    metrics, evaluations = unbroken / "metrics.csv", unbroken / "evaluations.csv"
    assert column(metrics, "update") == ["1", "2", "3", "4", "5"]
    assert column(metrics, "steps") == ["128", "256", "384", "512", "640"]
    assert column(evaluations, "update") == ["0", "3", "5"]
    assert column(evaluations, "games") == ["4"] * 3


def test_tensorboards_events_have_the_same_numbers(unbroken):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(unbroken / "tensorboard")).Reload()
    values = [event.value for event in events.Scalars("metrics/entropy")]
    assert values == pytest.approx(list(map(float, column(unbroken / "metrics.csv", "entropy"))))


@pytest.mark.system
@pytest.mark.parametrize("tracker", ["wandb", "trackio"])
def test_other_trackers_keep_the_same_numbers_here(tracker, tmp_path, monkeypatch):
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path / "trackio"))
    pytest.importorskip(tracker)
    assert PPO.begin(tmp_path / "run", "--track", tracker) == 0
    kept = b"".join(text for name, text in contents(tmp_path).items() if not name.endswith(".csv"))
    for value in column(tmp_path / "run" / "metrics.csv", "entropy"):
        assert value.encode() in kept


def test_a_tracker_that_is_not_here_is_named_and_nothing_is_written(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "wandb", None)
    for trainer in (PPO, SELFPLAY):
        assert trainer.begin(tmp_path / "run", "--track", "wandb") == 2
        assert "package wandb: pip install '.[wandb]'" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    assert PPO.begin(tmp_path / "run", "--track", "none", "--updates", 1) == 0
    assert PPO.begin(tmp_path / "run", "--resume", "--track", "mlflow") == 2
    assert "mlflow" in capsys.readouterr().err


def test_only_learning_counts_as_time(tmp_path, monkeypatch):
    """Not what rank 0 does on its own, nor that others wait for it."""
    now = 0.0

    def lasts(owner, name, seconds):
        original = getattr(owner, name)

        def slower(*arguments, **options):
            nonlocal now
            now += seconds
            return original(*arguments, **options)

        monkeypatch.setattr(owner, name, slower)

    monkeypatch.setattr(training, "time", SimpleNamespace(perf_counter=lambda: now))
    lasts(training, "evaluate", 1000)
    lasts(training.Ranks, "wait", 100)
    lasts(training.Learner, "learn", 1)
    assert PPO.begin(tmp_path, "--updates", 3, "--evaluate-every", 1) == 0
    rows = rows_of(tmp_path / "metrics.csv")
    assert [float(row["seconds"]) for row in rows] == [1, 2, 3]
    assert now == 4 * 1000 + 3 * 100 + 3


def test_a_run_may_be_as_long_as_some_seconds(tmp_path):
    assert PPO.begin(tmp_path, "--seconds", 0.05, "--updates", 100_000) == 0
    saved = PPO.load(tmp_path)
    assert saved["clock"] >= 0.05
    updates = column(tmp_path / "metrics.csv", "update")
    assert len(updates) == saved["learner"]["updates"] < 100_000


WRONG = {
    **{"--rung abacus": "abacus", "--num-envs 0": "num_envs", "--seconds -1": "seconds"},
    **{"--device tpu": "device", "--opponent nobody": "nobody", "-p threads=0": "threads"},
    **{"--num-minibatches 7": "minibatches", "--resume -p threads=2": "-p"},
    "--num-envs 8 --num-steps 1 --num-minibatches 8": "minibatches",
}
if not torch.cuda.is_available():
    WRONG["--device cuda"] = "CUDA"


@pytest.mark.parametrize(("options", "named"), WRONG.items())
def test_wrong_options_are_named_and_nothing_is_written(tmp_path, capsys, options, named):
    assert PPO.run(tmp_path, *options.split()) == 2
    assert named in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("trainer", TRAINERS.values(), ids=TRAINERS)
def test_a_run_that_goes_on_by_another_unit_says_so(trainer, tmp_path, capsys):
    unit = available(loader.bfloat16_unit, loader.load_learn())
    assert trainer.begin(tmp_path, "--learner", "cpp-bfloat16", "--updates", 1) == 0
    assert trainer.run(tmp_path, "--resume", "--updates", 2) == 0
    assert "multiplies" not in capsys.readouterr().out
    saved = torch.load(tmp_path / CHECKPOINT, weights_only=True)
    torch.save(saved | {"bfloat16_unit": "an abacus"}, tmp_path / CHECKPOINT)
    assert trainer.run(tmp_path, "--resume", "--updates", 3) == 0
    assert f"{unit} multiplies, and not an abacus" in capsys.readouterr().out
    assert trainer.load(tmp_path)["bfloat16_unit"] == unit


def begun(path, last):
    log = Table(path, last)
    log.begin()
    return log


def logged(path):
    return [(int(row["update"]), row["entropy"]) for row in rows_of(path)]


OTHER_TABLES = [b"update,entropy\n1,first\n2,second,more\n", b"update,more\n1,first\n2,second\n"]
OTHER_TABLES += [b"update,update,entropy\n1,1,first\n", b"entropy\nfirst\n"]
OTHER_TABLES += [b"update,x\nmany,2\n", b"\xff\xfe\0,\n1\n"]


@pytest.mark.parametrize("text", OTHER_TABLES)
def test_a_table_of_something_else_is_refused_and_stays(tmp_path, text):
    path = tmp_path / "metrics.csv"
    path.write_bytes(text)
    with pytest.raises(InvalidStateError, match=r"metrics\.csv"):
        begun(path, 2).add({"update": 3, "entropy": "again"})
    assert path.read_bytes().split() == text.split()


FIRST = [(1, "first"), (2, "first")]
TABLES = {"": [], "entropy,update\nfirst,1\nfirst,2\n": FIRST}
# Of what was played after the last checkpoint, too.
TABLES["update,entropy\n1,first\n2,first\n3,first\n4,first\n"] = FIRST


@pytest.mark.parametrize(("text", "rows"), TABLES.items())
def test_a_table_keeps_the_rows_of_a_checkpoint_and_the_order_of_its_columns(tmp_path, text, rows):
    path = tmp_path / "metrics.csv"
    path.write_text(text)
    log = begun(path, 2)
    assert logged(path) == rows
    log.add({"update": 3, "entropy": "again"})
    assert logged(path) == [*rows, (3, "again")]


def test_a_table_that_is_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "metrics.csv")
    with pytest.raises(InvalidStateError, match=r"metrics\.csv"):
        Table(tmp_path / "metrics.csv", 1)
