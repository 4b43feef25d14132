"""Files that are there whole or not at all."""

import pytest

from rungs._src.core.atomic import atomic_write, remove_leftovers


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


def test_what_was_left_unfinished_is_removed_and_nothing_else(tmp_path):
    (tmp_path / ".rungs-unfinished-1").mkdir()
    (tmp_path / "finished").touch()
    remove_leftovers(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["finished"]
