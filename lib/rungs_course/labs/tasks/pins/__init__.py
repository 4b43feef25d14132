"""Lab 03c: which pieces are pinned to their king."""

import functools

import chess
import numpy as np

from rungs_course.labs import attacks
from rungs_course.labs.lab import Lab, timed

_PLIES, _CROWDED = 600, 1400
_LONE = "4k3/8/8/8/8/8/8/K6r w - - 0 1", "k7/8/8/8/8/8/8/K2N3r w - - 0 1"
_SLIDERS = "rrbbqp"  # theirs on a crowded board: more of what pins than in a game
_OURS = "NNBRQP"


@functools.cache
def _boards() -> list[chess.Board]:
    """Returns two plain positions, those of random games, and crowded ones with many pins."""
    rng = np.random.default_rng(5)
    boards, game = [chess.Board(fen) for fen in _LONE], chess.Board()
    for _ in range(_PLIES):
        moves = list(game.legal_moves)
        if not moves or len(game.move_stack) == 100:
            game = chess.Board()
            continue
        game.push(moves[rng.integers(len(moves))])
        boards.append(game.copy(stack=False))
    return boards + [_crowded(rng) for _ in range(_CROWDED)]


def _crowded(rng: np.random.Generator) -> chess.Board:
    number = int(rng.integers(2, 12))
    squares = rng.permutation(64)[: 2 * number + 2].tolist()
    board = chess.Board(None)
    for square, symbol in zip(squares[:2], "Kk", strict=True):
        board.set_piece_at(square, chess.Piece.from_symbol(symbol))
    for i, square in enumerate(squares[2:]):
        symbols = _OURS if i % 2 else _SLIDERS
        symbol = symbols[rng.integers(len(symbols))]
        board.set_piece_at(square, chess.Piece.from_symbol(symbol))
    return board


@functools.cache
def _inputs() -> tuple[np.ndarray, ...]:
    """Returns per board: own king, own pieces, theirs, their straight and diagonal sliders."""
    rows = []
    for board in _boards():
        mine, theirs = board.occupied_co[board.turn], board.occupied_co[not board.turn]
        straight, diagonal = board.rooks | board.queens, board.bishops | board.queens
        rows.append((board.kings & mine, mine, theirs, straight & theirs, diagonal & theirs))
    return tuple(np.array(rows, np.uint64).T.copy())


def _expected(board: chess.Board) -> int:
    mine = board.occupied_co[board.turn] & ~board.kings
    pinned = (square for square in chess.SquareSet(mine) if board.is_pinned(board.turn, square))
    return int(chess.SquareSet(pinned))


def _judge(functions):
    boards = _boards()
    return attacks.first_difference(
        functions.run,
        _inputs(),
        np.array([_expected(board) for board in boards], np.uint64),
        lambda i: boards[i].fen(),
        lambda i: f"the pinned pieces of {chess.COLOR_NAMES[boards[i].turn]}",
    )


def _work(functions):
    return timed(attacks.work(functions.run, _inputs(), len(_boards())))


LAB = Lab(
    name="03c",
    defines=("pinned",),
    judge=_judge,
    work=_work,
    target=0.6,
    harness="""
void run(const std::uint64_t* king, const std::uint64_t* own, const std::uint64_t* theirs,
         const std::uint64_t* straight, const std::uint64_t* diagonal, std::uint64_t* out,
         std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    out[i] = pinned(king[i], own[i], theirs[i], straight[i], diagonal[i]);
}
""",
)
