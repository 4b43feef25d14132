"""OpenSpiel behind our interface: our games, the one rule that differs, and what it refuses."""

import sys
from collections import Counter

import chess
import numpy as np
import pytest

import rungs
from rungs._src.chess.actions import NUM_ACTIONS
from rungs._src.chess.engine import UciEngine
from rungs._src.chess.reason import Reason
from rungs.errors import ConfigurationError, IllegalActionError, UnavailableError
from rungs_course import peers
from rungs_course.measure.verify import verify
from rungs_course.peers.open_spiel_boards import reason_of
from tests.proof import lockstep

pytestmark = pytest.mark.system
pyspiel = pytest.importorskip("pyspiel")

# num_envs, steps, policy, settings
GAMES = [
    (1, 1000, "uniform", {}),
    (7, 700, "shuffling", {"mask": "bits"}),
    (7, 400, "rare", {"max_plies": 37, "first_board": 5}),
    (16, 500, "uniform", {"opponent": "random"}),
    (16, 500, "shuffling", {"opponent": "random", "mask": "bits"}),
    (16, 300, "rare", {"opponent": "random", "mask": "bits", "max_plies": 200}),
    (16, 200, "uniform", {"opponent": "random", "mask": "list", "max_plies": 90}),
]


def pair(num_envs, **settings):
    env = rungs.make("chess", "cpp", num_envs, **settings)
    return env, peers.make("OpenSpiel", num_envs, **settings)


def test_open_spiel_is_cpp_in_games_that_end_in_every_way():
    reasons = Counter()
    for num_envs, steps, policy, settings in GAMES:
        envs = pair(num_envs, **settings)
        reasons += lockstep.play(*envs, seed=num_envs, steps=steps, policy=policy)
    assert set(reasons) == {int(reason) for reason in Reason} - {Reason.ONGOING}


def test_reset_begins_next_episodes_where_asked():
    envs = pair(6, opponent="random")
    mask = np.arange(6) % 3 == 0
    for arguments in ({"seed": 3}, {}, {"options": {"reset_mask": mask}}):
        expected, outcome = (env.reset(**arguments) for env in envs)
        verify("OpenSpiel", outcome, expected, f"after reset({arguments})")


def test_a_stalemate_without_material_to_mate_is_a_stalemate():
    fen = "k7/8/K7/4B3/8/8/8/8 b - - 0 1"
    state = pyspiel.load_game("chess").new_initial_state(fen)
    assert state.is_terminal()
    assert reason_of(state) == Reason.STALEMATE
    assert chess.Board(fen).is_insufficient_material()


UNSUPPORTED = {"obs": "planes", "autoreset_mode": "DISABLED", "start": "chess960"}
UNSUPPORTED |= {"start_fens": ["4k3/8/8/8/8/8/8/4K2R w K - 0 1"], "opening_plies": (0, 2)}
UNSUPPORTED |= {"opponent": UciEngine(sys.executable)}


@pytest.mark.parametrize(("name", "value"), UNSUPPORTED.items())
def test_settings_it_does_not_support_are_refused(name, value):
    with pytest.raises(ConfigurationError, match=f"{name}.*OpenSpiel"):
        peers.make("OpenSpiel", 2, **{name: value})


def test_states_can_not_be_saved():
    env = peers.make("OpenSpiel", 2)
    env.reset()
    for call in (env.get_state, lambda: env.set_state(b"")):
        with pytest.raises(UnavailableError, match="get_state"):
            call()


@pytest.mark.parametrize("action", [-1, NUM_ACTIONS, 0, 64 * 10 + chess.E1])
def test_an_illegal_action_changes_nothing(action):
    env = peers.make("OpenSpiel", 2)
    observation, _ = env.reset()
    before = observation.copy()
    with pytest.raises(IllegalActionError, match="board 1"):
        env.step([64 * 8 + chess.E2, action])
    np.testing.assert_array_equal(observation, before)
    assert env.fens() == [chess.STARTING_FEN] * 2
