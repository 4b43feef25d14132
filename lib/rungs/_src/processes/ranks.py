"""Starting MPI ranks, and naming the one that dies."""

import contextlib
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from rungs._src.core.folder import temporary_dir
from rungs._src.processes.parent_death import signalled_at_parents_death
from rungs._src.programs import start_program
from rungs.errors import ConfigurationError, UnavailableError, WorkerDiedError, install_hint


def launch(
    ranks: int, script: str, arguments: Sequence[str] = (), *, hosts: str = "", module: bool = False
) -> None:
    """Runs a script, or a module, on ranks of `hosts`, by default this one, and waits for it."""
    if ranks < 1:
        raise ConfigurationError(f"ranks={ranks} is not at least 1")
    if module:
        _check_module(script)
    elif not Path(script).is_file():
        raise ConfigurationError(f"no script {script}")
    with temporary_dir() as folder:
        command = [_mpiexec(), *(["-hosts", hosts] if hosts else []), "-n", str(ranks)]
        command += [sys.executable, "-P", "-m", "rungs._src.processes.rank", folder]
        command += ["-m", script, *arguments] if module else [script, *arguments]
        # mpiexec dies with this process; then its ranks see that it is gone.
        with start_program(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            preexec_fn=signalled_at_parents_death(signal.SIGTERM),
        ) as job:
            printed: list[str] = []
            died: list[tuple[int, int]] = []
            watch = threading.Thread(target=_watch, args=(Path(folder), job, died))
            copies = [
                threading.Thread(target=_copy, args=(stream, to, printed))
                for stream, to in ((job.stdout, sys.stdout), (job.stderr, sys.stderr))
            ]
            try:
                for thread in (watch, *copies):
                    thread.start()
                code = job.wait()
            except BaseException:
                job.send_signal(signal.SIGINT)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    job.wait(5)
                job.kill()
                raise
            finally:
                for thread in (watch, *copies):
                    thread.join()
        if code:
            raise _failure(code, "".join(printed), died, Path(folder))


def _check_module(name: str) -> None:
    try:
        spec, why = find_spec(name), ""
    except (ImportError, ValueError) as error:  # such as: its package is not there
        spec, why = None, f": {error}"
    if not spec:
        raise ConfigurationError(f"no module {name}{why}")


def _mpiexec() -> str:
    """Finds the mpiexec of our own environment, as it belongs to its library; else the system's."""
    local = Path(sys.prefix) / "bin" / "mpiexec"
    path = str(local) if local.exists() else shutil.which("mpiexec")
    if not path:
        raise UnavailableError(f"there is no mpiexec: {install_hint('mpi')}")
    return path


def _copy(stream, to, printed: list) -> None:
    for line in stream:
        printed.append(line)
        with contextlib.suppress(BrokenPipeError):  # our reader may stop, and the job goes on
            encoding = to.encoding or "utf-8"  # perhaps one that lacks a character
            to.write(line.encode(encoding, "replace").decode(encoding))
            to.flush()


def _watch(folder: Path, job: subprocess.Popen, died: list) -> None:
    """Notes which ranks of this machine end before they are done: mpiexec then kills all others."""
    poll = select.poll()
    ranks: dict[int, tuple[int, int]] = {}
    try:
        while job.poll() is None and not died:
            ended = []
            for note in folder.iterdir():
                host, rank, pid = note.name.rsplit(" ", 2)
                began = int(rank), int(pid)
                if host != socket.gethostname() or began in ranks.values():
                    continue
                try:
                    descriptor = os.pidfd_open(began[1])
                except ProcessLookupError:
                    ended.append(began)
                else:
                    ranks[descriptor] = began
                    poll.register(descriptor, select.POLLIN)
            for descriptor, _ in poll.poll(0 if ended else 50):
                poll.unregister(descriptor)
                ended.append(ranks[descriptor])
            if ended:  # a rank's sockets close, which mpiexec sees, before the rank has ended
                ended += [
                    entry
                    for entry in ranks.values()
                    if entry not in ended and _is_exiting(entry[1])
                ]
            died += [entry for entry in ended if any(folder.glob("* {} {}".format(*entry)))]
    finally:
        for descriptor in ranks:
            os.close(descriptor)


def _is_exiting(pid: int) -> bool:
    """Says whether a process has begun to exit (PF_EXITING in Linux's `sched.h`) or is gone."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True
    flags = int(status.rpartition(")")[2].split()[6])
    return bool(flags & 0x4)


# Messages of MPICH and Open MPI for a rank that called MPI_Abort.
_ABORTED = re.compile(r"MPI_Abort\(.*\) - process (\d+)|MPI_ABORT was invoked on rank (\d+)")


def _failure(code: int, printed: str, died: list, folder: Path) -> WorkerDiedError:
    """Returns which rank died of what: by ranks' own notes, by what we saw, or by mpiexec."""
    for note in folder.iterdir():
        if raised := note.read_text():
            if raised not in printed:
                sys.stderr.write(raised)
            return WorkerDiedError(int(note.name.split(" ")[-2]), "raised (its traceback is above)")
    if aborted := _ABORTED.search(printed):
        return WorkerDiedError(int(aborted[1] or aborted[2]), "raised (its traceback is above)")
    killed = re.search(r"signal (\d+)", printed)
    why = f"died: {signal.Signals(int(killed[1])).name}" if killed else f"exited with code {code}"
    if not died:
        return WorkerDiedError(0, f"or another rank {why}")
    (rank, pid), *others = died
    also = "".join(f" or {other} (process {its})" for other, its in others)
    return WorkerDiedError(rank, f"(process {pid}){also} {why}")
