"""The move generator against published leaf counts."""

from pathlib import Path

import pytest

from rungs.chess.perft import perft_cpp, perft_python, read_epd

DATA = Path(__file__).parents[1] / "data"
CASES = [case for name in ("tricky.epd", "random.epd") for case in read_epd(DATA / name)]
STANDARD = [CASES[i] for i in (0, 1, 2, 3, 4, len(list(read_epd(DATA / "tricky.epd"))))]


def by_fen(case):
    return case.fen


@pytest.mark.parametrize("case", STANDARD, ids=by_fen)
def test_the_standard_six(case):
    for depth, leaves in case.leaves.items():
        if leaves < 10_000_000:
            assert perft_cpp(case.fen, depth) == leaves, depth


@pytest.mark.parametrize("case", CASES, ids=by_fen)
def test_every_position_shallow(case):
    for depth, leaves in case.leaves.items():
        if leaves < 100_000:
            assert perft_cpp(case.fen, depth) == leaves, depth


@pytest.mark.parametrize("case", CASES[:19], ids=by_fen)
def test_python_chess_counts_the_tricky_ones_alike(case):
    assert perft_python(case.fen, 2) == perft_cpp(case.fen, 2) == case.leaves[2]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=by_fen)
def test_every_position_at_every_depth_published(case):
    for depth, leaves in case.leaves.items():
        assert perft_cpp(case.fen, depth) == leaves, depth
