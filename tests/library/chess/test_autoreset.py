"""gymnasium's three ways to begin the next episode."""

import chess
import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from rungs._src.chess.policy import random_actions
from rungs._src.chess.reason import Reason
from rungs.errors import ConfigurationError, IllegalActionError

FOOLS_MATE = ("f2f3", "e7e5", "g2g4", "d8h4")


def play(env, *moves):
    """Plays a move on each board, given as UCI, and returns the last step's outcome."""
    for boards in moves:
        outcome = env.step([env.legal_moves(i)[move] for i, move in enumerate(boards)])
    return outcome


def mated(make, mode, **settings):
    """Board 0 is mated, board 1 is not."""
    env = make(2, autoreset_mode=mode, **settings)
    env.reset()
    *_, terminated, _, info = play(env, *((move, move) for move in FOOLS_MATE[:3]))
    assert not terminated.any()
    assert "final_obs" not in info
    return env, play(env, ("d8h4", "a7a6"))


@pytest.mark.parametrize("mode", AutoresetMode)
def test_a_mode_goes_by_member_name_or_value(make, mode):
    for given in (mode, mode.name, mode.value):
        assert make(autoreset_mode=given).metadata["autoreset_mode"] == mode


def test_same_step_begins_at_once_and_returns_the_final_observation(make):
    env, (observation, reward, terminated, truncated, info) = mated(make, "SAME_STEP")
    assert terminated.tolist() == info["_final_obs"].tolist() == [True, False]
    assert not truncated.any()
    assert reward.tolist() == [1, 0]
    assert info["reason"].tolist() == [Reason.CHECKMATE, Reason.ONGOING]
    assert info["final_info"]["reason"][0] == Reason.CHECKMATE
    # It is the mated side's; the board itself has begun its next episode.
    assert info["final_obs"][0, [28 + 3, 71]].tolist() == [-5, 0]  # the queen on h4, for White
    assert env.fens()[0] == chess.STARTING_FEN
    assert info["player"].tolist() == [0, 0]
    assert observation[0, 69] == 0


@pytest.mark.parametrize("mode", ["NEXT_STEP", "DISABLED"])
@pytest.mark.parametrize("mask", ["bool", "bits", "list"])
def test_the_board_stays_as_it_ended(make, mode, mask):
    env, (observation, reward, terminated, truncated, info) = mated(make, mode, mask=mask)
    assert terminated.tolist() == [True, False]
    assert reward.tolist() == [1, 0]
    assert info["reason"].tolist() == [Reason.CHECKMATE, Reason.ONGOING]
    assert "final_obs" not in info
    assert observation[0, 28 + 3] == -5  # the queen on h4 that mates
    assert env.fens()[0].startswith("rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w")
    assert env.legal_moves(0) == {}
    if mask == "list":  # which has no room for all, and names one
        listed = [0] if mode == "NEXT_STEP" else []
        assert info["action_mask"][0].tolist() == listed + [-1] * (218 - len(listed))
        assert info["action_count"][0] == len(listed)
    else:
        allowed = np.unpackbits(info["action_mask"].view(np.uint8), axis=1).sum(axis=1)
        assert allowed[0] == (4672 if mode == "NEXT_STEP" else 0)
    assert not truncated.any()


@pytest.mark.parametrize(("ignored", "mask"), [(0, "bool"), (384, "list"), (4671, "bits")])
def test_next_step_ignores_an_action_and_begins(make, ignored, mask):
    env, _ = mated(make, "NEXT_STEP", mask=mask)
    action = env.legal_moves(1)["b1c3"]
    observation, reward, terminated, truncated, info = env.step([ignored, action])
    assert env.fens()[0] == chess.STARTING_FEN
    for output in (reward, terminated, truncated, info["reason"]):
        assert not output.any()
    assert len(env.legal_moves(0)) == 20
    assert env.legal_moves(0)["e2e4"] == 524
    assert (observation[0, :64] != observation[1, :64]).any()


@pytest.mark.parametrize(("action", "mask"), [(-1, "bool"), (-1, "list"), (4672, "list")])
def test_next_step_ignores_no_number_that_is_not_an_action(make, action, mask):
    env, _ = mated(make, "NEXT_STEP", mask=mask)
    with pytest.raises(IllegalActionError, match="board 0"):
        env.step([action, env.legal_moves(1)["b1c3"]])
    assert env.legal_moves(0) == {}


@pytest.mark.parametrize("mode", ["NEXT_STEP", "DISABLED"])
def test_a_reset_of_some_leaves_others_ended(make, mode):
    env = make(2, autoreset_mode=mode, max_plies=1)
    env.reset()
    play(env, ("e2e4", "d2d4"))
    left = [chess.STARTING_FEN, env.fens()[1]]
    env.reset(options={"reset_mask": np.array([True, False])})
    assert env.fens() == left
    assert env.legal_moves(1) == {}
    if mode == "DISABLED":
        with pytest.raises(gymnasium.error.ResetNeeded, match="boards 1"):
            env.step([524, 0])
        assert env.fens() == left
        env.reset(options={"reset_mask": np.array([False, True])})
    else:
        env.step([524, 0])
    assert env.fens()[1] == chess.STARTING_FEN


@pytest.mark.parametrize("mode", AutoresetMode)
def test_a_partial_reset_goes_on_to_the_next_episode(make, mode):
    settings = {"autoreset_mode": mode, "opponent": "random", "opening_plies": (2, 9)}
    env, other = make(4, **settings), make(4, **settings)
    for batch in (env, other):
        batch.reset(seed=1)
    env.reset(options={"reset_mask": np.array([False, True, False, True])})
    first = other.fens()
    other.reset()
    assert env.fens() == [first[0], other.fens()[1], first[2], other.fens()[3]]


def test_a_reset_mask_needs_a_first_reset_and_no_seed(make):
    env = make(2)
    with pytest.raises(ConfigurationError, match="reset_mask"):
        env.reset(options={"reset_mask": np.ones(2, bool)})
    env.reset()
    with pytest.raises(ConfigurationError, match="reset_mask"):
        env.reset(seed=3, options={"reset_mask": np.ones(2, bool)})


@pytest.mark.parametrize("opponent", [None, "random"])
def test_all_modes_play_the_same_episodes(make, opponent):
    """The modes differ in when an episode begins, not in which."""
    starts = {}
    for mode in AutoresetMode:
        env = make(3, autoreset_mode=mode, opponent=opponent, opening_plies=(0, 9), max_plies=9)
        _, info = env.reset(seed=6)
        episodes = [[fen] for fen in env.fens()]
        rng = np.random.default_rng(0)
        waiting = np.zeros(3, bool)
        for _ in range(60):
            *_, terminated, truncated, info = env.step(random_actions(info["action_mask"], rng))
            ended = terminated | truncated
            begun = waiting if mode == AutoresetMode.NEXT_STEP else ended
            waiting = ended.copy()
            if mode == AutoresetMode.DISABLED and ended.any():
                _, info = env.reset(options={"reset_mask": ended})
            for i in np.flatnonzero(begun):
                episodes[i].append(env.fens()[i])
        starts[mode] = [board[:4] for board in episodes]
    first, *others = starts.values()
    assert all(len(board) == 4 for board in first)
    assert all(other == first for other in others)
