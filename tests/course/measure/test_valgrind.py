"""What valgrind counts is exact: the same twice, and in the proportions that masks must give."""

import pytest

from rungs_course.machine.topology import Cache
from rungs_course.measure.valgrind import counts_per_ply, have_valgrind, work_per_ply

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(not have_valgrind(), reason="valgrind is not installed"),
]

FIRST, LAST = Cache(1, 32768, 8, 64, 1), Cache(2, 2**20, 8, 64, 1)


def test_counts_per_ply():
    bits = counts_per_ply(8, 10, "bits", FIRST, LAST)
    assert bits == counts_per_ply(8, 10, "bits", FIRST, LAST)
    assert bits["loads"] + bits["stores"] < bits["instructions"]
    assert bits["mispredicted branches"] < bits["branches"]
    assert bits["last-level misses"] <= bits["L1 misses"] <= bits["loads"] + bits["stores"]
    tiny = counts_per_ply(8, 10, "bits", Cache(1, 1024, 2, 64, 1), LAST)
    assert tiny["L1 misses"] > bits["L1 misses"]
    assert tiny["instructions"] == bits["instructions"]


def test_operations_and_bytes():
    work = {mask: work_per_ply(8, 10, mask) for mask in ("bits", "bool", "list")}
    assert len({each["bytes"] for each in work.values()}) == 3
    # A `bool` mask is written byte by byte, 4,672 of them, where 584 hold its bits.
    more = work["bool"]["bytes"] - work["bits"]["bytes"]
    assert more > 4672 - 584
    counted = counts_per_ply(8, 10, "bits", FIRST, LAST)
    for each in work.values():
        assert 0 < each["operations"] < each["instructions"]
    assert work["bits"]["instructions"] > counted["instructions"]
    assert work["bits"]["bytes"] > 8 * counted["stores"]
