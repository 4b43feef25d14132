"""Positions that labs are about."""

from collections.abc import Callable

import chess
import numpy as np

from rungs_course.labs.arrays import fixed


def random_steps(num_envs: int, steps: int, seed: int, **settings):
    """Steps the Python rung's boards with random legal actions, T times.

    Args:
        num_envs: boards, N.
        settings: other arguments of `rungs.make`.

    Returns:
        Observations, (T + 1, N, 72) int8; legal actions as bits, (T + 1, N, 73) uint64; and the
        FENs of each time, T + 1 lists.
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
    """Returns the positions of a game by random moves, each with the moves that led to it.

    Args:
        plies: the most that are played.
        choose: given a position and its legal moves, returns those to pick one from; by default
            all.
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
