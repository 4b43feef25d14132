"""Judges a submission, in a process of its own that may crash, hang or be ended."""

import dataclasses
import json
import os
import resource
import signal
import sys

from rungs.labs.building import SubmissionError, build, in_cell
from rungs.labs.catalogue import find
from rungs.labs.lab import Lab
from rungs.measure.turns import timed_rounds

PRINTED_BYTES = 1 << 20
_MEMORY_BYTES = 8 << 30
_REPEATS = 11


def main(pipe: int) -> None:
    """Judges what standard input asks for.

    Args:
        pipe: the number of one that is told, line by line, what is about to be done, and at last
            what was found.
    """
    answers = os.fdopen(pipe, "w", buffering=1)
    request = json.load(sys.stdin)
    resource.setrlimit(resource.RLIMIT_FSIZE, (PRINTED_BYTES, PRINTED_BYTES))
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY_BYTES, _MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for answer in _judged(find(request["lab"]), request["code"]):
        answers.write(json.dumps(answer) + "\n")


def _judged(lab: Lab, code: str):
    """Yields what is about to be done, and at last what was found."""
    try:
        yield {"stage": "being compiled"}
        codes = {name: lab.code(name) for name in ("baseline", "solution")}
        versions = build(lab, {"yours": code} | codes)
        _die_plainly()
        yield {"stage": "being checked"}
        try:
            difference = lab.judge(versions["yours"])
            if difference:
                yield {"difference": dataclasses.asdict(difference)}
                return
            yield {"stage": "being raced"}
            yield {"costs": _costs(lab, versions)}
        except Exception as error:
            if lab.language == "cpp":
                raise
            raise SubmissionError(in_cell(error)) from None
    except SubmissionError as error:
        yield {"problem": str(error)}


def _die_plainly() -> None:
    """Has signals end this process at once: cppyy would print its stack, Python ignores one."""
    for number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGABRT):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)


def _costs(lab: Lab, versions: dict) -> dict[str, list[float]]:
    racers = {name: lab.work(functions) for name, functions in versions.items()}
    if lab.unit != "s":
        return {name: [racer()] for name, racer in racers.items()}
    costs: dict[str, list[float]] = {name: [] for name in racers}
    for name, _, seconds in timed_rounds(racers, repeats=_REPEATS, warmup=1):
        costs[name].append(seconds)
    return costs
