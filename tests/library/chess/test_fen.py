"""FENs that are refused, and numbers of moves, which C++ keeps in 16 bits."""

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rungs
from rungs._src.chess.actions import to_uci
from rungs._src.chess.perft import perft_cpp, perft_python
from rungs._src.chess.settings import MAX_FULLMOVE
from rungs.errors import InvalidFenError

START = chess.STARTING_FEN
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


def start(fullmove):
    return START[:-1] + str(fullmove)


@pytest.mark.parametrize("rung", ["python", "cpp"])
@pytest.mark.parametrize("fullmove", [59_001, 65_536, 10**4000])
def test_starts_beyond_are_refused(rung, fullmove):
    with pytest.raises(InvalidFenError, match="59000"):
        rungs.make("chess", rung, 1, start_fens=[start(1), start(fullmove)])


def test_no_game_leaves_the_16_bits_of_its_moves_number():
    # 5 899 moves at most: of 118 pawn moves and captures two in a row are never 50 moves apart.
    assert MAX_FULLMOVE + 5_899 < 2**16


@pytest.mark.parametrize("count", [perft_python, perft_cpp])
def test_perft_takes_numbers_that_cpp_has_room_for(count):
    assert count(start(65_535), 2) == 400
    for fullmove in (65_536, 10**10):
        with pytest.raises(InvalidFenError, match="65535"):
            count(start(fullmove), 2)
