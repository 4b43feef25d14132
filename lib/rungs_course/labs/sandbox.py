"""Where answers run that somebody else wrote: without a network, and without others' files."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from rungs._src import paths
from rungs._src.native import cache
from rungs.errors import UnavailableError

_INSIDE = Path(__file__).with_name("inside")
_LIB = Path(paths.__file__).parents[2]
_PROCESSES = 512  # of one answer, its threads among them
_FILES_BYTES = 64 << 20  # of what it writes, which is kept in memory
# How threads behave is the grader's to say; nothing else of their settings is an answer's business.
_SETTINGS = ("OMP_", "KMP_", "NUMBA_", "OPENBLAS_", "MKL_")


class Sandbox:
    """Runs Python in bubblewrap: it sees the interpreter, its packages and the library, read-only.

    It has no network, no files but its own and few of those, and no other process to look at.

    Attributes:
        processes: that it may have at a time.
        started_by: how many processes of the sandbox's come before it.
    """

    processes: int | None = _PROCESSES
    started_by = 2

    def command(self, code: str) -> list[str]:
        """Returns the command that runs `code`, which finds the package `inside` as a module."""
        return ["bwrap", *self._arguments(), *_python(code)]

    def problem(self) -> str | None:
        """Returns why it does not work here, and what to do; None where it does."""
        if not shutil.which("bwrap"):
            return "bwrap is not installed: apt-get install bubblewrap"
        tried = subprocess.run(self.command("pass"), capture_output=True, text=True)
        return f"bwrap does not work here: {tried.stderr.strip()}" if tried.returncode else None

    def _arguments(self) -> list[str]:
        system = [Path("/usr"), *map(Path, ("/lib", "/lib64", "/bin", "/sbin"))]
        system += map(Path, ("/etc/ld.so.cache", "/etc/alternatives"))
        prefixes = map(Path, (sys.base_prefix, sys.prefix))
        ours = [_LIB / "rungs", paths.CPP, _INSIDE, cache.directory()]
        seen = []
        for path in (*system, *prefixes, *ours):
            seen += ["--ro-bind-try", str(path), str(path)]
        variables = [part for pair in _environment().items() for part in ("--setenv", *pair)]
        return [
            *("--unshare-all", "--cap-drop", "ALL", "--new-session", "--die-with-parent"),
            *("--clearenv", *variables),
            *(*seen, "--proc", "/proc", "--dev", "/dev"),
            *("--size", str(_FILES_BYTES), "--tmpfs", "/tmp", "--chdir", "/tmp"),
            *("--remount-ro", "/dev", "--remount-ro", "/"),
        ]


class Trusted:
    """Runs Python as this user, who may read and write what they may, and so may an answer."""

    processes: int | None = None
    started_by = 0

    def command(self, code: str) -> list[str]:
        """Returns the command that runs `code`, as of `Sandbox`."""
        return [
            "env",
            *(f"{name}={value}" for name, value in _environment().items()),
            *_python(code),
        ]


def chosen(trust: bool) -> Sandbox | Trusted:
    """Returns where answers run.

    Args:
        trust: whether without a sandbox.

    Raises:
        UnavailableError: there is no sandbox here, and answers are not trusted.
    """
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
    found = f"import sys; sys.path.append({str(_INSIDE.parent)!r}); {code}"
    return [sys.executable, "-P", "-c", found]


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name.startswith(_SETTINGS)}
    return kept | {
        "PATH": "/usr/bin:/bin",
        "HOME": "/tmp",
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(_LIB),
        "PYTHONDONTWRITEBYTECODE": "1",
        # Memory is kept once it is there: what it costs to get it anew is different every time.
        "MALLOC_MMAP_THRESHOLD_": str(1 << 30),
        "MALLOC_TRIM_THRESHOLD_": str(1 << 32),
        "XDG_CACHE_HOME": str(cache.directory().parent),
    }
