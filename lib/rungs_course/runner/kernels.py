"""Kernels that begin with what all notebooks import, forked from a process that has imported it.

A kernel's start and its first imports take seconds, in every notebook again. A server imports once
and forks. What it forks is a kernel process as any other, with nothing in it that a notebook left.
PyTorch is not among what is imported: it brings threads of its own, and in which order such
runtimes are loaded is each notebook's affair.
"""

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jupyter_client import AsyncKernelManager
from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning import LocalProvisioner
from jupyter_core.utils import run_sync
from traitlets.config import Config

from rungs_course.errors import NotebookError

# Before matplotlib is imported, as a kernel does.
_BACKEND = {"MPLBACKEND": "module://matplotlib_inline.backend_inline"}


class KernelServer:
    """A process that forks kernels. Those that are left end with it, and it with this process.

    It starts with the first of them. Use it in a `with`.
    """

    def __init__(self) -> None:
        self._socket: socket.socket | None = None

    def __enter__(self) -> "KernelServer":
        return self

    def __exit__(self, *error: object) -> None:
        if self._socket:
            self._socket.close()
            self._process.wait()

    @contextlib.contextmanager
    def kernel(self, folder: Path, config: Config) -> Iterator[AsyncKernelManager]:
        """Starts a kernel in a folder.

        Raises:
            NotebookError: the server died.
        """
        manager = AsyncKernelManager(kernel_name="python3", config=config)
        manager.provisioner = _ForkedProvisioner(
            kernel_id="", kernel_spec=manager.kernel_spec, parent=manager
        )
        manager.provisioner.server = self
        run_sync(manager.start_kernel)(cwd=str(folder))
        try:
            yield manager
        finally:
            run_sync(manager.shutdown_kernel)()

    def fork(self, command: list[str], env: dict[str, str], folder: str) -> "_Forked":
        """Forks a kernel.

        Args:
            command: that would start it.
            env: its environment.
            folder: where it begins.

        Raises:
            NotebookError: the server died.
        """
        server = self._socket = self._socket or self._start()
        request = {"arguments": command[3:], "env": env, "folder": folder}
        try:
            server.sendall(json.dumps(request).encode() + b"\n")
            told, handles, *_ = socket.recv_fds(server, 64, 1)
        except OSError:
            handles = []
        if not handles:
            raise NotebookError("the process that kernels are forked from died")
        return _Forked(int(told), handles[0])

    def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", __name__, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                env=os.environ | _BACKEND,
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C is ours to handle
            )
        return ours


class _Forked:
    """A process that isn't our child, as `subprocess.Popen` shows one; how it ended is unknown."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int, handle: int):
        self.pid, self._handle = pid, handle

    def __del__(self) -> None:
        os.close(self._handle)

    def poll(self) -> int | None:
        return 0 if select.select([self._handle], [], [], 0)[0] else None

    def wait(self) -> int:
        select.select([self._handle], [], [])
        return 0

    def send_signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._handle, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class _ForkedProvisioner(LocalProvisioner):
    """Has a server fork the kernel that would have been started."""

    server: KernelServer

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        forked = self.server.fork(cmd, dict(kwargs["env"]), kwargs["cwd"])
        self.process = forked  # type: ignore[assignment]  # as good as a `Popen`
        self.pid = self.pgid = forked.pid  # it leads a group of its own
        return self.connection_info


def _serve(requests: socket.socket) -> list[str] | None:
    """Forks for every request. Returns twice: a kernel's arguments in it, and None at the end."""
    kernels: list[int] = []
    with requests, requests.makefile() as lines:
        for line in lines:
            server, pid = os.getpid(), os.fork()
            if not pid:
                request = json.loads(line)
                os.setsid()
                os.chdir(request["folder"])
                os.environ.clear()
                os.environ |= request["env"]
                return [*request["arguments"], f"--IPKernelApp.parent_handle={server}"]
            kernels = [each for each in kernels if os.waitpid(each, os.WNOHANG) == (0, 0)] + [pid]
            handle = os.pidfd_open(pid)
            socket.send_fds(requests, [str(pid).encode()], [handle])
            os.close(handle)
    for each in kernels:
        if os.waitpid(each, os.WNOHANG) == (0, 0):
            os.kill(each, signal.SIGKILL)  # whoever asked for it has gone
    return None


def main() -> None:
    """Serves the process that has started this one."""
    requests = socket.socket(fileno=int(sys.argv[1]))
    import ipywidgets  # noqa: F401
    import pandas as pd  # noqa: F401
    from ipykernel import kernelapp

    import rungs_course.show.style  # noqa: F401  # matplotlib and seaborn

    arguments = _serve(requests)
    if arguments is not None:
        kernelapp.launch_new_instance(argv=arguments)


if __name__ == "__main__":
    main()
