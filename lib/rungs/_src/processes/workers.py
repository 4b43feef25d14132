"""Processes that hold one object each, and what happens when one of them dies."""

import contextlib
import multiprocessing
import os
import signal
import socket
import struct
import tempfile
import threading
import time
import traceback
import weakref
from collections.abc import Callable, Iterable, Sequence
from multiprocessing import forkserver
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, NoReturn

from rungs._src.processes.interrupt import uninterrupted
from rungs.errors import MainGuardError, RungsError, UnavailableError, WorkerDiedError

# The exit code of a process that was about to start others while it imported the script: that lacks
# `if __name__ == "__main__":`, without which each process would start them again.
UNGUARDED = 78

CONTEXT = multiprocessing.get_context("forkserver")
_PRELOADED = ["rungs"]
_SAFE_PATH = "PYTHONSAFEPATH"  # as `python -P`
_STARTING = threading.Lock()  # else two threads would restore each other's value

# Seconds that a worker may take to end once its pipe is closed.
_PATIENCE = 2.0

# Time limit of a call (s): steps of millions of boards in Python take less.
TIMEOUT = 600.0

# Wait in slices (s): while we are suspended (Ctrl-Z) at most one slice of the limit is used up.
_SLICE = 1.0


def preload(*modules: str) -> None:
    """Starts the server that processes are forked from, which imports modules for all of them."""
    with _STARTING:
        _PRELOADED.extend(module for module in modules if module not in _PRELOADED)
        CONTEXT.set_forkserver_preload(_PRELOADED)
        before = os.environ.get(_SAFE_PATH)
        os.environ[_SAFE_PATH] = "1"
        try:
            forkserver.ensure_running()
        except OSError as error:
            if "AF_UNIX" not in str(error):  # a socket's path has at most 107 bytes
                raise
            raise UnavailableError(
                f"processes can't be started: TMPDIR={tempfile.gettempdir()} is too long a path "
                "for their sockets: set TMPDIR to a shorter one, such as /tmp"
            ) from None
        finally:
            if before is None:
                del os.environ[_SAFE_PATH]
            else:
                os.environ[_SAFE_PATH] = before


def _preloadable(make: Callable) -> list[str]:
    """Returns a function's module in a list, if it is of this package: others may be hidden."""
    return [make.__module__] if make.__module__.partition(".")[0] == "rungs" else []


def end_if_unguarded() -> None:
    """Ends this process by `UNGUARDED` if another started it and it still imports the script."""
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        os._exit(UNGUARDED)


def limit(pipe: Connection, timeout: float | None) -> None:
    """Makes sending to and receiving from a pipe raise BlockingIOError after `timeout` seconds."""
    if timeout is None:
        return
    seconds, fraction = divmod(timeout, 1)
    time_value = struct.pack("ll", int(seconds), max(1, int(fraction * 1e6)))
    with socket.socket(fileno=os.dup(pipe.fileno())) as end:
        end.setblocking(True)  # whatever the default is: it is the pipe's, too
        end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, time_value)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, time_value)


def failure(
    worker: int, process: BaseProcess, error: Exception, timeout: float | None
) -> RungsError:
    """Ends a worker whose pipe failed or timed out (s); returns the error that names it."""
    if isinstance(error, TimeoutError | BlockingIOError):
        process.kill()  # it may never see that its pipe is closed
        return WorkerDiedError(worker, f"(process {process.pid}) did not answer in {timeout} s")
    process.join(_PATIENCE)
    code = process.exitcode
    if code == UNGUARDED:
        return MainGuardError()
    name = signal.Signals(-code).name if code and code < 0 else f"exit code {code}"
    return WorkerDiedError(worker, f"(process {process.pid}) died: {name}")


