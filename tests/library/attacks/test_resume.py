"""Going on with a folder that came from elsewhere, or with a checkpoint that is no longer whole."""

import io
import json
import math
import os
import shutil
import zipfile

import pytest
import torch

from rungs._src import cli
from rungs._src.chess.engine import UciEngine
from rungs._src.train.runs import CHECKPOINT
from rungs._src.train.settings import Training
from rungs._src.train.training import checkpoint, train
from rungs.errors import ConfigurationError, InvalidStateError
from rungs_course import cli as course
from rungs_course.runner import chain, manifest
from tests.course import notebooks as tiny
from tests.library.attacks.states import being, join, split, without
from tests.library.attacks.test_files import TINY, contents, quiet


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The folder of a training with a checkpoint."""
    out = tmp_path_factory.mktemp("whole")
    train(Training(**vars(TINY) | {"updates": 2}), out, say=quiet)
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
    """A bit of the weights, which are most of the file."""
    middle = len(raw) // 2
    return raw[:middle] + bytes([raw[middle] ^ 1]) + raw[middle + 1 :]


def archive(raw):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("readme.txt", "hello")
    return file.getvalue()


BYTES = {
    "empty": lambda raw: b"",
    "truncated": lambda raw: raw[: len(raw) // 2],
    "a bit flipped": flipped,
    "a pickle": lambda raw: b"cos\nsystem\n(S'touch pwned'\ntR.",
    "another archive": archive,
}


@pytest.mark.parametrize("name", BYTES)
def test_a_corrupt_checkpoint_is_named(out, capsys, name, monkeypatch):
    monkeypatch.chdir(out)
    path = out / CHECKPOINT
    path.write_bytes(BYTES[name](path.read_bytes()))
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
    "another schema": being(0, "schema"),
    "another kind": being("notebook", "kind"),
    "no settings": without("training"),
    "an unknown rung": being("fortran", "training", "rung"),
    "a negative number of boards": being(-1, "training", "num_envs"),
    "a discount that is text": being("x", "training", "ppo", "gamma"),
    "the clock is no number": being(math.nan, "clock"),
    "fewer weights": lambda saved: saved["learner"]["network"].popitem(),
    "other weights": lambda saved: saved["learner"]["network"].update(
        {name: torch.zeros(3) for name in saved["learner"]["network"]}
    ),
    "no moments of some": lambda saved: saved["learner"]["optimizer"]["state"].popitem(),
    "another optimizer": being([], "learner", "optimizer", "param_groups"),
    "no ranks": being([], "own"),
    "two ranks": lambda saved: saved["own"].append(saved["own"][0]),
    "another generator": being(torch.zeros(3, dtype=torch.uint8), "own", 0, "generator"),
    "no boards": being(b"", "own", 0, "env"),
    "boards cut short": lambda saved: saved["own"][0].update(env=saved["own"][0]["env"][:-9]),
    "boards of another number": being(8, "training", "num_envs"),
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


@pytest.mark.parametrize("name", ["metrics.csv", "evaluations.csv"])
@pytest.mark.parametrize("text", ["a,b\n1,2\n", "update,x\nmany,2\n", b"\xff\xfe\0,\n1\n"])
def test_a_table_that_is_none_is_named(out, capsys, name, text):
    (out / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    changed(out, lambda saved: None)
    before = contents(out)
    status, error = resumed(out, capsys)
    assert status == 2
    assert str(out / name) in error
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
    changed(out, being(str(program), "training", "opponent"))
    assert_refused(out, capsys, f"{str(program)!r}: --trust")
    assert not (tmp_path / "pwned").exists()
    # What is trusted gets as far as its boards, which are of a game against another.
    status, error = resumed(out, capsys, "--trust")
    assert status == 2
    assert "opponent" in error


def test_a_program_that_is_among_a_rungs_settings_is_not_run(out, program, capsys, tmp_path):
    changed(out, being({"opponent": str(program)}, "training", "how"))
    resumed(out, capsys)
    changed(out, being({"opponent": {"path": str(program)}}, "training", "how"))
    resumed(out, capsys)
    assert not (tmp_path / "pwned").exists()


def test_a_state_that_names_a_program_starts_none(out, program, capsys, tmp_path):
    def change(saved):
        head, payload = split(saved["own"][0]["env"])
        opponent = vars(UciEngine(str(program), options={"Skill Level": 0}))
        saved["own"][0]["env"] = join(head | {"opponent": opponent}, payload)

    changed(out, change)
    assert_refused(out, capsys, "opponent")
    assert not (tmp_path / "pwned").exists()


@pytest.fixture
def download(tmp_path, monkeypatch):
    """A run's folder that brings notebooks of its own, and the course's that it was made of."""
    monkeypatch.setattr(manifest, "fingerprints", lambda notebooks: {})
    ran = []
    monkeypatch.setattr(chain, "execute", lambda notebook, *rest: ran.append((notebook, *rest)))
    here, out = tmp_path / "notebooks", tmp_path / "download"
    tiny.write(here, "01_a")
    chain.run(out=out, notebooks=here, say=quiet)
    ran.clear()
    tiny.write(out / "evil", "01_a", "raise SystemExit")

    def change(change):
        run = json.loads((out / "manifest.json").read_text())
        run["notebooks"]["01_a"]["status"] = "to do"
        change(run)
        (out / "manifest.json").write_text(json.dumps(run))
        chain.resume(out=out, notebooks=here, say=quiet)
        return ran

    return out, here, change


def test_a_run_goes_on_with_the_notebooks_that_are_here(download):
    out, here, change = download
    ran = change(being(str(out / "evil"), "settings", "notebooks"))
    assert [notebook for notebook, *_ in ran] == [here / "01_a.ipynb"]


def test_a_run_that_was_moved_writes_where_it_is(download, tmp_path):
    out, _, change = download
    places = {"out": str(tmp_path / "home"), "figures": str(tmp_path / "home")}
    with pytest.raises(ConfigurationError, match="figures, out"):
        change(being(places, "settings", "parameters"))
    [(_, executed, values, *_)] = change(being({}, "settings", "parameters"))
    assert executed == out / "notebooks/01_a.ipynb"
    assert (values["out"], values["figures"]) == (str(out), str(out / "figures"))


CODE = "seed = 1; import os; os.mkdir('pwned')  #"


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (being(0, "settings", "parameters", CODE), "no parameter"),
        (being("huge", "settings", "size"), "huge"),
        (being({"01_other": {"status": "to do"}}, "notebooks"), "01_other"),
        (being({"../../evil/01_a": {"status": "to do"}}, "notebooks"), "evil"),
        (being({"77_a": {"status": "to do"}}, "notebooks"), "77"),
        (being({"lib/rungs/_src/cli.py": "0"}, "sources"), r"cli\.py"),
    ],
)
def test_a_manifest_says_nothing_that_is_not_here(download, change, named):
    with pytest.raises(ConfigurationError, match=named):
        download[2](change)


@pytest.mark.parametrize("name", ["out", "figures"])
def test_where_a_run_goes_is_no_parameter(tmp_path, capsys, name):
    arguments = ["run", "--only", "01", "--out", str(tmp_path / "run"), "-p", f"{name}=x"]
    assert course.main(arguments) == 2
    assert "--out" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
