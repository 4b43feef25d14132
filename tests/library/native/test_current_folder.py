"""Whose code is compiled and imported: the package's, whatever lies in the current folder."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from rungs._src import paths
from rungs._src.chess.boards import device
from tests.processes import succeed

# What Cling, ROOT beneath it and NVRTC have looked for in the current folder.
HEADERS = ("bindings/chess.cpp", "bindings/learn.cpp", "env/chess_env.hpp", "Rtypes.h")
LIBRARIES = ("libCoreLegacy.so", "libRIOLegacy.so", "libCling.so")

# Files of a user that have a name of what we need.
HIDING = ("random", "chess", "numpy", "gymnasium", "types", "multiprocessing")

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
    return succeed([sys.executable, path], env=environment)


@pytest.mark.release
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
    lib = Path(paths.__file__).parents[2]
    text = "".join(path.read_text() for path in lib.glob("rungs*/**/*.py"))
    started = re.findall(r"sys\.executable,?\s*\S*", text)
    assert started
    assert not [each for each in started if not re.fullmatch(r'sys.executable,\s*"-P",', each)]


def test_a_module_of_ours_runs_whatever_the_current_folder_hides(tmp_path):
    for name in HIDING:
        (tmp_path / f"{name}.py").write_text("raise ValueError('mine')")
    for package in ("rungs", "rungs_course"):
        succeed([sys.executable, "-m", package, "--version"], cwd=tmp_path)


HIDDEN = {
    "chess.py": "x = 1",
    "numpy/__init__.py": "import rungs; rungs.make",
    "platformdirs.py": "raise ValueError('mine')",
    "socket/__init__.py": "x = 1",
    "socket.py": "import rungs; rungs.make",
}


@pytest.mark.parametrize(("place", "text"), HIDDEN.items())
def test_a_file_that_hides_a_module_from_a_script_is_named(tmp_path, place, text):
    path = tmp_path / place
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    (tmp_path / "script.py").write_text("import rungs")
    for command in (["script.py"], ["-c", "import rungs"]):
        done = subprocess.run([sys.executable, *command], cwd=tmp_path, capture_output=True)
        assert done.returncode == 1
        *_, last = done.stderr.splitlines()
        assert last.startswith(b"ImportError: ")
        assert bytes(path) in last


def test_an_error_that_hides_nothing_stays(tmp_path):
    script = "import sys; sys.modules['gymnasium'] = None; import rungs"
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True)
    assert b"ModuleNotFoundError" in done.stderr.splitlines()[-1]


@pytest.mark.system
def test_ranks_start_without_the_current_folder(planted, tmp_path):
    pytest.importorskip("mpi4py")
    ranks = tmp_path / "ranks"
    ranks.mkdir()
    for name in ("beside", "chess", "numpy"):
        (ranks / f"{name}.py").write_text("")
    (ranks / "rank.py").write_text(
        "import beside, rungs; rungs.make('chess', 'mpi', 1).close(); print('here')"
    )
    (planted / "ours.py").write_text("import sys; print(sys.argv[1])")
    script = f"""
import sys
from rungs._src.processes.ranks import launch
launch(1, {str(ranks / "rank.py")!r})
sys.path.append({str(planted)!r})
launch(1, "ours", ["there"], module=True)
"""
    assert run(script, tmp_path) == "here\nthere\n"


@pytest.mark.release
@pytest.mark.system
def test_nvrtc_compiles_the_headers_of_the_package(planted, tmp_path, monkeypatch):
    pytest.importorskip("cuda.core")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert device.cubin("sm_80").startswith(b"\x7fELF")
