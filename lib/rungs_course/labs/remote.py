"""An answer in a process of its own, whose functions are called as if they were here."""

import contextlib
import itertools
import os
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rungs.devel import start_program
from rungs.errors import UnavailableError
from rungs_course.labs.inside import wire
from rungs_course.labs.inside.building import SubmissionError
from rungs_course.labs.inside.server import PRINTED_BYTES, WHY
from rungs_course.labs.lab import Call, Lab
from rungs_course.labs.sandbox import Launcher


class EndedError(SubmissionError):
    """The process of an answer ended, took too long, or sent something that is not a reply."""


class Clocks(NamedTuple):
    """The time that an answer's processes have used so far, in seconds."""

    computed: float  # CPU time of all of them together, including those that have ended
    waited: float  # for which the thread that calls the answer waited for a busy core


class Answer:
    """The functions that an answer defines, as attributes.

    Its process is started by the first call; `seconds` limits all its calls together. Arguments are
    copied; when a C++ function returns, its changes to writeable arrays are copied back. Objects
    whose class has `remote_methods` stay in this process: an answer can call these methods over the
    same connection. Errors of the lab's own code (`from_lab`) are raised as UnavailableError.
    """

    def __init__(
        self, lab: Lab, code: str, launcher: Launcher, seconds: float, from_lab: bool = False
    ):
        self._lab, self._code, self._launcher, self._from_lab = lab, code, launcher, from_lab
        self._seconds, self._left = seconds, seconds
        self._process: subprocess.Popen | None = None
        self._copies: list[Answer] = []
        self._lock = threading.Lock()
        self._output = tempfile.TemporaryFile()  # noqa: SIM115

    def __enter__(self) -> "Answer":
        return self

    def __exit__(self, *_) -> None:
        for copy in self._copies:
            copy.__exit__()
        if self._process:
            self.resume()
            with contextlib.suppress(OSError, wire.GarbageError, EOFError):
                wire.send(self._connection, wire.encode({"end": True}), self._memory)
                wire.receive(self._connection, 1.0)
            self._stop()
        self._output.close()

    def __getattr__(self, name: str) -> "Function":
        if name.startswith("_"):
            raise AttributeError(name)
        return Function(self, name)

    def apart(self, count: int) -> "list[Answer]":
        """Returns `count` answers of the same text, this one among them, that share nothing."""
        while len(self._copies) < count - 1:
            self._copies.append(
                Answer(self._lab, self._code, self._launcher, self._seconds, self._from_lab)
            )
        answers = [self, *self._copies[: count - 1]]
        for answer in answers:
            answer.start()
        return answers

    def pause(self) -> None:
        """Stops all its processes, whatever they do, until `resume`."""
        stopped: set[int] = set()
        while more := self._processes() - stopped:  # one may have started another meanwhile
            stopped |= more
            _signal(more, signal.SIGSTOP)

    def resume(self) -> None:
        """Continues all its processes."""
        _signal(self._processes(), signal.SIGCONT)

    def clocks(self) -> Clocks:
        """Reads the kernel's clocks of its processes; a call must have been made before."""
        computed = 0.0
        for process in self._processes():
            with contextlib.suppress(OSError):  # it has ended: then its parent has its time
                ended = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[13:15]
                computed += time.clock_gettime(_cpu_clock(process))
                computed += sum(map(int, ended)) / os.sysconf("SC_CLK_TCK")
        return Clocks(computed, waited(self._server))

    def _processes(self) -> set[int]:
        """Returns the ids of its first process and of all of that one's descendants."""
        assert self._process
        ids, pending = set(), [self._process.pid]
        while pending:
            parent = pending.pop()
            ids.add(parent)
            with contextlib.suppress(OSError):  # it has ended
                for thread in Path(f"/proc/{parent}/task").iterdir():
                    pending += map(int, (thread / "children").read_text().split())
        return ids

    def printed(self) -> str:
        """Returns what it has printed so far."""
        self._output.seek(0)
        return self._output.read(PRINTED_BYTES + 1).decode(errors="replace")

    def start(self) -> None:
        """Starts its process, which begins to compile, unless it was started before."""
        if self._process:
            return
        self._connection, answer_end = socket.socketpair()
        memory = os.memfd_create("arrays")
        os.ftruncate(memory, wire.MAX_BYTES)
        self._memory = wire.shared(memory)
        with answer_end, os.fdopen(memory):
            code = f"from inside.server import serve; serve({answer_end.fileno()}, {memory})"
            self._process = start_program(
                self._launcher.command(code),
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=subprocess.STDOUT,
                pass_fds=[answer_end.fileno(), memory],
                start_new_session=True,
            )
        lab, processes = self._lab, self._launcher.processes
        task: dict[str, Any] = {"name": lab.name, "language": lab.language, "defines": lab.defines}
        task["headers"] = lab.headers
        task |= {"harness": lab.harness, "code": self._code, "processes": processes}
        self._built = False
        self._send(wire.encode(task), self._memory)

    def calls(self, calls: Sequence[Call], guard: bool = False) -> tuple[float, list[Any]]:
        """Calls functions one after the other; returns the seconds they took, and the results.

        In C++ a result is a tuple of the value and the writeable arrays. If `guard`, arrays end at
        a guard page, which can't be read or written.
        """
        objects: dict[int, Any] = {}
        request = {"calls": [list(call) for call in calls], "guard": guard}
        parts = wire.encode(request, lambda object: _reference(object, objects))
        seconds, values = self._exchange(parts, objects)
        if not isinstance(values, list) or len(values) != len(calls):
            raise self._garbage_error()
        return seconds, values

    def decoded(self, calls: Sequence[Call]) -> tuple[float, list[Any]]:
        """Sends calls without making them; returns seconds, and the results of the last made."""
        return self._exchange(wire.encode({"idle": [list(call) for call in calls]}), {})

    def _exchange(self, parts: list[Any], objects: dict[int, Any]) -> tuple[float, list[Any]]:
        with self._lock, self._blaming():
            self.start()
            if not self._built:
                _value_of(self._reply(), None)
                self._built, self._server = True, self._server_id()
            began = time.perf_counter()
            self._send(parts, self._memory)
            message = self._receive()
            seconds = time.perf_counter() - began
            raised = None
            while "ask" in (reply := self._decode_reply(message)):
                raised, result = _call_object(reply["ask"], objects)
                self._send(wire.encode(result), None)  # the call's arrays are still in use
                message = self._receive()
            return seconds, _value_of(reply, raised)

    def _server_id(self) -> int:
        """Returns the id of the process that serves; the first one may be the sandbox's."""
        assert self._process
        number = self._process.pid
        for _ in range(self._launcher.started_by):
            number = int(Path(f"/proc/{number}/task/{number}/children").read_text().split()[0])
        return number

    @contextlib.contextmanager
    def _blaming(self) -> Iterator[None]:
        try:
            yield
        except SubmissionError as error:
            if not self._from_lab:
                raise
            words = f"the best known solution or the baseline of lab {self._lab.name} fails here"
            raise UnavailableError(f"{words}: {error}") from None

    def _reply(self) -> dict:
        return self._decode_reply(self._receive())

    def _decode_reply(self, message: tuple[bytes, np.ndarray]) -> dict:
        try:
            reply = wire.decode(*message)
            if not isinstance(reply, dict) or not reply.keys() & {"value", "error", "ask"}:
                raise wire.GarbageError
        except wire.GarbageError:
            raise self._garbage_error() from None
        return reply

    def _send(self, parts: list[Any], memory: np.ndarray | None) -> None:
        self._connection.settimeout(max(1e-3, self._left))
        began = time.monotonic()
        try:
            wire.send(self._connection, parts, memory)
        except TimeoutError:
            raise self._timeout_error() from None
        except OSError:
            raise self._ended_error() from None
        self._left -= time.monotonic() - began

    def _receive(self) -> tuple[bytes, np.ndarray]:
        began = time.monotonic()
        try:
            return wire.receive(self._connection, self._left)
        except TimeoutError:
            raise self._timeout_error() from None
        except wire.GarbageError:
            raise self._garbage_error() from None
        except (EOFError, OSError):
            raise self._ended_error() from None
        finally:
            self._left -= time.monotonic() - began

    def _timeout_error(self) -> EndedError:
        self._stop()
        return EndedError(f"it took longer than {self._seconds:.0f} s")

    def _garbage_error(self) -> EndedError:
        self._stop()
        return EndedError("it interfered with its judging: what it sent is not a reply")

    def _ended_error(self) -> EndedError:
        assert self._process
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        status = self._process.poll()
        self._stop()
        number = -status if status and status < 0 else (status or 0) - 128
        why = WHY.get(number, f"it ended with exit code {status}")
        return EndedError(why if status is not None else "it closed the connection to its judge")

    def _stop(self) -> None:
        assert self._process
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._connection.close()


