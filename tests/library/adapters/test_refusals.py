"""What an adapter does not take is refused by name; an illegal action is raised."""

from importlib import import_module

import gymnasium
import numpy as np
import pytest

from rungs.errors import ConfigurationError, IllegalActionError


def adapter(module, name, needs):
    """Returns what makes two boards of an adapter, if what it adapts to is installed."""

    def make(*arguments, **settings):
        pytest.importorskip(needs)
        return getattr(import_module(f"rungs.adapters.{module}"), name)(*arguments, **settings)

    return make


pettingzoo = adapter("pettingzoo", "raw_env", "pettingzoo")
sb3 = adapter("sb3", "ChessVecEnv", "stable_baselines3")
torchrl = adapter("torchrl", "ChessEnv", "torchrl")
tianshou = adapter("tianshou", "ChessVectorEnv", "tianshou")
rllib = adapter("rllib", "ChessVectorEnv", "ray.rllib")

MAKE = {
    "gymnasium": lambda **settings: gymnasium.make("rungs/Chess-v0", **settings),
    "pettingzoo": pettingzoo,
    "sb3": lambda **settings: sb3(2, **settings),
    "torchrl": lambda **settings: torchrl(2, **settings),
    "tianshou": lambda **settings: tianshou(2, **settings),
    "rllib": lambda **settings: rllib({"num_envs": 2} | settings),
}
# They take seconds to import.
IN_TIERS = [
    pytest.param(name, marks=pytest.mark.system)
    if name in ("torchrl", "tianshou", "rllib")
    else name
    for name in MAKE
]


@pytest.mark.parametrize(
    "setting",
    [
        {"mask": "list"},
        {"autoreset_mode": "SAME_STEP"},
        {"dtype": "bfloat16"},
        {"steps_kept": 0},
        {"opponent": "kasparov"},
    ],
)
@pytest.mark.parametrize("name", IN_TIERS)
def test_settings_that_it_does_not_know_are_refused(name, setting):
    with pytest.raises(ConfigurationError, match=next(iter(setting))):
        MAKE[name](**setting)


@pytest.mark.parametrize("name", IN_TIERS)
def test_an_illegal_action_is_raised(name):
    if name in ("gymnasium", "pettingzoo", "torchrl"):
        pytest.skip("has a test of its own: it changes nothing")
    env = MAKE[name]()
    env.reset()
    with pytest.raises(IllegalActionError, match="board 0"):
        env.step(np.zeros(2, np.int64))
