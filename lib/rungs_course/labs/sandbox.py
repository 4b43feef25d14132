"""Runs answers that somebody else wrote: without a network, and without others' files."""

import os
import sys
from pathlib import Path

from rungs.devel import cache, paths, run_program
from rungs.errors import UnavailableError

_INSIDE = Path(__file__).with_name("inside")
_LIB = Path(paths.__file__).parents[2]
_PROCESSES = 512  # of one answer, including its threads
_FILES_BYTES = 64 << 20  # of the files that it writes, which are kept in memory
# Prefixes of the environment variables that answers inherit: those about threads, no others.
_SETTINGS = ("OMP_", "KMP_", "NUMBA_", "OPENBLAS_", "MKL_")


class Sandbox:
    """Runs Python in bubblewrap: it sees the interpreter, its packages and the library, read-only.

    It has no network, can write only a few files of its own, and sees no other process.
    """

    processes: int | None = _PROCESSES  # at a time
    started_by = 2  # of an answer's ancestors, those that are processes of the sandbox

    def command(self, code: str) -> list[str]:
        """Returns the command that runs `code`, which can import the package `inside`."""
        return ["bwrap", *self._arguments(), *_python(code)]

    def problem(self) -> str | None:
        """Returns why it does not work here, and what to do; None where it does."""
        try:
            tried = run_program(self.command("pass"), 60.0, install="apt-get install bubblewrap")
        except UnavailableError as error:
            return str(error)
        return f"bwrap does not work here: {tried.stderr.strip()}" if tried.returncode else None

    def _arguments(self) -> list[str]:
        system = [Path("/usr"), *map(Path, ("/lib", "/lib64", "/bin", "/sbin"))]
        system += map(Path, ("/etc/ld.so.cache", "/etc/alternatives"))
        prefixes = map(Path, (sys.base_prefix, sys.prefix))
        library = [_LIB / "rungs", paths.CPP, _INSIDE, cache.directory()]
        binds = []
        for path in (*system, *prefixes, *library):
            binds += ["--ro-bind-try", str(path), str(path)]
        variables = [part for pair in _environment().items() for part in ("--setenv", *pair)]
        return [
            *("--unshare-all", "--cap-drop", "ALL", "--new-session", "--die-with-parent"),
            *("--clearenv", *variables),
            # Before the read-only folders, which may be below it.
            *("--size", str(_FILES_BYTES), "--tmpfs", "/tmp", "--chdir", "/tmp"),
            *(*binds, "--proc", "/proc", "--dev", "/dev"),
            *("--remount-ro", "/dev", "--remount-ro", "/"),
        ]


class Trusted:
    """Runs Python without a sandbox: an answer may read and write whatever this user may."""

    processes: int | None = None
    started_by = 0

    def command(self, code: str) -> list[str]:
        """Returns the command that runs `code`; see `Sandbox.command`."""
        return [
            "env",
            *(f"{name}={value}" for name, value in _environment().items()),
            *_python(code),
        ]


Launcher = Sandbox | Trusted


def choose_launcher(trust: bool) -> Launcher:
    """Returns what runs answers: a sandbox, which must work, or none where they are trusted."""
    if trust:
        return Trusted()
    sandbox = Sandbox()
    if problem := sandbox.problem():
        raise UnavailableError(
            f"answers can't be run in a sandbox: {problem}. With --trust they run without one, as "
            "you, and may read and write what you may"
        )
    return sandbox


def _python(code: str) -> list[str]:
    program = f"import sys; sys.path.append({str(_INSIDE.parent)!r}); {code}"
    return [sys.executable, "-P", "-c", program]


def _environment() -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if name.startswith(_SETTINGS)}
    return inherited | {
        "PATH": "/usr/bin:/bin",
        "HOME": "/tmp",
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(_LIB),
        "PYTHONDONTWRITEBYTECODE": "1",
        # Freed memory is kept: getting it from the system again takes a different time every time.
        "MALLOC_MMAP_THRESHOLD_": str(1 << 30),
        "MALLOC_TRIM_THRESHOLD_": str(1 << 32),
        "XDG_CACHE_HOME": str(cache.directory().parent),
    }
