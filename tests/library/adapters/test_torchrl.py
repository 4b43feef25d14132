"""Boards behind TorchRL's interface."""

import numpy as np
import pytest

import rungs
from rungs._src.chess.unpack import unpack_planes
from rungs.errors import ConfigurationError

pytest.importorskip("torchrl")
import torch
from torchrl.envs import ActionMask, TransformedEnv
from torchrl.envs.utils import check_env_specs

from rungs.adapters.torchrl import ChessEnv

pytestmark = pytest.mark.system

FORMATS = [
    {},
    {"obs": "planes"},
    {"obs": "planes", "dtype": "uint8"},
    {"obs": "planes", "dtype": "bfloat16"},
    {"obs": "bitplanes"},
    {"mask": "bits"},
]


@pytest.mark.parametrize("formats", FORMATS)
def test_torchrls_own_check_passes(formats):
    env = ChessEnv(3, "cpp", max_plies=2, **formats)
    check_env_specs(env, seed=0, break_when_any_done="both")
    if "mask" not in formats:
        check_env_specs(TransformedEnv(env, ActionMask()), break_when_any_done="both")


def test_what_is_in_next_already_prevails_as_in_torchrl():
    env = ChessEnv(3, "cpp")
    before = env.rand_action(env.reset())
    mine = torch.full((3, 1), 7.0)
    after, _ = env.step_and_maybe_reset(before.set("next", before.empty().set("mine", mine)))
    assert (after["next", "mine"] == mine).all()


def test_boards_that_have_not_ended_can_be_reset_too():
    env = ChessEnv(4, "cpp", opening_plies=(8, 8))
    first = env.rand_step(env.reset())
    before = env.step_mdp(first)
    which = torch.tensor([[True], [False], [True], [False]])
    after = env.reset(before.clone().set("_reset", which))
    same = (after["observation"] == before["observation"]).all(1)
    assert same.tolist() == [False, True, False, True]
    env.step(env.rand_action(after))  # by the masks of the new episodes


def test_bitplanes_are_unpacked_as_they_are():
    env = ChessEnv(2, "cpp", obs="bitplanes")
    planes = rungs.make("chess", "cpp", 2, obs="planes", opponent="random")
    np.testing.assert_array_equal(unpack_planes(env.reset()["observation"]), planes.reset()[0])


def test_a_step_without_an_action_or_of_some_boards_alone_is_refused():
    env = ChessEnv(3, "cpp")
    first = env.reset()
    with pytest.raises(ConfigurationError, match="action"):
        env.step(first)
    some = env.rand_action(first).set("_step", torch.tensor([[True], [False], [True]]))
    with pytest.raises(ConfigurationError, match="break_when_all_done"):
        env.step(some)
