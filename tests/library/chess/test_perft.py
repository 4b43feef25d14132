"""The move generator against published leaf counts."""

from pathlib import Path

import pytest

from rungs._src.chess.perft import perft_cpp, perft_python, read_epd
from rungs._src.chess.settings import ChessSettings

DATA = Path(__file__).parents[2] / "proof" / "data"
TRICKY, RANDOM = (list(read_epd(DATA / name)) for name in ("tricky.epd", "random.epd"))
CHESS960 = list(read_epd(DATA / "chess960.epd"))
STANDARD = [*TRICKY[:5], RANDOM[0]]


def assert_counts(cases, most=float("inf"), deepest=False):
    """All published counts up to `most` leaves, or the deepest of each; names all wrong ones."""
    wrong, checked = [], 0
    for case in cases:
        counts = [(depth, leaves) for depth, leaves in case.leaves.items() if leaves <= most]
        for depth, leaves in counts[-1:] if deepest else counts:
            counted = perft_cpp(case.fen, depth)
            checked += 1
            if counted != leaves:
                wrong.append(f"{case.fen}: depth {depth} has {leaves} leaves, not {counted}")
    assert not wrong, "\n".join(wrong)
    assert checked >= len(cases)


def test_the_standard_six():
    assert_counts(STANDARD, most=10_000_000)


@pytest.mark.parametrize("threads", [2, 7])
def test_threads_share_out_a_tree(threads):
    for case in STANDARD:
        for depth, leaves in case.leaves.items():
            if leaves <= 1_000_000:
                assert perft_cpp(case.fen, depth, threads=threads) == leaves, (case.fen, depth)


def test_every_position_shallow():
    assert len(TRICKY) >= 19
    assert len(RANDOM) > 1400
    # tests/proof/cpp/test_cpp.py has all counts up to 10,000.
    assert_counts(TRICKY + RANDOM, most=100_000, deepest=True)
    assert_counts(CHESS960, most=1_200_000)


@pytest.mark.parametrize("depth", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_the_960_starts_have_as_many_leaves_as_python_chess_says(depth):
    for fen in ChessSettings(start="chess960").starts:
        assert perft_cpp(fen, depth) == perft_python(fen, depth), fen


@pytest.mark.system
def test_chess960_deeper():
    assert_counts(CHESS960, most=40_000_000)


def test_python_chess_counts_the_tricky_ones_alike():
    for case in TRICKY + CHESS960:
        assert perft_python(case.fen, 2) == perft_cpp(case.fen, 2) == case.leaves[2], case.fen


@pytest.mark.slow
def test_every_position_at_every_depth_published():
    assert_counts(TRICKY + RANDOM + CHESS960)
