"""Perft: the leaves of the legal-move tree, by either rung, and published counts of them."""

import dataclasses
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import chess

from rungs._src.chess.boards.native import parse_fen
from rungs._src.chess.fen import board_of
from rungs._src.core.arguments import integer
from rungs._src.native import loader
from rungs._src.threads.pool import pool_of, thread_count
from rungs.errors import ConfigurationError

# Deeper than any count, shallower than the stack.
_MAX_DEPTH = 64

_COUNT = re.compile(r"D([1-9]\d{0,8}) +(\d{1,18})", re.ASCII)


@dataclasses.dataclass(frozen=True)
class PerftCase:
    """A line of an EPD file: a position and its published leaf count by depth."""

    where: str
    fen: str
    leaves: dict[int, int]


def read_epd(path: Path) -> Iterator[PerftCase]:
    """Reads the cases of a file with lines like `FEN ;D1 20 ;D2 400`; `#` starts a comment.

    Raises:
        ConfigurationError: the file can't be read, or a line is not of that form or gives a depth
            twice; the message names it.
    """
    try:
        lines = Path(path).read_text(errors="replace").splitlines()
    except OSError as error:
        raise ConfigurationError(f"can't read {path}: {error.strerror}") from None
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        fen, *counts = (field.strip() for field in line.split(";"))
        matches = [match for match in map(_COUNT.fullmatch, counts) if match]
        leaves = {int(match[1]): int(match[2]) for match in matches}
        if not leaves or len(leaves) < len(counts):
            raise ConfigurationError(f"{path}:{number}: not a line like 'FEN ;D1 20 ;D2 400'")
        yield PerftCase(f"{path}:{number}", fen, leaves)


def perft_cpp(fen: str, depth: int, threads: int = 1) -> int:
    """Counts leaves at `depth` plies from `fen` (6 fields, or an EPD's 4) by our move generator.

    Raises:
        ConfigurationError: `depth` is not from 0 to 64, or `threads` not from 1 to 1,024.
        InvalidFenError: the FEN is malformed or its position impossible; the message says why.
        UnavailableError: the system allows fewer threads.
    """
    depth = integer("depth", depth, 0, _MAX_DEPTH)
    threads = thread_count(threads)
    api = loader.load()
    position = parse_fen(api, fen)  # which must live as long as C++ reads it
    return api.rungs_chess_perft(position.ctypes.data, depth, pool_of(api, threads), threads)


def perft_python(fen: str, depth: int) -> int:
    """Counts leaves with python-chess; raises as `perft_cpp` does."""
    return _perft(board_of(fen, chess960=True), integer("depth", depth, 0, _MAX_DEPTH))


def divide(
    fen: str, depth: int, count: Callable[[str, int], int] = perft_cpp
) -> Iterator[tuple[str, int]]:
    """Yields the moves of a position in UCI, sorted, and the leaves at `depth` plies below each."""
    depth = integer("depth", depth, 1, _MAX_DEPTH)
    board = board_of(fen)
    for name, move in sorted((move.uci(), move) for move in board.legal_moves):
        board.push(move)
        yield name, count(board.epd(), depth - 1)
        board.pop()


def _perft(board: chess.Board, depth: int) -> int:
    if depth == 0:
        return 1
    if depth == 1:
        return board.legal_moves.count()
    nodes = 0
    for move in board.legal_moves:
        board.push(move)
        nodes += _perft(board, depth - 1)
        board.pop()
    return nodes
