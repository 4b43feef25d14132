"""How many cores there are to use: what the system grants, not what the host has."""

import os

import pytest

from rungs._src import programs
from rungs._src.machine import cpu
from rungs_course.machine.optional import optional_tools

QUOTA, PERIOD = "cpu.cfs_quota_us", "cpu.cfs_period_us"
QUOTAS = [
    *(
        ("0::/", {"cpu.max": quota}, cores)
        for quota, cores in (
            *(("max 100000", 8), ("400000 100000", 4), ("250000 100000", 2)),
            *(("50000 100000", 1), ("nonsense", 8), ("100000 0", 8)),
        )
    ),
    ("0::/a/b", {"a/b/cpu.max": "300000 100000", "a/cpu.max": "max 100000"}, 3),
    ("0::/a/b", {"a/b/cpu.max": "max 100000", "a/cpu.max": "200000 100000"}, 2),
    ("0::/../other", {"cpu.max": "200000 100000"}, 2),
    (None, {"cpu.max": "200000 100000"}, 2),
    (None, {}, 8),
    # Of version 1, as a container sees it, whose own group is the mount; and as a host does.
    ("4:cpu,cpuacct:/docker/1", {f"cpu/{QUOTA}": "300000", f"cpu/{PERIOD}": "100000"}, 3),
    ("5:cpuset:/\n4:cpuacct,cpu:/a", {f"cpu/a/{QUOTA}": "150000", f"cpu/a/{PERIOD}": "50000"}, 3),
    ("4:cpu:/", {f"cpu/{QUOTA}": "-1", f"cpu/{PERIOD}": "100000"}, 8),
    ("4:cpu:/", {f"cpu/{QUOTA}": "100000"}, 8),
]


@pytest.mark.parametrize(("groups", "files", "cores"), QUOTAS)
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


def test_family_model_and_stepping_are_read(monkeypatch):
    info = {"vendor_id": "AuthenticAMD", "cpu family": "25", "model": "17", "stepping": "1"}
    monkeypatch.setattr(cpu, "_cpuinfo", lambda: info)
    assert [*cpu.cpu_identity().values()] == ["AuthenticAMD", 25, 17, 1]
    monkeypatch.setattr(cpu, "_cpuinfo", lambda: {"CPU implementer": "0x41"})
    assert set(cpu.cpu_identity().values()) == {None}


def test_a_missing_tool_is_reported(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(programs, "_GAMES", str(tmp_path))
    assert (optional_tools()["here"] == "no").all()
