"""The chain: order, failures, resuming, refusals."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import psutil
import pytest

from rungs.course import chain
from rungs.errors import ConfigurationError, NotebookError
from tests.course import notebooks as tiny

NOTE = """
from pathlib import Path
log = Path(out) / "results" / "log.txt"
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
    manifest = json.loads((out / "manifest.json").read_text())
    return {name: entry["status"] for name, entry in manifest["notebooks"].items()}


def test_all_in_order_with_parameters(folder, out):
    tiny.write(folder, "02_second", NOTE.format("second"))
    tiny.write(folder, "01_first", NOTE.format("first"))
    said = []
    chain.run(size="smoke", parameters={"seed": 7}, out=out, notebooks=folder, say=said.append)
    assert (out / "results/log.txt").read_text() == "first smoke 7\nsecond smoke 7\n"
    assert statuses(out) == {"01_first": "done", "02_second": "done"}
    assert any(line.startswith("[2/2] 02_second: ") for line in said)
    assert said[-2].startswith(f"2 notebooks in {out / 'notebooks'}; ")
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["versions"]["numpy"]
    assert manifest["machine"]["cores"] >= 1
    assert "01_first.ipynb" in manifest["sources"]
    assert not list(out.rglob(".unfinished-*"))


def test_only_some(folder, out):
    for name in ("01_a", "02_b", "03_c"):
        tiny.write(folder, name, NOTE.format(name))
    chain.run(only=["03", "01"], out=out, notebooks=folder, say=lambda line: None)
    assert list(statuses(out)) == ["01_a", "03_c"]


def test_the_kernel_is_this_interpreter_whatever_is_installed(folder, out, tmp_path, monkeypatch):
    spec = tmp_path / "home/.local/share/jupyter/kernels/python3/kernel.json"
    spec.parent.mkdir(parents=True)
    spec.write_text(json.dumps({"argv": ["/bin/false"], "display_name": "x", "language": "python"}))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "0")
    tiny.write(folder, "01_a", f"import sys\nassert sys.executable == {sys.executable!r}")
    chain.run(out=out, notebooks=folder, say=lambda line: None)
    assert statuses(out) == {"01_a": "done"}


def test_a_failing_cell_stops_the_chain_and_resume_goes_on_there(folder, out, tmp_path):
    flag = tmp_path / "flag"
    tiny.write(folder, "01_a", NOTE.format("a"))
    tiny.write(folder, "02_b", f"import os\nassert os.path.exists({str(flag)!r}), 'no flag'")
    tiny.write(folder, "03_c", NOTE.format("c"))
    with pytest.raises(NotebookError, match=r"02_b.*cell 2 \(`import os` …\): Assert.*no flag"):
        chain.run(out=out, notebooks=folder, say=lambda line: None)
    assert statuses(out) == {"01_a": "done", "02_b": "failed", "03_c": "to do"}
    assert (out / "notebooks/01_a.ipynb").exists()
    assert not (out / "notebooks/02_b.ipynb").exists()
    failed = nbformat.read(out / "notebooks/02_b.failed.ipynb", 4)
    assert any("AssertionError" in str(cell.get("outputs")) for cell in failed.cells)

    flag.touch()
    chain.resume(out=out, say=lambda line: None)
    assert set(statuses(out).values()) == {"done"}
    assert not (out / "notebooks/02_b.failed.ipynb").exists()
    # The first was not run again.
    assert (out / "results/log.txt").read_text() == "a quick 0\nc quick 0\n"


def test_what_is_unavailable_is_said_and_the_rest_goes_on(folder, out):
    missing = "from rungs.errors import UnavailableError\nraise UnavailableError('no such card')"
    tiny.write(folder, "01_a", missing)
    tiny.write(folder, "02_b", NOTE.format("b"))
    said = []
    chain.run(out=out, notebooks=folder, say=said.append)
    assert statuses(out) == {"01_a": "unavailable", "02_b": "done"}
    assert "[1/2] 01_a: unavailable here: no such card" in said
    chain.resume(out=out, say=said.append)
    assert said.count("[1/2] 01_a: unavailable here: no such card") == 2


def test_resume_refuses_changed_sources_and_no_run(folder, out):
    with pytest.raises(ConfigurationError, match="no run"):
        chain.resume(out=out)
    tiny.write(folder, "01_a", "raise ValueError")
    with pytest.raises(NotebookError):
        chain.run(out=out, notebooks=folder, say=lambda line: None)
    tiny.write(folder, "01_a", "pass")
    with pytest.raises(ConfigurationError, match=r"changed.*01_a\.ipynb"):
        chain.resume(out=out)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"size": "huge"}, "huge"),
        ({"only": ["01", "77"]}, "77"),
        ({"parameters": {"boards": 3}}, r"01_a\.ipynb.*boards"),
    ],
)
def test_refusals_leave_the_last_run_alone(folder, out, settings, named):
    tiny.write(folder, "01_a", NOTE.format("a"))
    chain.run(out=out, notebooks=folder, say=lambda line: None)
    with pytest.raises(ConfigurationError, match=named):
        chain.run(out=out, notebooks=folder, **settings)
    assert statuses(out) == {"01_a": "done"}
    assert (out / "results/log.txt").exists()


def test_a_folder_that_holds_no_run_is_not_cleared(folder, out):
    tiny.write(folder, "01_a", NOTE.format("a"))
    (out / "notebooks").mkdir(parents=True)
    (out / "notebooks" / "mine.ipynb").write_text("precious")
    with pytest.raises(ConfigurationError, match="holds no run"):
        chain.run(out=out, notebooks=folder)
    assert (out / "notebooks" / "mine.ipynb").read_text() == "precious"


def test_a_new_run_replaces_the_last(folder, out):
    tiny.write(folder, "01_a", NOTE.format("a"))
    for _ in range(2):
        chain.run(out=out, notebooks=folder, say=lambda line: None)
    assert (out / "results/log.txt").read_text() == "a quick 0\n"


def test_a_cell_that_takes_too_long(folder, out):
    tiny.write(folder, "01_a", "import time\ntime.sleep(60)", "'never begun'")
    with pytest.raises(NotebookError, match=r"01_a.*cell 2.*longer than 2 s"):
        chain.run(out=out, notebooks=folder, cell_seconds=2, say=lambda line: None)


def test_a_kernel_that_dies(folder, out):
    tiny.write(folder, "01_a", "import os\nos._exit(1)")
    with pytest.raises(NotebookError, match=r"01_a.*cell 2.*kernel died"):
        chain.run(out=out, notebooks=folder, say=lambda line: None)


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
        "from pathlib import Path; from rungs.course import chain;"
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
    chain.resume(out=out, say=lambda line: None)
    assert set(statuses(out).values()) == {"done"}
    assert not list(Path(out).rglob(".unfinished-*"))


def _wait_for(condition, seconds=90):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.1)
