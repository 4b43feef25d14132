"""Progress: a bar where somebody looks, lines in a log, nothing where none is wanted."""

import os
import pty
import subprocess
import sys
import termios
import types

import pytest

from rungs._src.core import progress
from rungs._src.core.progress import Progress, watched

COUNT = """
from rungs._src.core.progress import Progress, {say}, close_bars
with Progress("counting", 3, {say}) as counting:
    for number in range(3):
        counting.advance(1, f"number {{number}}")
        {say}(f"noted {{number}}")
"""
SMALL = "--num-envs 8 --updates 2 --games 2 --max-plies 10 --torch-threads 1 --num-steps 2"
TRAIN = ["-m", "rungs", "train", "--rung", "cpp", *SMALL.split(), "--num-minibatches", "1"]


def on_terminal(*arguments, into_file=False):
    """What Python prints where stderr, and unless it goes into a file stdout, is a terminal."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 120))
    out = subprocess.PIPE if into_file else theirs
    command = [sys.executable, *map(str, arguments)]
    process = subprocess.Popen(command, stdout=out, stderr=theirs)
    os.close(theirs)
    seen = b""
    try:
        while part := os.read(ours, 2**16):
            seen += part
    except OSError:  # Linux's end of a terminal that nobody has open
        pass
    os.close(ours)
    printed = process.communicate()[0] or b""
    assert process.returncode == 0, seen
    return seen.decode(), printed.decode()


def in_pipe(*arguments):
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout, done.stderr


def test_a_terminal_has_a_bar_and_lines_above_it():
    seen, _ = on_terminal("-c", COUNT.format(say="line"))
    assert "counting   0%|" in seen
    assert "number 2" in seen
    assert "number 2\r\n" not in seen  # it stands next to the bar
    for number in range(3):
        assert f"noted {number}\r\n" in seen
    assert seen.removesuffix("\r").rpartition("\r")[2].strip() == ""  # the bar is gone


def test_a_file_has_all_lines_alone_also_beside_a_terminals_bar():
    lines = "".join(f"number {n}\nnoted {n}\n" for n in range(3))
    seen, printed = on_terminal("-c", COUNT.format(say="line"), into_file=True)
    assert "counting   0%|" in seen
    assert printed == lines
    assert in_pipe("-c", COUNT.format(say="line")) == (lines, "")


def test_silence_is_complete_and_whoever_gets_the_lines_gets_no_bar(monkeypatch):
    assert on_terminal("-c", COUNT.format(say="silent")) == ("", "")
    assert in_pipe("-c", COUNT.format(say="silent")) == ("", "")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    lines = []
    with Progress("counting", 2, lines.append) as counting:
        counting.advance(1, "one")
        assert progress._bars == []
    assert lines == ["one"]


def test_a_notebook_has_bars_which_are_gone_before_an_error_is_printed(monkeypatch, capsys):
    class ZMQInteractiveShell:
        pass

    kernel = types.SimpleNamespace(get_ipython=ZMQInteractiveShell)
    monkeypatch.setitem(sys.modules, "IPython", kernel)
    assert not progress.is_shown(progress.silent)
    with Progress("counting", 2, progress.line) as counting:
        (bar,) = progress._bars
        counting.advance(1, "one")
        assert (bar.n, bar.total) == (1, 2)
        assert "one" in bar.postfix
        letters = watched("abc", "letters", 3, progress.line)
        assert [f"{letter}{progress._bars[1].n}" for letter in letters] == ["a0", "b1", "c2"]
        watching = watched("abc", "letters", 3, progress.line)
        assert next(watching) == "a"
        assert len(progress._bars) == 2
        progress.close_bars()
        assert progress._bars == []
    assert capsys.readouterr().out == ""


@pytest.mark.system
def test_training_shows_a_bar_or_lines_or_nothing(tmp_path):
    seen, _ = on_terminal(*TRAIN, "--out", tmp_path / "terminal")
    assert "training   0%|" in seen
    out, err = in_pipe(*TRAIN, "--out", tmp_path / "pipe")
    assert seen.count("evaluation") == out.count("evaluation") == 2
    assert len(out.splitlines()) == 4  # and two updates
    assert "%|" not in err
    assert on_terminal(*TRAIN, "--quiet", "--out", tmp_path / "quiet") == ("", "")
    assert (tmp_path / "quiet" / "checkpoint.pt").exists()
