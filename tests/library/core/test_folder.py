"""Folders that are ours: from the first moment, and only as long as something there is."""

import os
from pathlib import Path

import pytest

from rungs._src.core import folder as folders
from rungs._src.core.folder import locked_output_dir
from rungs.errors import ConfigurationError

NAMES = ("pool", "metrics.csv")


def test_a_part_of_a_folder_is_refused_from_the_first_moment(tmp_path):
    with (
        locked_output_dir(tmp_path, "self-play", NAMES),
        pytest.raises(ConfigurationError, match=f"part of the self-play in {tmp_path}"),
        locked_output_dir(tmp_path / "pool", "training", NAMES),
    ):
        pass
    assert not any(tmp_path.iterdir())


def test_of_two_that_begin_at_once_one_inside_the_other_no_two_go_on(tmp_path, monkeypatch):
    """The outer one begins just when the inner one has looked whether it is part of another."""
    locked, begun = folders.locked, []

    def late(path):
        if path == tmp_path / "pool":
            outer = locked_output_dir(tmp_path, "self-play", NAMES)
            outer.__enter__()
            begun.append(outer)
        return locked(path)

    monkeypatch.setattr(folders, "locked", late)
    with (
        pytest.raises(ConfigurationError, match="part of the self-play"),
        locked_output_dir(tmp_path / "pool", "training", NAMES),
    ):
        pass
    (outer,) = begun
    outer.__exit__(None, None, None)


def test_the_outer_one_is_refused_where_the_inner_one_was_first(tmp_path, monkeypatch):
    """The inner one begins just when the outer one has seen that nothing is there."""
    check, begun = folders._check_nothing_is_there, []

    def late(path, *what, **how):
        check(path, *what, **how)
        if path == tmp_path and not begun:
            begun.append(locked_output_dir(tmp_path / "pool", "training", NAMES))
            begun[0].__enter__()

    monkeypatch.setattr(folders, "_check_nothing_is_there", late)
    with (
        pytest.raises(ConfigurationError, match="pool"),
        locked_output_dir(tmp_path, "self-play", NAMES),
    ):
        pass
    begun[0].__exit__(None, None, None)
    assert not (tmp_path / "rungs.json").exists()


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


def test_a_mark_that_is_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "rungs.json")
    with (
        pytest.raises(ConfigurationError, match=r"rungs\.json"),
        locked_output_dir(tmp_path, "run", NAMES),
    ):
        pass


def test_files_are_noted_by_a_relative_path_and_through_a_link(tmp_path, monkeypatch):
    (tmp_path / "run").mkdir()
    (tmp_path / "link").symlink_to("run")
    monkeypatch.chdir(tmp_path)
    for path in (Path("run"), tmp_path / "link"):
        with locked_output_dir(path, "training", NAMES) as folder:
            folder.note([path / "metrics.csv"])
        assert folder.files == ["metrics.csv"]
