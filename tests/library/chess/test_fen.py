"""FENs that are refused, and numbers of moves, which C++ keeps in 16 bits."""

import random

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rungs
from rungs._src.chess.actions import action_of, to_uci
from rungs._src.chess.perft import perft_cpp, perft_python
from rungs._src.chess.settings import MAX_FULLMOVE
from rungs.errors import InvalidFenError

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


REFUSED = {
    "": "6 fields",
    "4k3/8/8/8/8/8/8/4K3 w - - 0 1 2": "6 fields",
    "8/8/8/8/8/8/8/8 w - - 0 1": "one king",
    "kk6/8/8/8/8/8/8/K7 w - - 0 1": "one king",
    "k7/8/8/8/8/8/8/K6P w - - 0 1": "first or last rank",
    "p3k3/8/8/8/8/8/8/4K3 w - - 0 1": "first or last rank",
    "4k3/8/8/8/8/8/8/4K3 w  - 0 1": "castling rights",
    "4k3/8/8/8/8/8/8/4K3 w -  0 1": "en-passant square",
    "4k3/8/8/8/8/8/8/4K3  - - 0 1": "w or b",
    "4k3/8/8/8/8/8/8/4K3 x - - 0 1": "w or b",
    "4k3/8/8/8/8/8/8 w - - 0 1": "8 ranks",
    "4k3/8/8/8/8/8/8/8/4K3 w - - 0 1": "8 ranks",
    "4k4/8/8/8/8/8/8/4K3 w - - 0 1": "8 squares",
    "4k2/8/8/8/8/8/8/4K3 w - - 0 1": "8 squares",
    "4k12/8/8/8/8/8/8/4K3 w - - 0 1": "digits",
    "4x3/8/8/8/8/8/8/4K3 w - - 0 1": "does not belong",
    "r3k3/8/8/8/8/8/8/4K3 w k - 0 1": "castling right k",
    "4k3/8/8/8/8/8/8/R3K2R w KK - 0 1": "twice",
    "4k3/8/8/8/8/8/8/R3K2R w KX - 0 1": "KQkq",
    "4k3/8/8/4p3/8/8/8/4K3 w - e3 0 1": "en-passant square",
    "4k3/8/4p3/4p3/8/8/8/4K3 w - e6 0 1": "en-passant square e6",
    "4k3/8/8/8/8/8/8/4K3 w - - -1 1": "number",
    "4k3/8/8/8/8/8/8/4K3 w - - 0 0": "number",
    "4k3/8/8/8/8/8/8/4K3 w - - 0 99999999999999999999": "number",
    "4k3/4R3/8/8/8/8/8/4K3 w - - 0 1": "in check",
    "kK6/8/8/8/8/8/8/8 w - - 0 1": "in check",
    "4k3/pppppppp/p7/8/8/8/8/4K3 w - - 0 1": "8 pawns",
    "nnnnknnn/nnnnnnnn/n7/8/8/8/8/4K3 w - - 0 1": "16 pieces",
}


@pytest.mark.parametrize(("fen", "why"), REFUSED.items())
def test_refused_with_the_reason(fen, why):
    with pytest.raises(InvalidFenError, match=why):
        perft_cpp(fen, 1)


# With a space too many or fields left out, python-chess would take it that neither side may castle.
@pytest.mark.parametrize(
    "fields", ["", " w", " w KQkq", " w  - 0 1", " w KQkq  0 1", " w KQkq -  1", " w KQkq - 0"]
)
def test_no_start_lacks_a_field(fields):
    fen = START.split(" ")[0] + fields
    for rung in ("python", "cpp"):
        with pytest.raises(InvalidFenError, match="6 fields"):
            rungs.make("chess", rung, 1, start_fens=[START, fen])
    for perft in (perft_cpp, perft_python):
        with pytest.raises(InvalidFenError):
            perft(fen, 1)
    with pytest.raises(InvalidFenError):
        to_uci(524, fen)


