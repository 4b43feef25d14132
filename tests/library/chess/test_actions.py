"""Action ids, both ways."""

import random

import chess
import pytest

from rungs._src.chess.actions import (
    NUM_ACTIONS,
    action_of,
    action_on,
    from_uci,
    legal_actions,
    move_of,
    target_of,
    to_uci,
)
from rungs.errors import ConfigurationError


def test_every_move_of_random_games_has_its_own_action_and_uci():
    rng = random.Random(0)
    for _ in range(8):
        board = chess.Board()
        while not board.is_game_over():
            moves, fen = list(board.legal_moves), board.fen()
            actions = [action_of(move, not board.turn) for move in moves]
            assert len(set(actions)) == len(moves)
            assert [move_of(action, board) for action in actions] == moves
            move = rng.choice(moves)
            action = action_of(move, not board.turn)
            assert from_uci(move.uci(), fen) == action
            assert to_uci(action, fen) == move.uci()
            board.push(move)


BOARD, KNIGHTS = chess.Board(), chess.Move.from_uci("g1f3")


def test_an_action_without_a_piece_or_a_number_of_none_is_no_move():
    assert [move_of(action, BOARD) for action in (64 * 6, -1, NUM_ACTIONS)] == [None] * 3


def test_what_is_no_action_move_or_board_is_named():
    moves = "g1f3", chess.Move.from_uci("a1b5"), chess.Move.null()
    for named, function, *arguments in (
        *(("action", target_of, number) for number in (-1, NUM_ACTIONS, 1.5)),
        ("action", move_of, "e2e4", BOARD),
        ("board", move_of, 524, "startpos"),
        ("board", legal_actions, BOARD.fen()),
        ("board", action_on, KNIGHTS, None),
        ("move", action_on, "g1f3", BOARD),
        *(("move", action_of, move, False) for move in moves),
    ):
        with pytest.raises(ConfigurationError, match=f"{named}="):
            function(*arguments)


def test_an_illegal_move_is_named():
    for function, moves in (
        (from_uci, ("e2e5", "e7e5", "e2", "", "0000", "e2e4q", "what", None, 5)),
        (to_uci, (0, -1, NUM_ACTIONS, 384)),
    ):
        for move in moves:
            with pytest.raises(ConfigurationError, match=repr(move)):
                function(move, chess.STARTING_FEN)
