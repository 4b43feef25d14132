"""Positions that labs use as cases."""

from collections.abc import Callable

import chess
import numpy as np

from rungs_course.labs.arrays import fixed


def random_steps(num_envs: int, steps: int, seed: int, **settings):
    """Steps the Python rung's N boards T times with random legal actions.

    Returns observations, (T + 1, N, 72) int8; legal actions as bits, (T + 1, N, 73) uint64; and T +
    1 lists of FENs. `settings` are further arguments of `rungs.make`.
    """
    import rungs
    from rungs.chess import random_actions

    env = rungs.make("chess", "python", num_envs, seed=seed, mask="bits", **settings)
    rng = np.random.default_rng(seed)
    observation, info = env.reset()
    rows = [(observation.copy(), info["action_mask"].copy(), env.fens())]
    for _ in range(steps):
        observation, *_, info = env.step(random_actions(info["action_mask"], rng))
        rows.append((observation.copy(), info["action_mask"].copy(), env.fens()))
    observations, masks, fens = zip(*rows, strict=True)
    return fixed(observations, np.int8), fixed(masks, np.uint64), list(fens)


def random_game(
    rng: np.random.Generator,
    plies: int,
    choose: Callable[[chess.Board, list[chess.Move]], list[chess.Move]] | None = None,
) -> list[chess.Board]:
    """Returns a random game's positions, each with the moves that led to it.

    At most `plies` are played. `choose` returns the moves to pick from, given a position and its
    legal moves; by default all.
    """
    board = chess.Board()
    positions = [board.copy()]
    for _ in range(plies):
        moves = list(board.legal_moves)
        if not moves:
            break
        moves = choose(board, moves) if choose else moves
        board.push(moves[rng.integers(len(moves))])
        positions.append(board.copy())
    return positions


def diagram(pieces: dict[int, str]) -> str:
    """Returns a FEN with pieces on squares: {0: "N"} is a white knight on a1."""
    board = chess.Board(None)
    for square, symbol in pieces.items():
        board.set_piece_at(square, chess.Piece.from_symbol(symbol))
    return board.fen()
