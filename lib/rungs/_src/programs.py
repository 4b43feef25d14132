"""Other programs: where they are, and what they print."""

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from typing import Any

from rungs.errors import UnavailableError

_GAMES = "/usr/games"  # where Debian puts them, and root's PATH doesn't look
COMPILING = 3600.0  # seconds: more than any compiler takes, also on a busy machine


def find_program(name: str) -> str | None:
    """Returns the path of a program; None where it is not installed."""
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
    """Runs a program; returns its exit status and its output, as text, whatever bytes it is.

    After `seconds` it is killed, with all processes of its session, and UnavailableError raised.
    """
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    pipes |= {"stderr": subprocess.PIPE, "encoding": "utf-8", "errors": "replace"} | settings
    with start_program(command, install, start_new_session=True, **pipes) as process:
        try:
            printed, errors = process.communicate(stdin_text, seconds)
        except BaseException as error:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            name = os.fspath(command[0])
            raise UnavailableError(f"{name} took longer than {seconds:g} s") from None
    return subprocess.CompletedProcess(command, process.returncode, printed or "", errors or "")
