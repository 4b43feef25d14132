"""What is in the cache and no whole file of ours is not loaded, and nothing waits for it."""

import os

from rungs._src.native import cache


def test_a_pipe_in_the_cache_is_not_waited_for(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    path = cache.built("x", 1, lambda path: path.write_text("code"))
    path.unlink()
    os.mkfifo(path)
    assert cache.built("x", 1, lambda path: path.write_text("code")).read_text() == "code"
    assert "is damaged" in capsys.readouterr().err
