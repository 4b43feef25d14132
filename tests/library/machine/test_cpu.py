"""How many cores there are to use: what the system grants, not what the host has."""

import os

import pytest

from rungs._src import programs
from rungs._src.machine import cpu
from rungs._src.machine.describe import describe
from rungs_course.machine.optional import optional_tools


def test_no_more_cores_than_this_process_may_run_on():
    assert 1 <= cpu.usable_cores() <= len(os.sched_getaffinity(0))


@pytest.mark.parametrize(
    ("groups", "files", "cores"),
    [
        ("0::/", {"cpu.max": "max 100000"}, 8),
        ("0::/", {"cpu.max": "400000 100000"}, 4),
        ("0::/", {"cpu.max": "250000 100000"}, 2),
        ("0::/", {"cpu.max": "50000 100000"}, 1),
        ("0::/", {"cpu.max": "nonsense"}, 8),
        ("0::/", {"cpu.max": "100000 0"}, 8),
        ("0::/a/b", {"a/b/cpu.max": "300000 100000", "a/cpu.max": "max 100000"}, 3),
        ("0::/a/b", {"a/b/cpu.max": "max 100000", "a/cpu.max": "200000 100000"}, 2),
        ("0::/../other", {"cpu.max": "200000 100000"}, 2),
        (None, {"cpu.max": "200000 100000"}, 2),
        (None, {}, 8),
        # Of version 1, as a container sees it, whose own group is the mount; and as a host does.
        (
            "4:cpu,cpuacct:/docker/1",
            {"cpu/cpu.cfs_quota_us": "300000", "cpu/cpu.cfs_period_us": "100000"},
            3,
        ),
        (
            "5:cpuset:/\n4:cpuacct,cpu:/a",
            {"cpu/a/cpu.cfs_quota_us": "150000", "cpu/a/cpu.cfs_period_us": "50000"},
            3,
        ),
        ("4:cpu:/", {"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, 8),
        ("4:cpu:/", {"cpu/cpu.cfs_quota_us": "100000"}, 8),
    ],
)
def test_the_control_groups_quota_counts(monkeypatch, tmp_path, groups, files, cores):
    monkeypatch.setattr(cpu, "_GROUPS", tmp_path / "mount")
    monkeypatch.setattr(cpu, "_OWN_GROUPS", tmp_path / "groups")
    if groups is not None:
        (tmp_path / "groups").write_text(groups + "\n")
    for name, text in files.items():
        path = tmp_path / "mount" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(8)))
    assert cpu.usable_cores() == cores


def test_the_machine_is_described():
    facts = describe()
    assert facts["machine"]
    assert facts["microarchitecture"]
    assert {"cpu_vendor", "cpu_family", "cpu_model", "cpu_stepping"} <= facts.keys()
    assert facts["memory_bytes"] > 2**20


def test_family_model_and_stepping_are_read(monkeypatch):
    info = {"vendor_id": "AuthenticAMD", "cpu family": "25", "model": "17", "stepping": "1"}
    monkeypatch.setattr(cpu, "_cpuinfo", lambda: info)
    assert cpu.cpu_identity() == {
        "cpu_vendor": "AuthenticAMD",
        "cpu_family": 25,
        "cpu_model": 17,
        "cpu_stepping": 1,
    }
    monkeypatch.setattr(cpu, "_cpuinfo", lambda: {"CPU implementer": "0x41"})
    assert set(cpu.cpu_identity().values()) == {None}


def test_a_missing_tool_is_reported(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(programs, "_GAMES", str(tmp_path))
    assert (optional_tools()["here"] == "no").all()
