"""FENs that are refused, by all that read one, and numbers of moves, which C++ keeps in 16 bits."""

import ctypes
import functools

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rungs
from rungs._src.chess.actions import from_uci, to_uci
from rungs._src.chess.fen import board_of
from rungs._src.chess.perft import divide, perft_cpp, perft_python
from rungs.errors import ConfigurationError, InvalidFenError
from rungs.search import Search
from tests.library.native import c_handles

START = chess.STARTING_FEN
BOARD = START.split()[0]
KINGS = "4k3/8/8/8/8/8/8/4K3"
# More or fewer kings, ranks, squares, pawns or pieces than there can be, or in other places.
PLACEMENTS = """
    8/8/8/8/8/8/8/8 kk6/8/8/8/8/8/8/K7 k7/8/8/8/8/8/8/K6P p3k3/8/8/8/8/8/8/4K3 4k3/8/8/8/8/8/8
    4k3/8/8/8/8/8/8/8/4K3 4k4/8/8/8/8/8/8/4K3 4k2/8/8/8/8/8/8/4K3 4k12/8/8/8/8/8/8/4K3
    4x3/8/8/8/8/8/8/4K3 4k3/4R3/8/8/8/8/8/4K3 kK6/8/8/8/8/8/8/8 4k3/pppppppp/p7/8/8/8/8/4K3
    nnnnknnn/nnnnnnnn/n7/8/8/8/8/4K3
"""
FIELDS = "w - - 0 1 2|w  - 0 1|w -  0 1| - - 0 1|x - - 0 1|w - - -1 1|w - - 0 0|w - - 0 " + "9" * 20
RIGHTS = ["KKqq", "KHkq", "QAkq", "KQkh", "kqKQ", "KkQq", "KQkq-", "KX"]
NUMBERS = ("+5", "1_0", "05", "-0", "5.0", "\u0665", "\uff15", "65536", "x")
REFUSED = [
    "",
    *(f"{placement} w - - 0 1" for placement in PLACEMENTS.split()),
    *(f"{KINGS} {fields}" for fields in FIELDS.split("|")),
    "r3k3/8/8/8/8/8/8/4K3 w k - 0 1",
    *(f"4k3/8/8/8/8/8/8/R3K2R w {rights} - 0 1" for rights in ("KK", "KX")),
    *(f"4k3/8/8/8/8/8/8/2K2R1R w {rights} - 0 1" for rights in ("FH", "D", "KQ", "Q")),
    "4k3/8/8/4p3/8/8/8/4K3 w - e3 0 1",
    "4k3/8/4p3/4p3/8/8/8/4K3 w - e6 0 1",
    "4k3/8/8/4P3/8/8/8/4K3 w - d6 0 1",
    # Accepted by python-chess alone, or by a lenient reader in C++.
    *(f" {START}", f"{START} ", START.replace(" ", "  ", 1), f"{START}\n"),
    *(BOARD + rest for rest in ("", " w", " w KQkq", " w KQkq - 0")),
    *(START.replace(" ", space) for space in ("\t", "\n", "\xa0", "\u2003")),
    *(f"{BOARD} w KQkq {rest}" for rest in (" 0 1", "-  1")),
    *(START.replace("Q", "Q~", 1), START.replace("8", "\uff18", 1)),
    *(f"{BOARD} w {rights} - 0 1" for rights in RIGHTS),
    *(f"{BOARD} w KQkq - {n} 1" for n in NUMBERS),
    *(f"{BOARD} w KQkq - 0 {n}" for n in NUMBERS),
]
ACCEPTED = (
    START,
    f"{BOARD} b KQkq -",
    f"{BOARD} w QKqk - 99 59000",
    f"{BOARD} w HAha - 0 1",
    f"{BOARD} w Hq - 0 1",
    "4k3/8/8/3pP3/8/8/8/4K3 w - d6 3 1",
    "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
)


@functools.cache
def search(rung):
    return Search(1, simulations=1, rung=rung)


@functools.cache
def in_c(kind):
    handle = getattr(c_handles, kind)(**{"mask": 2} if kind == "Chess" else {"simulations": 1})
    if kind == "Chess":
        handle.reset(0)
    return handle


def perft_c(fen):
    library, leaves = c_handles.library(), ctypes.c_int64()
    status = library.rungs_perft(fen.encode(), 0, 1, ctypes.byref(leaves))
    if status:
        raise c_handles.CError(status, library.rungs_error_message().decode())


