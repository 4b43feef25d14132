"""The MPI rung on two hosts: network namespaces, joined by a cable of their own."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.chess.test_mpi import ROOT, SAME

# mpiexec calls it to start a process on a host: options, the host's address, a command.
START = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
host=$1; shift
exec ip netns exec {name}${host##*.} sh -c "$*"
"""


@pytest.fixture
def hosts():
    """Two hosts' names; they are 10.231.0.1 and 10.231.0.2 to each other."""
    if not shutil.which("ip"):
        pytest.skip("no network namespaces: no `ip` (Debian's iproute2)")
    name = f"rungs{os.getpid()}n"
    try:
        made = _ip("netns", "add", f"{name}1")
        if made.returncode:
            pytest.skip(f"no network namespaces: {made.stderr.strip()}")
        peer = ("peer", "name", "v2", "netns", f"{name}2")
        commands = [
            ("netns", "add", f"{name}2"),
            ("link", "add", "v1", "netns", f"{name}1", "type", "veth", *peer),
        ]
        for n in "12":
            inside = ("-n", f"{name}{n}")
            commands += [
                (*inside, "addr", "add", f"10.231.0.{n}/24", "dev", f"v{n}"),
                (*inside, "link", "set", "lo", "up"),
                (*inside, "link", "set", f"v{n}", "up"),
            ]
        for command in commands:
            _ip(*command).check_returncode()
        yield name
    finally:
        for n in "12":
            _ip("netns", "del", f"{name}{n}")


def _ip(*arguments):
    return subprocess.run(["ip", *arguments], capture_output=True, text=True)


def test_boards_on_two_hosts_are_the_same(hosts, tmp_path):
    start = tmp_path / "start"
    start.write_text(START.replace("{name}", hosts))
    start.chmod(0o755)
    script = tmp_path / "same.py"
    where = "sys.stdout.write(f\"{env.rank} {os.readlink('/proc/self/ns/net')} {env._shared}\\n\")"
    script.write_text("import os\n" + SAME.replace("if env.serve", f"{where}\nif env.serve"))
    job = [sys.executable, "-m", "rungs", "mpi", "-n", "4", "--hosts", "10.231.0.1,10.231.0.2"]
    case = ["7", "random", "board", "SAME_STEP", "1", "messages"]
    done = subprocess.run(
        ["ip", "netns", "exec", f"{hosts}1", *job, str(script), *case],
        env=os.environ | {"PYTHONPATH": str(ROOT), "HYDRA_LAUNCHER_EXEC": str(start)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    ranks = dict(line.split(" ", 1) for line in done.stdout.splitlines() if "net:" in line)
    assert sorted(ranks) == list("0123")
    assert len(set(ranks.values())) == 2  # hosts; nothing is shared, so that all goes by the cable
    assert all("False" in said for said in ranks.values())
    assert "episodes:" in done.stdout
