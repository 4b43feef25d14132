"""`python -m rungs`, as a user types it."""

import subprocess
import sys

import pytest

from rungs import cli
from tests.course import notebooks as tiny


def rungs(*arguments):
    command = [sys.executable, "-m", "rungs", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.fixture
def epd(tmp_path):
    path = tmp_path / "x.epd"
    path.write_text(
        "# two positions\n"
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - ;D1 20 ;D2 400\n"
        "4k3/8/8/8/8/8/8/4K2R w K - ;D1 15 ;D3 1197\n"
    )
    return path


@pytest.mark.parametrize("rung", ["cpp", "python"])
def test_perft_counts(epd, rung):
    done = rungs("perft", "--epd", epd, "--depth", 3, "--rung", rung)
    assert done.returncode == 0, done.stderr
    assert "RNBQKBNR w KQkq -  depth 2: 400 nodes, " in done.stdout
    assert "depth 3: 1,197 nodes" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("1,597 nodes in ")


def test_a_wrong_count_names_the_fen(epd, capsys):
    epd.write_text(epd.read_text().replace("400", "401"))
    assert cli.main(["perft", "--epd", str(epd), "--depth", "2"]) == 1
    error = capsys.readouterr().err
    assert "RNBQKBNR w KQkq -: depth 2 has 401 leaves, not 400" in error


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("nonsense", "x.epd:1"),
        ("8/8/8/8/8/8/8/8 w - - ;D1 0", "one king"),
        ("4k3/8/8/8/8/8/8/4K3 w - - ;D9 1", "x.epd:1"),
        ("4k3/8/8/8/8/8/8/4K3 w - - ;D1 x", "x.epd:1"),
    ],
)
def test_a_bad_line_is_named(epd, line, named, capsys):
    epd.write_text(line)
    assert cli.main(["perft", "--epd", str(epd), "--depth", "1"]) == 2
    assert named in capsys.readouterr().err


def test_wrong_use_is_one_clear_line(tmp_path, capsys):
    for arguments, named in (
        (["perft", "--epd", str(tmp_path / "none"), "--depth", "1"], "none"),
        (["perft", "--epd", str(tmp_path), "--depth", "0"], "--depth 0"),
        (["run", "--size", "huge", "--out", str(tmp_path)], "huge"),
        (["run", "--only", "42", "--out", str(tmp_path)], "42"),
        (["run", "-p", "boards", "--out", str(tmp_path)], "NAME=VALUE"),
        (["run", "-p", "boards=3", "--out", str(tmp_path)], "boards"),
        (["run", "--resume", "--out", str(tmp_path)], "no run"),
        (["run", "--resume", "--size", "quick", "--out", str(tmp_path)], "--resume"),
    ):
        assert cli.main(arguments) == 2
        error = capsys.readouterr().err
        assert error.startswith("rungs: ")
        assert error.count("\n") == 1
        assert named in error


def test_a_failed_notebook_exits_1(tmp_path, monkeypatch, capsys):
    tiny.write(tmp_path / "notebooks", "01_a", "1 / 0")
    from rungs.course import chain

    run = chain.run
    monkeypatch.setattr(
        chain, "run", lambda **given: run(notebooks=tmp_path / "notebooks", **given)
    )
    assert cli.main(["run", "--out", str(tmp_path / "run")]) == 1
    assert "01_a.ipynb, code cell 2 (`1 / 0` …): ZeroDivisionError" in capsys.readouterr().err