@pytest.mark.parametrize(
    ("castling", "legal"),
    [("K", 0), ("H", 0), ("C", 1), ("-", 0)],  # the outer rook's way is blocked by the inner one
)
def test_a_letter_without_a_file_is_the_outermost_rooks(castling, legal):
    fen, none = (f"k7/8/8/8/8/8/8/1KR4R w {right} - 0 1" for right in (castling, "-"))
    assert perft_cpp(fen, 1) == perft_python(fen, 1) == perft_cpp(none, 1) + legal


@given(st.text(max_size=300))
def test_any_text_is_refused_not_crashed_on(text):
    with pytest.raises(InvalidFenError):
        perft_cpp(text, 1)


@given(st.data())
def test_a_mutated_fen_is_refused_or_counted_as_python_chess_does(data):
    letters = list(START)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(letters) - 1))
        letters[at] = data.draw(st.sampled_from("pnbrqkPNBRQK12345678/ wb-KQkqeh3609"))
    fen = "".join(letters)
    try:
        leaves = perft_cpp(fen, 1)
    except InvalidFenError:
        return
    # What we accept, python-chess must understand; it corrects castling rights that we refuse.
    assert leaves == chess.Board(fen, chess960=True).legal_moves.count()


def start(fullmove, board="rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"):
    return f"{board} w KQkq - 0 {fullmove}"


@pytest.mark.parametrize("rung", ["python", "cpp"])
@pytest.mark.parametrize("fullmove", [59_001, 65_536, 10**4000])
def test_starts_beyond_are_refused(rung, fullmove):
    with pytest.raises(InvalidFenError, match="59000"):
        rungs.make("chess", rung, 1, start_fens=[start(1), start(fullmove)])


def test_no_game_leaves_the_16_bits_of_its_moves_number():
    # 5 899 moves at most: of 118 pawn moves and captures two in a row are never 50 moves apart.
    assert MAX_FULLMOVE + 5_899 < 2**16


def test_a_long_game_from_move_59000_is_the_same():
    """600 plies of quiet moves, in which the low byte of the number overflows."""
    envs = [
        rungs.make("chess", rung, 1, start_fens=[start(59_000)], obs="bitplanes")
        for rung in ("python", "cpp")
    ]
    for env in envs:
        env.reset(seed=0)
    rng, board, seen = random.Random(1), chess.Board(start(59_000)), set()
    for _ in range(600):
        move = quiet_move(board, seen, rng)
        action = action_of(move, not board.turn)
        board.push(move)
        seen.add(board._transposition_key())
        ours, theirs = (env.step([action]) for env in envs)
        assert not theirs[2].any()
        assert (ours[0] == theirs[0]).all()
        assert envs[0].fens() == envs[1].fens() == [board.fen()]
    assert board.fullmove_number == 59_300


def quiet_move(board, seen, rng):
    """Chooses a move to a new position; a pawn's where otherwise the 50-move rule would end it."""
    moves = list(board.legal_moves)
    rng.shuffle(moves)
    pawns_first = board.halfmove_clock >= 90
    moves.sort(
        key=lambda move: (
            board.is_capture(move),
            (board.piece_type_at(move.from_square) == chess.PAWN) != pawns_first,
        )
    )
    for move in moves:
        board.push(move)
        goes_on = board._transposition_key() not in seen and any(board.legal_moves)
        quiet = goes_on and not board.is_check() and not board.is_insufficient_material()
        board.pop()
        if quiet:
            return move
    raise AssertionError(board.fen())


@pytest.mark.parametrize("count", [perft_python, perft_cpp])
def test_perft_takes_numbers_that_cpp_has_room_for(count):
    assert count(start(65_535), 2) == 400
    for fullmove in (65_536, 10**10):
        with pytest.raises(InvalidFenError, match="65535"):
            count(start(fullmove), 2)
