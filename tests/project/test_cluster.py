"""The scripts for Slurm, run as far as that goes without it: what they call is played by others."""

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from tests.quick_start import QUICK_START

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "docs" / "howto" / "cluster").glob("*.sbatch"))

# What sbatch takes (its manual, Slurm 25.05), as far as we ask for it.
KNOWN = {"job-name", "nodes", "ntasks-per-node", "cpus-per-task", "time", "output"}

SCONTROL = """#!/bin/sh
for node in $SLURM_JOB_NODELIST; do echo "$node"; done
"""
# A task on each node, all of them here.
SRUN = """#!/bin/bash
while [ "${1#-}" != "$1" ]; do shift; done
for _ in $(seq "$SLURM_NNODES"); do "$@" & done
failed=0
for task in $(jobs -p); do wait "$task" || failed=1; done
exit $failed
"""


def test_there_is_one_for_each_engine():
    assert [path.name for path in SCRIPTS] == ["mpi.sbatch", "torchrun.sbatch"]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_it_is_a_script_that_sbatch_takes(script):
    done = subprocess.run(["bash", "-n", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    text = script.read_text()
    assert text.startswith("#!/bin/bash\n")  # sbatch refuses a script without
    head, _, rest = text.partition("\nset -euo pipefail\n")
    options = dict(re.findall(r"^#SBATCH --([\w-]+)=(\S+)$", head, re.MULTILINE))
    assert options.keys() == KNOWN
    assert re.fullmatch(r"\d\d:\d\d:\d\d", options["time"])
    assert "#SBATCH" not in rest  # sbatch reads none after the first command


@pytest.fixture
def job(tmp_path):
    """Runs a script as Slurm would on two nodes, which are this machine."""
    for name, text in (("scontrol", SCONTROL), ("srun", SRUN)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    slurm = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "lib"),
        "RUNGS_PYTHON": sys.executable,
        **QUICK_START,
        "PORT": str(port),
        "UPDATES": "1",
        "SLURM_JOB_ID": "7",
        "SLURM_NNODES": "2",
        "SLURM_NTASKS": "2",
        "SLURM_CPUS_PER_TASK": "1",
        "SLURM_JOB_NODELIST": "localhost localhost",
    }

    def run(name, **more):
        command = ["bash", ROOT / "docs" / "howto" / "cluster" / f"{name}.sbatch", tmp_path / "out"]
        done = subprocess.run(
            command, env=os.environ | slurm | more, capture_output=True, text=True, timeout=400
        )
        assert done.returncode == 0, done.stderr
        return pd.read_csv(tmp_path / "out" / "metrics.csv")

    return run


@pytest.mark.system
def test_torchrun_learns_on_two_nodes_and_is_submitted_again(job):
    assert job("torchrun")["steps"].tolist() == [2 * 512 * 32]
    assert job("torchrun", RESUME="1", SLURM_JOB_ID="8")["update"].tolist() == [1]


@pytest.mark.system
def test_mpi_learns_from_boards_on_two_nodes_and_is_submitted_again(job):
    pytest.importorskip("mpi4py")
    assert job("mpi", OMP_NUM_THREADS="1")["steps"].tolist() == [2 * 512 * 32]
    assert job("mpi", OMP_NUM_THREADS="1", RESUME="1")["update"].tolist() == [1]
