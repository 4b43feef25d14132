"""Our chess behind PettingZoo's interface."""

import random

import chess
import gymnasium
import numpy as np
import pytest
from pettingzoo.test import api_test, parallel_api_test, seed_test
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

import rungs
from rungs._src.chess.actions import board_of, from_uci, legal_actions
from rungs._src.chess.reason import Reason
from rungs.adapters.pettingzoo import env as make
from rungs.adapters.pettingzoo import raw_env
from rungs.errors import ConfigurationError, IllegalActionError

pytest.importorskip("pettingzoo")


@pytest.mark.parametrize("obs", ["board", "planes"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_pettingzoos_own_tests_pass(obs):
    api_test(make(obs=obs, max_plies=60), num_cycles=200)
    seed_test(lambda: make(obs=obs, opening_plies=(0, 9)), num_cycles=100)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_it_passes_for_an_environment_of_agents_side_by_side():
    parallel_api_test(turn_based_aec_to_parallel(make(max_plies=60)), num_cycles=200)


def play(env, moves):
    board = chess.Board()
    for uci in moves.split():
        env.step(from_uci(uci, board.fen()))
        board.push_uci(uci)


@pytest.mark.parametrize(
    ("moves", "winner"),
    [("f2f3 e7e5 g2g4 d8h4", "player_1"), ("e2e4 f7f6 d2d4 g7g5 d1h5", "player_0")],
)
def test_who_mates_wins(moves, winner):
    env = make()
    env.reset()
    play(env, moves)
    assert env.terminations == {"player_0": True, "player_1": True}
    for agent in ("player_0", "player_1"):
        assert env.rewards[agent] == (1 if agent == winner else -1)
        assert env.infos[agent] == {"reason": Reason.CHECKMATE}
    loser = env.agent_selection
    assert loser != winner
    seen, reward, terminated, _, _ = env.last()
    assert (reward, terminated, seen["action_mask"].any()) == (-1, True, False)
    env.step(None)
    env.step(None)
    assert not env.agents
    env.reset()
    assert env.last()[0]["action_mask"].sum() == 20


@pytest.mark.parametrize("start", [None, "chess960"])
def test_masks_are_the_legal_actions_of_who_is_to_move(start):
    env, rng = raw_env(start=start), random.Random(0)
    env.reset()
    board = board_of(env._env.fens()[0], chess960=bool(start))
    assert board.board_fen().startswith("rnbqkbnr") == (start is None)
    while env.agents and not env.terminations[env.agent_selection]:
        mover = env.agent_selection
        assert mover == ("player_0" if board.turn else "player_1")
        other = "player_1" if board.turn else "player_0"
        assert not env.observe(other)["action_mask"].any()
        moves = legal_actions(board)
        mask = env.observe(mover)["action_mask"]
        assert set(np.flatnonzero(mask)) == moves.keys()
        action = rng.choice(sorted(moves))
        env.step(action)
        board.push(moves[action])
        assert board.fen() == env._env.fens()[0]


@pytest.mark.parametrize(
    "formats", [{"obs": "board"}, {"obs": "planes"}, {"obs": "planes", "dtype": "bfloat16"}]
)
def test_who_is_not_to_move_sees_the_board_from_the_other_side(formats):
    start = "r3k2r/pppq1ppp/2n5/3pP3/8/2N2N2/PPP2PPP/R2QK2R w KQq - 3 9"
    for fen in (start, "4k3/8/8/8/5n2/8/4P3/4K2R w K - 7 20"):
        passed = chess.Board(fen)
        passed.turn = not passed.turn
        env = raw_env(start_fens=[fen], **formats)
        env.reset()
        seen = env.observe("player_1")["observation"]
        other = rungs.make("chess", "cpp", 1, start_fens=[passed.fen()], **formats)
        (theirs,) = other.reset()[0]
        # Whose turn it is, is seen as it is.
        if formats["obs"] == "board":
            theirs[71] = 0
        else:
            theirs[112] = 0
        np.testing.assert_array_equal(seen, theirs)


def test_an_illegal_action_loses():
    env = make()
    env.reset()
    env.step(0)
    assert env.rewards == {"player_0": -1, "player_1": 0}
    assert all(env.terminations.values())


def test_without_the_wrapper_it_raises_and_changes_nothing():
    env = raw_env()
    env.reset()
    before = env.observe("player_0")
    with pytest.raises(IllegalActionError):
        env.step(0)
    np.testing.assert_array_equal(env.observe("player_0")["observation"], before["observation"])
    assert env.agent_selection == "player_0"


def test_what_an_agent_has_seen_stays():
    env = raw_env()
    env.reset()
    seen = env.observe("player_0")
    kept = {name: array.copy() for name, array in seen.items()}
    play(env, "e2e4 e7e5")
    for name, array in kept.items():
        np.testing.assert_array_equal(seen[name], array)
        assert not np.array_equal(env.observe("player_0")[name], array)


def test_it_renders_text():
    env = raw_env(render_mode="ansi")
    env.reset()
    assert env.render() == str(chess.Board())


@pytest.mark.parametrize(
    "setting",
    [{"mask": "list"}, {"opponent": "random"}, {"obs": "bitplanes"}, {"render_mode": "human"}],
)
def test_what_pettingzoo_does_not_know_is_refused(setting):
    with pytest.raises(ConfigurationError, match=next(iter(setting))):
        raw_env(**setting)


def test_it_is_reset_first():
    env = raw_env()
    calls = (env.last, env.agent_iter, lambda: env.step(524), lambda: env.observe("player_0"))
    for call in calls:
        with pytest.raises(gymnasium.error.ResetNeeded, match=r"call reset\(\) before"):
            call()
    env.reset()
    assert env.last()[0]["action_mask"].sum() == 20
