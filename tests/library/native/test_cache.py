"""The cache of compiled things: damaged, planted, another user's, read-only."""

import os

import pytest

from rungs._src.native import cache
from rungs.errors import CompilerError

MADE = b"compiled" * 1000


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A cache of our own, empty."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "rungs"


def built(made=MADE):
    return cache.built("thing", ("flags", 1), lambda path: path.write_bytes(made))


def not_again(path):
    raise AssertionError("it is there, and built again")


def test_what_is_whole_is_not_built_again(folder, capsys):
    path = built()
    assert path.read_bytes() == MADE
    assert cache.built("thing", ("flags", 1), not_again) == path
    assert cache.built("thing", ("flags", 2), lambda path: path.write_bytes(b"")) != path
    assert not capsys.readouterr().err


def test_nobody_else_can_write_there(folder):
    before = os.umask(0)
    try:
        path = built()
    finally:
        os.umask(before)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert not path.stat().st_mode & 0o022
    assert built() == path
    folder.chmod(0o777)
    assert built() == path
    assert not folder.stat().st_mode & 0o022


def test_a_folder_of_somebody_else_is_refused(folder, monkeypatch):
    built()
    if os.geteuid() == 0:
        os.chown(folder, 4242, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 4242)
    with pytest.raises(CompilerError, match=str(folder)):
        built()


def test_a_warm_cache_needs_no_lock(folder):
    path = built()
    for lock in folder.glob("*.lock"):
        lock.unlink()
    folder.chmod(0o500)
    try:
        assert cache.built("thing", ("flags", 1), not_again) == path
        assert [each.name for each in folder.iterdir()] == [path.name]
    finally:
        folder.chmod(0o700)


def test_a_cache_that_cannot_be_written_to_is_named(folder, tmp_path, monkeypatch):
    path = built()
    path.write_bytes(b"")
    (lock,) = folder.glob("*.lock")
    lock.unlink()
    lock.mkdir()  # as root may write anywhere else
    with pytest.raises(CompilerError, match=f"{folder}.*XDG_CACHE_HOME"):
        built()
    monkeypatch.setenv("XDG_CACHE_HOME", str(path))
    with pytest.raises(CompilerError, match=f"{path}.*XDG_CACHE_HOME"):
        built()


def pipe(path):
    path.unlink()
    os.mkfifo(path)


def folder_inside(path):
    path.unlink()
    (path / "inside").mkdir(parents=True)


OTHERS = (b"", MADE[:4000], MADE[:4000] + bytes(4000), bytes([MADE[0] ^ 1]) + MADE[1:])
SPOILING = [lambda path, data=data: path.write_bytes(data) for data in OTHERS]
SPOILING += [pipe, folder_inside, lambda path: path.chmod(0o777)]
if os.geteuid() == 0:  # who alone gives files away
    SPOILING += [lambda path: os.chown(path, 4242, -1)]


@pytest.mark.parametrize("spoil", SPOILING)
def test_what_is_damaged_or_others_could_have_written_is_built_again(spoil, folder, capsys):
    path = built()
    spoil(path)
    again = built(b"anew")
    assert again.read_bytes() == b"anew"
    (line,) = capsys.readouterr().err.splitlines()
    assert str(path) in line
    assert cache.built("thing", ("flags", 1), not_again) == again
