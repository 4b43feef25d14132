"""Judges a submission, in a process of its own that may crash, hang or be ended."""

import contextlib
import ctypes
import dataclasses
import json
import math
import os
import resource
import signal
import sys

from rungs.errors import UnavailableError
from rungs_course.labs.building import SubmissionError, build, in_cell
from rungs_course.labs.catalogue import find
from rungs_course.labs.lab import Difference, Lab, plain
from rungs_course.measure.turns import timed_rounds

PRINTED_BYTES = 1 << 20
_MEMORY_BYTES = 8 << 30
_REPEATS = 11


def main(descriptor: int) -> None:
    """Judges what standard input asks for, and ends the process.

    Args:
        descriptor: of a file that gets a line for what is about to be done and at last for what was
            found. Each begins with the request's key, which a submission does not meet by accident.
    """
    request = json.load(sys.stdin)
    resource.setrlimit(resource.RLIMIT_FSIZE, (PRINTED_BYTES, PRINTED_BYTES))
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY_BYTES, _MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for message in _judged(find(request["lab"]), request["code"]):
        os.write(descriptor, f"{request['key']} {json.dumps(message)}\n".encode())
    with contextlib.suppress(AttributeError, ValueError, OSError):  # it may have been closed
        sys.stdout.flush()
    ctypes.CDLL(None).fflush(None)
    os._exit(0)  # without waiting for threads that the submission has left


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
                yield {"difference": _plain(difference)}
                return
            yield {"stage": "being raced" if lab.unit == "s" else "its cost being counted"}
            yield {"costs": _costs(lab, versions)}
        except Exception as error:
            if lab.language == "cpp":
                raise
            raise SubmissionError(in_cell(error)) from None
    except SubmissionError as error:
        yield {"problem": plain(str(error))}
    except UnavailableError as error:
        yield {"unavailable": str(error)}


def _plain(difference: Difference) -> dict:
    fields = dataclasses.asdict(difference)
    return fields | {name: plain(fields[name]) for name in ("what", "expected", "got")}


def _die_plainly() -> None:
    """Has signals end this process at once: cppyy would print its stack, Python ignores one."""
    for number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGABRT):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)


def _costs(lab: Lab, versions: dict) -> dict[str, list[float]]:
    racers = {name: lab.work(functions) for name, functions in versions.items()}
    costs: dict[str, list[float]] = {name: [] for name in racers}
    if lab.unit != "s":
        for name, racer in racers.items():
            costs[name].append(float(racer()))
    else:
        for name, _, seconds in timed_rounds(racers, repeats=_REPEATS, warmup=1):
            costs[name].append(seconds)
    if not all(math.isfinite(cost) and cost > 0 for cost in costs["yours"]):
        raise SubmissionError(f"it costs {costs['yours'][0]:g} {lab.unit}, which can't be compared")
    return costs