class Workers:
    """A process per entry of `arguments`, each with an object `make(*entry)`.

    A worker ends with `close`, with this object and with our process. It is forked from a server,
    as a fork of this process would copy locks of threads that it doesn't copy. Only with
    `daemon=False` may it start processes. A call of more than `timeout` seconds kills it.
    """

    def __init__(
        self,
        make: Callable,
        arguments: Sequence[tuple],
        daemon: bool = True,
        timeout: float | None = None,
    ):
        end_if_unguarded()
        self._timeout = timeout
        self._processes: list[BaseProcess] = []
        self._pipes: list[Connection] = []
        self._stop = weakref.finalize(self, stop, self._processes, self._pipes)
        self._waiting: dict[Connection, int] = {}
        self._dead: RungsError | None = None
        try:
            preload(*_preloadable(make))
            for entry in arguments:
                self._start_again(make, entry, daemon)
        except OSError as error:  # no more files or processes for us
            self.close()
            raise WorkerDiedError(len(self._pipes), f"could not be started: {error}") from None
        starting = None if timeout is None else max(timeout, TIMEOUT)
        self._receive(range(len(self._pipes)), starting)

    def _start_again(self, make: Callable, entry: tuple, daemon: bool) -> None:
        """Starts a worker; tries again where the server has died and that is not yet noticed."""
        end = time.monotonic() + _PATIENCE
        while True:
            try:
                return self._start(make, entry, daemon)
            except ConnectionError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.01)
                preload(*_preloadable(make))

    def _start(self, make: Callable, entry: tuple, daemon: bool) -> None:
        parent_end, child_end = CONTEXT.Pipe()
        with contextlib.ExitStack() as unless_started:
            unless_started.callback(parent_end.close)
            with child_end:  # once it is the worker's alone, the pipe ends when the worker does
                process = CONTEXT.Process(
                    target=_serve, args=(child_end, make, entry), daemon=daemon
                )
                process.start()
            unless_started.pop_all()
        self._processes.append(process)
        self._pipes.append(parent_end)
        limit(parent_end, self._timeout)

    @property
    def pids(self) -> list[int]:
        return [process.pid for process in self._processes if process.pid]

    def call(self, function: Callable, arguments: Sequence[tuple]) -> list:
        """Calls `function(object, *entry)` in all workers; where one fails, all end."""
        return self._exchange(dict(enumerate((function, entry) for entry in arguments)))

    def call_one(self, worker: int, function: Callable, *arguments: Any) -> Any:
        return self._exchange({worker: (function, arguments)})[0]

    def close(self) -> None:
        self._stop()

    def _exchange(self, calls: dict[int, tuple]) -> list:
        if self._dead:
            raise self._dead
        try:
            with uninterrupted():
                for worker, call in calls.items():
                    self._send(worker, call)
                return self._receive(calls, self._timeout)
        except KeyboardInterrupt:
            if self._waiting:  # pressed twice: some answers have not been read
                self.close()
                self._dead = WorkerDiedError(next(iter(calls)), "was not waited for")
            raise

    def _send(self, worker: int, message: tuple) -> None:
        try:
            self._pipes[worker].send(message)
        except OSError as error:
            self._fail(worker, error, self._timeout)

    def _receive(self, workers: Iterable[int], timeout: float | None) -> list:
        results = dict.fromkeys(workers)
        self._waiting = {self._pipes[worker]: worker for worker in results}
        while self._waiting:
            for pipe in self._answered(timeout):
                worker = self._waiting[pipe]
                try:
                    raised, results[worker] = pipe.recv()
                except (EOFError, OSError) as error:
                    self._fail(worker, error, timeout)
                if raised:
                    self._give_up(WorkerDiedError(worker, f"raised\n{results[worker]}"))
                del self._waiting[pipe]
        return list(results.values())

    def _answered(self, timeout: float | None) -> list[Connection]:
        """Waits until some of the awaited workers answer; gives up on the first if none does."""
        pipes = list(self._waiting)
        left = float("inf") if timeout is None else timeout
        while left > 0:
            if ready := wait(pipes, min(left, _SLICE)):
                return ready  # type: ignore[return-value]  # some of the pipes
            left -= _SLICE
        self._fail(self._waiting[pipes[0]], TimeoutError(), timeout)

    def _fail(self, worker: int, error: Exception, timeout: float | None) -> NoReturn:
        self._give_up(failure(worker, self._processes[worker], error, timeout))

    def _give_up(self, error: RungsError) -> NoReturn:
        self.close()
        self._dead = error
        raise error from None


def _serve(pipe, make: Callable, arguments: tuple) -> None:
    # Ctrl-C reaches all processes of a terminal or notebook; it is the parent's to act on.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(EOFError, OSError):  # the parent is gone
        served = None
        while True:
            try:
                if served is None:
                    served, result = make(*arguments), None
                else:
                    function, entry = pipe.recv()
                    result = function(served, *entry)
            except (EOFError, OSError):
                raise
            except Exception:
                pipe.send((True, traceback.format_exc()))
                return
            pipe.send((False, result))


def stop(processes: Sequence[BaseProcess], pipes: Sequence[Connection]) -> None:
    """Closes the pipes of processes, which ends them, and kills those that do not end."""
    for pipe in pipes:
        pipe.close()
    deadline = time.monotonic() + _PATIENCE
    for process in processes:
        process.join(max(0, deadline - time.monotonic()))
        if process.exitcode is None:
            process.kill()
            process.join()
