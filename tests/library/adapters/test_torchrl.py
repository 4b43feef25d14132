"""Boards behind TorchRL's interface."""

import numpy as np
import pytest

import rungs
from rungs._src.chess.unpack import unpack_planes
from rungs.errors import ConfigurationError

pytest.importorskip("torchrl")
import torch
from tensordict.nn import TensorDictModule
from torchrl.collectors import Collector
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
]


@pytest.mark.parametrize("formats", FORMATS)
def test_torchrls_own_check_passes(formats):
    env = ChessEnv(3, "cpp", max_plies=2, **formats)
    check_env_specs(env, seed=0, break_when_any_done="both")
    check_env_specs(TransformedEnv(env, ActionMask()), break_when_any_done="both")


def test_torchrls_own_check_passes_with_bits():
    check_env_specs(ChessEnv(3, "cpp", max_plies=2, mask="bits"), break_when_any_done="both")


def legal_policy():
    """Chooses uniformly among legal actions, the same again with the same seed."""
    generator = torch.Generator().manual_seed(0)

    def choose(mask):
        return torch.multinomial(mask.float(), 1, generator=generator)[:, 0]

    return TensorDictModule(choose, in_keys=["action_mask"], out_keys=["action"])


def test_a_collector_gathers_what_was_played():
    env = ChessEnv(5, "cpp", seed=1, max_plies=24)
    collector = Collector(env, legal_policy(), frames_per_batch=100, total_frames=300)
    batches = [batch.clone() for batch in collector]
    assert [batch.shape for batch in batches] == [(5, 20)] * 3
    chess_env = rungs.make("chess", "cpp", 5, opponent="random", seed=1, max_plies=24)
    observation, info = chess_env.reset()
    ended = 0
    for batch in batches:
        for at in batch.unbind(1):
            np.testing.assert_array_equal(at["observation"], observation)
            np.testing.assert_array_equal(at["action_mask"], info["action_mask"])
            observation, reward, terminated, truncated, info = chess_env.step(at["action"].numpy())
            np.testing.assert_array_equal(at["next", "reward"][:, 0], reward)
            ended += (terminated | truncated).sum()
    assert ended > 10


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


def test_stepping_some_boards_alone_is_refused():
    env = ChessEnv(3)
    some = env.rand_action(env.reset()).set("_step", torch.tensor([[True], [False], [True]]))
    with pytest.raises(ConfigurationError, match="break_when_all_done"):
        env.step(some)


def test_a_step_without_an_action_is_refused():
    env = ChessEnv(2, "cpp")
    first = env.reset()
    with pytest.raises(ConfigurationError, match="action"):
        env.step(first)
