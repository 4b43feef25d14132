"""Judges a submission under supervision: whatever it does, the caller lives on."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile

from rungs.labs import judge, record, submissions
from rungs.labs.catalogue import find
from rungs.labs.lab import Difference, Lab
from rungs.labs.verdict import Verdict

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


def check(name: str, code: str | None = None, *, seconds: float = _SECONDS) -> Verdict:
    """Plays what was submitted for a lab against that lab's oracle, and races it if it is right.

    It runs in a process of its own with limits of time, memory and printing. That guards against
    mistakes; it is no sandbox against malice.

    Args:
        name: of the lab, "03a" or "lab-03a".
        code: what is judged; by default what was last submitted in this process.
        seconds: after which it is ended.

    Returns:
        What was found; a notebook shows it in words and, where a position differs, as a board.

    Raises:
        ConfigurationError: no such lab, or nothing was submitted.
    """
    lab = find(name)
    answer = submissions.code_of(lab) if code is None else code
    verdict = _supervised(lab, answer, seconds)
    if code is None:
        record.add(verdict, answer)
    return verdict


def _supervised(lab: Lab, code: str, seconds: float) -> Verdict:
    """Has a process of its own judge, and says what became of it."""
    reads, writes = os.pipe()
    os.set_blocking(reads, False)  # a child that it left behind may hold the other end
    with tempfile.TemporaryFile() as output, os.fdopen(reads, "rb") as answers:
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", f"from {judge.__name__} import main; main({writes})"],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            pass_fds=[writes],
            start_new_session=True,
        )
        os.close(writes)
        request = json.dumps({"lab": lab.name, "code": code})
        try:
            process.communicate(request.encode(), timeout=seconds)
            ending = _WHY.get(-process.returncode, f"it ended with exit code {process.returncode}")
        except subprocess.TimeoutExpired:
            ending = f"it took longer than {seconds:.0f} s"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        told = [json.loads(line) for line in (answers.read() or b"").splitlines()]
        output.seek(0)
        printed = output.read(judge.PRINTED_BYTES + 1).decode(errors="replace")
    return _verdict(
        lab, told, ending, printed if len(printed) < _SHOWN else printed[:_SHOWN] + " …"
    )


def _verdict(lab: Lab, told: list[dict], ending: str, printed: str) -> Verdict:
    found = told[-1] if told else {}
    if "costs" in found:
        return Verdict(lab, costs=found["costs"], printed=printed)
    if "difference" in found:
        return Verdict(lab, difference=Difference(**found["difference"]), printed=printed)
    if "problem" in found:
        return Verdict(lab, problem=found["problem"], printed=printed)
    stage = found.get("stage", "being started")
    return Verdict(lab, problem=f"While {stage}, {ending}.", printed=printed)
