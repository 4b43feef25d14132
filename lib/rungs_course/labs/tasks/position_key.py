"""Lab 01b: a position's key, updated instead of computed again."""

import functools

import chess
import numpy as np
from chess.polyglot import POLYGLOT_RANDOM_ARRAY, zobrist_hash

from rungs_course.labs.arrays import same
from rungs_course.labs.lab import Call, Difference, Lab
from rungs_course.labs.positions import random_game

_GAMES, _PLIES = 25, 160
_GAMES_RACED, _RACED = 100, 80
# Quiet moves, a capture, castling; then en passant, possible or not; a rook taken; a promotion.
_SCRIPTED = (
    "g1f3 b8c6 e2e4 e7e5 f3e5 c6e5 f1e2 f8e7 e1g1 g8f6 d2d4 e5g6 c1e3 e8g8",
    "a2a4 h7h5 a4a5 b7b5 a5b6 a7b6 a1a8 h5h4 a8b8 h4h3 b8c8 h3g2 c8d8 e8d8 h1g1 g2f1n",
)


@functools.cache
def _games() -> list[list[chess.Move]]:
    rng = np.random.default_rng(21)
    scripted = [[chess.Move.from_uci(move) for move in game.split()] for game in _SCRIPTED]
    return scripted + [random_game(rng, _PLIES, _rare)[-1].move_stack for _ in range(_GAMES)]


def _rare(board: chess.Board, moves: list[chess.Move]) -> list[chess.Move]:
    rare = [move for move in moves if board.is_castling(move) or board.is_en_passant(move)]
    return rare or moves


@functools.cache
def _names() -> dict[int, str]:
    """Returns the names of Polyglot's random numbers."""
    names = [
        f"a {chess.COLOR_NAMES[color]} {chess.PIECE_NAMES[piece]} on {square}"
        for piece in chess.PIECE_TYPES
        for color in (chess.BLACK, chess.WHITE)
        for square in chess.SQUARE_NAMES
    ]
    names += [f"the right to castle {side}" for side in ("K", "Q", "k", "q")]
    names += [f"en passant on file {file}" for file in chess.FILE_NAMES]
    names += ["white to move"]
    return dict(zip(POLYGLOT_RANDOM_ARRAY, names, strict=True))


def _off_by(number: int) -> str:
    """Returns which one or two numbers make the difference of two keys, in words."""
    names = _names()
    if number in names:
        return f", off by {names[number]}"
    for first, name in names.items():
        if number ^ first in names:
            return f", off by {name} and {names[number ^ first]}"
    return ""


def _judge(submission, _):
    for number, moves in enumerate(_games()):
        keys, board = list(submission.keys(list(moves))), chess.Board()
        if len(keys) != len(moves) + 1:
            output = f"keys of game {number}, which has {len(moves)} moves"
            yield Difference(output, f"{len(moves) + 1}", f"{len(keys)}")
        for ply, got in enumerate(keys):
            if ply:
                board.push(moves[ply - 1])
            expected = zobrist_hash(board)
            if not same(None, got, expected):
                after = f"after {moves[ply - 1].uci()}" if ply else "at first"
                got_text = (
                    f"{got:#x}{_off_by(got ^ expected)}" if isinstance(got, int) else f"{got!r}"
                )
                output = f"the key {after}, ply {ply} of game {number}"
                yield Difference(output, f"{expected:#x}", f"{got_text:.200}", board.fen())


@functools.cache
def _unseen() -> list[list[chess.Move]]:
    """Returns random games, which are different in every process."""
    rng = np.random.default_rng()
    return [random_game(rng, _RACED)[-1].move_stack for _ in range(_GAMES_RACED)]


def _race(rng):
    game = _unseen()[rng.integers(_GAMES_RACED)]
    return [Call("keys", (game[: rng.integers(_RACED // 2, _RACED + 1)],))]


LAB = Lab("01b", ("keys",), _judge, target=0.5, cause="core bound", language="python", race=_race)
