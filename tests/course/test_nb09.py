"""Notebook 09: the study's table 1, whose digits are found again; counts, and a hot loop's code."""

import shutil

import numpy as np
import pytest

from rungs.errors import UnavailableError
from rungs_course import nb09_counters, nb09_hot_loop
from rungs_course.machine import counters
from rungs_course.machine.roofline import PAPER, attainable
from rungs_course.machine.topology import Cache
from rungs_course.measure import results
from rungs_course.measure.valgrind import have_valgrind
from rungs_course.paths import ROOT


@pytest.fixture
def table():
    return results.load(ROOT / "data" / "paper" / "chess_papi.csv").set_index("counter")["value"]


def test_the_studys_intensity_is_operations_by_access(table):
    drawn = nb09_counters.points(table).query("per == 'access, as drawn'")
    assert drawn["intensity"].tolist() == pytest.approx(2 * [table["operational intensity"]], 1e-5)
    assert drawn["performance"].tolist() == [16.91084e9, 29.7934e9]


def test_openmp_is_drawn_above_the_opterons_own_roof(table):
    drawn = nb09_counters.points(table).set_index(["per", "name"]).loc["access, as drawn", "OpenMP"]
    roofs = [
        attainable(drawn["intensity"], machine.peak_flops(64), machine.peak_bandwidth())
        for machine in PAPER
    ]
    assert roofs == pytest.approx([42.67e9, 28.45e9], rel=1e-3)
    assert roofs[1] < drawn["performance"] < roofs[0]


def test_hardly_anything_came_from_memory(table):
    assert nb09_counters.seconds(table) == pytest.approx(3.567, rel=1e-3)
    assert nb09_counters.memory_rate(table, "sequential") == pytest.approx(0.2513e9, rel=1e-3)
    missed = nb09_counters.points(table).query("per == 'byte missing in L1'")["intensity"]
    assert missed.iloc[0] == pytest.approx(67.29, rel=1e-3)


def test_no_core_has_the_clock_that_it_needs(table):
    assert nb09_counters.clock(table) == pytest.approx(29.7e9, rel=1e-2)


