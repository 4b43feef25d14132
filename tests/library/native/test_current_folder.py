"""Whose code is compiled and imported: the package's, whatever lies in the current folder."""

import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rungs._src import paths
from rungs._src.chess.boards import device
from rungs._src.processes import workers

# What Cling, ROOT beneath it and NVRTC have looked for in the current folder.
HEADERS = ("bindings/chess.cpp", "bindings/learn.cpp", "env/chess_env.hpp", "Rtypes.h")
LIBRARIES = ("libCoreLegacy.so", "libRIOLegacy.so", "libCling.so")

# What is imported first by `python -c`, by `python -m` and by the processes that we start.
MODULES = ("cppyy", "runpy", "multiprocessing", "selectors", "mpi4py", "sphinx")


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """The current folder, full of what should not be compiled, loaded or imported."""
    folder = tmp_path / "current"
    for name in (*HEADERS, *LIBRARIES):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("#error planted\n")
    for name in MODULES:
        (folder / f"{name}.py").write_text("raise SystemExit('planted')\n")
    monkeypatch.chdir(folder)
    return folder


def run(script, tmp_path):
    """Runs a script that lies elsewhere, so that only what it starts looks in this folder."""
    path = tmp_path / "script.py"
    path.write_text(script)
    environment = {name: os.environ[name] for name in os.environ if "CLING" not in name}
    environment["RUNGS_COMPILER"] = "cling"
    command = [sys.executable, str(path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.system
def test_cling_and_workers_use_the_package_and_not_the_current_folder(
    planted, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))  # Cling's header isn't there
    script = """
import os
import rungs
from rungs._src.native import cling
before = os.getcwd()
if __name__ == "__main__":
    print(rungs.make("chess", "openmp", 1).reset()[0].shape)
    cling.load_learn()
    print(rungs.make("chess", "multiprocessing", 2, workers=1).reset()[0].shape)
    assert os.getcwd() == before and "PYTHONSAFEPATH" not in os.environ
"""
    assert run(script, tmp_path) == "(1, 72)\n(2, 72)\n"


def test_every_python_is_started_without_the_current_folder():
    started = []
    lib = Path(paths.__file__).parents[2]
    for path in [*lib.glob("rungs/**/*.py"), *lib.glob("rungs_course/**/*.py")]:
        text = path.read_text()
        started += re.findall(r"sys\.executable,?\s*\S*", text)
    assert started
    assert not [each for each in started if not re.fullmatch(r'sys.executable,\s*"-P",', each)]


@pytest.mark.system
def test_ranks_start_without_the_current_folder(planted, tmp_path):
    pytest.importorskip("mpi4py")
    (tmp_path / "beside.py").write_text("")
    (tmp_path / "rank.py").write_text("import beside; print('here')")
    (planted / "ours.py").write_text("import sys; print(sys.argv[1])")
    script = f"""
import sys
from rungs._src.processes.ranks import launch
launch(1, {str(tmp_path / "rank.py")!r})
sys.path.append({str(planted)!r})
launch(1, "ours", ["there"], module=True)
"""
    assert run(script, tmp_path) == "here\nthere\n"


@pytest.mark.system
def test_nvrtc_compiles_the_headers_of_the_package(planted, tmp_path, monkeypatch):
    pytest.importorskip("cuda.core")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert device.cubin("sm_80").startswith(b"\x7fELF")


def test_processes_started_by_two_threads_leave_the_environment_as_it_was(monkeypatch):
    monkeypatch.setattr(workers.forkserver, "ensure_running", lambda: time.sleep(0.1))
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda _: workers.preload("rungs"), range(2)))
    assert "PYTHONSAFEPATH" not in os.environ
