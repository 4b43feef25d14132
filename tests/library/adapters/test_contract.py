"""What every framework's adapter promises: it is the environment, and refuses what it can't do."""

import gymnasium
import numpy as np
import pytest

from rungs.errors import ConfigurationError
from tests.library.adapters.drivers import DRIVERS, Rungs, assert_same

IN_SYSTEM_TIER = ("jax", "torchrl", "rllib")  # they take seconds to import or to compile


def cases(*rows):
    """Returns parameters: a framework, then others; some are of the system tier."""
    return [
        pytest.param(*row, marks=pytest.mark.system if row[0] in IN_SYSTEM_TIER else ())
        for row in rows
    ]


def driver_of(name):
    if needs := DRIVERS[name].needs:
        pytest.importorskip(needs)
    return DRIVERS[name]


def step_both(env, reference, rng):
    """Takes a random step of both; returns what they returned."""
    actions = reference.env.sample_actions(rng)
    return env.step(actions), reference.step(actions)


# Many moves mate.
ENDINGS = {"start_fens": ["7k/5Q2/6K1/8/8/8/8/8 w - - 0 1", "8/8/8/8/8/6k1/5q2/7K b - - 0 1"]}
CHESS960 = {"start": "chess960"}
SETTINGS = cases(
    ("gymnasium", ENDINGS | {"opponent": "random"}),
    ("gymnasium", CHESS960),
    ("pettingzoo", ENDINGS),
    ("pettingzoo", CHESS960),
    ("sb3", ENDINGS),
    ("sb3", CHESS960),
    ("torch", ENDINGS | {"obs": "planes", "mask": "list"}),
    ("torch", CHESS960 | {"autoreset_mode": "NEXT_STEP", "obs": "bitplanes", "mask": "bits"}),
    ("jax", {"opponent": "random"}),
    ("jax", {"mask": "bits"}),
    ("jax", {"autoreset_mode": "NEXT_STEP", "opponent": "random"}),
    ("torchrl", ENDINGS),
    ("torchrl", CHESS960 | {"mask": "bits"}),
    ("rllib", ENDINGS),
    ("rllib", CHESS960 | {"mask": "bits"}),
)


@pytest.mark.parametrize(("name", "settings"), SETTINGS)
def test_it_is_the_environment_and_its_outputs_are_the_callers_to_keep(name, settings):
    driver = driver_of(name)
    settings = {"max_plies": 12} | settings
    env, reference = driver(**settings), Rungs(driver, **settings)
    rng, ends, rewards, kept = np.random.default_rng(0), 0, set(), []

    def check(outputs, expected):
        assert_same(outputs, expected)
        for array in outputs.values():
            rows = [array] if np.ndim(array) == 1 else array
            kept.extend((row, np.copy(row)) for row in rows)

    for seed in (*driver.seeds, driver.seeds[0]):
        check(env.reset(seed), reference.reset(seed))
        for _ in range(25):
            outputs, expected = step_both(env, reference, rng)
            check(outputs, expected)
            ended = expected["done"]
            ends += ended.sum()
            rewards.update(expected["reward"].tolist())
            if driver.mode == "DISABLED" and ended.any():
                check(env.reset_ended(ended), reference.reset_ended(ended))
    assert ends >= 4 * driver.num_envs
    assert 1 in rewards or "start_fens" not in settings
    for row, copy in kept:
        np.testing.assert_array_equal(row, copy)


@pytest.mark.parametrize("name", cases(*([name] for name in DRIVERS)))
def test_an_illegal_action_is_a_typed_error_and_changes_nothing(name):
    driver = driver_of(name)
    env, reference = driver(), Rungs(driver)
    env.reset(3)
    reference.reset(3)
    rng = np.random.default_rng(0)
    actions = reference.env.sample_actions(0)
    actions[-1] = 64 * 6  # a1 to the west
    with pytest.raises(env.illegal_action, match=rf"board {driver.num_envs - 1}\b.*\b384\b"):
        env.step(actions)
    for _ in range(5):
        assert_same(*step_both(env, reference, rng))


# JAX's functions keep nothing.
@pytest.mark.parametrize("name", cases(*([name] for name in DRIVERS if name != "jax")))
def test_it_steps_neither_before_a_reset_nor_once_closed(name):
    driver = driver_of(name)
    env = driver()
    actions = np.full(driver.num_envs, 524)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(actions)
    env.reset()
    env.close()
    with pytest.raises(gymnasium.error.ClosedEnvironmentError):
        env.step(actions)


UNKNOWN = [{"mask": "list"}, {"autoreset_mode": "SAME_STEP"}]
UNKNOWN += [{"opponent": "kasparov"}, {"no_such": 0}]
WORDS = {"obs": "planes", "dtype": "bfloat16"}  # which would be read as integers
HUMAN = {"render_mode": "human"}
REFUSED = {
    "gymnasium": [*UNKNOWN, {"dtype": "bfloat16"}, HUMAN],
    "pettingzoo": [*UNKNOWN, {"opponent": "random"}, {"obs": "bitplanes"}, HUMAN],
    "sb3": [*UNKNOWN, WORDS],
    "jax": [{"mask": "bool"}, {"autoreset_mode": "DISABLED"}, {"max_plies": 0}, UNKNOWN[2]],
    "torchrl": [*UNKNOWN, {"dtype": "bfloat16"}],
    "rllib": [*UNKNOWN, WORDS],
}


@pytest.mark.parametrize(
    ("name", "settings"), cases(*((name, each) for name in REFUSED for each in REFUSED[name]))
)
def test_settings_that_it_does_not_know_are_refused_by_name(name, settings):
    driver = driver_of(name)
    with pytest.raises(ConfigurationError, match=[*settings][-1]):
        driver(**settings)
