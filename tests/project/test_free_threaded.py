"""The library on Python without its lock, as `make free_threaded` builds it."""

import os
from pathlib import Path

import pytest

from tests.processes import succeed

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "free_threaded"
PYTHON = FOLDER / "bin" / "python3.13t"
LIBRARY = ROOT / "tests" / "library"

# These import packages that this Python lacks: of extras, or of the course.
LACKS = ("chess/test_cuda.py", "chess/test_engine.py", "chess/test_formats.py")
LACKS += ("chess/test_observation.py", "chess/test_rollout.py", "chess/test_sameness.py")
LACKS += ("core/test_arguments.py", "core/test_progress.py")
WITHOUT = "not (openmp or mpi or cuda or torch or numba or cling)"

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(
        not (FOLDER / "whole").exists(), reason="`make free_threaded` builds this Python"
    ),
]


def run(*arguments):
    # An import of code that needs the lock would take it, with a warning.
    variables = {
        "PYTHONPATH": str(ROOT / "lib"),
        "PYTHONWARNINGS": "error:The global interpreter lock",
    }
    return succeed([PYTHON, *arguments], cwd=ROOT, env=os.environ | variables)


def test_no_import_takes_the_lock():
    code = "import sys, rungs, rungs.search; print(sys._is_gil_enabled())"
    assert run("-c", code) == "False\n"


def test_the_librarys_tests_pass_on_it():
    asked = [LIBRARY / each for each in ("cartpole", "chess", "core", "search")]
    asked.append(LIBRARY / "test_python_threads.py")
    ignored = [f"--ignore={LIBRARY / each}" for each in LACKS]
    pytest = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", WITHOUT, *ignored, *asked]
    assert " passed" in run(*pytest)
