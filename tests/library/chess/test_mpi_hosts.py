"""The MPI rung on two hosts."""

import subprocess
import sys

import pytest

from tests.hosts import ADDRESSES, two_hosts
from tests.library.chess.test_mpi import ROOT, SAME, SAY
from tests.quick_start import QUICK_START

pytestmark = pytest.mark.system


@pytest.fixture
def hosts():
    with two_hosts() as hosts:
        yield hosts


def test_boards_on_two_hosts_are_the_same(hosts, tmp_path):
    script, folder = tmp_path / "same.py", tmp_path / "said"
    folder.mkdir()
    where = "say(os.readlink('/proc/self/ns/net'), env.boards.shared)"
    script.write_text(SAY + SAME.replace("if env.serve", f"{where}\n        if env.serve"))
    job = [sys.executable, "-m", "rungs", "mpi", "-n", "4", "--hosts", ",".join(ADDRESSES)]
    done = subprocess.run(
        hosts.on(0, *job, str(script), str(folder), "messages"),
        env=hosts.mpi_environment(tmp_path)
        | QUICK_START
        | {"PYTHONPATH": f"{ROOT}:{ROOT / 'lib'}"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    said = {path.name: path.read_text().splitlines() for path in folder.iterdir()}
    assert sorted(said) == list("0123")
    ranks = {rank: {line for line in lines if "net:" in line} for rank, lines in said.items()}
    # Nothing is shared, so that all goes by the cable.
    assert all(len(lines) == 1 and "False" in min(lines) for lines in ranks.values())
    assert len(set.union(*ranks.values())) == 2  # hosts
    assert said["0"].count("same on messages") == 3
