"""Judges a submission under supervision: whatever it does, the caller lives on."""

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import warnings
from typing import Any

from rungs._src.core.schema import schema_error
from rungs.errors import RungsError, UnavailableError
from rungs_course.labs import judge, record, submissions
from rungs_course.labs.catalogue import find
from rungs_course.labs.lab import Difference, Lab, plain
from rungs_course.labs.verdict import Verdict

_SECONDS = 60.0
_SHOWN = 2000  # of what it printed, characters

_WHY: dict[int, str] = {
    signal.SIGSEGV: "it read or wrote where nothing of its own is (SIGSEGV)",
    signal.SIGABRT: "it was aborted (SIGABRT)",
    signal.SIGFPE: "it divided by zero (SIGFPE)",
    signal.SIGILL: "it reached code that must not be reached (SIGILL)",
    signal.SIGBUS: "it read or wrote where nothing is (SIGBUS)",
    signal.SIGXFSZ: f"it printed more than {judge.PRINTED_BYTES >> 20} MB",
    signal.SIGKILL: "it was killed (SIGKILL), perhaps as memory ran out",
}

# The judge's messages: stages, and then at most one of the others.
_FORMS = {
    "stage": str,
    "problem": str,
    "unavailable": str,
    "difference": {
        "what": str,
        "expected": str,
        "got": str,
        "fen": (str, type(None)),
        "wrong": [int],
        "missing": [int],
    },
    "costs": {"yours": [float], "baseline": [float], "solution": [float]},
}


def check(name: str, code: str | None = None, *, seconds: float = _SECONDS) -> Verdict:
    """Plays what was submitted for a lab against that lab's oracle, and races it if it is right.

    It runs in a process of its own with limits of time, memory and printing. That guards against
    mistakes; it is no sandbox against malice.

    Args:
        name: of the lab, "03a" or "lab-03a".
        code: what is judged; by default what was last submitted in this process.
        seconds: after which it is ended.

    Returns:
        What was found; a notebook shows it in words and, where a position differs, as a board. A
        warning says so where the user's record can't keep it.

    Raises:
        ConfigurationError: no such lab, nothing was submitted, or the last cell failed.
        UnavailableError: this machine lacks a package that the lab needs.
    """
    lab = find(name)
    answer = submissions.code_of(lab) if code is None else code
    verdict = _supervised(lab, answer, seconds)
    if code is None:
        try:
            record.add(verdict, answer)
        except (RungsError, OSError) as error:
            warnings.warn(f"this check was not recorded: {error}", stacklevel=2)
    return verdict


def _supervised(lab: Lab, code: str, seconds: float) -> Verdict:
    """Has a process of its own judge, and returns what became of it."""
    key = secrets.token_hex(8)
    # Files, as they take what is written at once and never keep their reader waiting.
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as messages:
        process = subprocess.Popen(
            [
                *(sys.executable, "-P", "-c"),
                f"from {judge.__name__} import main; main({messages.fileno()})",
            ],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            pass_fds=[messages.fileno()],
            start_new_session=True,
        )
        request = json.dumps({"lab": lab.name, "code": code, "key": key})
        try:
            process.communicate(request.encode(), timeout=seconds)
            status = process.returncode
            ended = f"with exit code {status}" if status >= 0 else f"by signal {-status}"
            ending = _WHY.get(-status, f"it ended {ended}")
        except subprocess.TimeoutExpired:
            ending = f"it took longer than {seconds:.0f} s"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        messages.seek(0)
        written = messages.read(judge.PRINTED_BYTES)
        output.seek(0)
        printed = output.read(judge.PRINTED_BYTES + 1).decode(errors="replace")
    shown = plain(printed[:_SHOWN]) + (" …" if len(printed) > _SHOWN else "")
    return _verdict(lab, _read(written, key), ending, shown)


def _read(written: bytes, key: str) -> list[tuple[str, Any]] | None:
    """Returns the judge's messages, each with its kind; None if anything else was written there."""
    messages: list[tuple[str, Any]] = []
    for line in written.splitlines():
        begins, _, text = line.partition(b" ")
        try:
            ((kind, what),) = json.loads(text).items()
        except (ValueError, AttributeError, RecursionError):
            return None
        if begins != key.encode() or kind not in _FORMS or schema_error(what, _FORMS[kind]):
            return None
        messages.append((kind, what))
    if any(kind != "stage" for kind, _ in messages[:-1]):
        return None
    return messages


def _verdict(
    lab: Lab, messages: list[tuple[str, Any]] | None, ending: str, printed: str
) -> Verdict:
    if messages is None:
        problem = "It disturbed its own judging: it wrote to a file that it had not opened."
        return Verdict(lab, problem=problem, printed=printed)
    kind, what = [("stage", "being started"), *messages][-1]
    if kind == "unavailable":
        raise UnavailableError(what)
    if kind == "costs":
        return Verdict(lab, costs=what, printed=printed)
    if kind == "difference":
        return Verdict(lab, difference=Difference(**what), printed=printed)
    problem = what if kind == "problem" else f"While {what}, {ending}."
    return Verdict(lab, problem=problem, printed=printed)
