"""Runs of PPO and of self-play go on from their checkpoints, bit for bit, and from nothing else."""

import io
import math
import os
import shutil
import zipfile

import pytest
import torch

from rungs._src.chess.engine import UciEngine
from rungs._src.core.atomic import UNFINISHED
from rungs._src.core.folder import locked, locked_output_dir
from rungs._src.train.runs import CHECKPOINT
from rungs.errors import ConfigurationError, DivergedError, InvalidStateError, StorageError
from tests.library.train.mishap import learning
from tests.library.train.runs import PPO, SELFPLAY, TRAINERS, column
from tests.saved import contents, deleting, full_disk, join, setting, split


@pytest.fixture(scope="module", params=TRAINERS)
def trainer(request):
    return TRAINERS[request.param]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The folder of a run of each trainer that nothing interrupted; made when it is asked for."""
    finished = {}

    def run_of(trainer):
        if trainer.command not in finished:
            out = finished[trainer.command] = tmp_path_factory.mktemp(trainer.command)
            assert trainer.begin(out) == 0
        return finished[trainer.command]

    return run_of


@pytest.fixture
def unbroken(trainer, runs):
    return runs(trainer)


@pytest.fixture
def copied(unbroken, tmp_path):
    return shutil.copytree(unbroken, tmp_path / "copied")


@pytest.fixture
def ppo_run(runs, tmp_path):
    return shutil.copytree(runs(PPO), tmp_path / "copied")


def before_learning(trainer, monkeypatch, update, do):
    """Has an update call `do` with the learner before it learns."""
    owner, name = learning(trainer.command)
    learn, calls = getattr(owner, name), []

    def learns(self):
        calls.append(True)
        if len(calls) == update:
            do(self if trainer is PPO else self.learner)
        return learn(self)

    monkeypatch.setattr(owner, name, learns)


def change_checkpoint(out, change):
    saved = torch.load(out / CHECKPOINT, weights_only=True)
    change(saved)
    torch.save(saved, out / CHECKPOINT)


def assert_refused(trainer, out, error, *named):
    """Asserts that resuming raises, naming the checkpoint and more, and changes no file."""
    before = contents(out)
    with pytest.raises(error) as raised:
        trainer.resume(out)
    for name in (str(out / CHECKPOINT), *named):
        assert name in str(raised.value)
    assert contents(out) == before


def test_a_run_that_broke_goes_on_as_if_it_had_not(trainer, unbroken, tmp_path, monkeypatch):
    def interrupt(learner):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        before_learning(trainer, patch, 4, interrupt)
        assert trainer.begin(tmp_path) != 0
    assert trainer.learner_state(tmp_path)["updates"] == 2
    assert column(tmp_path / "metrics.csv", "update") == ["1", "2", "3"]  # more than is kept
    for folder in ("", *trainer.folders):  # as if it had been killed while it wrote there
        (tmp_path / folder / f"{UNFINISHED}x").mkdir()
    assert trainer.run(tmp_path, "--resume") == 0
    trainer.assert_same(tmp_path, unbroken)


def test_a_lengthened_run_is_one_that_was_as_long_from_the_start(trainer, unbroken, tmp_path):
    assert trainer.begin(tmp_path, "--updates", 3) == 0
    others = ["notes.pt"]
    if trainer is SELFPLAY:
        others += ["pool/notes.pt", "pool/1.pt", "pool/0000001.pt"]
    for name in others:
        (tmp_path / name).write_text("precious")
    assert trainer.run(tmp_path, "--resume", "--updates", 5) == 0
    assert trainer.load(tmp_path)["training"].updates == 5
    trainer.assert_same(tmp_path, unbroken)
    assert all((tmp_path / name).read_text() == "precious" for name in others)


def test_a_run_that_is_over_stays_as_it_is(trainer, copied, capsys):
    before = contents(copied)
    assert trainer.begin(copied) == 2
    assert "--resume" in capsys.readouterr().err
    assert contents(copied) == before
    assert trainer.run(copied, "--resume") == 0
    trainer.assert_same(copied, copied)
    assert contents(copied)["metrics.csv"] == before["metrics.csv"]


def test_other_settings_and_earlier_ends_are_refused(trainer, copied, tmp_path, capsys):
    before = contents(copied)
    for option in ("--seed 4", "--games 2", "--max-plies 5", "--updates 4", "--seconds 8"):
        assert trainer.run(copied, "--resume", *option.split()) == 2
        assert option.split()[0] in capsys.readouterr().err
        assert contents(copied) == before
    assert trainer.run(tmp_path / "none", "--resume") == 2
    assert str(tmp_path / "none") in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


def flipped(raw):
    """Flips a bit of the weights, which are most of the file."""
    middle = len(raw) // 2
    return raw[:middle] + bytes([raw[middle] ^ 1]) + raw[middle + 1 :]


def archive(raw):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as other:
        other.writestr("readme.txt", "hello")
    return file.getvalue()


class Evil:
    def __reduce__(self):
        return open, ("pwned", "w")


def with_code(raw):
    """Returns what would write a file when it is read."""
    file = io.BytesIO()
    torch.save({"training": Evil()}, file)
    return file.getvalue()


DAMAGE = [lambda raw: b"", lambda raw: raw[: len(raw) // 2], flipped, archive, with_code]


def test_a_corrupt_checkpoint_is_named(trainer, copied, monkeypatch):
    monkeypatch.chdir(copied)
    saved = (copied / CHECKPOINT).read_bytes()
    for damage in DAMAGE:
        (copied / CHECKPOINT).write_bytes(damage(saved))
        assert_refused(trainer, copied, InvalidStateError)


def policy_as(change):
    """Returns what replaces the policies of the games that a rank plays."""
    return lambda saved: saved["games"][0].update(policy=change(saved["games"][0]["policy"]))


NO_RESULTS = [  # of matches
    (),
    ("update 3", "random", 1),
    ("update 3", "random", "0", 0, 1, 0, 0, 0),
    ("update 3", "random", 0, 0, 1.0, 0, 0, 0),
    ("update 3", "random", -1, 1, 1, 0, 0, 0),
    ("update 3", "random", 0, 0, 2, 0, 0, 0),
    ("update 3", "update 3", 0, 0, 1, 0, 0, 0),
    ("a", "b", 0, 0, 1, 0, 0, 0),
    ("update 3", "update 0", 0, 0, 1, 0, 0, 3),
    ("update 3", "update 0", 0, 0, 1, 0, 0, -1),
]
# By commands, and by the error: the changes of a checkpoint that raise it.
REFUSED = {
    ("train selfplay", ConfigurationError): [
        lambda saved: saved.clear() or saved.update(model=torch.zeros(3)),
        setting(0, "schema"),
        setting("notebook", "kind"),
        setting(-1, "training", "num_envs"),
        setting("fortran", "training", "learner"),
        setting(0.9, "training", "discount"),
    ],
    ("train selfplay", InvalidStateError): [
        deleting("training"),
        setting(math.nan, "clock"),
        setting(8 + 1, "training", "num_envs"),
    ],
    ("train", ConfigurationError): [
        setting("fortran", "training", "rung"),
        setting("x", "training", "ppo", "gamma"),
        setting(0.9, "training", "ppo", "discount"),
        setting([], "own"),
        lambda saved: saved["own"].append(saved["own"][0]),
    ],
    ("train", InvalidStateError): [
        setting(b"", "own", 0, "env"),
        lambda saved: saved["own"][0].update(env=saved["own"][0]["env"][:-9]),
    ],
    ("selfplay", InvalidStateError): [
        *(lambda saved, row=row: saved["results"]["rows"].append([*row]) for row in NO_RESULTS),
        setting([], "results", "rows"),
        lambda saved: saved["network"]["value.bias"].fill_(math.nan),
        policy_as(torch.Tensor.to_sparse),
        policy_as(torch.Tensor.bfloat16),
        policy_as(lambda policy: policy.requires_grad_()),
        setting(torch.zeros(1, dtype=torch.int64).expand(9**9), "games", 0, "ply"),
    ],
}
CASES = [(command, *case) for case in REFUSED for command in case[0].split()]


@pytest.mark.parametrize(("command", "commands", "error"), CASES)
def test_a_checkpoint_of_what_no_run_has_is_refused(command, commands, error, runs, tmp_path):
    trainer = TRAINERS[command]
    out = shutil.copytree(runs(trainer), tmp_path / "copied")
    saved = (out / CHECKPOINT).read_bytes()
    for change in REFUSED[commands, error]:
        (out / CHECKPOINT).write_bytes(saved)
        change_checkpoint(out, change)
        assert_refused(trainer, out, error)


def test_half_a_row_is_not_a_row(ppo_run):
    with (ppo_run / "metrics.csv").open("a") as file:
        file.write("1")  # of update 12, say
    PPO.resume(ppo_run, updates=6)
    assert column(ppo_run / "metrics.csv", "update") == ["1", "2", "3", "4", "5", "6"]


def test_a_run_that_diverges_keeps_its_last_checkpoint(trainer, copied, monkeypatch):
    def spoil(learner):
        with torch.no_grad():
            learner.network.value.bias.fill_(3e38)

    before_learning(trainer, monkeypatch, 2, spoil)
    with pytest.raises(DivergedError):
        trainer.resume(copied, updates=9, checkpoint_every=1)
    saved = trainer.learner_state(copied)
    assert saved["updates"] == 6
    assert all(bool(weights.isfinite().all()) for weights in saved["network"].values())


@pytest.mark.parametrize("size", [0, 10_000])
def test_a_run_on_a_full_disk_keeps_its_checkpoint(trainer, copied, capfd, size):
    before = (copied / CHECKPOINT).read_bytes()
    with full_disk(size), pytest.raises(StorageError, match=str(copied)):
        trainer.resume(copied, updates=40)
    assert not capfd.readouterr().err
    assert (copied / CHECKPOINT).read_bytes() == before
    trainer.resume(copied, updates=6)
    assert trainer.learner_state(copied)["updates"] == 6


def test_a_folder_of_something_else_or_in_use_is_refused_by_name(trainer, tmp_path, capsys):
    for name in ("metrics.csv", "tensorboard/a", "rungs.json"):
        out = tmp_path / name.replace("/", "-")
        (out / name).parent.mkdir(parents=True)
        (out / name).write_text("precious")
        assert trainer.begin(out) == 2
        assert str(out / name.split("/")[0]) in capsys.readouterr().err
        assert contents(out) == {name: b"precious"}
    with locked(tmp_path / "run"):
        assert trainer.begin(tmp_path / "run") == 2
        assert f"process {os.getpid()}" in capsys.readouterr().err
    with locked_output_dir(tmp_path / "other", "notebook", ()) as folder:
        folder.note([])
    assert trainer.begin(tmp_path / "other") == 2
    assert "other holds a notebook" in capsys.readouterr().err


def test_a_new_run_removes_what_the_last_wrote_and_nothing_else(tmp_path):
    options = ["--checkpoint-every", 0, "--updates", 1]
    assert PPO.begin(tmp_path, *options) == 0
    for name in ("tensorboard/mine", "mine.csv"):
        (tmp_path / name).write_text("precious")
    first = set(contents(tmp_path))
    assert PPO.begin(tmp_path, *options) == 0
    second = contents(tmp_path)
    assert second["tensorboard/mine"] == second["mine.csv"] == b"precious"
    assert len(first - set(second)) == len(set(second) - first) == 1  # TensorBoard's file


def test_a_checkpoint_whose_folder_is_not_ours_takes_nothing_over(ppo_run, tmp_path):
    (ppo_run / "rungs.json").unlink()
    before = contents(ppo_run)
    with pytest.raises(ConfigurationError, match=str(ppo_run)):
        PPO.resume(ppo_run)
    assert contents(ppo_run) == before
    alone = tmp_path / "alone"
    alone.mkdir()
    shutil.copy(ppo_run / CHECKPOINT, alone)
    assert PPO.run(alone, "--resume") == 0


@pytest.fixture
def program(tmp_path):
    """A program that leaves a trace where it is run."""
    path = tmp_path / "engine"
    path.write_text(f"#!/bin/sh\ntouch {tmp_path}/pwned\n")
    path.chmod(0o755)
    return path


def test_a_program_that_a_checkpoint_names_is_shown_and_not_run(ppo_run, program, capsys):
    change_checkpoint(ppo_run, setting(str(program), "training", "opponent"))
    before = contents(ppo_run)
    assert PPO.run(ppo_run, "--resume") == 2
    error = capsys.readouterr().err
    assert all(name in error for name in (str(ppo_run / CHECKPOINT), str(program), "--trust"))
    assert contents(ppo_run) == before
    assert not program.with_name("pwned").exists()
    # A trusted program gets as far as the boards' state, whose opponent is another.
    assert PPO.run(ppo_run, "--resume", "--trust") == 2
    assert "opponent" in capsys.readouterr().err


def in_state(program):
    """Returns what has the boards' state name a program as the opponent."""

    def change(saved):
        head, payload = split(saved["own"][0]["env"])
        opponent = vars(UciEngine(program, options={"Skill Level": 0}))
        saved["own"][0]["env"] = join(head | {"opponent": opponent}, payload)

    return change


def test_a_program_among_a_rungs_settings_or_in_a_state_is_not_run(ppo_run, program):
    change_checkpoint(ppo_run, in_state(str(program)))
    assert_refused(PPO, ppo_run, InvalidStateError)
    for opponent in (str(program), {"path": str(program)}):
        change_checkpoint(ppo_run, setting({"opponent": opponent}, "training", "rung_settings"))
        assert_refused(PPO, ppo_run, ConfigurationError)
    assert not program.with_name("pwned").exists()
