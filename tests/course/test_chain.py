"""A run of the course: order, failures, resuming, refusals, and how long it will take."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pandas as pd
import psutil
import pytest
from nbclient.output_widget import OutputWidget

from rungs._src.core import progress
from rungs._src.machine.describe import describe
from rungs.errors import ConfigurationError, UnavailableError, install_hint
from rungs_course import cli
from rungs_course.errors import NotebookError
from rungs_course.measure import results
from rungs_course.measure.peaks import core_speed
from rungs_course.runner import chain, first, manifest, pace
from tests.course import notebooks as tiny

# The first notebook's own file, to which the others add.
NOTE = """
from pathlib import Path
log = Path(out) / "results" / "01_log.txt"
log.parent.mkdir(parents=True, exist_ok=True)
with open(log, "a") as file:
    print("{}", size, seed, file=file)
"""


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "notebooks"


@pytest.fixture
def out(tmp_path):
    return tmp_path / "run"


def statuses(out):
    return {name: entry["status"] for name, entry in manifest.read(out)["notebooks"].items()}


@pytest.fixture(scope="module")
def last(tmp_path_factory):
    """A run of two notebooks of three, where another kernel is installed: its folders and words."""
    at = tmp_path_factory.mktemp("last")
    spec = at / "home/.local/share/jupyter/kernels/python3/kernel.json"
    spec.parent.mkdir(parents=True)
    spec.write_text(json.dumps({"argv": ["/bin/false"], "display_name": "x", "language": "python"}))
    tiny.write(at / "notebooks", "03_third", NOTE.format("third"))
    tiny.write(at / "notebooks", "02_second", NOTE.format("second"))
    only_here = f"import sys\nassert sys.executable == {sys.executable!r}"
    tiny.write(at / "notebooks", "01_first", NOTE.format("first"), only_here)
    lines = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(at / "home"))
        patch.setenv("JUPYTER_PREFER_ENV_PATH", "0")
        chain.run(
            size="smoke",
            only=["02", "01"],
            parameters={"seed": 7},
            out=at / "run",
            notebooks=at / "notebooks",
            say=lines.append,
        )
    return at / "notebooks", at / "run", lines


def test_what_was_chosen_ran_in_order_with_parameters_by_this_interpreter(last):
    _, out, lines = last
    assert (out / "results/01_log.txt").read_text() == "first smoke 7\nsecond smoke 7\n"
    assert statuses(out) == {"01_first": "done", "02_second": "done"}
    assert lines[0] == "[1/2] 01_first …"
    assert any(line.startswith("[2/2] 02_second: ") and " s so far" in line for line in lines)
    written = manifest.read(out)
    assert written["versions"]["numpy"]
    assert written["machine"]["cores"] >= 1
    assert "01_first.ipynb" in written["sources"]
    assert not list(out.rglob(".rungs-unfinished-*"))


def test_sources_that_came_or_went_are_changed_ones(folder):
    tiny.write(folder, "01_a", "pass")
    notebooks = [folder / "01_a.ipynb"]
    sources, here = manifest.fingerprints(notebooks), {"machine": describe()}
    manifest.check_unchanged(here | {"sources": sources}, notebooks)
    with pytest.raises(ConfigurationError, match="gone"):
        manifest.check_unchanged(here | {"sources": sources | {"gone.py": "1"}}, notebooks)
    del sources["01_a.ipynb"]
    with pytest.raises(ConfigurationError, match="01_a"):
        manifest.check_unchanged(here | {"sources": sources}, notebooks)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"size": "huge"}, "huge"),
        ({"only": ["01", "77"]}, "77"),
        ({"parameters": {"boards": 3}}, r"01_first\.ipynb.*boards"),
        ({}, "no compiler"),
    ],
)
def test_refusals_leave_the_last_run_alone(last, settings, named):
    folder, out, _ = last

    def stop():
        raise ConfigurationError("no compiler")

    with pytest.raises(ConfigurationError, match=named):
        chain.run(out=out, notebooks=folder, before=stop, **settings)
    assert statuses(out) == {"01_first": "done", "02_second": "done"}
    assert (out / "results/01_log.txt").exists()


def test_a_new_run_replaces_the_last_and_knows_how_long_it_took(last, tmp_path):
    folder, _, _ = last
    out, lines = tmp_path / "run", []
    shutil.copytree(last[1], out)
    chain.run(size="smoke", only=["02"], out=out, notebooks=folder, say=lines.append)
    assert (out / "results/01_log.txt").read_text() == "second smoke 0\n"
    assert list(statuses(out)) == ["02_second"]
    assert re.fullmatch(r"\[1/1\] 02_second … about \d+ s; about \d+ s left", lines[0])


def test_the_chain_goes_on_past_what_is_unavailable_stops_at_a_failure_and_resumes_there(
    folder, out, tmp_path
):
    flag, lines = tmp_path / "flag", []
    missing = "from rungs.errors import UnavailableError\nraise UnavailableError('no such card')"
    tiny.write(folder, "01_a", NOTE.format("a"))
    tiny.write(folder, "02_b", missing)
    tiny.write(folder, "03_c", f"import os\nassert os.path.exists({str(flag)!r}), 'no flag'")
    tiny.write(folder, "04_d", NOTE.format("d"))
    with pytest.raises(ConfigurationError, match="no run"):
        chain.resume(out=out, notebooks=folder)
    with pytest.raises(NotebookError, match=r"03_c.*cell 2 \(`import os` …\): Assert.*no flag"):
        chain.run(out=out, notebooks=folder, say=lines.append)
    before = {"01_a": "done", "02_b": "unavailable", "03_c": "failed", "04_d": "to do"}
    assert statuses(out) == before
    assert (out / "notebooks/01_a.ipynb").exists()
    assert not (out / "notebooks/03_c.ipynb").exists()
    failed = nbformat.read(out / "notebooks/03_c.failed.ipynb", 4)
    assert any("AssertionError" in str(cell.get("outputs")) for cell in failed.cells)

    as_it_was = (folder / "04_d.ipynb").read_text()
    tiny.write(folder, "04_d", "pass")
    with pytest.raises(ConfigurationError, match=r"changed.*04_d\.ipynb"):
        chain.resume(out=out, notebooks=folder)
    (folder / "04_d.ipynb").write_text(as_it_was)

    flag.touch()
    chain.resume(out=out, notebooks=folder, say=lines.append)
    assert statuses(out) == dict.fromkeys(before, "done") | {"02_b": "unavailable"}
    assert not (out / "notebooks/03_c.failed.ipynb").exists()
    # What was done was not run again; what was unavailable was tried again.
    assert (out / "results/01_log.txt").read_text() == "a quick 0\nd quick 0\n"
    tries = [line for line in lines if "02_b: unavailable here: no such card; " in line]
    assert len(tries) == 2


def test_a_folder_that_holds_no_run_is_not_cleared(folder, out):
    tiny.write(folder, "01_a", NOTE.format("a"))
    (out / "notebooks").mkdir(parents=True)
    (out / "notebooks" / "mine.ipynb").write_text("precious")
    with pytest.raises(ConfigurationError, match="is not of a run of this version"):
        chain.run(out=out, notebooks=folder)
    assert (out / "notebooks" / "mine.ipynb").read_text() == "precious"


@pytest.mark.system
def test_a_cell_that_takes_too_long(folder, out):
    tiny.write(folder, "01_a", "import time\ntime.sleep(60)", "'never begun'")
    with pytest.raises(NotebookError, match=r"01_a.*cell 2.*longer than 2 s"):
        chain.run(out=out, notebooks=folder, cell_seconds=2, say=lambda line: None)


@pytest.mark.system
def test_a_cell_ends_though_a_widget_is_answered_at_that_moment(folder, out, monkeypatch):
    def later(widget):
        time.sleep(1)  # the cell ends meanwhile
        answer(widget)

    answer = OutputWidget.sync_state
    monkeypatch.setattr(OutputWidget, "sync_state", later)
    cell = "output = ipywidgets.Output()\nwith output:\n    display(1)\noutput"
    tiny.write(folder, "01_a", f"import ipywidgets\n{cell}")
    chain.run(out=out, notebooks=folder, cell_seconds=100, say=lambda line: None)
    assert manifest.read(out)["notebooks"]["01_a"]["seconds"] < 100


@pytest.mark.system
def test_a_widget_that_fails_is_a_notebook_that_fails(folder, out):
    cell = "ipywidgets.interactive(lambda boards: 1 // boards, boards=[0, 1])"
    tiny.write(folder, "01_a", f"import ipywidgets\n{cell}")
    with pytest.raises(NotebookError, match=r"01_a.*widget shows ZeroDivisionError: .*zero"):
        chain.run(out=out, notebooks=folder, say=lambda line: None)
    assert (out / "notebooks" / "01_a.failed.ipynb").exists()


@pytest.mark.system
def test_a_kernel_that_dies(folder, out):
    tiny.write(folder, "01_a", "import os\nos._exit(1)")
    with pytest.raises(NotebookError, match=r"01_a.*cell 2.*kernel died"):
        chain.run(out=out, notebooks=folder, say=lambda line: None)


def test_a_run_goes_on_only_on_the_machine_where_it_began(folder):
    tiny.write(folder, "01_a")
    notebooks = [folder / "01_a.ipynb"]
    run = manifest.new({"size": "smoke"}, notebooks)
    assert {*describe(), *core_speed()} == run["machine"].keys()
    manifest.check_unchanged(run, notebooks)
    run["machine"]["microarchitecture"] = "Zen 9"
    with pytest.raises(ConfigurationError, match=r"another machine.*Zen 9"):
        manifest.check_unchanged(run, notebooks)


@pytest.mark.system
def test_killed_in_the_middle_leaves_no_kernel_and_resumes(folder, out, tmp_path):
    started, go_on = tmp_path / "started", tmp_path / "go_on"
    tiny.write(folder, "01_a", NOTE.format("a"))
    wait = f"""
