"""Lab 03c: which pieces are pinned to their king."""

import functools
import itertools

import chess
import numpy as np

from rungs_course.labs.arrays import compare_bitboards
from rungs_course.labs.harness import for_bitboards
from rungs_course.labs.lab import Lab
from rungs_course.labs.positions import diagram, random_game

_GAMES, _CROWDED = 6, 1400
_LONE = "4k3/8/8/8/8/8/8/K6r w - - 0 1", "k7/8/8/8/8/8/8/K2N3r w - - 0 1"
_SLIDERS = "rrbbqp"  # theirs on a crowded board: more sliders than in a game
_OURS = "NNBRQP"


@functools.cache
def _boards() -> list[chess.Board]:
    """Returns two plain positions, those of random games, and crowded ones with many pins."""
    rng = np.random.default_rng(5)
    games = [random_game(rng, 100)[1:] for _ in range(_GAMES)]
    crowded = [_crowded_board(rng) for _ in range(_CROWDED)]
    return [*map(chess.Board, _LONE), *itertools.chain(*games), *crowded]


def _crowded_board(rng: np.random.Generator) -> chess.Board:
    number = int(rng.integers(2, 12))
    squares = rng.permutation(64)[: 2 * number + 2].tolist()
    pieces = {squares[0]: "K", squares[1]: "k"}
    for i, square in enumerate(squares[2:]):
        symbols = _OURS if i % 2 else _SLIDERS
        pieces[square] = symbols[rng.integers(len(symbols))]
    return chess.Board(diagram(pieces))


@functools.cache
def _inputs() -> tuple[np.ndarray, ...]:
    """Returns per board: own king, own pieces, theirs, their straight and diagonal sliders."""
    rows = []
    for board in _boards():
        pieces, enemy = board.occupied_co[board.turn], board.occupied_co[not board.turn]
        straight, diagonal = board.rooks | board.queens, board.bishops | board.queens
        rows.append((board.kings & pieces, pieces, enemy, straight & enemy, diagonal & enemy))
    return tuple(np.array(rows, np.uint64).T.copy())


def _expected(board: chess.Board) -> int:
    pieces = chess.SquareSet(board.occupied_co[board.turn] & ~board.kings)
    return int(chess.SquareSet(square for square in pieces if board.is_pinned(board.turn, square)))


def _judge(submission, _):
    boards = _boards()
    yield compare_bitboards(
        submission.run,
        _inputs(),
        [_expected(board) for board in boards],
        lambda i: boards[i].fen(),
        lambda i: f"the pinned pieces of {chess.COLOR_NAMES[boards[i].turn]}",
    )


LAB = Lab(
    "03c",
    ("pinned",),
    _judge,
    target=0.6,
    cause="core bound",
    **for_bitboards(
        "pinned",
        (
            "king",
            "own",
            "theirs",
            "straight",
            "diagonal",
        ),
        """
      const std::uint64_t some = r(0) & r(1), sliders = r(2);
      king[i] = std::uint64_t{1} << (r(3) & 63);
      own[i] = king[i] | some & r(4);
      theirs[i] = some & ~own[i];
      straight[i] = theirs[i] & sliders;
      diagonal[i] = theirs[i] & ~sliders;""",
    ),
)
