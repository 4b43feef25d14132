"""A training's folder: no one else's, and gone on from whatever its checkpoint says."""

import io
import math
import os
import shutil
import zipfile

import pytest
import torch

from rungs._src import cli
from rungs._src.chess.engine import UciEngine
from rungs._src.core.folder import locked, locked_output_dir
from rungs._src.train.runs import CHECKPOINT
from rungs._src.train.settings import PpoSettings, Training
from rungs._src.train.training import checkpoint, train
from rungs.errors import ConfigurationError, InvalidStateError, StorageError
from tests.saved import contents, deleting, full_disk, join, setting, split

TINY = Training(
    rung="cpp",
    num_envs=4,
    updates=2,
    games=2,
    max_plies=10,
    torch_threads=1,
    ppo=PpoSettings(num_steps=2, num_minibatches=1),
)


def quiet(line):
    pass


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The folder of a training with a checkpoint."""
    out = tmp_path_factory.mktemp("whole")
    train(TINY, out, say=quiet)
    return out


@pytest.fixture
def out(whole, tmp_path):
    """A copy of it."""
    return shutil.copytree(whole, tmp_path / "out")


def changed(out, change):
    """Changes what a checkpoint holds, and lets it go on for one update more."""
    path = out / CHECKPOINT
    saved = torch.load(path, weights_only=True)
    saved["training"]["updates"] = 3
    change(saved)
    torch.save(saved, path)


def resumed(out, capsys, *options):
    """Returns the exit status of `train --resume`, and the line on stderr."""
    capsys.readouterr()
    status = cli.main(["train", "--out", str(out), "--resume", *options])
    return status, capsys.readouterr().err


def assert_refused(out, capsys, named=""):
    before = contents(out)
    status, error = resumed(out, capsys)
    assert status == 2
    assert error.count("\n") == 1
    assert str(out / CHECKPOINT) in error
    assert named in error
    assert contents(out) == before


def flipped(raw):
    """Flips a bit of the weights, which are most of the file."""
    middle = len(raw) // 2
    return raw[:middle] + bytes([raw[middle] ^ 1]) + raw[middle + 1 :]


def archive(raw):
    """Makes another archive."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("readme.txt", "hello")
    return file.getvalue()


@pytest.mark.parametrize(
    "damage",
    [
        lambda raw: b"",
        lambda raw: raw[: len(raw) // 2],
        lambda raw: b"cos\nsystem\n(S'touch pwned'\ntR.",
        flipped,
        archive,
    ],
)
def test_a_corrupt_checkpoint_is_named(out, capsys, damage, monkeypatch):
    monkeypatch.chdir(out)
    path = out / CHECKPOINT
    path.write_bytes(damage(path.read_bytes()))
    assert_refused(out, capsys)
    with pytest.raises(InvalidStateError):
        checkpoint.load(out)


def test_what_would_run_code_when_it_is_read_does_not(out, capsys):
    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(out / "pwned"),)

    torch.save({"training": Evil()}, out / CHECKPOINT)
    assert_refused(out, capsys)


