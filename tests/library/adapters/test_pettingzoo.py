"""Chess behind PettingZoo's interface."""

import chess
import gymnasium
import numpy as np
import pytest

pytest.importorskip("pettingzoo")
from pettingzoo.test import api_test, parallel_api_test, seed_test
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

import rungs
from rungs._src.chess.actions import from_uci
from rungs._src.chess.reason import Reason
from rungs.adapters.pettingzoo import env as make
from rungs.adapters.pettingzoo import raw_env


@pytest.mark.parametrize("obs", ["board", "planes"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_pettingzoos_tests_pass(obs):
    api_test(make(obs=obs, max_plies=60), num_cycles=200)
    seed_test(lambda: make(obs=obs, opening_plies=(0, 9)), num_cycles=100)
    parallel_api_test(turn_based_aec_to_parallel(make(obs=obs, max_plies=60)), num_cycles=200)


def test_who_mates_wins():
    env, board = make(), chess.Board()
    env.reset()
    for uci in ("f2f3", "e7e5", "g2g4", "d8h4"):
        env.step(from_uci(uci, board.fen()))
        board.push_uci(uci)
    assert env.terminations == {"player_0": True, "player_1": True}
    assert env.rewards == {"player_0": -1, "player_1": 1}
    assert env.infos == {agent: {"reason": Reason.CHECKMATE} for agent in env.agents}
    assert env.agent_selection == "player_0"
    observation, reward, terminated, _, _ = env.last()
    assert (reward, terminated, observation["action_mask"].any()) == (-1, True, False)
    env.step(None)
    env.step(None)
    assert not env.agents
    env.reset()
    assert env.last()[0]["action_mask"].sum() == 20


FENS = ["r3k2r/pppq1ppp/2n5/3pP3/8/2N2N2/PPP2PPP/R2QK2R w KQkq - 3 9"]
FENS += ["4k3/8/8/8/5n2/8/4P3/4K2R w K - 7 20"]
FORMATS = [{"obs": "board"}, {"obs": "planes"}, {"obs": "planes", "dtype": "bfloat16"}]


@pytest.mark.parametrize("formats", FORMATS)
@pytest.mark.parametrize("fen", FENS)
def test_the_waiting_agent_sees_the_board_from_its_side_and_has_no_action(fen, formats):
    passed = chess.Board(fen)
    passed.turn = not passed.turn
    env = raw_env(start_fens=[fen], **formats)
    env.reset()
    seen = env.observe("player_1")
    assert not seen["action_mask"].any()
    other = rungs.make("chess", "cpp", 1, start_fens=[passed.fen()], **formats)
    (expected,) = other.reset()[0]
    expected[71 if formats["obs"] == "board" else 112] = 0  # whose turn it is: the other's
    np.testing.assert_array_equal(seen["observation"], expected)


def test_behind_the_wrapper_an_illegal_action_loses():
    env = make()
    env.reset()
    env.step(0)
    assert env.rewards == {"player_0": -1, "player_1": 0}
    assert all(env.terminations.values())


def test_it_renders_text():
    env = raw_env(render_mode="ansi")
    env.reset()
    assert env.render() == str(chess.Board())


def test_it_is_reset_first():
    env = raw_env()
    for call in (env.last, env.agent_iter, lambda: env.observe("player_0")):
        with pytest.raises(gymnasium.error.ResetNeeded):
            call()
