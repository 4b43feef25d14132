"""A run of the course: order, failures, resuming, refusals, and how long it will take."""

import json
import shutil
import sys
import time
from pathlib import Path

import nbformat
import pytest
from nbclient.output_widget import OutputWidget

from rungs._src.core import progress
from rungs.errors import ConfigurationError, UnavailableError, install_hint
from rungs_course import cli, doctor
from rungs_course.errors import NotebookError
from rungs_course.runner import chain, eta, manifest
from rungs_course.runner.notebook import execute
from tests.course import notebooks as tiny

pytestmark = pytest.mark.usefixtures("without_kernels")

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


@pytest.fixture
def command(folder, out, monkeypatch):
    """`rungs_course run --quiet` of the test's notebooks, without the doctor."""
    run = chain.run
    ours = {"notebooks": folder, "before": None}
    monkeypatch.setattr(chain, "run", lambda **given: run(**given | ours))
    return lambda *options: cli.main(["run", "--quiet", "--out", str(out), *options])


def statuses(out):
    return {name: entry["status"] for name, entry in manifest.read(out)["notebooks"].items()}


@pytest.fixture
def last(folder, out):
    """The lines that a run of two notebooks of three printed."""
    for name in ("03_third", "02_second", "01_first"):
        tiny.write(folder, name, NOTE.format(name[3:]))
    lines = []
    settings = {"size": "smoke", "only": ["02", "01"], "parameters": {"seed": 7}}
    chain.run(**settings, out=out, notebooks=folder, say=lines.append)
    return lines


def test_the_chosen_notebooks_run_in_order(last, out):
    assert (out / "results/01_log.txt").read_text() == "first smoke 7\nsecond smoke 7\n"
    assert statuses(out) == {"01_first": "done", "02_second": "done"}
    assert last[0].startswith("[1/2] 01_first")
    assert any(line.startswith("[2/2] 02_second: ") for line in last)
    assert not list(out.rglob(".rungs-unfinished-*"))


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


def test_a_kernel_of_this_interpreter_gets_the_parameters_and_a_quiet_run_prints_nothing(
    folder, out, tmp_path, command, monkeypatch, capfd
):
    """Whichever kernel of that name the user has installed."""
    spec = tmp_path / "home/.local/share/jupyter/kernels/python3/kernel.json"
    spec.parent.mkdir(parents=True)
    spec.write_text(json.dumps({"argv": ["/bin/false"], "display_name": "x", "language": "python"}))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "0")
    monkeypatch.setattr(chain, "execute", execute)
    this = f"import sys\nassert sys.executable == {sys.executable!r}"
    tiny.write(folder, "01_a", NOTE.format("a"), this, LINGERS)
    assert command("--only", "01", "--size", "smoke") == 0
    assert capfd.readouterr() == ("", "")
    assert (out / "results/01_log.txt").read_text() == "a smoke 0\n"
    executed = nbformat.read(out / "notebooks/01_a.ipynb", as_version=4)
    assert all(cell.execution_count for cell in executed.cells if cell.cell_type == "code")


WIDGETS = "import ipywidgets\n"
LACKS = "from rungs.errors import UnavailableError\nraise UnavailableError('no such card')"
FAILURES = [
    ("import os\nos._exit(1)", 600, NotebookError, r"01_a\.ipynb.* 2 .*import os.* died"),
    ("import time\ntime.sleep(600)", 2, NotebookError, r"01_a\.ipynb.* 2 s"),
    (WIDGETS + "ipywidgets.interactive(lambda n: 1 // n, n=[0, 1])", 600, NotebookError, "ZeroDiv"),
    (LACKS, 600, UnavailableError, "no such card"),
]


@pytest.mark.system
@pytest.mark.parametrize(("cell", "seconds", "error", "reason"), FAILURES)
def test_how_a_notebook_ends_early_is_named_and_it_is_kept_up_to_there(
    folder, out, cell, seconds, error, reason
):
    out.mkdir()
    failed, executed = out / "01_a.failed.ipynb", out / "01_a.ipynb"
    failed.touch()
    tiny.write(folder, "01_a", cell)
    with pytest.raises(error, match=reason):
        execute(folder / "01_a.ipynb", executed, {}, seconds, False)
    assert list(out.iterdir()) == [failed if error is NotebookError else executed]


@pytest.mark.system
def test_a_cell_ends_though_a_widget_is_answered_at_that_moment(folder, out, monkeypatch):
    answer = OutputWidget.sync_state

    def answer_late(widget):
        time.sleep(1)  # the cell ends meanwhile
        answer(widget)

    monkeypatch.setattr(OutputWidget, "sync_state", answer_late)
    cell = "output = ipywidgets.Output()\nwith output:\n    display(1)\noutput"
    tiny.write(folder, "01_a", WIDGETS + cell)
    execute(folder / "01_a.ipynb", out / "01_a.ipynb", {}, 100, False)


