"""The end of a game, against python-chess's own verdict."""

import random

import chess
import numpy as np
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

CASTLES = "r3k2r/8/8/8/8/8/8/R3K2R"
ROOKS_AND_BACK = "h1g1 h8g8 g1h1 g8h8"
# From where, what is played, and how often the position it leads to stood before: each time the
# same kinds of pieces stand on the same squares as seen by who is to move.
COME_AGAIN = {
    "the same": ("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", "a1a2 e8e7 a2a1 e7e8", 1),
    "rights to castle are lost": (f"{CASTLES} w KQkq - 0 1", ROOKS_AND_BACK, 0),
    "rights to castle were lost": (f"{CASTLES} w KQkq - 0 1", f"{ROOKS_AND_BACK} " * 2, 1),
    "no more en passant": ("4k3/8/8/8/3p4/8/4P3/4K3 w - - 0 1", "e2e4 e8e7 e1e2 e7e8 e2e1", 0),
    "no legal en passant": ("8/8/8/8/k2p3R/8/4P3/4K3 w - - 0 1", "e2e4 a4a5 e1e2 a5a4 e2e1", 1),
    "colours have changed places": ("4k3/8/r7/8/8/8/8/R3K3 w - - 0 1", "a1a2 a6a8 a2a3", 0),
}


@pytest.mark.parametrize("case", COME_AGAIN)
@pytest.mark.parametrize("rung", RUNGS)
def test_what_makes_a_position_the_same(rung, case):
    fen, moves, times = COME_AGAIN[case]
    env = rungs.make("chess", rung, 1, start_fens=[fen])
    env.reset()
    board = chess.Board(fen)
    for move in moves.split():
        observation, *_ = env.step([env.legal_moves(0)[move]])
        board.push_uci(move)
    assert board.is_repetition(2) == bool(times)
    assert observation[0, 70] == times


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
        ("7k/8/5K2/8/8/8/8/6Q1 w - - 99 90", "g1g7", Reason.CHECKMATE),
        ("7k/8/5K2/8/8/8/8/6Q1 w - - 99 90", "g1g6", Reason.STALEMATE),
        ("7k/8/5K2/8/8/8/8/6Q1 w - - 99 90", "g1g2", Reason.FIFTY_MOVES),
        ("7k/8/5K2/8/8/8/8/6Q1 w - - 98 90", "g1g2", Reason.ONGOING),
        ("4k3/8/8/8/8/8/3p4/2B1K3 w - - 0 1", "c1d2", Reason.INSUFFICIENT_MATERIAL),
        ("4k3/8/8/8/8/8/3p4/1NB1K3 w - - 0 1", "c1d2", Reason.ONGOING),
        # Bishops on one colour, and on both.
        ("2b1k3/8/8/8/8/8/3p4/5K1B w - - 0 1", "f1e2", Reason.ONGOING),
        ("4kb2/8/8/8/8/8/3p4/2B1K3 w - - 0 1", "c1d2", Reason.INSUFFICIENT_MATERIAL),
        ("2b1k3/8/8/8/8/8/3p4/2B1K3 w - - 0 1", "c1d2", Reason.ONGOING),
        ("4k3/8/8/8/8/8/3p4/NNK5 w - - 0 1", "c1d2", Reason.ONGOING),
    ],
)
def test_of_several_reasons_the_first_is_named(rung, fen, move, reason):
    env = rungs.make("chess", rung, 1, start_fens=[fen], autoreset_mode="DISABLED")
    env.reset()
    *_, terminated, _, info = env.step(np.array([env.legal_moves(0)[move]]))
    assert (info["reason"][0], terminated[0]) == (reason, reason != Reason.ONGOING)
