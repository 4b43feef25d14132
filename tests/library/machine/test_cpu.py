"""How many cores there are to use: what the system grants, not what the host has."""

import os

import pytest

from rungs._src.chess import engine
from rungs._src.machine import cpu
from rungs._src.machine.describe import describe, differing, slug, slug_of
from rungs_course.machine.optional import optional_tools


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
    assert facts["microarchitecture"]
    assert {"cpu_vendor", "cpu_family", "cpu_model", "cpu_stepping"} <= facts.keys()
    assert facts["memory_bytes"] > 2**20
    assert slug().endswith(f"-{facts['cores']}-cores")


ZEN_4 = {"machine": "AMD EPYC", "gpu": None, "cores": 2, "microarchitecture": "Zen 4"}
ZEN_4 |= {"cpu_vendor": "AuthenticAMD", "cpu_family": 25, "cpu_model": 17, "cpu_stepping": 1}
ZEN_5 = ZEN_4 | {"microarchitecture": "Zen 5", "cpu_family": 26, "cpu_model": 2}


@pytest.mark.parametrize(
    ("facts", "name"),
    [
        (ZEN_5 | {"cores": 64}, "amd-zen5-64-cores"),
        (ZEN_5 | {"microarchitecture": "unknown"}, "amd-family26-model2-2-cores"),
        (
            {"machine": "Neoverse V2", "gpu": None, "cores": 4, "cpu_vendor": None},
            "neoverse-v2-4-cores",
        ),
        (ZEN_5 | {"gpu": "NVIDIA H200"}, "nvidia-h200"),
    ],
)
def test_a_folder_is_named_after_the_microarchitecture(facts, name):
    assert slug_of(facts) == name
    # In a table, facts are text.
    assert slug_of({key: str(value) for key, value in facts.items()}) == name


def test_two_generations_of_one_name_are_two_machines():
    assert not differing(ZEN_4, {key: str(value) for key, value in ZEN_4.items()})
    assert "microarchitecture" in differing(ZEN_5, ZEN_4)
    assert differing({"machine": "AMD EPYC", "cores": "2"}, ZEN_4)  # an unknown fact differs


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
    monkeypatch.setattr(engine, "_GAMES", str(tmp_path))
    assert (optional_tools()["here"] == "no").all()
