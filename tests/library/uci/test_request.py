"""What a controller asks for is read, and no clock runs out."""

import math

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rungs._src.uci.clock import MOVES, thinking_time
from rungs._src.uci.request import Options, game_of, limits_of


def limits(text, simulations=0, white=True):
    return limits_of(text.split(), Options(simulations=simulations), white)


def game(text, before=None, chess960=False):
    return game_of(text.split(), chess960, before)


CLOCK, WHITES = "wtime 60000 btime 30000 winc 100 binc 200 movestogo 10", (60, 0.1, 10, 0.02)
LIMITS = [  # what is asked for, simulations and seconds
    ("nodes 50", 50, math.inf),
    ("nodes -3", 1, math.inf),
    ("movetime 1000", math.inf, 0.98),
    (CLOCK, math.inf, thinking_time(*WHITES)),
    (f"{CLOCK} movetime 100", math.inf, 0.08),
    (f"{CLOCK} nodes 7", 7, thinking_time(*WHITES)),
    ("wtime -50 btime 100", math.inf, 0),
    ("infinite", math.inf, math.inf),
]


@pytest.mark.parametrize(("text", "simulations", "seconds"), LIMITS)
def test_a_move_is_limited_by_nodes_time_and_the_option_simulations(text, simulations, seconds):
    for option in (0, 40):
        found, ignored = limits(text, option)
        assert found.simulations == min(simulations, option or math.inf)
        assert found.seconds == pytest.approx(seconds)
        assert found.infinite == (text == "infinite")
        assert not ignored


def test_each_side_has_its_clock():
    assert limits(CLOCK, white=False)[0].seconds == thinking_time(30, 0.2, 10, 0.02)


def test_without_a_limit_a_move_still_ends_by_the_option_or_by_itself():
    for text in ("", "depth 5", "mate 3", "searchmoves e2e4", "nodes many", "wtime"):
        found, ignored = limits(text)
        assert 0 < found.simulations < math.inf
        assert bool(ignored) == bool(text)
        assert limits(text, 40)[0].simulations == 40


def test_numbers_may_be_of_any_size():
    found, _ = limits(f"nodes {10**400} movetime {10**400} wtime -{10**400} movestogo 0")
    assert found.seconds == 0
    limits("nodes " + "9" * 10_000)


def test_options_are_set_by_names_in_any_case():
    options = Options()
    for words, attribute, value in (
        ("name Hash value 5000", "hash", 5000),
        ("name multipv value 3", "multi_pv", 3),
        ("name UCI_ShowWDL value true", "show_wdl", True),
        ("name Move Overhead value 7", "overhead", 7),
        ("name Rule value PUCT", "rule", "puct"),
    ):
        assert getattr(options.replaced(words.split()), attribute) == value


def test_a_game_that_is_sent_again_is_the_one_from_its_start():
    before = None
    for text in (
        "startpos moves e2e4 e7e5",
        "startpos moves e2e4 e7e5 g1f3",
        "startpos moves e2e4 c7c5",  # a move is taken back
        f"fen {chess.STARTING_FEN} moves d2d4",
    ):
        before = game(text, before)
        assert before == game(text)


def test_castling_is_written_as_the_option_and_the_position_say():
    start = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
    classical = game(f"fen {start} moves e1g1")
    onto_rook = game(f"fen {start} moves e1h1", chess960=True)
    assert classical.actions == onto_rook.actions
    assert classical.board.board_fen() == onto_rook.board.board_fen()
    assert game("fen 1k6/8/8/8/8/8/8/1K2R3 w E - 0 1 moves b1e1").board.king(True) == chess.G1


SECONDS = st.floats(-10, 1e5)


def played_out(remaining, increment, moves, *, control=None, delay, overhead):
    """The clock after each move of a game in which every move is late by a delay."""
    left = []
    for move in range(moves):
        to_go = control - move % control if control else None
        remaining -= thinking_time(remaining, increment, to_go, overhead) + delay
        left.append(remaining)
        remaining += increment
    return left


@given(SECONDS, st.floats(0, 1e4), st.none() | st.integers(1, 10**6), st.floats(0, 10))
def test_half_of_the_clock_is_never_used_at_once(remaining, increment, moves, overhead):
    seconds = thinking_time(remaining, increment, moves, overhead)
    assert 0 <= seconds <= max(0, remaining / 2 - overhead)


def test_delays_below_the_increment_lose_no_game_however_long():
    for delay in (0.0, 0.005, 0.009):
        assert min(played_out(1, 0.01, 500, delay=delay, overhead=0.02)) > 0.3
        assert min(played_out(0.5, 0, 40, delay=delay, overhead=0.02)) > 0


def test_most_of_the_time_is_used():
    for *clock, moves, control, most in (
        (60, 0, MOVES, MOVES, 10),
        (300, 0, 80, None, 75),
        (60, 1, 100, None, 15),
    ):
        left = played_out(*clock, moves, control=control, delay=0.0, overhead=0.02)
        assert 0 < left[-1] < most
