"""FENs, by the grammar of docs/library.md, which `cpp/chess/fen.hpp` parses in C++."""

import re

import chess

from rungs._src.core.arguments import boolean, shortened, shown
from rungs.errors import InvalidFenError

# No game leads to such a check, but the rules still define how to continue.
PLAYABLE = chess.STATUS_IMPOSSIBLE_CHECK | chess.STATUS_TOO_MANY_CHECKERS

# The form of each field, and the rule that a message names.
_FIELDS = (
    ("[pnbrqkPNBRQK1-8/]+", "the board has letters of pieces, digits from 1 to 8, and /"),
    ("[wb]", "the side to move is w or b"),
    (
        "-|[KQA-H]{1,2}[kqa-h]{0,2}|[kqa-h]{1,2}",
        "castling rights are a selection of KQkq, White's first, or -",
    ),
    ("-|[a-h][36]", "the en-passant square is - or one behind a pawn that just advanced"),
    ("[1-9]?[0-9]|1[0-4][0-9]|150", "the halfmove clock is a number from 0 to 150"),
    ("[1-9][0-9]{0,4}", "the fullmove number is a number from 1 to 65535"),
)
# The highest that C++ has room for.
_MAX_FULLMOVE = 65_535


def board_of(fen: str, chess960: bool = False) -> chess.Board:
    """Makes a python-chess board from a FEN of 6 fields, or an EPD's 4.

    Args:
        fen: castling rights are X-FEN's or Shredder-FEN's.
        chess960: whether it is a Chess960 board even where no castling right requires one.

    Raises:
        ConfigurationError: `chess960` is not a bool.
        InvalidFenError: the FEN is malformed or its position impossible; the message says why.
    """
    chess960 = boolean("chess960", chess960)
    if not isinstance(fen, str):
        raise InvalidFenError(f"{shown(fen)} is not a FEN")
    fields = fen.split(" ")
    if len(fields) not in (4, 6):
        raise InvalidFenError(f"{shown(fen)}: a FEN has 6 fields, an EPD 4")
    for (form, rule), field in zip(_FIELDS, fields, strict=False):
        if not re.fullmatch(form, field):
            raise InvalidFenError(f"{shown(fen)}: {rule}")
    try:
        board = chess.Board(fen, chess960=True)
    except ValueError as error:
        raise InvalidFenError(f"{shown(fen)}: {shortened(str(error))}") from None
    if board.fullmove_number > _MAX_FULLMOVE:
        raise InvalidFenError(f"{shown(fen)}: {_FIELDS[-1][1]}")
    if fields[2] != "-" and board.castling_rights.bit_count() < len(fields[2]):
        raise InvalidFenError(f"{shown(fen)}: a castling right is given twice")
    if status := board.status() & ~PLAYABLE:
        raise InvalidFenError(f"{shown(fen)} is impossible: {status.name}")
    board.chess960 = chess960 or board.has_chess960_castling_rights()
    return board
