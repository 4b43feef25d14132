"""How long a move may take: never more than is there, and enough of it."""

from hypothesis import given
from hypothesis import strategies as st

from rungs._src.uci.clock import MOVES, thinking_time

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
    left = played_out(60, 0, MOVES, control=MOVES, delay=0.0, overhead=0.02)
    assert 0 < left[-1] < 10
    left = played_out(300, 0, 80, delay=0.0, overhead=0.02)
    assert 0 < left[-1] < 75
    left = played_out(60, 1, 100, delay=0.0, overhead=0.02)
    assert 0 < left[-1] < 15


def test_more_time_and_fewer_moves_mean_longer_thinking():
    assert thinking_time(60, 0, None, 0.02) < thinking_time(120, 0, None, 0.02)
    assert thinking_time(60, 0, None, 0.02) < thinking_time(60, 1, None, 0.02)
    assert thinking_time(60, 0, 20, 0.02) < thinking_time(60, 0, 10, 0.02)
