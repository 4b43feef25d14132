"""A script that starts processes as it is imported is told which guard it lacks."""

import subprocess
import sys

import pytest

SCRIPT = """
import rungs

env = rungs.make("{0}", "{1}", 4)
env.reset(seed=0)
print("reached")
"""


@pytest.mark.parametrize(
    "rung",
    [
        ("chess", "multiprocessing"),
        pytest.param(("cartpole", "subproc"), marks=pytest.mark.system),
    ],
)
def test_a_script_without_a_main_guard_is_told_so_in_few_lines(tmp_path, rung):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(*rung))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert done.returncode == 1
    assert not done.stdout
    assert done.stderr.count("Traceback") == 1
    assert "\nrungs.errors.MainGuardError: " in done.stderr
    assert '\nif __name__ == "__main__":\n' in done.stderr
    assert len(done.stderr.splitlines()) < 40
