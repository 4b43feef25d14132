"""Lab 03b: where rooks see, by doubling."""

import chess
import numpy as np

from rungs_course.labs import attacks
from rungs_course.labs.lab import Lab, timed

_RNG = np.random.default_rng(4)


def _cases() -> tuple[np.ndarray, np.ndarray]:
    """Rooks and all pieces: one rook on each square of an empty board, then at random."""
    alone = np.uint64(1) << np.arange(64, dtype=np.uint64)
    few = [_RNG.integers(0, 2**64, 2000, dtype=np.uint64) for _ in range(5)]
    rooks = few[0] & few[1] & few[2] & few[3]
    pieces = rooks | few[1] & few[2] & few[4]
    return np.concatenate([alone, rooks]), np.concatenate([alone, pieces])


_ROOKS, _PIECES = _cases()


def _expected(rooks: int, pieces: int) -> int:
    board, attacked = chess.Board(None), 0
    for square in chess.SquareSet(pieces):
        board.set_piece_at(square, chess.Piece(chess.ROOK, chess.WHITE))
    for square in chess.SquareSet(rooks):
        attacked |= int(board.attacks(square))
    return attacked


def _fen(i: int) -> str:
    pieces = {square: "p" for square in chess.SquareSet(int(_PIECES[i]))}
    return attacks.diagram(pieces | {square: "R" for square in chess.SquareSet(int(_ROOKS[i]))})


def _judge(functions):
    expected = [_expected(*map(int, case)) for case in zip(_ROOKS, _PIECES, strict=True)]
    return attacks.first_difference(
        functions.run,
        [_ROOKS, _PIECES],
        np.array(expected, np.uint64),
        _fen,
        lambda i: "the squares that these rooks attack",
    )


def _work(functions):
    return timed(attacks.work(functions.run, [_ROOKS, _PIECES], len(_ROOKS)))


LAB = Lab(
    name="03b",
    defines=("rook_attacks",),
    judge=_judge,
    work=_work,
    target=0.7,
    harness="""
void run(const std::uint64_t* rooks, const std::uint64_t* pieces, std::uint64_t* out,
         std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = rook_attacks(rooks[i], pieces[i]);
}
""",
)
