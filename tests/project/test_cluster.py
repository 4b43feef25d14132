"""The scripts for Slurm, run as far as that goes without it: what they call is played by others."""

import csv
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import succeed

ROOT = Path(__file__).parents[2]
SCRIPTS = {
    name: ROOT / "docs" / "howto" / "cluster" / f"{name}.sbatch" for name in ("mpi", "torchrun")
}

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
# A Python that prints what it would run.
PYTHON = """#!/bin/sh
echo "$*"
"""


@pytest.mark.parametrize("name", SCRIPTS)
def test_it_is_a_script_that_sbatch_takes(name):
    done = subprocess.run(["bash", "-n", SCRIPTS[name]], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    text = SCRIPTS[name].read_text()
    assert text.startswith("#!/bin/bash\n")  # sbatch refuses a script without
    head, _, rest = text.partition("\nset -euo pipefail\n")
    assert "#SBATCH --" in head
    assert "#SBATCH" not in rest  # sbatch reads none after the first command


@pytest.fixture
def job(tmp_path):
    """Runs a script as Slurm would on two nodes, which are this machine."""
    for name, text in (("scontrol", SCONTROL), ("srun", SRUN), ("python", PYTHON)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    slurm = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "lib"),
        "RUNGS_PYTHON": sys.executable,
        "PORT": str(port),
        "UPDATES": "1",
        "SLURM_JOB_ID": "7",
        "SLURM_NNODES": "2",
        "SLURM_NTASKS": "2",
        "SLURM_CPUS_PER_TASK": "1",
        "SLURM_JOB_NODELIST": "localhost localhost",
    }

    def run(name, **environment):
        command = ["bash", SCRIPTS[name], tmp_path / "out"]
        return succeed(command, env=os.environ | slurm | environment, timeout=400)

    return run


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_job_that_is_submitted_again_resumes_its_run(name, job, tmp_path):
    """As the first one was started, but for the run's settings."""
    first, again = (
        job(name, RUNGS_PYTHON=tmp_path / "python", **environment).splitlines()
        for environment in ({}, {"RESUME": "1"})
    )
    settings = r"(--rung mpi )?--num-envs \d+ --updates 1"
    assert again == [re.sub(settings, "--resume", line) for line in first]
    assert all(" -m rungs train " in line and "--resume" in line for line in again)


@pytest.mark.release
@pytest.mark.system
@pytest.mark.parametrize("name", SCRIPTS)
def test_it_learns_on_two_nodes(name, job, tmp_path):
    if name == "mpi":
        pytest.importorskip("mpi4py")
    job(name, OMP_NUM_THREADS="1")
    with (tmp_path / "out" / "metrics.csv").open(newline="") as file:
        assert [row["steps"] for row in csv.DictReader(file)] == [str(2 * 512 * 32)]
