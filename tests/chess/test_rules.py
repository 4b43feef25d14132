"""The end of a game, against python-chess's own verdict."""

import random

import chess
import pytest

from rungs.chess.board_env import ChessBoardEnv
from rungs.chess.reason import Reason
from rungs.chess.settings import ChessSettings

TERMINATIONS = {
    Reason.CHECKMATE: chess.Termination.CHECKMATE,
    Reason.STALEMATE: chess.Termination.STALEMATE,
    Reason.INSUFFICIENT_MATERIAL: chess.Termination.INSUFFICIENT_MATERIAL,
    Reason.FIFTY_MOVES: chess.Termination.FIFTY_MOVES,
    Reason.THREEFOLD_REPETITION: chess.Termination.THREEFOLD_REPETITION,
}


@pytest.mark.parametrize("seed", range(30))
def test_a_game_ends_as_python_chess_says_of_the_position_reached(seed):
    rng = random.Random(seed)
    env = ChessBoardEnv(0, ChessSettings())
    while not env.reason:
        moves = list(env.legal.values())
        quiet = [move for move in moves if not env.board.is_zeroing(move)]
        shuffle = quiet and rng.random() < 0.9
        env._advance(rng.choice(quiet if shuffle else moves))
        outcome = env.board.outcome(claim_draw=True)
        if env.reason:
            assert outcome.termination == TERMINATIONS[env.reason]
        elif outcome:
            # python-chess also claims what a move not yet made could bring. We don't.
            assert outcome.termination in (
                chess.Termination.FIFTY_MOVES,
                chess.Termination.THREEFOLD_REPETITION,
            )
            assert env.board.halfmove_clock < 100
            assert not env.board.is_repetition(3)