import os, time
open({str(started)!r}, "w").write(str(os.getpid()))
while not os.path.exists({str(go_on)!r}):
    time.sleep(0.05)
"""
    tiny.write(folder, "02_b", wait)
    code = (
        "from pathlib import Path; from rungs_course.runner import chain;"
        f"chain.run(out=Path({str(out)!r}), notebooks=Path({str(folder)!r}))"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.DEVNULL)
    _wait_for(lambda: started.exists() and started.read_text())
    kernel = psutil.Process(int(started.read_text()))
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    _wait_for(lambda: not kernel.is_running() or kernel.status() == psutil.STATUS_ZOMBIE)
    assert statuses(out) == {"01_a": "done", "02_b": "to do"}
    go_on.touch()
    chain.resume(out=out, notebooks=folder, say=lambda line: None)
    assert set(statuses(out).values()) == {"done"}
    assert not list(Path(out).rglob(".rungs-unfinished-*"))


def _wait_for(condition, seconds=90):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.1)


def test_the_table_has_medians_their_spread_and_gains():
    plies = first.NUM_ENVS * first.STEPS
    rates = {"python": lambda i: 1000 * (i + 1), "cpp": lambda i: 1e6 * (i + 1) + 10_000}
    rows = [(rung, i, plies, plies / rate(i)) for i in range(5) for rung, rate in rates.items()]
    times = pd.DataFrame(rows, columns=["racer", "repeat", "plies", "seconds"])
    _, python, cpp, *_ = first.report(times).splitlines()
    assert python.split() == ["python", "3", "k/s", "1×", "1", "to", "1"]
    assert cpp.split() == ["cpp", "3.01", "M/s", "1,003×", "1,002", "to", "1,010"]


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
    works = lines[1].replace("wasm, ", "")  # which `make wasm` compiles
    assert works.startswith("works: chess on python, multiprocessing, cpp, openmp, threads")
    race = next(i for i, line in enumerate(lines) if line.startswith("rung ")) + 1
    raced = lines[race : race + len(first.RUNGS)]
    assert [line.split()[0] for line in raced] == [*first.RUNGS]
    assert any(line.startswith("[1/1] 01_a") for line in lines[race:])


@pytest.mark.system
def test_one_notebook_is_run_without_further_words(tmp_path, monkeypatch, capfd):
    tiny.write(tmp_path / "notebooks", "01_a", "pass")
    in_that_folder(monkeypatch, tmp_path / "notebooks")
    monkeypatch.setattr(first, "look_aside", pytest.fail)
    assert cli.main(["run", "--only", "01", "--out", str(tmp_path / "run")]) == 0
    assert capfd.readouterr().out.startswith("[1/1] 01_a …")


# A kernel that is still in the handler of its last request when it is told to end.
LINGERS = """
import time
handlers = get_ipython().kernel.shell_handlers
answer = handlers["kernel_info_request"]
async def linger(*request):
    await answer(*request)
    time.sleep(1)
