"""Other programs: where they are, and what they print."""

import contextlib
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from typing import Any, TextIO

from rungs.errors import ConfigurationError, UnavailableError

_GAMES = "/usr/games"  # where Debian puts them, and root's PATH doesn't look
_MAX_CHARACTERS = 2**26  # more than any program that we run prints
COMPILING = 3600.0  # seconds: more than any compiler takes, also on a busy machine


def find_program(name: str) -> str | None:
    """Returns a program's path, or None; a ConfigurationError if `name` is not a string."""
    if not isinstance(name, str):
        raise ConfigurationError(f"name={name!r:.200} is not a string")
    return shutil.which(name) or shutil.which(name, path=_GAMES)


def start_program(
    command: Sequence[str | os.PathLike], install: str = "", **settings: Any
) -> subprocess.Popen:
    """Starts a program with settings of `subprocess.Popen`; an error says how to `install` it."""
    try:
        return subprocess.Popen(command, **settings)
    except FileNotFoundError:
        why = "is not installed" + (f": {install}" if install else "")
    except (OSError, ValueError) as error:  # such as: a folder of PATH can't be read; a NUL
        why = f"can't be run: {getattr(error, 'strerror', None) or error}"
    raise UnavailableError(f"{os.fspath(command[0])} {why}")


def run_program(
    command: Sequence[str | os.PathLike],
    seconds: float,
    stdin_text: str = "",
    install: str = "",
    **settings: Any,
) -> subprocess.CompletedProcess[str]:
    """Runs a program; returns its status and output as text, or kills it after `seconds`."""
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    pipes |= {"stderr": subprocess.PIPE, "encoding": "utf-8", "errors": "replace"} | settings
    process = start_program(command, install, start_new_session=True, **pipes)
    printed: dict[str, str] = {}

    def read(name: str, stream: TextIO) -> None:
        with contextlib.suppress(OSError, MemoryError), stream:
            printed[name] = stream.read(_MAX_CHARACTERS)

    def write(stream: TextIO) -> None:
        with contextlib.suppress(OSError), stream:  # it may not read all
            stream.write(stdin_text)

    streams = [name for name in ("stdout", "stderr") if getattr(process, name)]
    jobs = [
        threading.Thread(target=read, args=(name, getattr(process, name)), daemon=True)
        for name in streams
    ]
    if process.stdin:
        jobs.append(threading.Thread(target=write, args=(process.stdin,), daemon=True))
    end, finished = time.monotonic() + seconds, False
    try:
        for job in jobs:
            job.start()
        for job in jobs:
            job.join(max(0.0, end - time.monotonic()))
        process.wait(max(0.0, end - time.monotonic()))
        finished = not any(job.is_alive() for job in jobs)
    except subprocess.TimeoutExpired:
        pass
    except RuntimeError as error:  # no thread can be started
        raise UnavailableError(f"{os.fspath(command[0])} can't be run: {error}") from None
    finally:
        if not finished:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if not finished:
        raise UnavailableError(f"{os.fspath(command[0])} took longer than {seconds:g} s")
    if not printed.keys() >= set(streams):
        raise UnavailableError(f"what {os.fspath(command[0])} prints can't be read")
    texts = (printed.get(name, "") for name in ("stdout", "stderr"))
    return subprocess.CompletedProcess(command, process.returncode, *texts)