# All that reads a FEN, and all that begins a game from one, with lists of actions.
READERS = {
    "board_of": board_of,
    "from_uci": lambda fen: from_uci("e2e4", fen),
    "to_uci": lambda fen: to_uci(524, fen),
    "perft_python": lambda fen: perft_python(fen, 0),
    "perft_cpp": lambda fen: perft_cpp(fen, 0),
    "divide": lambda fen: list(divide(fen, 1)),
    "rungs_perft": perft_c,
}
STARTERS = {
    "python": lambda fen: rungs.make("chess", "python", 1, start_fens=[fen], mask="list"),
    "cpp": lambda fen: rungs.make("chess", "cpp", 1, start_fens=[fen], mask="list"),
    "Search python": lambda fen: search("python").begin(fen),
    "Search threads": lambda fen: search("threads").begin([fen]),
    "rungs_chess_create": lambda fen: c_handles.Chess(start_fens=[fen], mask=2),
    "rungs_chess_set_fen": lambda fen: in_c("Chess").set_fen(0, fen),
    "rungs_search_begin": lambda fen: in_c("Search").call("begin", 0, fen.encode()),
}


def accepts(read, fen):
    try:
        read(fen)
    except InvalidFenError:
        return False
    except c_handles.CError as error:
        if error.status != c_handles.FEN:
            raise
        return False
    except ConfigurationError:  # a move that is illegal there
        pass
    return True


@pytest.mark.parametrize("name", READERS | STARTERS)
def test_all_that_read_fens_take_the_same(name):
    read = (READERS | STARTERS)[name]
    assert [fen for fen in ACCEPTED if not accepts(read, fen)] == []
    assert [fen for fen in REFUSED if accepts(read, fen)] == []


@pytest.mark.parametrize("name", [name for name in READERS | STARTERS if "rungs_" not in name])
def test_no_byte_0_ends_a_fen(name):
    assert not accepts((READERS | STARTERS)[name], f"{START}\0 b")


@pytest.mark.parametrize(
    ("castling", "legal"),
    [("K", 0), ("H", 0), ("C", 1), ("-", 0)],  # the outer rook's way is blocked by the inner one
)
def test_a_letter_without_a_file_is_the_outermost_rooks(castling, legal):
    fen, none = (f"k7/8/8/8/8/8/8/1KR4R w {right} - 0 1" for right in (castling, "-"))
    assert perft_cpp(fen, 1) == perft_python(fen, 1) == perft_cpp(none, 1) + legal


@st.composite
def mutated(draw):
    """A FEN of which some letters are others, gone or twice, or fields are."""
    letters = list(draw(st.sampled_from(ACCEPTED)))
    alphabet = st.sampled_from("pnbrqkPNBRQK123456780/ wb-KQkqHAhae369+_~x\t\n\xa0\u0665\uff11")
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(letters) - 1))
        letters[at : at + draw(st.integers(0, 2))] = draw(st.lists(alphabet, max_size=2))
        letters = letters or [" "]
    fields = "".join(letters).split(" ")
    if draw(st.booleans()):
        others = ("KQkq", "kqKQ", "KK", "-", "e3", "d6", "w", "0", "00", "1_0", "+5", "100", "151")
        fields[draw(st.integers(0, len(fields) - 1))] = draw(st.sampled_from(others))
    return " ".join(fields)


@given(mutated())
def test_a_mutated_fen_has_one_answer_everywhere(fen):
    answers = {name: accepts(read, fen) for name, read in READERS.items()}
    assert len(set(answers.values())) == 1, (fen, answers)
    starts = {name: accepts(read, fen) for name, read in STARTERS.items()}
    assert len(set(starts.values())) == 1, (fen, starts)
    if answers["board_of"]:
        assert perft_cpp(fen, 1) == chess.Board(fen, chess960=True).legal_moves.count()
    else:
        assert not starts["python"], fen


def start(fullmove):
    return START[:-1] + str(fullmove)


@pytest.mark.parametrize("rung", ["python", "cpp"])
@pytest.mark.parametrize(
    ("fullmove", "most"), [(59_001, 59_000), (65_536, 65_535), (10**4000, 65_535)]
)
def test_starts_beyond_are_refused(rung, fullmove, most):
    with pytest.raises(InvalidFenError, match=rf"start_fens\[1\].*{most}"):
        rungs.make("chess", rung, 1, start_fens=[start(1), start(fullmove)])
