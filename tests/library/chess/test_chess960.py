"""Chess960: where its games start, how kings castle, and the same on every rung."""

import io
from itertools import product

import chess
import chess.pgn
import numpy as np
import pytest

import rungs
from rungs._src.chess.actions import action_of, from_uci, legal_actions, move_of, to_uci
from rungs._src.chess.policy import random_actions
from rungs._src.chess.reason import Reason
from rungs._src.chess.settings import ChessSettings
from rungs._src.chess.unpack import unpack_mask
from rungs._src.core.philox import Purpose, below, philox
from rungs._src.selfplay.matches import Match
from rungs.errors import IllegalActionError

RUNGS = ("python", "cpp")
CHESS960 = "bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w KQkq - 0 1"


def castling(king_file, rook_file):
    """The id of castling: two squares of a king on e1 with a corner's rook, else onto the rook."""
    away = rook_file - king_file
    if king_file == 4 and rook_file in (0, 7):
        away = 2 if away > 0 else -2
    return 64 * (8 * (abs(away) - 1) + (2 if away > 0 else 6)) + king_file


def test_the_960_are_numbered_as_by_python_chess():
    fens = tuple(chess.Board.from_chess960_pos(number).fen() for number in range(960))
    assert ChessSettings(start="chess960").starts == fens


def test_one_is_drawn_by_the_seed(make):
    env = make(40, start="chess960", first_board=3)
    env.reset(seed=11)
    for episode in range(3):
        numbers = [below(philox(11, 3 + i, episode, 0, Purpose.START), 960) for i in range(40)]
        assert env.fens() == [chess.Board.from_chess960_pos(number).fen() for number in numbers]
        env.reset()


# X-FEN's, which is the form they come back in; Shredder-FEN's.
SPELLED = {
    "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w KQkq - 2 9": "HFhf",
    "4k3/8/8/8/8/8/8/1KR4R w C - 0 1": "C",
    "4k3/8/8/8/8/8/8/1KR4R w K - 0 1": "H",
    "r1r1kr1r/8/8/8/8/8/8/R1R1KR1R b FCfc - 5 30": "FCfc",
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1": "HAha",
}


@pytest.mark.parametrize("rung", RUNGS)
@pytest.mark.parametrize("fen", SPELLED)
def test_castling_rights_are_read_either_way_and_written_as_x_fen(rung, fen):
    board, turn, rights, *rest = fen.split()
    for spelled in (rights, SPELLED[fen]):
        env = rungs.make("chess", rung, 1, start_fens=[" ".join([board, turn, spelled, *rest])])
        env.reset()
        assert env.fens() == [fen]
        assert env.settings.start_fens == (fen,)
        assert env.settings.chess960 == (fen != chess.STARTING_FEN)


def every_back_rank():
    """Every king with rights on one side or both, one rook more without or none, and side."""
    king, rook = (chess.Piece(kind, chess.WHITE) for kind in (chess.KING, chess.ROOK))
    for file in range(8):
        for sides in product([*range(file), None], [None, *range(file + 1, 8)]):
            rooks = {*sides} - {None}
            for other in {*range(8), None} - {file} - rooks if rooks else ():
                board = chess.Board("4k3/8/8/8/8/8/PPPPPPPP/8 w - - 0 1", chess960=True)
                board.set_piece_at(file, king)
                for square in rooks | ({other} - {None}):
                    board.set_piece_at(square, rook)
                board.castling_rights = chess.SquareSet(rooks).mask
                yield from (board.fen(), board.mirror().fen())


def test_every_castling_has_an_action_of_its_own():
    """Exhaustive over kings, rooks with the right and one without, and sides."""
    starts = [*every_back_rank()]
    assert len(starts) > 1400
    env = rungs.make("chess", "cpp", 32_000, start_fens=starts, mask="bits")
    _, info = env.reset(seed=1)
    positions = dict(zip(env.fens(), range(env.num_envs), strict=True))
    assert positions.keys() == set(starts)  # all are drawn
    masks = info["action_mask"].copy()
    actions = random_actions(masks, np.random.default_rng(0))
    expected, castlings = {}, 0
    for fen, i in positions.items():
        board = chess.Board(fen, chess960=True)
        moves = {}
        for move in board.legal_moves:
            castles = board.is_castling(move)
            files = chess.square_file(move.from_square), chess.square_file(move.to_square)
            action = castling(*files) if castles else action_of(move, not board.turn)
            assert action not in moves, fen
            moves[action] = move
            if castles:
                actions[i], castlings = action, castlings + 1
        assert moves == legal_actions(board)
        assert [move_of(action, board) for action in moves] == [*moves.values()]
        assert set(np.flatnonzero(unpack_mask(masks[i]))) == moves.keys()
        board.push(moves[int(actions[i])])
        expected[i] = board.fen()
    assert castlings > 500
    env.step(actions)
    fens = env.fens()
    assert {i: fens[i] for i in expected} == expected


@pytest.mark.parametrize("rung", [*RUNGS, "cuda"])
def test_one_start_of_chess960_makes_every_castling_be_written_as_its(rung):
    """Those that are legal, and in an error one that is not."""
    fens = "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "4k3/8/8/8/8/8/8/R2BKN1R w - - 0 1"
    device = {"device": "cpu"} if rung == "cuda" else {}
    for others, castlings in (([], {"e1g1", "e1c1"}), ([CHESS960], {"e1h1", "e1a1"})):
        env = rungs.make("chess", rung, 16, start_fens=[*fens, *others], **device)
        env.reset()
        castling, board = map(env.fens().index, fens)
        assert castlings == {"e1g1", "e1c1", "e1h1", "e1a1"}.intersection(env.legal_moves(castling))
        actions = np.array([min(env.legal_moves(i).values()) for i in range(16)])
        actions[board] = 64 * 10 + 4
        with pytest.raises(IllegalActionError) as caught:
            env.step(actions)
        error = caught.value
        assert (error.board, error.action, error.uci) == (board, 644, max(castlings))


def test_random_games_are_written_and_read_as_by_python_chess():
    rng, castlings = np.random.default_rng(0), 0
    for number in rng.integers(960, size=20).tolist():
        board = chess.Board.from_chess960_pos(number)
        while board.ply() < 40 and (moves := [*board.legal_moves]):
            castles = [move for move in moves if board.is_castling(move)]
            for move in castles:
                action = from_uci(move.uci(), board.fen())
                assert from_uci(board.uci(move, chess960=False), board.fen()) == action
                assert to_uci(action, board.fen(), chess960=True) == move.uci()
            castlings += bool(castles)
            board.push(castles[0] if castles else moves[rng.integers(len(moves))])
        pgn = Match("a", "b", board, Reason.FIFTY_MOVES, 0.5).pgn("e")
        read = chess.pgn.read_game(io.StringIO(pgn))
        assert not read.errors
        assert [*read.mainline_moves()] == board.move_stack
        assert max(map(len, pgn.partition("\n\n")[2].splitlines())) < 80
    assert castlings > 10
