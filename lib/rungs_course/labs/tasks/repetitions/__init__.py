"""Lab 01: a position that comes for the third time."""

import functools

import chess
import numpy as np

from rungs_course.labs.lab import Difference, Lab, timed

# Games by random moves that like to go back, and one in which kings walk in triangles.
_GAMES, _PLIES = 40, 120
_TRIANGLES = "k7/7p/8/8/8/8/7P/7K w - - 0 1", "h1g1 a8a7 g1g2 a7b8 g2h1 b8a8 " * 3


@functools.cache
def _games() -> list[list[chess.Board]]:
    rng = np.random.default_rng(1)
    games = [_walked(*_TRIANGLES)]
    for _ in range(_GAMES):
        board, positions = chess.Board(), [chess.Board()]
        for _ in range(_PLIES):
            moves = list(board.legal_moves)
            if not moves:
                break
            back = [move for move in moves if _undoes(board, move)]
            board.push(_pick(rng, back, moves))
            positions.append(board.copy())
        games.append(positions)
    return games


def _walked(fen: str, moves: str) -> list[chess.Board]:
    board = chess.Board(fen)
    positions = [board.copy()]
    for move in moves.split():
        board.push_uci(move)
        positions.append(board.copy())
    return positions


def _undoes(board: chess.Board, move: chess.Move) -> bool:
    if len(board.move_stack) < 2:
        return False
    last = board.move_stack[-2]
    return (move.from_square, move.to_square) == (last.to_square, last.from_square)


def _pick(rng, back: list, moves: list) -> chess.Move:
    chosen = back if back and rng.random() < 0.6 else moves
    return chosen[rng.integers(len(chosen))]


@functools.cache
def _keys() -> list[list[int]]:
    return [[hash(board._transposition_key()) for board in game] for game in _games()]


def _judge(functions):
    for number, (game, keys) in enumerate(zip(_games(), _keys(), strict=True)):
        expected = [board.is_repetition(3) for board in game]
        found = list(functions.third_times(list(keys)))
        if len(found) != len(expected):
            what = f"answers for game {number}"
            return Difference(what, f"{len(expected)}, one a position", str(len(found)))
        for ply, (should, got) in enumerate(zip(expected, found, strict=True)):
            if bool(got) != should:
                what = f"game {number}, position {ply}: has it been there twice before"
                return Difference(what, str(should), repr(got), game[ply].fen())
    return None


def _work(functions):
    return timed(lambda: [functions.third_times(keys) for keys in _keys()])


LAB = Lab(
    name="01",
    defines=("third_times",),
    judge=_judge,
    work=_work,
    target=0.7,
    language="python",
)
