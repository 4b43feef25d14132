"""Arguments, outputs and errors of an environment, on every rung."""

from collections import Counter

import chess
import numpy as np
import pytest
import torch

from rungs._src.chess.reason import Reason


def actions_for(env, moves):
    """One action per board, given as UCI."""
    return np.array([env.legal_moves(board)[move] for board, move in enumerate(moves)])


def test_both_sides_see_the_board_from_their_own_side(make):
    env = make(1)
    observation, info = env.reset()
    back = [4, 2, 3, 5, 6, 3, 2, 4]
    board = back + [1] * 8 + [0] * 32 + [-1] * 8 + [-x for x in back]
    assert observation[0].tolist() == [*board, 1, 1, 1, 1, -1, 0, 0, 0]
    assert info["action_mask"].sum() == 20
    assert env.fens() == [chess.STARTING_FEN]
    observation, *_, info = env.step(actions_for(env, ["e2e4"]))
    assert info["player"][0] == observation[0, 71] == 1
    assert observation[0, :16].tolist() == back + [1] * 8
    assert observation[0, 36] == -1  # e4, seen from Black: the fifth rank
    assert observation[0, 52] == 0


def test_openings_are_as_long_as_asked_for(make):
    env = make(300, opening_plies=(2, 4))
    _, info = env.reset()
    boards = [chess.Board(fen) for fen in env.fens()]
    lengths = Counter(board.ply() for board in boards)
    assert set(lengths) == {2, 3, 4}
    # 100 expected of each; five standard deviations are 41.
    assert all(abs(count - 100) < 41 for count in lengths.values())
    assert len({board.board_fen() for board in boards}) > 200
    assert info["player"].tolist() == [int(not board.turn) for board in boards]


@pytest.mark.parametrize("opening", [(0, 0), (3, 3)])
def test_no_random_ply_ends_a_game_before_the_agents_first(make, opening):
    # White's only move takes the queen, and bare kings are a draw.
    fen = "8/8/8/4k3/8/8/1q6/K7 w - - 0 1"
    env = make(2, start_fens=[fen], opening_plies=opening, opponent="random")
    _, info = env.reset()
    assert env.fens() == [fen, fen]
    assert info["player"].tolist() == [0, 0]
    *_, terminated, _, info = env.step(actions_for(env, ["a1b2", "a1b2"]))
    assert terminated.all()
    assert (info["reason"] == Reason.INSUFFICIENT_MATERIAL).all()
    assert env.fens() == [fen, fen]


def test_colours_alternate_by_episode_and_board(make):
    env = make(20, opponent="random", opening_plies=(0, 5))
    for colours in ([0, 1], [1, 0]):
        assert env.reset()[1]["player"].tolist() == colours * 10


def test_actions_may_be_any_integers_in_any_memory(make):
    env, actions = make(3), np.array([524, 524 + 1, 524 - 1])
    env.reset()
    env.step(actions)
    played = env.fens()
    frozen = actions.copy()
    frozen.flags.writeable = False
    for same in (
        actions.astype(np.int32),
        actions.astype(">i8"),
        actions.tolist(),
        torch.from_numpy(actions),
        np.repeat(actions, 2)[::2],
        np.frombuffer(b"." + actions.tobytes(), np.int64, offset=1),  # unaligned
        frozen,
    ):
        env.reset(seed=0)
        env.step(same)
        assert env.fens() == played
