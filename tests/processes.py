"""Programs that tests run."""

import subprocess


def succeed(command, **options) -> str:
    """Returns what a command prints; fails with that and its errors where its status is not 0."""
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
