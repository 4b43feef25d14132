"""What this machine is, and what it can do at most."""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from rungs._src.machine.known import microarchitecture
from rungs._src.native import gpp
from rungs.chess import NUM_ACTIONS
from rungs.errors import CompilerError, UnavailableError
from rungs_course import compiled
from rungs_course.machine import counters
from rungs_course.machine.naming import differing, slug_of
from rungs_course.machine.roofline import A100, CORRECTED, PAPER, attainable, ridge
from rungs_course.machine.topology import Cache, caches, topology
from rungs_course.measure import machine_code, peaks
from rungs_course.measure.load import busy_process
from rungs_course.measure.peaks import core_speed, measure_compute, working_sets
from rungs_course.measure.valgrind import counts_per_ply, simulated, work_per_ply
from tests.processes import poll


def write(root, files):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"{text}\n")


def cache(level, kind, size, ways, shared):
    facts = {"level": level, "type": kind, "size": f"{size}K", "ways_of_associativity": ways}
    facts |= {"coherency_line_size": 64, "shared_cpu_list": shared}
    return {f"cache/index{level}{kind[0]}/{name}": value for name, value in facts.items()}


def test_caches_for_data_nearest_first_where_enough_is_reported(tmp_path):
    write(tmp_path, cache(3, "Unified", 32768, 16, "0-7,16-23"))
    write(tmp_path, cache(1, "Instruction", 32, 8, "0,16"))
    write(tmp_path, cache(1, "Data", 32, 8, "0,16"))
    write(tmp_path, cache(2, "Unified", 1024, 16, "0"))
    (tmp_path / "cache/index2U/ways_of_associativity").unlink()  # too little is reported of it
    assert caches(tmp_path) == [Cache(1, 2**15, 8, 64, 2), Cache(3, 2**25, 16, 64, 16)]


def test_what_is_not_reported_is_unknown(tmp_path):
    facts = topology(tmp_path).set_index("fact")["value"]
    assert facts["clock governor"] == facts["threads per core"] == "unknown"
    assert int(facts["cores this process may use"]) >= 1
    assert not any("cache" in fact for fact in facts.index)
    write(tmp_path, {"cpufreq/scaling_governor": "performance"})
    assert topology(tmp_path).set_index("fact").loc["clock governor", "value"] == "performance"


@pytest.mark.parametrize(
    ("vendor", "family", "model", "name", "flops"),
    [
        ("AuthenticAMD", 0x19, 0x11, "Zen 4", 2),
        ("AuthenticAMD", 0x1A, 0x24, "Zen 5", None),
        ("GenuineIntel", 6, 0x8F, "Sapphire Rapids", 4),
        ("GenuineIntel", 6, 1, None, None),
        (None, None, None, None, None),
    ],
)
def test_a_processor_is_known_or_not_guessed_at(vendor, family, model, name, flops):
    identity = {"cpu_vendor": vendor, "cpu_family": family, "cpu_model": model}
    known = microarchitecture(identity)
    assert (known and known.name, known and known.flops_per_lane) == (name, flops)


def test_a_counter_that_stays_at_0_is_not_believed(monkeypatch):
    numbers = {"PAPI_TOT_INS": 5, "PAPI_TOT_CYC": 0}
    monkeypatch.setattr(counters, "library", lambda: None)
    monkeypatch.setattr(counters, "_count_one", lambda papi, event, work: numbers[event])
    events = {"instructions": "PAPI_TOT_INS", "cycles": "PAPI_TOT_CYC"}
    assert counters.count(list, events) == {"instructions": 5}
    with pytest.raises(UnavailableError, match="PAPI_TOT_CYC"):
        counters.count(list, {"cycles": "PAPI_TOT_CYC"})


@pytest.mark.parametrize(
    ("processor", "single", "double", "bandwidth"),
    [
        (PAPER[0], 2560e9, 1280e9, 76.8e9),
        (PAPER[1], 6553.6e9, 3276.8e9, 51.2e9),
        (CORRECTED[0], 2560e9, 1280e9, 2 * 76.8e9),  # two sockets
        (CORRECTED[1], 6553.6e9 / 4, 3276.8e9 / 4, 4 * 51.2e9),  # modules share a unit
        (A100, 19.49184e12, 9.74592e12, 1555.2e9),
    ],
)
def test_peaks_of_data_sheets(processor, single, double, bandwidth):
    assert processor.peak_flops(32) == pytest.approx(single)
    assert processor.peak_flops(64) == pytest.approx(double)
    assert processor.peak_bandwidth() == pytest.approx(bandwidth)


def test_memory_bounds_left_of_the_ridge_and_computing_right_of_it():
    at = ridge(100.0, 20.0)
    assert at == 5
    np.testing.assert_array_equal(attainable([at / 5, at, 2 * at], 100.0, 20.0), [20, 100, 100])


def test_a_cores_speed_is_the_best_of_what_was_measured_once(monkeypatch):
    """Others disturb most measurements; however long one takes, all do the same work."""
    rates = iter([1e6, 3e9, *[2e9] * 7]), iter([*[1e8] * 8, 96e9])
    api, described = mock.Mock(), mock.Mock(enumerations={"Peak": {"CYCLE": 0, "FLOAT32": 1}})
    api.rungs_peak_operations.return_value = 10
    api.rungs_peak_seconds.side_effect = lambda number, _, times: 10 * times / next(rates[number])
    monkeypatch.setattr(compiled, "load_machine", lambda: api)
    monkeypatch.setattr(peaks, "described", lambda _: described)
    assert core_speed.__wrapped__() == {"clock_mhz": 3000, "flops_per_cycle": 32}
    assert len({call.args for call in api.rungs_peak_seconds.mock_calls}) == 2


