"""Folders that are ours from the first moment, locked while they are written to, and no others."""

import contextlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

import pytest

from rungs._src.core import folder as folders
from rungs._src.core.folder import locked, locked_output_dir
from rungs.errors import ConfigurationError, StorageError

NAMES = ("pool", "metrics.csv")


def test_a_part_of_a_folder_is_refused_from_the_first_moment(tmp_path):
    with (
        locked_output_dir(tmp_path, "self-play", NAMES),
        pytest.raises(ConfigurationError, match=f"self-play.*{tmp_path}"),
        locked_output_dir(tmp_path / "pool", "training", NAMES),
    ):
        pass
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(("late", "call"), [("pool", "locked"), ("", "_check_nothing_is_there")])
def test_of_two_that_begin_at_once_one_inside_the_other_no_two_go_on(
    tmp_path, monkeypatch, late, call
):
    """The other one begins just when the late one makes a call."""
    runs = {"": (tmp_path, "self-play", NAMES), "pool": (tmp_path / "pool", "training", NAMES)}
    (other,) = {*runs} - {late}
    function, begun = getattr(folders, call), []

    def begin(path, *arguments, **options):
        result = function(path, *arguments, **options)
        if path == tmp_path / late and not begun:
            begun.append(locked_output_dir(*runs[other]))
            begun[0].__enter__()
        return result

    monkeypatch.setattr(folders, call, begin)
    with pytest.raises(ConfigurationError, match="pool"), locked_output_dir(*runs[late]):
        pass
    begun[0].__exit__(None, None, None)
    assert not (tmp_path / late / "rungs.json").exists()


def test_a_folder_is_ours_afterwards_where_something_was_written(tmp_path):
    with locked_output_dir(tmp_path, "self-play", NAMES) as folder:
        (tmp_path / "metrics.csv").write_text("ours")
        folder.note([tmp_path / "metrics.csv"])
    with locked_output_dir(tmp_path, "self-play", NAMES) as folder:
        folder.clear()
    assert [path.name for path in tmp_path.iterdir()] == ["rungs.json"]
    with pytest.raises(ZeroDivisionError), locked_output_dir(tmp_path, "self-play", NAMES):
        raise ZeroDivisionError
    assert [path.name for path in tmp_path.iterdir()] == ["rungs.json"]


def test_files_are_noted_by_a_relative_path_and_through_a_link(tmp_path, monkeypatch):
    (tmp_path / "run").mkdir()
    (tmp_path / "link").symlink_to("run")
    monkeypatch.chdir(tmp_path)
    for path in (Path("run"), tmp_path / "link"):
        with locked_output_dir(path, "training", NAMES) as folder:
            folder.note([path / "metrics.csv"])
        assert folder.files == ["metrics.csv"]


def test_what_is_no_path_is_refused_and_a_mark_that_is_a_pipe_is_not_waited_for(tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    os.mkfifo(tmp_path / "rungs.json")
    for name in ("a\0b", "loop", ""):
        with pytest.raises(ConfigurationError), locked_output_dir(tmp_path / name, "run", ()):
            pass


@pytest.mark.parametrize("name", ["../precious", "{}/precious", "link/precious", "link"])
def test_a_list_of_files_removes_nothing_elsewhere(tmp_path, name):
    out = tmp_path / "out"
    (tmp_path / "precious").write_text("precious")
    with locked_output_dir(out, "run", ()) as folder:
        (out / "link").symlink_to(tmp_path)
        folder.files = [name.format(tmp_path)]
        folder.note([])
    with locked_output_dir(out, "run", ()) as folder:
        folder.clear()
    assert (tmp_path / "precious").read_text() == "precious"
    assert (out / "link").is_symlink()


LOCKED = """
import signal, sys
from pathlib import Path
from rungs._src.core.folder import locked
with locked(Path(sys.argv[1])):
    print("locked", flush=True)
    signal.pause()
"""


def test_a_lock_dies_with_its_process(tmp_path):
    command = [sys.executable, "-c", LOCKED, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "locked\n"
        with pytest.raises(ConfigurationError, match=rf"\b{process.pid}\b"), locked(tmp_path):
            pass
        process.kill()
    with locked(tmp_path):
        pass
    assert not list(tmp_path.glob(".*"))


def test_a_lock_has_one_holder_at_a_time(tmp_path):
    inside, most = [], []

    def hold():
        for _ in range(200):
            with contextlib.suppress(ConfigurationError), locked(tmp_path):
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    with ThreadPoolExecutor(4) as threads:
        for _ in range(4):
            threads.submit(hold)
    assert set(most) == {1}


def test_a_lock_is_not_written_through_a_link(tmp_path):
    (tmp_path / "precious").write_text("precious")
    (tmp_path / ".rungs-lock").symlink_to("precious")
    with pytest.raises(StorageError, match="rungs-lock"), locked(tmp_path):
        pass
    assert (tmp_path / "precious").read_text() == "precious"


@pytest.mark.parametrize("kind", ["cache", "data"])
@pytest.mark.parametrize("platformdirs_gives", [RuntimeError("no home"), "~/.there/rungs"])
def test_where_there_is_no_home_the_variable_is_named(monkeypatch, kind, platformdirs_gives):
    given = mock.Mock(side_effect=[platformdirs_gives])
    monkeypatch.setattr(folders.platformdirs, f"user_{kind}_dir", given)
    with pytest.raises(StorageError, match=f"XDG_{kind.upper()}_HOME"):
        folders.user_dir(kind)


def test_where_no_temporary_folder_can_be_made_its_variable_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(folders.tempfile, "tempdir", str(tmp_path / "missing"))
    with pytest.raises(StorageError, match="TMPDIR"):
        folders.temporary_dir()