@pytest.mark.parametrize("huge", [False, True])
def test_a_chain_visits_every_line_before_it_begins_again(huge):
    lines = nb09_counters.chain(64 * 50, np.random.default_rng(0), huge_pages=huge)
    at, visited = 0, []
    for _ in lines:
        visited.append(at // 64)
        at = int(lines[at // 64, 0])
    assert at == 0
    assert sorted(visited) == list(range(50))
    assert visited != sorted(visited)
    assert lines.ctypes.data % 64 == 0


def test_a_set_stands_for_the_level_that_serves_it():
    caches = [Cache(1, 2**15, 8, 64, 1), Cache(2, 2**19, 8, 64, 1)]
    sizes = [2**power for power in range(12, 22)]
    expected = {"L1": 2**12, "L2": 2**16, "memory": 2**21}
    assert nb09_counters.served_by(sizes, caches) == expected
    assert nb09_counters.served_by([2**12, 2**13], caches) == {"L1": 2**12}


@pytest.mark.system
def test_loads_of_a_chain_are_timed_to_its_end():
    times = nb09_counters.chase([2**12, 2**23], loads=1000, repeats=3, seed=0)
    counts = times.groupby(["bytes", "pages"]).size().to_dict()
    huge = counts.pop((2**23, "2 MiB"), 3)  # not every system provides them
    assert counts == {(2**12, "4 KiB"): 3, (2**23, "4 KiB"): 3}
    assert huge == 3
    assert (times["seconds"] > 0).all()


@pytest.mark.parametrize(
    ("printed", "reason"),
    [
        ("Cannot find metric or group `TopdownL1'", "Cannot find metric"),
        ("   <not supported>      cycles", "not supported"),
    ],
)
def test_top_down_is_perfs_own_table_or_a_reason(tmp_path, monkeypatch, printed, reason):
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    perf = tmp_path / "perf"
    perf.write_text("#!/bin/sh\necho '    12.3 %  retiring' >&2\n")
    perf.chmod(0o755)
    assert counters.top_down(["true"]) == "12.3 %  retiring"
    perf.write_text(f'#!/bin/sh\ncat >&2 <<"END"\n{printed}\n 5.0% of all branches\nEND\n')
    with pytest.raises(UnavailableError, match=reason):
        counters.top_down(["true"])
    perf.unlink()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnavailableError, match="apt-get install linux-perf"):
        counters.top_down(["true"])


@pytest.mark.system
@pytest.mark.skipif(not have_valgrind(), reason="valgrind is not installed")
def test_instructions_are_counted_by_header():
    few, more = (
        nb09_counters.instructions_by_header(boards=8, steps=10, mask=mask).set_index("header")[
            "instructions"
        ]
        for mask in ("bits", "bool")
    )
    assert few["chess/boards.hpp"] == more["chess/boards.hpp"] > 50
    # 73 planes of 64 bytes each, by registers of 32.
    assert more["env/mask.hpp"] > 73 * 2
    assert few.sum() < more.sum()
    # Inlined code counts as its header's.
    assert few["the C and C++ library"] < few.sum() / 10


needs_objdump = pytest.mark.skipif(not shutil.which("objdump"), reason="objdump is not installed")
needs_mca = pytest.mark.skipif(not shutil.which("llvm-mca"), reason="llvm-mca is not installed")


@needs_objdump
@pytest.mark.parametrize(
    ("build", "boards"), list(zip(nb09_hot_loop.BUILDS, (1, 4, 4, 8), strict=True)), ids=str
)
def test_a_hot_loop_is_read_from_the_binary(build, boards):
    loop = nb09_hot_loop.loop(nb09_hot_loop.build(build), "fills")
    assert nb09_hot_loop.boards_at_once(loop) == boards
    assert loop["instruction"].iloc[-1].startswith("j")
    assert not loop["instruction"].iloc[:-1].str.startswith("j").any()
    shifts = loop["meaning"].str.extract(r"shift by (\d+)", expand=False).dropna().astype(int)
    # Three doublings of the sliders, two of what is open, and a last step.
    assert sorted(shifts) == [9, 9, 9, 18, 18, 36]
    assert loop["meaning"].str.startswith("store").sum() == 1


def test_gpp_vectorises_the_fill_and_not_the_walk():
    report = nb09_hot_loop.vectorised("plain words, vectorised by g++").set_index("function")
    assert report.loc["fills", "g++ says"].startswith("loop vectorized")
    assert "control flow" in report.loc["walks", "g++ says"]


@needs_objdump
@needs_mca
def test_ports_are_simulated():
    loop = nb09_hot_loop.loop(nb09_hot_loop.build("written for AVX-512"), "fills")
    cycles, busy, _ = nb09_hot_loop.ports(loop, "skylake-avx512")
    assert cycles >= busy.max() - 0.1
    assert busy.sum() > len(loop) - 1  # the jump is left out; what loads, too, needs two
    with pytest.raises(UnavailableError, match="llvm-mca"):
        nb09_hot_loop.ports(loop.assign(instruction="nonsense"), "skylake-avx512")


def test_a_missing_tool_is_named(monkeypatch, tmp_path):
    library = nb09_hot_loop.build("plain words")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnavailableError, match="no objdump: apt-get install binutils"):
        nb09_hot_loop.loop(library, "fills")


@pytest.mark.system
def test_builds_are_raced_and_find_the_same():
    times = nb09_hot_loop.race_builds(64, times=2, repeats=2, warmup=1, seed=0)
    runs = [name for name in nb09_hot_loop.BUILDS if nb09_hot_loop.runs_here(name)]
    assert set(times["racer"]) == {"a walk", *runs}
    assert (times["seconds"] > 0).all()
