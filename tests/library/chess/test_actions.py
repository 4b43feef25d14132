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
from rungs.errors import ConfigurationError, InvalidFenError


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


def test_the_drawing_in_the_header():
    board = chess.Board()
    for uci, black, action in (
        ("e2e4", False, 64 * 8 + 12),
        ("e7e5", True, 64 * 8 + 12),
        ("g1f3", False, 64 * 63 + 6),
        ("e1g1", False, 64 * 10 + 4),
        ("a7b8n", False, 64 * 66 + 48),
        ("a7a8q", False, 48),
    ):
        assert action_of(chess.Move.from_uci(uci), black) == action
    assert [move_of(action, board) for action in (64 * 6, -1, NUM_ACTIONS)] == [None] * 3


BOARD, KNIGHTS = chess.Board(), chess.Move.from_uci("g1f3")


@pytest.mark.parametrize(
    ("function", "arguments", "named"),
    [
        (target_of, (-1,), "action=-1"),
        (target_of, (NUM_ACTIONS,), f"action={NUM_ACTIONS}"),
        (target_of, (1.5,), "action=1.5"),
        (move_of, ("e2e4", BOARD), "action='e2e4'"),
        (move_of, (524, "startpos"), "board='startpos'"),
        (legal_actions, (BOARD.fen(),), "board="),
        (action_on, (KNIGHTS, None), "board=None"),
        (action_on, ("g1f3", BOARD), "move='g1f3'"),
        (action_of, ("g1f3", False), "move='g1f3'"),
        (action_of, (chess.Move.from_uci("a1b5"), False), "move="),
        (action_of, (chess.Move.null(), False), "move="),
    ],
)
def test_what_is_no_action_move_or_board_is_named(function, arguments, named):
    with pytest.raises(ConfigurationError, match=named):
        function(*arguments)


def test_how_many_actions_stay_on_the_board():
    def reach(piece):
        """Moves of a piece from every square of an empty board, as python-chess has them."""
        total = 0
        for square in chess.SQUARES:
            board = chess.Board(None)
            board.set_piece_at(square, chess.Piece(piece, chess.WHITE))
            total += len(board.attacks(square))
        return total

    # An underpromotion's plane is geometry alone: one step north, from anywhere it stays inside.
    steps = sum(0 <= square % 8 + x < 8 for square in range(56) for x in (-1, 0, 1))
    board = chess.Board(None)
    inside = sum(move_of(action, board) is not None for action in range(NUM_ACTIONS))
    assert inside == reach(chess.QUEEN) + reach(chess.KNIGHT) + 3 * steps


@pytest.mark.parametrize("uci", ["e2e5", "e7e5", "e2", "", "0000", "e2e4q", "what", None, 5])
def test_an_illegal_uci_move_is_named(uci):
    with pytest.raises(ConfigurationError, match=repr(uci)):
        from_uci(uci, chess.STARTING_FEN)


@pytest.mark.parametrize("action", [0, -1, NUM_ACTIONS, 384])
def test_an_illegal_action_is_named(action):
    with pytest.raises(ConfigurationError, match=str(action)):
        to_uci(action, chess.STARTING_FEN)


def test_a_useless_fen_is_named():
    with pytest.raises(InvalidFenError, match="nowhere"):
        to_uci(524, "nowhere")
    with pytest.raises(InvalidFenError, match="None"):
        from_uci("e2e4", None)
