"""The GPU of this machine, if it has one."""

import functools
import subprocess


@functools.cache
def name() -> str | None:
    """The first one's name, e.g. "NVIDIA H200"; None where NVIDIA's driver finds none."""
    command = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (FileNotFoundError, subprocess.CalledProcessError):
        return None
    return done.stdout.splitlines()[0] if done.stdout else None
