"""Judges a submission in a process of its own: whatever it does there, the caller survives."""

import contextlib
import ctypes
import dataclasses
import json
import math
import os
import re
import secrets
import signal
import statistics
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from typing import Any

from rungs._src.native import cling
from rungs._src.programs import start_program
from rungs.errors import RungsError, UnavailableError
from rungs_course.labs import explaining, record, submissions
from rungs_course.labs.inside.building import SubmissionError, build, in_cell
from rungs_course.labs.inside.server import PRINTED_BYTES, WHY, die_plainly, limit_resources
from rungs_course.labs.lab import Difference, Lab, WrongError, find
from rungs_course.labs.verdict import Verdict
from rungs_course.measure.turns import timed_rounds

_SECONDS = 60.0
_REPEATS = 11
MAX_SHOWN = 2000  # characters that it printed
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def check(name: str, code: str | None = None, *, seconds: float = _SECONDS) -> Verdict:
    """Compares a submission for a lab with that lab's oracle, and races it if it is right.

    It runs in a process of its own with limits on time, memory and output. That guards against
    mistakes; it is not a sandbox against malice. Where a lab asks for a prediction (`predict`), the
    submission is raced only once there is one; then counts explain the race.
    """
    lab = find(name)
    answer = submissions.code_of(lab) if code is None else code
    prediction = submissions.prediction_of(lab)
    verdict = _supervised(lab, answer, seconds, race=not lab.per or bool(prediction))
    if lab.per and verdict.costs:
        middle = {name: statistics.median(costs) for name, costs in verdict.costs.items()}
        counts = tuple(explaining.explain(lab, answer, middle))
        verdict = dataclasses.replace(verdict, prediction=prediction, counts=counts)
    if code is None:
        try:
            record.add(verdict, answer)
        except (RungsError, OSError) as error:
            warnings.warn(f"this check was not recorded: {error}", stacklevel=2)
    return verdict


def plain(text: str, limit: int = 4000) -> str:
    """Escapes lone surrogates and control characters except tab and newline; shortens long text."""
    if len(text) > limit:
        text = f"{text[: limit // 2]} […] {text[-(limit // 2) :]}"
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def one_line(text: str) -> str:
    """Returns `plain` text whose tabs and newlines are escaped as well: a file's name."""
    return plain(text).replace("\n", r"\n").replace("\t", r"\t")


def _supervised(lab: Lab, code: str, seconds: float, race: bool = True) -> Verdict:
    """Judges in a separate process, and returns the verdict."""
    key = secrets.token_hex(8)
    # Files rather than pipes: neither writing to them nor reading from them blocks.
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as messages:
        judges = f"from {__name__} import judge; judge({messages.fileno()})"
        process = start_program(
            [sys.executable, "-P", "-c", judges],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            pass_fds=[messages.fileno()],
            start_new_session=True,
        )
        request = json.dumps({"lab": lab.name, "code": code, "key": key, "race": race})
        try:
            process.communicate(request.encode(), timeout=seconds)
            status = process.returncode
            ended = f"with exit code {status}" if status >= 0 else f"by signal {-status}"
            ending = WHY.get(-status, f"it ended {ended}")
        except subprocess.TimeoutExpired:
            ending = f"it took longer than {seconds:.0f} s"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        messages.seek(0)
        written = messages.read(PRINTED_BYTES)
        output.seek(0)
        printed = output.read(PRINTED_BYTES + 1).decode(errors="replace")
    printed_text = plain(printed[:MAX_SHOWN]) + (" …" if len(printed) > MAX_SHOWN else "")
    try:
        kind, content = [("stage", "being started"), *_messages(written, key)][-1]
        difference = Difference(**content) if kind == "difference" else None
    except (ValueError, TypeError, AttributeError):
        problem = "It interfered with its judging: it wrote to a file that it had not opened."
        return Verdict(lab, problem=problem, printed=printed_text)
    if kind == "unavailable":
        raise UnavailableError(content)
    if kind == "costs":
        return Verdict(lab, costs=content, printed=printed_text)
    if difference:
        return Verdict(lab, difference=difference, printed=printed_text)
    problem = content if kind == "problem" else f"While {content}, {ending}."
    return Verdict(lab, problem=problem, printed=printed_text)


def _messages(written: bytes, key: str) -> list[tuple[str, Any]]:
    """Returns the judge's messages, each with its kind; ValueError if anything else was written."""
    messages: list[tuple[str, Any]] = []
    for line in written.splitlines():
        begins, _, text = line.partition(b" ")
        if begins != key.encode() or (messages and messages[-1][0] != "stage"):
            raise ValueError(line)
        messages += json.loads(text).items()
    return messages


def judge(descriptor: int) -> None:
    """Judges the request on standard input, and ends the process, which may crash or hang before.

    The file of `descriptor` receives a line for each stage that begins, and one for the result,
    each after the request's key, which no submission writes by accident.
    """
    request = json.load(sys.stdin)
    for message in _judge_in_stages(find(request["lab"]), request["code"], request["race"]):
        os.write(descriptor, f"{request['key']} {json.dumps(message)}\n".encode())
    with contextlib.suppress(AttributeError, ValueError, OSError):  # it may have been closed
        sys.stdout.flush()
    ctypes.CDLL(None).fflush(None)
    os._exit(0)  # without waiting for threads that the submission has left


def _judge_in_stages(lab: Lab, code: str, race: bool) -> Iterator[dict[str, Any]]:
    """Yields each stage before it begins, and at last the result."""
    try:
        if lab.language == "cpp":
            cling.interpreter()  # the first time it writes larger files than are allowed below
        limit_resources()
        yield {"stage": "being compiled"}
        codes = {name: lab.code(name) for name in ("baseline", "solution")}
        versions = build(lab, {"yours": code} | codes)
        die_plainly()
        yield {"stage": "being checked"}
        try:
            difference = lab.first_difference(versions["yours"], versions["baseline"])
            if difference:
                yield {"difference": _plain(difference)}
                return
            if not race:
                yield {"costs": {}}
                return
            yield {"stage": "being raced" if lab.unit == "s" else "its cost being counted"}
            yield {"costs": _costs(lab, versions)}
        except WrongError as error:
            yield {"difference": _plain(error.difference)}
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
    return fields | {name: plain(fields[name]) for name in ("output", "expected", "got")}


def _costs(lab: Lab, versions: dict) -> dict[str, list[float]]:
    racers = {name: lab.work(functions) for name, functions in versions.items()}
    if lab.bound:
        racers["bound"] = lab.bound(versions["solution"])
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
