"""Two hosts on one machine: network namespaces, joined by a cable of their own."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ADDRESSES = ("10.231.0.1", "10.231.0.2")
CABLES = ("v1", "v2")

# mpiexec calls it to start a process on a host: options, the host's address, a command.
_START = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
host=$1; shift
exec ip netns exec {name}${host##*.} sh -c "$*"
"""


class Hosts:
    """Two hosts, which have `ADDRESSES` to each other, each at its end of the cable."""

    def __init__(self, name: str):
        self._name = name

    def on(self, host: int, *command: str) -> list[str]:
        """The command that runs another on host 0 or 1."""
        return ["ip", "netns", "exec", f"{self._name}{host + 1}", *command]

    def mpi_environment(self, folder: Path) -> dict[str, str]:
        """The environment in which mpiexec reaches them, by a script in `folder`."""
        start = folder / "start"
        start.write_text(_START.replace("{name}", self._name))
        start.chmod(0o755)
        return os.environ | {"HYDRA_LAUNCHER_EXEC": str(start)}


@contextlib.contextmanager
def two_hosts() -> Iterator[Hosts]:
    """Makes them, or skips the test where that is not allowed."""
    if not shutil.which("ip"):
        pytest.skip("no network namespaces: no `ip` (Debian's iproute2)")
    name = f"rungs{os.getpid()}n"
    try:
        made = _ip("netns", "add", f"{name}1")
        if made.returncode:
            pytest.skip(f"no network namespaces: {made.stderr.strip()}")
        peer = ("peer", "name", CABLES[1], "netns", f"{name}2")
        commands = [
            ("netns", "add", f"{name}2"),
            ("link", "add", CABLES[0], "netns", f"{name}1", "type", "veth", *peer),
        ]
        for n, address, cable in zip("12", ADDRESSES, CABLES, strict=True):
            inside = ("-n", f"{name}{n}")
            commands += [
                (*inside, "addr", "add", f"{address}/24", "dev", cable),
                (*inside, "link", "set", "lo", "up"),
                (*inside, "link", "set", cable, "up"),
            ]
        for command in commands:
            _ip(*command).check_returncode()
        yield Hosts(name)
    finally:
        for n in "12":
            _ip("netns", "del", f"{name}{n}")


def _ip(*arguments):
    return subprocess.run(["ip", *arguments], capture_output=True, text=True)
