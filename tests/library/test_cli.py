"""`python -m rungs`, as a user types it."""

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from rungs import __version__
from rungs._src import cli
from rungs_course import cli as course
from rungs_course.measure import results
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


def test_no_command_waits_for_a_package_that_it_does_not_use():
    code = (
        "import sys, rungs._src.cli; print(*{'torch', 'pandas', 'matplotlib'} & sys.modules.keys())"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.split() == []


def test_it_says_which_version_it_is(capsys):
    with pytest.raises(SystemExit, match="0"):
        cli.main(["--version"])
    assert capsys.readouterr().out == f"Rungs {__version__}\n"
    assert f"## {__version__}" in (Path(__file__).parents[2] / "CHANGELOG.md").read_text()


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


@pytest.mark.parametrize(("rung", "why"), [("cpp", "one king"), ("python", "KING")])
def test_an_impossible_position_is_named_on_either_rung(epd, rung, why, capsys):
    epd.write_text("# no kings\n8/8/8/8/8/8/8/8 w - - ;D1 0")
    assert cli.main(["perft", "--epd", str(epd), "--depth", "1", "--rung", rung]) == 2
    error = capsys.readouterr().err
    assert "x.epd:2" in error
    assert why in error


@pytest.mark.parametrize("rung", ["cpp", "python"])
def test_a_depth_beyond_the_stack_is_refused_not_crashed_on(epd, rung):
    epd.write_text("4k3/8/8/8/8/8/8/4K3 w - - ;D999999 5")
    done = rungs("perft", "--epd", epd, "--depth", 999999, "--rung", rung)
    assert done.returncode == 2
    assert "999999" in done.stderr


def test_a_failed_notebook_exits_1(tmp_path, monkeypatch, capsys):
    tiny.write(tmp_path / "notebooks", "01_a", "1 / 0")
    from rungs_course.runner import chain

    run = chain.run
    monkeypatch.setattr(
        chain, "run", lambda **given: run(notebooks=tmp_path / "notebooks", **given)
    )
    assert course.main(["run", "--only", "01", "--out", str(tmp_path / "run")]) == 1
    assert "01_a.ipynb, code cell 2 (`1 / 0` …): ZeroDivisionError" in capsys.readouterr().err


@pytest.fixture
def two_runs(tmp_path):
    """A run, and one in which C++ takes `factor` times as long."""

    def write(factor):
        for name, slower in (("a", 1.0), ("b", factor)):
            rows = [("cpp", repeat, slower * (1 + repeat / 1000)) for repeat in range(9)]
            frame = pd.DataFrame(rows, columns=["racer", "repeat", "seconds"])
            results.save(frame, tmp_path / name / "results" / "07_race.csv", {"size": "quick"})
        return [str(tmp_path / name) for name in ("a", "b")]

    return write


@pytest.mark.parametrize(
    ("factor", "asked", "status"),
    [(2.0, True, 1), (2.0, False, 0), (1.0, True, 0), (0.5, True, 0)],
)
def test_compare_fails_on_a_regression_where_it_is_asked_to(
    two_runs, tmp_path, factor, asked, status
):
    asking = ["--fail-on-regression"] if asked else []
    out = ["--out", str(tmp_path / "out")]
    assert course.main(["compare", *two_runs(factor), *out, *asking]) == status
    assert (tmp_path / "out" / "compare.png").stat().st_size > 1000
    (group,) = pd.read_csv(tmp_path / "out" / "compare.csv").itertuples()
    assert group.ratio == pytest.approx(factor)


def test_compare_reports_what_is_larger_than_the_floor(two_runs, tmp_path, capsys):
    runs, out = two_runs(1.2), ["--out", str(tmp_path / "out")]
    assert course.main(["compare", *runs, *out]) == 0
    assert "| 07_race: cpp | 1 s | 1.2 s | 1.2×  | 1.1×  | worse" in capsys.readouterr().out
    assert course.main(["compare", *runs, *out, "--floor", "0.3", "--fail-on-regression"]) == 0
    printed = capsys.readouterr().out
    assert "Nothing changed beyond the noise." in printed
    assert str(tmp_path / "out" / "compare.csv") in printed


def test_a_path_that_is_no_text_can_be_said(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.json").write_text("null")
    out = os.fsencode(tmp_path) + b"/\xff.csv"
    command = [sys.executable, "-m", "rungs_course", "grade", str(folder), "--out", out]
    strict = os.environ | {"PYTHONIOENCODING": "utf-8:strict"}
    done = subprocess.run(command, env=strict, capture_output=True)
    assert b"\\udcff.csv" in done.stdout
    assert b"a fault of Rungs" not in done.stderr
