"""The end of a game, beyond tests/proof/conformance, which has each kind of it."""

import random

import chess
import pytest

import rungs
from rungs._src.chess.env import ChessEnv
from rungs._src.chess.reason import Reason
from rungs._src.chess.settings import ChessSettings

TERMINATIONS = {
    Reason.CHECKMATE: chess.Termination.CHECKMATE,
    Reason.STALEMATE: chess.Termination.STALEMATE,
    Reason.INSUFFICIENT_MATERIAL: chess.Termination.INSUFFICIENT_MATERIAL,
    Reason.FIFTY_MOVES: chess.Termination.FIFTY_MOVES,
    Reason.THREEFOLD_REPETITION: chess.Termination.THREEFOLD_REPETITION,
}


@pytest.mark.parametrize("seed", range(8))
def test_a_game_ends_as_python_chess_says_of_the_position_reached(seed):
    rng = random.Random(seed)
    env = ChessEnv(0, ChessSettings())
    while not env.reason:
        moves = list(env.legal.values())
        quiet = [move for move in moves if not env.board.is_zeroing(move)]
        shuffle = quiet and rng.random() < 0.9
        env._play(rng.choice(quiet if shuffle else moves))
        if env.reason:
            outcome = env.board.outcome(claim_draw=True)
            assert outcome.termination == TERMINATIONS[env.reason]
        else:
            # python-chess also claims what a move not yet made could bring. We don't.
            assert not env.board.is_game_over()
            assert env.board.halfmove_clock < 100
            assert not env.board.is_repetition(3)


RUNGS = ("python", "cpp")


@pytest.mark.parametrize("rung", RUNGS)
def test_a_ply_that_was_taken_back_is_no_repetition(rung):
    # Some moves mate or stalemate: where one is drawn as an opening, there is none.
    start = "7k/8/5K2/8/8/8/8/6Q1 w - - 0 1"
    env = rungs.make("chess", rung, 1, start_fens=[start], opening_plies=(1, 1))
    assert any(env.reset(seed=seed) and env.fens() == [start] for seed in range(100))
    for move in ("g1f1", "h8h7", "f1g1", "h7h8"):
        observation, _, terminated, *_ = env.step([env.legal_moves(0)[move]])
    assert observation[0, 70] == 1
    assert not terminated[0]


@pytest.mark.parametrize("rung", RUNGS)
@pytest.mark.parametrize(
    ("fen", "move", "reason"),
    [
        # The bishop's capture leaves no move, and nothing to mate with.
        ("k7/8/K7/4p3/8/8/7B/8 w - - 0 1", "h2e5", Reason.INSUFFICIENT_MATERIAL),
        ("7k/8/5K2/8/8/8/8/6Q1 w - - 99 90", "g1g6", Reason.STALEMATE),
    ],
)
def test_of_several_reasons_the_first_is_named(rung, fen, move, reason):
    env = rungs.make("chess", rung, 1, start_fens=[fen], autoreset_mode="DISABLED")
    env.reset()
    *_, terminated, _, info = env.step([env.legal_moves(0)[move]])
    assert (info["reason"][0], terminated[0]) == (reason, True)
