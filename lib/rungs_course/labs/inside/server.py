"""Calls an answer's functions at a judge's request, in a process that does nothing else.

Whatever the answer does to this process, it can only change what is sent to the judge: the judge
makes the inputs, holds the clock, and knows the right results.
"""

import builtins
import contextlib
import ctypes
import gc
import os
import random
import resource
import signal
import socket
import sys
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from . import wire
from .building import SubmissionError, build, in_cell, plain
from .guards import guarded, guarded_empty

PRINTED_BYTES = 1 << 20
MEMORY_BYTES = 8 << 30

WHY: dict[int, str] = {
    signal.SIGSEGV: "it accessed memory that is not its own (SIGSEGV)",
    signal.SIGABRT: "it was aborted (SIGABRT)",
    signal.SIGFPE: "it divided by zero (SIGFPE)",
    signal.SIGILL: "it reached an illegal instruction (SIGILL)",
    signal.SIGBUS: "it accessed memory that does not exist (SIGBUS)",
    signal.SIGXFSZ: f"it printed, or wrote to a file, more than {PRINTED_BYTES >> 20} MB",
    signal.SIGKILL: "it was killed (SIGKILL), perhaps as memory ran out",
}


def serve(descriptor: int, memory: int) -> None:
    """Compiles the answer in the first message, and calls its functions until the judge ends it.

    `descriptor` is that of a socket, `memory` that of a file that is shared with the judge.
    """
    link, arrays = _Link(socket.socket(fileno=descriptor)), wire.shared(memory)
    lab = SimpleNamespace(**link.receive(arrays))
    try:
        if lab.language == "cpp":
            from rungs.devel import cling

            cling.interpreter()  # the first time it writes larger files than are allowed below
        limit_resources()
        if lab.processes:
            resource.setrlimit(resource.RLIMIT_NPROC, (lab.processes, lab.processes))
        functions = build(lab, {"yours": lab.code})["yours"]
        die_plainly()
    except SubmissionError as error:
        link.send({"error": plain(str(error)), "stage": "building"})
        _end()
    if lab.language == "cuda":  # Numba's simulator spins while threads wait for the judge's objects
        sys.setswitchinterval(1e-5)
    gc.disable()  # else it would run at any time, after so many objects that the judge has sent
    link.send({"value": None})
    last: dict = {"value": []}
    while True:
        request = link.receive(arrays)
        if "end" in request:
            _end()
        if "calls" in request:
            last = _reply(lab, functions, link, **request)
        link.send(last)  # a request without calls gets the previous reply


def _end() -> None:
    with contextlib.suppress(AttributeError, ValueError, OSError):  # it may have been closed
        sys.stdout.flush()
    ctypes.CDLL(None).fflush(None)
    os._exit(0)  # without waiting for threads that the answer has left


def limit_resources() -> None:
    """Limits, irrevocably, what this process may print, write and keep in memory."""
    for limit, value in (
        (resource.RLIMIT_FSIZE, PRINTED_BYTES),
        (resource.RLIMIT_DATA, MEMORY_BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(limit, (value, value))


def die_plainly() -> None:
    """Makes signals kill this process at once: cppyy prints its stack, Python ignores SIGXFSZ."""
    for number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGABRT):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)


def _reply(lab: Any, functions: Any, link: "_Link", calls: list, guard: bool) -> dict:
    """Returns a reply: the results of all calls, or what the first that failed raised."""
    try:
        if lab.language == "cpp":
            return {"value": [_call_cpp(functions, guard, *call) for call in calls]}
        return {"value": [_call_python(functions, *call) for call in calls]}
    except Exception as error:
        passed_on = bool(link.raised) and error is link.raised[-1]
        return {"error": in_cell(error), "passed_on": passed_on}


def _call_python(functions: Any, name: str, args: list, mode: Any) -> Any:
    """Calls a function of Python, as `Call.mode` tells."""
    function = getattr(functions, name)
    if mode == "each":
        return np.array([function(*row) for row in zip(*(a.tolist() for a in args), strict=True)])
    if mode == "chain":
        first, rows = args
        for row in rows:
            first, *others = function(first, row)
        return (first, *others)
    return function[tuple(mode)](*args) if mode else function(*args)


def _call_cpp(functions: Any, guard: bool, name: str, args: list, _: Any) -> tuple:
    """Calls a function of C++; returns its result, and the arrays that it may write to."""
    if guard:
        args = [_guarded(arg) if isinstance(arg, np.ndarray) else arg for arg in args]
    value = getattr(functions, name)(*args)
    return value, [a for a in args if isinstance(a, np.ndarray) and a.flags.writeable]


def _guarded(array: np.ndarray) -> np.ndarray:
    if not array.flags.writeable:
        return guarded(array)
    copy = guarded_empty(array.shape, array.dtype)
    copy[...] = array
    return copy


class _Link:
    """The connection to the judge."""

    def __init__(self, connection: socket.socket):
        self._connection, self._lock = connection, threading.Lock()
        self.raised: list[Exception] = []  # by methods of the judge's objects
        self._make: dict[str, Callable[[Any], Any]] = {
            "generator": np.random.default_rng,
            "random": random.Random,
            "moves": _moves,
            "object": lambda stub: _Stub(self, **stub),
        }

    def send(self, message: dict) -> None:
        try:
            parts = wire.encode(message)
        except Exception as error:  # objects of the answer may raise anything
            parts = wire.encode({"error": in_cell(error)})
        wire.send(self._connection, parts)

    def receive(self, memory: np.ndarray | None = None) -> dict:
        try:
            message = wire.receive(self._connection, memory=memory)
        except (EOFError, ConnectionError):
            os._exit(0)  # the judge is gone
        return wire.decode(*message, self._make)

    def ask(self, number: int, method: str, args: tuple) -> dict:
        """Has the judge call a method of an object of its own."""
        with self._lock:  # the answer may have threads
            self.send({"ask": [number, method, list(args)]})
            reply = self.receive()  # not by shared memory, which holds the call's arrays
        if "raises" in reply:
            name, text = reply["raises"]
            kind = getattr(builtins, name, RuntimeError)
            self.raised.append(kind(text))
            raise self.raised[-1]
        return reply


class _Stub:
    """A proxy for an object of the judge: has its methods, and its fields as last received."""

    def __init__(self, link: _Link, number: int, methods: list[str], fields: dict[str, Any]):
        self.__dict__.update(fields)
        self._link, self._number, self._methods = link, number, methods

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._methods:
            raise AttributeError(f"it has no {name!r}")
        return lambda *args: self._call(name, *args)

    def _call(self, name: str, *args: Any) -> Any:
        reply = self._link.ask(self._number, name, args)
        self.__dict__.update(reply["fields"])
        return reply["value"]

    def __getitem__(self, index: Any) -> Any:
        return self._call("__getitem__", index)

    def __setitem__(self, index: Any, value: Any) -> None:
        self._call("__setitem__", index, value)

    def __len__(self) -> int:
        return self.shape[0]


def _moves(squares: np.ndarray) -> list:
    import chess

    return [chess.Move(start, end, piece or None) for start, end, piece in squares.tolist()]