class Function:
    """A function of an answer."""

    def __init__(self, answer: Answer, name: str, grid: list[int] | None = None):
        self._answer, self._name, self._grid = answer, name, grid

    def __getitem__(self, grid: tuple[int, ...]) -> "Function":
        return Function(self._answer, self._name, list(grid))

    def __call__(self, *args: Any) -> Any:
        _, (value,) = self._answer.calls([Call(self._name, args, self._grid)], guard=True)
        if self._answer._lab.language != "cpp":
            return value
        outputs = [a for a in args if isinstance(a, np.ndarray) and a.flags.writeable]
        try:
            value, results = value
            result_forms = [(result.dtype, result.shape) for result in results]
        except (AttributeError, TypeError, ValueError):
            raise self._answer._garbage_error() from None
        if result_forms != [(array.dtype, array.shape) for array in outputs]:
            raise self._answer._garbage_error()
        for array, result in zip(outputs, results, strict=True):
            array[...] = result
        return value


def waited(process: int | str) -> float:
    """Returns for how many seconds a process's first thread has waited for a core so far."""
    return int(Path(f"/proc/{process}/schedstat").read_text().split()[1]) / 1e9


def _cpu_clock(process: int) -> int:
    """Returns the id of the clock of the CPU time of all of a process's threads."""
    return ~process << 3 | 2  # as the C library's clock_getcpuclockid


def _signal(processes: set[int], number: int) -> None:
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, number)


_numbers = itertools.count()


def _reference(object: Any, objects: dict[int, Any]) -> dict:
    number = next(_numbers)
    objects[number] = object
    return {"number": number, "methods": object.remote_methods, "fields": _fields(object)}


def _fields(object: Any) -> dict[str, Any]:
    return {name: getattr(object, name) for name in object.remote_fields}


def _call_object(request: Any, objects: dict[int, Any]) -> tuple[Exception | None, dict]:
    """Calls a method of an object that stays here; returns its exception, if any, and the reply."""
    try:
        number, method, args = request
        object = objects[number]
        if method not in object.remote_methods:
            raise AttributeError(f"it has no {method!r}")
        value = getattr(object, method)(*args)
        return None, {"value": value, "fields": _fields(object)}
    except Exception as error:
        return error, {"raises": [type(error).__name__, str(error)]}


def _value_of(reply: dict, raised: Exception | None) -> Any:
    if "value" in reply:
        return reply["value"]
    if reply.get("passed_on") and raised:
        raise raised
    raise SubmissionError(f"{reply.get('error')}")
