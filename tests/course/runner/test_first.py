"""What is printed before the chain starts."""

import shutil
import sys

import pandas as pd
import pytest

from rungs.errors import UnavailableError, install_hint
from rungs_course import cli
from rungs_course.runner import chain, first
from tests.course import notebooks as tiny


def test_the_table_has_medians_their_spread_and_gains():
    plies = first.NUM_ENVS * first.STEPS
    rows = [(rung, i, plies, plies / rate) for i in range(5) for rung, rate in race(i)]
    times = pd.DataFrame(rows, columns=["racer", "repeat", "plies", "seconds"])
    lines = first.report(times).splitlines()
    assert lines[:3] == [
        "rung     plies/s  times python      interval",
        "python     3 k/s            1×        1 to 1",
        "cpp     3.01 M/s        1,003×  1002 to 1010",
    ]
    assert f"{first.NUM_ENVS} boards, {first.STEPS} steps" in lines[3]
    assert lines[4].startswith("5 times.")


def race(i):
    """Plies per second of a repeat."""
    return ("python", 1000 * (i + 1)), ("cpp", 1e6 * (i + 1) + 10_000)


@pytest.mark.system
def test_a_missing_compiler_is_one_line_and_the_last_run_stays(tmp_path, monkeypatch, capsys):
    tiny.write(tmp_path / "notebooks", "01_a", "pass")
    in_that_folder(monkeypatch, tmp_path / "notebooks")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert cli.main(["run", "--out", str(tmp_path / "run")]) == 2
    assert capsys.readouterr().err == (
        "rungs: g++ is not installed: install it, or a wheel of Rungs, which needs none\n"
    )
    assert list((tmp_path / "run").iterdir()) == []


def in_that_folder(monkeypatch, notebooks):
    run = chain.run
    monkeypatch.setattr(chain, "run", lambda **given: run(notebooks=notebooks, **given))


def test_a_crash_before_the_chain_is_reported(monkeypatch):
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    with pytest.raises(UnavailableError, match="-m rungs_course race ended as 1"):
        first.look_aside()


def test_what_is_not_installed_is_named_with_how_to_get_it(monkeypatch, capsys):
    from rungs_course.runner import book  # noqa: F401 (so that there is something to forget)

    monkeypatch.delattr("rungs_course.runner.book")
    monkeypatch.delitem(sys.modules, "rungs_course.runner.book")
    monkeypatch.setitem(sys.modules, "nbformat", None)
    assert cli.main(["book"]) == 2
    error = capsys.readouterr().err
    assert error == f"rungs: nbformat is not installed: {install_hint('book')}\n"


@pytest.mark.system
def test_a_run_begins_with_what_works_here_and_a_race(tmp_path, monkeypatch, capfd):
    tiny.write(tmp_path / "notebooks", "01_a", "pass")
    in_that_folder(monkeypatch, tmp_path / "notebooks")
    assert cli.main(["run", "--out", str(tmp_path / "run")]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines[0].startswith("Rungs ")
    assert lines[1].startswith("works: chess on python, multiprocessing, cpp, openmp, threads")
    header = next(i for i, line in enumerate(lines) if line.startswith("rung "))
    assert [line.split()[0] for line in lines[header + 1 : header + 1 + len(first.RUNGS)]] == list(
        first.RUNGS
    )
    assert " 1× " in lines[header + 1]
    assert any(line.startswith("[1/1] 01_a") for line in lines[header:])


@pytest.mark.system
def test_one_notebook_is_run_without_further_words(tmp_path, monkeypatch, capfd):
    tiny.write(tmp_path / "notebooks", "01_a", "pass")
    in_that_folder(monkeypatch, tmp_path / "notebooks")
    monkeypatch.setattr(first, "look_aside", pytest.fail)
    assert cli.main(["run", "--only", "01", "--out", str(tmp_path / "run")]) == 0
    assert capfd.readouterr().out.startswith("[1/1] 01_a …")
