"""Philox against the known answers its authors publish with Random123."""

from rungs._src.core.philox import below, philox

ALL = 0xFFFFFFFF


def test_known_answers():
    assert philox(0, 0, 0, 0, 0) == 0x6627E8D5
    assert philox(2**64 - 1, ALL, ALL, ALL, ALL) == 0x408F276D
    pi = (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344)
    assert philox(0x299F31D0A4093822, *pi) == 0xD16CFE09


def test_below_covers_its_range_evenly():
    counts = [0] * 20
    for ply in range(20_000):
        counts[below(philox(0, 0, 0, ply, 0), 20)] += 1
    # 1000 expected each; five standard deviations of a binomial are 154.
    assert all(abs(count - 1000) < 154 for count in counts)
