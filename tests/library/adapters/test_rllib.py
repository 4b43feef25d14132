"""Our boards, and a module with masks, in RLlib's new API stack."""

import numpy as np
import pytest

from rungs.errors import ConfigurationError

pytest.importorskip("ray.rllib")
import ray
import torch
from gymnasium.wrappers.vector import DictInfoToList
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.rl_module import RLModuleSpec

from rungs.adapters.rllib import ChessVectorEnv, MaskedPPOModule

pytestmark = pytest.mark.system


def make(num_envs, **settings):
    return ChessVectorEnv({"num_envs": num_envs, "rung": "cpp"} | settings)


def test_spaces_hold_what_is_seen():
    env = DictInfoToList(make(2, obs="planes"))
    seen, infos = env.reset(seed=0)
    assert seen in env.observation_space
    one = {name: rows[0] for name, rows in seen.items()}
    assert one in env.single_observation_space
    assert infos == [{}, {}]


def test_env_runners_play_different_games_unless_seeded():
    chess_settings = {"opening_plies": (20, 20)}
    seen = [make(2, **chess_settings).reset()[0]["observations"] for _ in range(2)]
    assert not np.array_equal(*seen)
    same = [make(2, seed=1, **chess_settings).reset()[0]["observations"] for _ in range(2)]
    np.testing.assert_array_equal(*same)


@pytest.mark.parametrize("config", [None, [], 3, "num_envs"])
def test_settings_without_names_are_refused(config):
    with pytest.raises(ConfigurationError, match="config"):
        ChessVectorEnv(config)


def algorithm_of_eight_boards():
    config = (
        PPOConfig()
        .environment(ChessVectorEnv, env_config={"max_plies": 20, "rung": "cpp"})
        .env_runners(
            num_env_runners=0,
            num_envs_per_env_runner=8,
            gym_env_vectorize_mode="vector_entry_point",
        )
        .rl_module(
            rl_module_spec=RLModuleSpec(
                module_class=MaskedPPOModule, model_config={"fcnet_hiddens": [32]}
            )
        )
        .training(train_batch_size=256, minibatch_size=128, num_epochs=1)
        .debugging(seed=0)
    )
    return config.build_algo()


@pytest.mark.parametrize("mask", ["bool", "bits"])
@pytest.mark.parametrize("obs", ["board", "bitplanes"])
def test_the_module_gives_illegal_actions_no_probability(obs, mask):
    env = make(4, obs=obs, mask=mask)
    module = RLModuleSpec(
        module_class=MaskedPPOModule,
        observation_space=env.single_observation_space,
        action_space=env.single_action_space,
        model_config={"fcnet_hiddens": [16]},
    ).build()
    seen, _ = env.reset(seed=0)
    batch = {Columns.OBS: {name: torch.from_numpy(rows) for name, rows in seen.items()}}
    for forward in (module.forward_exploration, module.forward_inference, module.forward_train):
        logits = forward(batch)[Columns.ACTION_DIST_INPUTS]
        likely = logits.softmax(1)
        legal = make(4).reset(seed=0)[0]["action_mask"]
        assert (likely[legal == 0] == 0).all()
        assert (likely[legal == 1] > 0).all()
    assert module.compute_values(batch).shape == (4,)
    assert {*batch[Columns.OBS]} == {"observations", "action_mask"}  # as it was


@pytest.fixture(scope="module")
def one_node():
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


@pytest.mark.usefixtures("one_node")
def test_ppo_learns_saves_and_goes_on(tmp_path):
    algorithm = algorithm_of_eight_boards()
    before = algorithm.get_module().state_dict()
    before = {name: weights.clone() for name, weights in before.items()}
    assert algorithm.train()["env_runners"]["num_episodes"] > 8
    after = algorithm.get_module().state_dict()
    assert any(not torch.equal(before[name], after[name]) for name in before)
    algorithm.save_to_path(tmp_path.as_posix())
    again = algorithm_of_eight_boards()
    again.restore_from_path(tmp_path.as_posix())
    for name, weights in again.get_module().state_dict().items():
        assert torch.equal(weights, after[name])
    for each in (algorithm, again):
        each.stop()