handlers["kernel_info_request"] = linger
"""


def test_a_quiet_run_prints_nothing(tmp_path, monkeypatch, capfd):
    tiny.write(tmp_path / "notebooks", "01_a", LINGERS)
    in_that_folder(monkeypatch, tmp_path / "notebooks")
    python, talker = sys.executable, tmp_path / "talker"
    talker.write_text("#!/bin/sh\necho works\n")
    talker.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(talker))
    first.look_aside()
    assert capfd.readouterr().out == "works\n"
    first.look_aside(progress.silent)
    monkeypatch.setattr(sys, "executable", python)
    assert cli.main(["run", "--quiet", "--only", "01", "--out", str(tmp_path / "run")]) == 0
    assert capfd.readouterr() == ("", "")
    assert statuses(tmp_path / "run") == {"01_a": "done"}


def test_a_run_is_watched_notebook_by_notebook(tmp_path, monkeypatch, capfd):
    tiny.write(tmp_path / "notebooks", "01_a", "pass")
    tiny.write(tmp_path / "notebooks", "02_b")
    in_that_folder(monkeypatch, tmp_path / "notebooks")
    monkeypatch.setattr(progress, "is_shown", lambda say: say is progress.line)
    monkeypatch.setattr(chain, "is_shown", lambda say: say is progress.line)
    done = []

    def watching(notebook, *arguments):
        done.extend((bar.n, bar.total, arguments[-1]) for bar in progress._bars)
        if notebook.stem == "02_b":
            raise NotebookError("02_b.ipynb, code cell 2")

    monkeypatch.setattr(chain, "execute", watching)
    assert cli.main(["run", "--only", "01,02", "--out", str(tmp_path / "run")]) == 1
    assert done == [(0, 2, True), (1, 2, True)]
    assert progress._bars == []
    assert capfd.readouterr().err.splitlines()[-1].startswith("rungs: 02_b.ipynb, code cell 2")


def ran(size, seconds, status="done"):
    """The manifest of a run."""
    return {
        **{"commit": "abc", "started": "2026-01-01", "sources": {}, "expected": {}, "versions": {}},
        "machine": {"machine": "x", "cores": 1, "gpu": None},
        "settings": {"size": size, "parameters": {}, "cell_seconds": 600},
        "notebooks": {name: {"status": status, "seconds": took} for name, took in seconds.items()},
    }


def test_what_is_left_is_what_it_took_before():
    expected = {"01_a": 10.0, "02_b": 200.0}
    assert pace.about(expected, ["01_a"]) == "about 10 s"
    assert pace.about(expected, expected) == "about 4 min"
    assert pace.about({}, ["01_a"]) == ""


def test_the_last_run_comes_first_then_this_machine_then_any(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "slug", lambda: "here")
    out, recorded = tmp_path / "run", tmp_path / "data" / "recorded"

    def expected(size="quick"):
        return pace.expect(size, ["01_a"], out, tmp_path).get("01_a")

    assert expected() is None
    pace.record(ran("quick", {"01_a": 1.0}), recorded / "another")
    assert expected() == 1
    pace.record(ran("quick", {"01_a": 2.0}), recorded / "here")
    assert expected() == 2
    pace.record(ran("quick", {"02_b": 4.0}), recorded / "here")
    assert expected() == 2
    manifest.write(ran("quick", {"01_a": 3.0}), out)
    assert expected() == 3
    assert expected("full") is None
    assert pace.expect("quick", ["01_a", "02_b"], out, tmp_path) == {"01_a": 2, "02_b": 4}
    manifest.write(ran("quick", {"01_a": 3.0}, status="failed"), out)
    assert expected() == 2
