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


def in_tiers(*names):
    """Returns parameters; some take seconds to import."""
    slow = ("torchrl", "tianshou", "rllib")
    return [pytest.param(n, marks=pytest.mark.system) if n in slow else n for n in names]


@pytest.mark.parametrize(
    "setting",
    [
        {"mask": "list"},
        {"autoreset_mode": "SAME_STEP"},
        {"dtype": "bfloat16"},
        {"no_such": 0},
        {"opponent": "kasparov"},
    ],
)
@pytest.mark.parametrize("name", in_tiers(*MAKE))
def test_settings_that_it_does_not_know_are_refused(name, setting):
    with pytest.raises(ConfigurationError, match=next(iter(setting))):
        MAKE[name](**setting)


# The others have a test of their own: it changes nothing.
@pytest.mark.parametrize("name", in_tiers("sb3", "tianshou", "rllib"))
def test_an_illegal_action_is_raised(name):
    env = MAKE[name]()
    env.reset()
    with pytest.raises(IllegalActionError, match="board 0"):
        env.step(np.zeros(2, np.int64))
