"""Processes that serve one object each, and what happens when one of them dies."""

import contextlib
import multiprocessing
import signal
import time
import traceback
import weakref
from collections.abc import Callable, Iterable, Sequence
from multiprocessing.connection import wait

from rungs.errors import WorkerDiedError
from rungs.processes.interrupt import uninterrupted

CONTEXT = multiprocessing.get_context("forkserver")
_PRELOADED = ["rungs"]  # before PyTorch, whose OpenMP would be in its threads' way

# How long a worker may take to see that nobody wants it any more.
_PATIENCE = 2.0


def preload(module: str) -> None:
    """Lets the server that processes are forked from import a module, once for all of them.

    The server begins with the first process, and takes no module after that: each process then
    imports it by itself.

    Args:
        module: its name.
    """
    if module not in _PRELOADED:
        _PRELOADED.append(module)
    CONTEXT.set_forkserver_preload(_PRELOADED)


class Workers:
    """A process per entry of `arguments`, each with an object `make(*entry)` whose methods we call.

    A worker ends with `close`, with this object, and, as it sees its pipe close, with the process
    that made it, whatever kills that. Processes are forked from a server that has no threads: a
    fork of this process would copy the locks of threads that it doesn't copy.

    Args:
        make: a function that can be pickled; called in the worker.
        arguments: of `make`, one tuple per worker.
        daemon: False where they start processes themselves, which a daemon may not.

    Raises:
        WorkerDiedError: a worker could not be started, or `make` raised.
    """

    def __init__(self, make: Callable, arguments: Sequence[tuple], daemon: bool = True):
        preload(make.__module__)
        self._processes, self._pipes = [], []
        self._stop = weakref.finalize(self, _stop, self._processes, self._pipes)
        self._waiting = {}
        self._dead: WorkerDiedError | None = None
        for entry in arguments:
            ours, theirs = CONTEXT.Pipe()
            process = CONTEXT.Process(target=_serve, args=(theirs, make, entry), daemon=daemon)
            process.start()
            # Once it is the worker's alone, the pipe ends when the worker does.
            theirs.close()
            self._processes.append(process)
            self._pipes.append(ours)
        self._receive(range(len(self._pipes)))

    @property
    def pids(self) -> list[int]:
        """The process ids of all workers, in order."""
        return [process.pid for process in self._processes]

    def call(self, method: str, arguments: Sequence[tuple]) -> list:
        """Calls a method of every worker's object, all at the same time.

        Args:
            method: its name.
            arguments: one tuple per worker.

        Returns:
            What each returned.

        Raises:
            WorkerDiedError: a worker died or its method raised. All workers are stopped, and so is
                every later call.
        """
        return self._exchange(dict(enumerate((method, entry) for entry in arguments)))

    def call_one(self, worker: int, method: str, *arguments):
        """Calls a method of one worker's object."""
        return self._exchange({worker: (method, arguments)})[0]

    def close(self) -> None:
        """Stops all workers; may be called twice."""
        self._stop()

    def _exchange(self, calls: dict[int, tuple]) -> list:
        if self._dead:
            raise self._dead
        try:
            with uninterrupted():
                for worker, call in calls.items():
                    self._send(worker, call)
                return self._receive(calls)
        except KeyboardInterrupt:
            if self._waiting:  # pressed twice: answers are on their way that nobody will read
                self.close()
                self._dead = WorkerDiedError(next(iter(calls)), "was not waited for")
            raise

    def _send(self, worker: int, message: tuple) -> None:
        try:
            self._pipes[worker].send(message)
        except OSError:
            self._fail(worker)

    def _receive(self, workers: Iterable[int]) -> list:
        results = dict.fromkeys(workers)
        self._waiting = {self._pipes[worker]: worker for worker in results}
        while self._waiting:
            for pipe in wait(list(self._waiting)):
                worker = self._waiting[pipe]
                try:
                    raised, results[worker] = pipe.recv()
                except (EOFError, OSError):
                    self._fail(worker)
                if raised:
                    self._fail(worker, f"raised\n{results[worker]}")
                del self._waiting[pipe]
        return list(results.values())

    def _fail(self, worker: int, why: str | None = None) -> None:
        if why is None:
            process = self._processes[worker]
            process.join(_PATIENCE)
            code = process.exitcode
            name = signal.Signals(-code).name if code and code < 0 else f"exit code {code}"
            why = f"(process {process.pid}) died: {name}"
        self.close()
        self._dead = WorkerDiedError(worker, why)
        raise self._dead


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
                    method, entry = pipe.recv()
                    result = getattr(served, method)(*entry)
            except (EOFError, OSError):
                raise
            except Exception:
                pipe.send((True, traceback.format_exc()))
                return
            pipe.send((False, result))


def _stop(processes: list, pipes: list) -> None:
    for pipe in pipes:
        pipe.close()
    deadline = time.monotonic() + _PATIENCE
    for process in processes:
        process.join(max(0, deadline - time.monotonic()))
        if process.exitcode is None:
            process.kill()
            process.join()
