"""The number of a move, which C++ keeps in 16 bits and python-chess in any."""

import random

import chess
import pytest

import rungs
from rungs._src.chess.actions import action_of
from rungs._src.chess.perft import perft_cpp, perft_python
from rungs._src.chess.settings import MAX_FULLMOVE
from rungs.errors import InvalidFenError

# No game is longer with the 50-move rule: it is drawn once there were 50 moves without a pawn's or
# a capture, of which there are 118 at most.
LONGEST_GAME = 5_899
RUNGS = ("python", "cpp")


def start(fullmove, board="rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"):
    return f"{board} w KQkq - 0 {fullmove}"


def test_no_game_leaves_16_bits():
    assert MAX_FULLMOVE == 59_000
    assert MAX_FULLMOVE + LONGEST_GAME < 2**16


@pytest.mark.parametrize("rung", ["python", "cpp"])
@pytest.mark.parametrize("fullmove", [59_001, 65_536, 10**4000])
def test_starts_beyond_are_refused(rung, fullmove):
    with pytest.raises(InvalidFenError, match="number of its move is above 59000"):
        rungs.make("chess", rung, 1, start_fens=[start(1), start(fullmove)])


def test_a_long_game_from_move_59000_is_the_same():
    """600 plies of quiet moves, in which the low byte of the number overflows."""
    envs = [
        rungs.make("chess", rung, 1, start_fens=[start(59_000)], obs="bitplanes") for rung in RUNGS
    ]
    for env in envs:
        env.reset(seed=0)
    rng, board, seen = random.Random(1), chess.Board(start(59_000)), set()
    for _ in range(600):
        move = quiet_move(board, seen, rng)
        action = action_of(move, not board.turn)
        board.push(move)
        seen.add(board._transposition_key())
        ours, theirs = (env.step([action]) for env in envs)
        assert not theirs[2].any()
        assert (ours[0] == theirs[0]).all()
        assert envs[0].fens() == envs[1].fens() == [board.fen()]
    assert board.fullmove_number == 59_300


def quiet_move(board, seen, rng):
    """Chooses a move to a new position; a pawn's where otherwise the 50-move rule would end it."""
    moves = list(board.legal_moves)
    rng.shuffle(moves)
    pawns_first = board.halfmove_clock >= 90
    moves.sort(
        key=lambda move: (
            board.is_capture(move),
            (board.piece_type_at(move.from_square) == chess.PAWN) != pawns_first,
        )
    )
    for move in moves:
        board.push(move)
        goes_on = board._transposition_key() not in seen and any(board.legal_moves)
        quiet = goes_on and not board.is_check() and not board.is_insufficient_material()
        board.pop()
        if quiet:
            return move
    raise AssertionError(board.fen())


@pytest.mark.parametrize("count", [perft_python, perft_cpp])
def test_perft_takes_numbers_that_cpp_has_room_for(count):
    assert count(start(65_535), 2) == 400
    for fullmove in (65_536, 10**10):
        with pytest.raises(InvalidFenError, match="65535"):
            count(start(fullmove), 2)
