"""Files that are there whole or not at all."""

import pytest

from rungs._src.core.atomic import UNFINISHED, atomic_write, remove_leftovers
from rungs.errors import StorageError
from tests.saved import full_disk


def fail_half_way(path):
    with atomic_write(path) as unfinished:
        unfinished.write_text("half")
        raise KeyError


def test_a_file_stays_as_it_was_until_all_is_written(tmp_path):
    path = tmp_path / "new" / "file"
    with atomic_write(path) as unfinished:
        unfinished.write_text("whole")
        assert not path.exists()
    assert path.read_text() == "whole"
    with pytest.raises(KeyError):
        fail_half_way(path)
    assert path.read_text() == "whole"
    assert list(path.parent.iterdir()) == [path]


def test_a_full_disk_names_the_file_and_leaves_the_old_one(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with (
        pytest.raises(StorageError, match=str(path)),
        full_disk(10),
        atomic_write(path) as unfinished,
    ):
        unfinished.write_bytes(bytes(1000))
    assert path.read_text() == "old"
    assert not list(tmp_path.glob(f"{UNFINISHED}*"))


def test_what_was_left_unfinished_is_removed_and_nothing_else(tmp_path):
    (tmp_path / f"{UNFINISHED}1").mkdir()
    others = {"finished", ".unfinished-mine", f"{UNFINISHED}2"}
    (tmp_path / "finished").mkdir()
    (tmp_path / ".unfinished-mine").mkdir()
    (tmp_path / f"{UNFINISHED}2").symlink_to("finished")  # not ours to remove
    remove_leftovers(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == others
