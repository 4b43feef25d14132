"""How many cores there are to use: what the system grants, not what the host has."""

import os

import pytest

from rungs.machine import cpu, optional
from rungs.machine.describe import describe, slug
from rungs.machine.optional import optional_tools


def test_no_more_cores_than_this_process_may_run_on():
    assert 1 <= cpu.usable_cores() <= len(os.sched_getaffinity(0))


@pytest.mark.parametrize(
    ("quota", "cores"),
    [("max 100000", 8), ("400000 100000", 4), ("250000 100000", 2), ("50000 100000", 1)],
)
def test_a_control_groups_quota_counts(monkeypatch, tmp_path, quota, cores):
    (tmp_path / "cpu.max").write_text(quota + "\n")
    monkeypatch.setattr(cpu, "CPU_QUOTA", tmp_path / "cpu.max")
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(8)))
    assert cpu.usable_cores() == cores


def test_the_machine_is_described():
    facts = describe()
    assert facts["machine"]
    assert facts["memory_bytes"] > 2**20
    assert slug().endswith(f"-{facts['cores']}-cores")


def test_a_missing_tool_is_said_to_be_missing(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(optional, "GAMES", str(tmp_path))
    assert (optional_tools()["here"] == "no").all()
