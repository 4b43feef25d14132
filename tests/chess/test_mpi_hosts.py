"""The MPI rung on two hosts."""

import subprocess
import sys

import pytest

from tests.chess.test_mpi import ROOT, SAME
from tests.hosts import ADDRESSES, two_hosts


@pytest.fixture
def hosts():
    with two_hosts() as hosts:
        yield hosts


def test_boards_on_two_hosts_are_the_same(hosts, tmp_path):
    script = tmp_path / "same.py"
    where = "sys.stdout.write(f\"{env.rank} {os.readlink('/proc/self/ns/net')} {env._shared}\\n\")"
    script.write_text("import os\n" + SAME.replace("if env.serve", f"{where}\nif env.serve"))
    job = [sys.executable, "-m", "rungs", "mpi", "-n", "4", "--hosts", ",".join(ADDRESSES)]
    case = ["7", "random", "board", "SAME_STEP", "1", "messages"]
    done = subprocess.run(
        hosts.on(0, *job, str(script), *case),
        env=hosts.mpi_environment(tmp_path) | {"PYTHONPATH": str(ROOT)},
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