WRONG = {
    "foreign": lambda saved: saved.clear() or saved.update(model=torch.zeros(3)),
    "another schema": setting(0, "schema"),
    "another kind": setting("notebook", "kind"),
    "no settings": deleting("training"),
    "an unknown rung": setting("fortran", "training", "rung"),
    "a negative number of boards": setting(-1, "training", "num_envs"),
    "a discount that is text": setting("x", "training", "ppo", "gamma"),
    "the clock is no number": setting(math.nan, "clock"),
    "fewer weights": lambda saved: saved["learner"]["network"].popitem(),
    "other weights": lambda saved: saved["learner"]["network"].update(
        {name: torch.zeros(3) for name in saved["learner"]["network"]}
    ),
    "no moments of some": lambda saved: saved["learner"]["optimizer"]["state"].popitem(),
    "another optimizer": setting([], "learner", "optimizer", "param_groups"),
    "no ranks": setting([], "own"),
    "two ranks": lambda saved: saved["own"].append(saved["own"][0]),
    "another generator": setting(torch.zeros(3, dtype=torch.uint8), "own", 0, "generator"),
    "no boards": setting(b"", "own", 0, "env"),
    "boards cut short": lambda saved: saved["own"][0].update(env=saved["own"][0]["env"][:-9]),
    "boards of another number": setting(8, "training", "num_envs"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_a_checkpoint_lacks_or_has_wrong_is_named(out, capsys, name):
    changed(out, WRONG[name])
    assert_refused(out, capsys)


def test_a_learner_that_refuses_a_state_stays_as_it_was(whole):
    from rungs._src.train.ppo import Learner
    from rungs._src.train.training import make_env

    saved = checkpoint.load(whole)
    env = make_env(TINY)
    learner = Learner(env, seed=1, settings=TINY.ppo)
    weights = {name: tensor.clone() for name, tensor in learner.network.state_dict().items()}
    state = saved["learner"] | {"own": saved["own"][0] | {"env": b"no boards"}}
    with pytest.raises(InvalidStateError, match="no state"):
        learner.load_state_dict(state)
    for name, tensor in learner.network.state_dict().items():
        assert torch.equal(tensor, weights[name])
    assert not learner.backend.state_dict()["optimizer"]["state"]
    assert learner.updates == 0
    env.close()


@pytest.mark.parametrize("text", [b"update,x\nmany,2\n", b"\xff\xfe\0,\n1\n"])
def test_a_table_that_is_none_is_named(out, capsys, text):
    (out / "metrics.csv").write_bytes(text)
    changed(out, lambda saved: None)
    before = contents(out)
    status, error = resumed(out, capsys)
    assert status == 2
    assert str(out / "metrics.csv") in error
    assert contents(out) == before


def test_half_a_row_is_not_a_row(out, capsys):
    table = (out / "metrics.csv").read_text()
    (out / "metrics.csv").write_text(f"{table}1")  # of update 12, say
    changed(out, lambda saved: None)
    assert resumed(out, capsys)[0] == 0
    updates = [line.split(",")[0] for line in (out / "metrics.csv").read_text().splitlines()]
    assert updates == ["update", "1", "2", "3"]


def test_a_checkpoint_whose_folder_is_not_ours_takes_nothing_over(out, tmp_path, capsys):
    (out / "rungs.json").unlink()
    changed(out, lambda saved: None)
    before = contents(out)
    status, error = resumed(out, capsys)
    assert status == 2
    assert str(out) in error
    assert contents(out) == before
    alone = tmp_path / "alone"
    alone.mkdir()
    shutil.copy(out / CHECKPOINT, alone)
    assert resumed(alone, capsys)[0] == 0


@pytest.fixture
def program(tmp_path):
    """What leaves a trace where it is run."""
    path = tmp_path / "engine"
    path.write_text(f"#!/bin/sh\ntouch {tmp_path}/pwned\n")
    path.chmod(0o755)
    return path


def test_a_program_that_a_checkpoint_names_is_shown_and_not_run(out, program, capsys, tmp_path):
    changed(out, setting(str(program), "training", "opponent"))
    assert_refused(out, capsys, f"{str(program)!r}: --trust")
    assert not (tmp_path / "pwned").exists()
    # What is trusted gets as far as its boards, which are of a game against another.
    status, error = resumed(out, capsys, "--trust")
    assert status == 2
    assert "opponent" in error


def in_state(program):
    """Returns what has the boards' state name a program as the opponent."""

    def change(saved):
        head, payload = split(saved["own"][0]["env"])
        opponent = vars(UciEngine(program, options={"Skill Level": 0}))
        saved["own"][0]["env"] = join(head | {"opponent": opponent}, payload)

    return change


@pytest.mark.parametrize(
    "change",
    [
        lambda program: setting({"opponent": program}, "training", "how"),
        lambda program: setting({"opponent": {"path": program}}, "training", "how"),
        in_state,
    ],
)
def test_a_program_among_a_rungs_settings_or_in_a_state_is_not_run(
    out, program, capsys, tmp_path, change
):
    changed(out, change(str(program)))
    assert_refused(out, capsys)
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize("name", ["metrics.csv", "tensorboard/a", "rungs.json"])
def test_a_folder_that_is_not_a_training_of_ours_is_refused_by_name(tmp_path, name):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("precious")
    with pytest.raises(ConfigurationError, match=str(tmp_path / name.split("/")[0])):
        train(TINY, tmp_path, say=quiet)
    assert contents(tmp_path) == {name: b"precious"}


def test_a_folder_of_another_kind_or_in_use_is_refused(tmp_path):
    with locked(tmp_path), pytest.raises(ConfigurationError, match="in use"):
        train(TINY, tmp_path, say=quiet)
    with locked_output_dir(tmp_path, "run", ()) as folder:
        folder.note([])
    before = contents(tmp_path)
    with pytest.raises(ConfigurationError, match=f"{tmp_path} holds a run"):
        train(TINY, tmp_path, say=quiet)
    assert contents(tmp_path) == before


def test_a_new_training_removes_what_the_last_wrote_and_nothing_else(tmp_path):
    short = Training(**vars(TINY) | {"checkpoint_every": 0})
    train(short, tmp_path, say=quiet)
    for name in ("tensorboard/mine", "mine.csv"):
        (tmp_path / name).write_text("precious")
    first = set(contents(tmp_path))
    train(short, tmp_path, say=quiet)
    there = contents(tmp_path)
    assert there["tensorboard/mine"] == there["mine.csv"] == b"precious"
    # TensorBoard's file has another name, and is the only one.
    assert len(there) == len(first)
    assert len(first - set(there)) == 1


@pytest.mark.parametrize("size", [0, 10_000])
def test_a_training_on_a_full_disk_keeps_its_checkpoint(out, capfd, size):
    before = (out / CHECKPOINT).read_bytes()
    more = Training(**vars(TINY) | {"updates": 40})
    with full_disk(size), pytest.raises(StorageError, match=str(out)):
        train(more, out, resume=True, say=quiet)
    assert not capfd.readouterr().err
    assert (out / CHECKPOINT).read_bytes() == before
    # And goes on where there is room again.
    more = Training(**vars(TINY) | {"updates": 3})
    assert train(more, out, resume=True, say=quiet).updates == 3
