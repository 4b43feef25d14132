"""The move generator against published leaf counts."""

import functools
from pathlib import Path

import pytest

from rungs._src.chess.perft import divide, perft_cpp, perft_python, read_epd
from rungs._src.chess.settings import ChessSettings
from rungs._src.machine.cpu import usable_cores
from tests.tiers import system_tier

DATA = Path(__file__).parents[2] / "proof" / "data"
TRICKY, RANDOM = (list(read_epd(DATA / name)) for name in ("tricky.epd", "random.epd"))
CHESS960 = list(read_epd(DATA / "chess960.epd"))
STANDARD = [*TRICKY[:5], RANDOM[0]]


def assert_counts(cases, most=float("inf"), deepest=False, count=perft_cpp):
    """All published counts up to `most` leaves, or the deepest of each; names all wrong ones."""
    differences, checked = [], 0
    for case in cases:
        counts = [(depth, leaves) for depth, leaves in case.leaves.items() if leaves <= most]
        for depth, leaves in counts[-1:] if deepest else counts:
            counted = count(case.fen, depth)
            checked += 1
            if counted != leaves:
                differences.append(f"{case.fen}: depth {depth} has {leaves} leaves, not {counted}")
    assert not differences, "\n".join(differences)
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
    assert len(RANDOM) > 300
    # tests/proof/cpp/test_cpp.py has all counts up to 10,000.
    assert_counts(TRICKY + RANDOM, most=100_000, deepest=True)
    assert_counts(CHESS960, most=1_200_000)


@pytest.mark.parametrize(
    ("depth", "every"), [(2, 7), *system_tier((2, 1)), pytest.param(3, 1, marks=pytest.mark.slow)]
)
def test_the_960_starts_have_as_many_leaves_as_python_chess_says(depth, every):
    for fen in ChessSettings(start="chess960").starts[::every]:
        assert perft_cpp(fen, depth) == perft_python(fen, depth), fen


def test_python_chess_counts_the_tricky_ones_alike():
    for case in TRICKY + CHESS960:
        assert perft_python(case.fen, 2) == perft_cpp(case.fen, 2) == case.leaves[2], case.fen


@pytest.mark.slow
def test_every_position_at_every_depth_published():
    cases = TRICKY + RANDOM + CHESS960
    assert max(leaves for case in cases for leaves in case.leaves.values()) > 10**10
    assert_counts(cases, count=functools.partial(perft_cpp, threads=usable_cores()))


# All are of https://www.chessprogramming.org/Perft_Results, each move's are Stockfish's.
PUBLISHED = {
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1": (
        (3, 20, 8_902),
        {"a2a3": 380, "b1c3": 440, "d2d4": 560, "e2e4": 600, "g1h3": 400},
    ),
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1": (
        (2, 48, 2_039),
        {"a1b1": 43, "a2a3": 44, "e1c1": 43, "e1g1": 43, "e2a6": 36, "g2h3": 43},
    ),
}


@pytest.mark.parametrize("count", [perft_cpp, perft_python])
@pytest.mark.parametrize("fen", PUBLISHED)
def test_moves_have_the_leaves_that_are_published(count, fen):
    (depth, moves, leaves), known = PUBLISHED[fen]
    divided = dict(divide(fen, depth, count))
    assert (len(divided), sum(divided.values())) == (moves, leaves)
    assert divided.items() >= known.items()
    assert [*divided] == sorted(divided)


def test_castling_is_written_to_the_rook_where_only_chess960_has_it():
    assert dict(divide("4k3/8/8/8/8/8/8/4K1R1 w G - 0 1", 1))["e1g1"] == 1
    assert "f1h1" in dict(divide("4k3/8/8/8/8/8/8/5K1R w H - 0 1", 1))
    assert "e1h1" not in dict(divide("4k3/8/8/8/8/8/8/4K2R w K - 0 1", 1))


def test_the_last_position_and_the_last_number_are_divided():
    assert not list(divide("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", 3))
    assert len(list(divide("4k3/8/8/8/8/8/8/4K3 b - - 0 65535", 2))) == 5
