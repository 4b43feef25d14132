"""What a controller asks for is read, and what is wrong is named."""

import math

import chess
import pytest

from rungs._src.uci.request import OPTIONS, Options, game_of, limits_of
from rungs.errors import ConfigurationError, InvalidFenError


def limits(text, options=None, white=True):
    return limits_of(text.split(), options or Options(), white)


def game(text, before=None, chess960=False):
    return game_of(text.split(), chess960, before)


def test_a_move_is_limited_by_nodes_time_and_the_clock_of_its_side():
    assert limits("nodes 50")[0].simulations == 50
    assert math.isinf(limits("nodes 50")[0].seconds)
    assert limits("movetime 1000")[0].seconds == pytest.approx(0.98)
    clock = "wtime 60000 btime 30000 winc 100 binc 100 movestogo 10"
    assert 2.5 < limits(clock, white=False)[0].seconds < 3.5 < limits(clock)[0].seconds < 7
    assert limits(f"{clock} movetime 100")[0].seconds == pytest.approx(0.08)
    both = limits(f"{clock} nodes 7")[0]
    assert both.simulations == 7
    assert both.seconds < 7
    assert limits("wtime -50 btime 100")[0].seconds == 0


def test_without_a_limit_a_move_still_ends_unless_it_is_infinite():
    for text in ("", "depth 5", "mate 3", "searchmoves e2e4", "nodes many", "wtime"):
        found, ignored = limits(text)
        assert 0 < found.simulations < math.inf
        assert bool(ignored) == bool(text)
    infinite = limits("infinite")[0]
    assert infinite.infinite
    assert math.isinf(infinite.simulations)
    assert limits("nodes -3")[0].simulations == 1


def test_the_option_simulations_limits_every_move():
    options = Options(simulations=40)
    for text in ("", "nodes 100", "movetime 1000", "infinite"):
        assert limits(text, options)[0].simulations == 40
    assert limits("nodes 10", options)[0].simulations == 10


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
    assert len([*options.declarations()]) == len(OPTIONS)


NO_OPTIONS = (
    "", "Hash", "name", "name value", "name Nonsense value 1", "name Hash", "name Hash value 16",
    "name Hash value x", "name Threads value 2", "name UCI_ShowWDL value 1", "name Rule value best",
    "name Seed value -1", "value 3 name Hash",
)  # fmt: skip


@pytest.mark.parametrize("words", NO_OPTIONS)
def test_options_that_there_are_not_are_refused(words):
    with pytest.raises(ConfigurationError):
        Options().replaced(words.split())


def test_a_game_goes_on_with_the_moves_that_are_new():
    first = game("startpos moves e2e4 e7e5")
    actions = [*first.actions]
    later = game("startpos moves e2e4 e7e5 g1f3", first)
    assert later.actions[:2] == actions
    assert later.board.fen() == game("startpos moves e2e4 e7e5 g1f3").board.fen()
    taken_back = game("startpos moves e2e4 c7c5", later)
    assert taken_back.board.peek() == chess.Move.from_uci("c7c5")
    other = game(f"fen {chess.STARTING_FEN} moves d2d4", taken_back)
    assert other.moves == ["d2d4"]


def test_castling_is_written_as_the_option_and_the_position_say():
    start = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
    classical = game(f"fen {start} moves e1g1")
    onto_rook = game(f"fen {start} moves e1h1", chess960=True)
    assert classical.actions == onto_rook.actions
    assert classical.board.board_fen() == onto_rook.board.board_fen()
    assert game("fen 1k6/8/8/8/8/8/8/1K2R3 w E - 0 1 moves b1e1").board.king(True) == chess.G1


MOVES = ("e2e4", "moves e2e5", "moves 0000", "moves e2e4 moves")
NO_POSITIONS = ["", "e2e4", "fen", "fen 8/8/8/8/8/8/8/8 w - - 0 1"]
NO_POSITIONS += [f"startpos {moves}" for moves in MOVES]


@pytest.mark.parametrize("text", NO_POSITIONS)
def test_positions_that_there_are_not_are_refused(text):
    with pytest.raises(InvalidFenError if text.startswith("fen") else ConfigurationError):
        game(text)