def test_refusals_leave_the_last_run_alone(last, folder, out):
    def stop():
        raise ConfigurationError("no compiler")

    for settings, named in (
        ({"size": "huge"}, "huge"),
        ({"only": ["01", "77"]}, "77"),
        ({"parameters": {"boards": 3}}, r"01_first\.ipynb.*boards"),
        ({}, "no compiler"),
    ):
        with pytest.raises(ConfigurationError, match=named):
            chain.run(out=out, notebooks=folder, before=stop, **settings)
    assert statuses(out) == {"01_first": "done", "02_second": "done"}
    assert (out / "results/01_log.txt").exists()


def test_a_new_run_replaces_the_last_and_knows_how_long_it_took(last, folder, out):
    run = manifest.read(out)
    run["notebooks"]["02_second"]["seconds"] = 41.0
    manifest.write(run, out)
    lines = []
    chain.run(size="smoke", only=["02"], out=out, notebooks=folder, say=lines.append)
    assert (out / "results/01_log.txt").read_text() == "second smoke 0\n"
    assert list(statuses(out)) == ["02_second"]
    assert "41 s" in lines[0]


def test_the_chain_goes_on_past_what_is_unavailable_stops_at_a_failure_and_resumes_there(
    folder, out, tmp_path, monkeypatch
):
    lines = []
    monkeypatch.chdir(tmp_path)
    tiny.write(folder, "01_a", NOTE.format("a"))
    tiny.write(folder, "02_b", LACKS)
    tiny.write(folder, "03_c", "import os\nassert os.path.exists('flag'), 'no flag'")
    tiny.write(folder, "04_d", NOTE.format("d"))
    with pytest.raises(NotebookError, match="no flag"):
        chain.run(out=out, notebooks=folder, say=lines.append)
    before = {"01_a": "done", "02_b": "unavailable", "03_c": "failed", "04_d": "to do"}
    assert statuses(out) == before

    original = (folder / "04_d.ipynb").read_text()
    tiny.write(folder, "04_d", "pass")
    with pytest.raises(ConfigurationError, match=r"04_d\.ipynb"):
        chain.resume(out=out, notebooks=folder)
    (folder / "04_d.ipynb").write_text(original)

    Path("flag").touch()
    chain.resume(out=out, notebooks=folder, say=lines.append)
    assert statuses(out) == dict.fromkeys(before, "done") | {"02_b": "unavailable"}
    # What was done was not run again; what was unavailable was tried again.
    assert (out / "results/01_log.txt").read_text() == "a quick 0\nd quick 0\n"
    assert len([line for line in lines if "02_b" in line and "no such card" in line]) == 2


def test_a_failure_ends_the_command_with_its_cause(folder, command, capfd):
    tiny.write(folder, "01_a", "assert False, 'no flag'")
    assert command("--only", "01") == 1
    assert capfd.readouterr().err.splitlines()[-1].startswith("rungs: 01_a.ipynb")


def test_what_comes_before_a_run_is_printed_or_silent_and_a_crash_is_reported(monkeypatch, capfd):
    monkeypatch.setattr(sys, "executable", shutil.which("echo"))
    doctor.print_summary_aside()
    assert "doctor" in capfd.readouterr().out
    doctor.print_summary_aside(progress.silent)
    assert capfd.readouterr() == ("", "")
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    with pytest.raises(UnavailableError, match="doctor"):
        doctor.print_summary_aside()


def test_what_is_not_installed_is_named_with_how_to_get_it(monkeypatch, capsys):
    from rungs_course.runner import book  # noqa: F401 (so that there is something to forget)

    monkeypatch.delattr("rungs_course.runner.book")
    monkeypatch.delitem(sys.modules, "rungs_course.runner.book")
    monkeypatch.setitem(sys.modules, "nbformat", None)
    assert cli.main(["book"]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert "nbformat" in line
    assert install_hint("book") in line


def test_what_is_left_is_what_it_took_before_at_this_machines_speed():
    expected = {"01_a": 10.0, "02_b": 40.0}
    assert "40 s" in eta.about(expected, ["02_b"])
    assert "80 s" in eta.about(expected, ["02_b"], {"01_a": 20.0})
    assert eta.about({}, ["01_a"]) == ""


def test_the_last_run_comes_first_then_the_recorded_one(tmp_path):
    def run_of(seconds):
        entries = {name: {"status": "done", "seconds": took} for name, took in seconds.items()}
        return tiny.manifest_of(entries, size="quick")

    def expected(*names, size="quick"):
        return [*eta.expect(size, [*names], tmp_path, tmp_path).values()]

    assert expected("01_a") == []
    eta.record(run_of({"01_a": 2.0, "02_b": 4.0}), tmp_path)
    manifest.write(run_of({"01_a": 3.0}), tmp_path)
    assert expected("01_a") == [3]
    assert expected("01_a", size="full") == []
    assert expected("01_a", "02_b") == [2, 4]
