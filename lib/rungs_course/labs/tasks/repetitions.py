"""Lab 01: a position that comes for the third time."""

import functools

import chess
import numpy as np

from rungs_course.labs.arrays import same
from rungs_course.labs.lab import Call, Difference, Lab
from rungs_course.labs.positions import random_game

_GAMES, _PLIES = 40, 120
# Kings that walk in triangles.
_TRIANGLES = "k7/7p/8/8/8/8/7P/7K w - - 0 1", "h1g1 a8a7 g1g2 a7b8 g2h1 b8a8 " * 3


@functools.cache
def _games() -> list[list[chess.Board]]:
    """Returns the positions of games: one in triangles, others whose moves are often undone."""
    rng, board = np.random.default_rng(1), chess.Board(_TRIANGLES[0])
    triangles = [board.copy()]
    for move in _TRIANGLES[1].split():
        board.push_uci(move)
        triangles.append(board.copy())

    def back(board: chess.Board, moves: list[chess.Move]) -> list[chess.Move]:
        last = board.move_stack[-2] if len(board.move_stack) > 1 else None
        undo = [move for move in moves if last == chess.Move(move.to_square, move.from_square)]
        return undo if undo and rng.random() < 0.6 else moves

    return [triangles, *(random_game(rng, _PLIES, back) for _ in range(_GAMES))]


@functools.cache
def _keys() -> list[list[int]]:
    return [[hash(board._transposition_key()) for board in game] for game in _games()]


def _judge(submission, _):
    for number, (game, keys) in enumerate(zip(_games(), _keys(), strict=True)):
        answers = list(submission.third_times(list(keys)))
        if len(answers) != len(game):
            expected = f"{len(game)}, one a position"
            yield Difference(f"answers for game {number}", expected, str(len(answers)))
        for ply, (board, got) in enumerate(zip(game, answers, strict=True)):
            expected_answer = board.is_repetition(3)
            if not same(None, got, expected_answer):
                output = f"game {number}, position {ply}: has it been there twice before"
                yield Difference(output, str(expected_answer), repr(got), board.fen())


def _race(rng):
    """Returns calls with games that begin somewhere, and with other keys for the same positions."""
    calls = []
    for number in rng.integers(len(_keys()), size=8).tolist():
        keys, odd = _keys()[number], int(rng.integers(1 << 61)) | 1
        first = int(rng.integers(len(keys) // 4))
        calls.append(Call("third_times", ([key * odd % (1 << 62) for key in keys[first:]],)))
    return calls


LAB = Lab(
    "01",
    ("third_times",),
    _judge,
    target=0.7,
    cause="core bound",
    language="python",
    race=_race,
)