def test_without_a_compiler_a_cores_speed_is_not_known(monkeypatch):
    monkeypatch.setattr(compiled, "load_machine", mock.Mock(side_effect=CompilerError))
    assert core_speed.__wrapped__() == {"clock_mhz": None, "flops_per_cycle": None}


def test_products_have_a_peak_in_each_format_that_the_processor_multiplies():
    learn = gpp.load_learn()
    able = (learn.rungs_learn_has_bfloat16(), learn.rungs_learn_request_amx())
    assert [peaks.is_here(peak) for peak in peaks.BFLOAT16] == [bool(unit) for unit in able]
    formats = peaks.product_peaks(1)
    assert all(formats.values())
    assert set(formats) == {"float32", *(["bfloat16"] if any(able) else [])}
    for peak, unit in zip(peaks.BFLOAT16, able, strict=True):
        if not unit:
            with pytest.raises(UnavailableError, match=peak):
                measure_compute([1], repeats=1, seconds=0.001, peaks=[peak])


@pytest.mark.parametrize(("threads", "last_caches"), [(1, 1), (8, 1), (64, 8), (128, 16)])
def test_a_set_fits_its_cache_and_memory_is_larger_than_the_last_caches_of_all_threads(
    threads, last_caches, monkeypatch
):
    """Of a processor with a large last cache for every eight of its cores."""
    known = [Cache(1, 2**15, 8, 64, 1), Cache(2, 2**20, 8, 64, 1), Cache(3, 2**28, 16, 64, 8)]
    monkeypatch.setattr(peaks, "caches", lambda: known)
    sets = working_sets(threads)
    assert threads * sets.pop("memory") >= 4 * 2**28 * last_caches
    assert sets == {"L1": 2**14, "L2": 2**19, "L3": 2**21}


@pytest.mark.skipif(not shutil.which("objdump"), reason="objdump is not installed")
@pytest.mark.skipif(platform.machine() != "x86_64", reason="reads x86's machine code")
def test_the_peak_of_scalar_integers_is_computed_in_registers():
    library = compiled.load_machine()._name
    loop = machine_code.loop(library, "rungs::machine::scalar_integers(int, long)")
    assert loop["instruction"].str.match("add|xor").sum() >= 2 * 8
    assert not loop["operands"].str.contains("(", regex=False).any()


STARTER = """
import os, time
from pathlib import Path
from rungs_course.measure.load import busy_process
with busy_process():
    print(Path(f"/proc/self/task/{os.getpid()}/children").read_text(), flush=True)
    time.sleep(60)
"""


def children():
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())


def test_a_busy_process_stays_on_its_core_and_ends_with_the_block():
    before, core = children(), max(os.sched_getaffinity(0))
    with busy_process(core):
        (process,) = map(int, children() - before)
        assert os.sched_getaffinity(process) == {core}
        with busy_process():
            assert len(children() - before) == 2
    assert children() == before


def test_a_busy_process_ends_with_who_started_it():
    with subprocess.Popen([sys.executable, "-c", STARTER], stdout=subprocess.PIPE) as starter:
        busy = Path("/proc", starter.stdout.readline().decode().strip())
        assert busy.exists()
        starter.kill()
    poll(lambda: not busy.exists() or "zombie" in (busy / "status").read_text())


FIRST, LAST = Cache(1, 32768, 8, 64, 1), Cache(2, 2**20, 8, 64, 1)


def test_a_cache_is_simulated_with_a_power_of_two_of_sets():
    assert simulated(LAST) == LAST
    assert simulated(Cache(3, 266240 * 1024, 20, 64, 2)) == Cache(3, 2**17 * 20 * 64, 20, 64, 2)


@pytest.mark.system
@pytest.mark.needs("valgrind")
def test_counts_per_ply():
    bits = counts_per_ply(8, 10, "bits", FIRST, LAST)
    assert all(bits.values())
    odd = counts_per_ply(8, 10, "bits", FIRST, Cache(2, 3 * 2**18, 4, 64, 1))
    assert odd["L1 misses"] == bits["L1 misses"]
    tiny = counts_per_ply(8, 10, "bits", Cache(1, 1024, 2, 64, 1), LAST)
    assert tiny["L1 misses"] != bits["L1 misses"]
    assert tiny["instructions"] == bits["instructions"]


@pytest.mark.system
@pytest.mark.needs("valgrind")
def test_operations_and_bytes():
    counts = work_per_ply(8, 10, "bool")
    assert 0 < counts["operations"] < counts["instructions"]
    assert counts["bytes"] > NUM_ACTIONS  # those of the mask


ZEN_4 = {"machine": "AMD EPYC", "gpu": None, "cores": 2, "microarchitecture": "Zen 4"}
ZEN_4 |= {"cpu_vendor": "AuthenticAMD", "cpu_family": 25, "cpu_model": 17, "cpu_stepping": 1}
ZEN_5 = ZEN_4 | {"microarchitecture": "Zen 5", "cpu_family": 26, "cpu_model": 2}
ARM = {"machine": "Neoverse V2", "gpu": None, "cores": 4, "cpu_vendor": None}


@pytest.mark.parametrize(
    ("facts", "name"),
    [
        (ZEN_5 | {"cores": 64}, "amd-zen5-64-cores"),
        (ZEN_5 | {"microarchitecture": "unknown"}, "amd-family26-model2-2-cores"),
        (ARM, "neoverse-v2-4-cores"),
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
