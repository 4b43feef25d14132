"""Where files go: paths that are long, or have spaces."""

import os
import subprocess
import sys
import tempfile

import pytest

from tests.tiers import system_tier

BOARDS = """
import rungs
if __name__ == "__main__":
    try:
        rungs.make("chess", "multiprocessing", 4, workers=2).close()
    except rungs.errors.UnavailableError as error:
        assert "TMPDIR" in str(error), error
"""


def test_where_the_path_of_a_socket_is_too_long_its_variable_is_named(tmp_path):
    folder = tmp_path / ("x" * 80)
    folder.mkdir()
    (tmp_path / "script.py").write_text(BOARDS)
    environment = os.environ | {"TMPDIR": str(folder)}
    subprocess.run([sys.executable, str(tmp_path / "script.py")], env=environment, check=True)


@pytest.mark.parametrize("compiler", [*system_tier("g++"), *system_tier("cling", release=True)])
def test_paths_may_have_spaces(tmp_path, compiler):
    folder = tmp_path / "a 'folder' (1)"
    folder.mkdir()
    short = tempfile.TemporaryDirectory(prefix="a 'b' ")  # sockets are there
    (folder / "my script.py").write_text(
        "import rungs\n"
        "if __name__ == '__main__':\n"
        "    for rung in ('openmp', 'multiprocessing'):\n"
        "        rungs.make('chess', rung, 2).close()\n"
    )
    named = {"XDG_CACHE_HOME": folder, "TMPDIR": short.name, "RUNGS_COMPILER": compiler}
    environment = os.environ | {name: str(value) for name, value in named.items()}
    command = [sys.executable, "my script.py"]
    with short:
        subprocess.run(command, env=environment, cwd=folder, check=True)
