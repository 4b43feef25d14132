"""Programs that tests run, and what they wait for."""

import subprocess
import time


def succeed(command, **options) -> str:
    """Returns what a command prints; fails with that and its errors where its status is not 0."""
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def poll(condition, seconds=120):
    """Waits until a condition holds, and returns its value."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, condition
        time.sleep(0.02)
    return value
