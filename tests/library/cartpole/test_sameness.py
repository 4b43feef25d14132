"""CartPole's rungs: the same bits among ours, and within a few of Gymnasium's."""

import itertools

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.classic_control.cartpole import CartPoleEnv
from gymnasium.vector import AutoresetMode

import rungs
from rungs._src.cartpole.physics import MAX_THETA, SECONDS, physics
from rungs._src.core.memory import on_host
from rungs._src.core.philox import Purpose, philox
from rungs._src.machine import gpu
from rungs.errors import ConfigurationError
from tests.tiers import system_tier


def make(rung, num_envs, **settings):
    return rungs.make("cartpole", rung, num_envs, **settings)


def balancing(observation, rng):
    """Keeps poles up for a while, some better than others: episodes of all lengths up to 500."""
    lean = observation[:, 2] + 0.4 * observation[:, 3] + 0.05 * observation[:, 1]
    random = rng.random(len(lean)) < np.linspace(1, 0.1, len(lean))
    return np.where(random, rng.integers(2, size=len(lean)), lean > 0)


def play(envs, steps, *, policy=balancing, seed=0):
    """The first one's policy on all; yields what each returned, as arrays."""
    rng = np.random.default_rng(seed)
    observation, _ = [env.reset(seed=seed) for env in envs][0]  # noqa: RUF015
    for _ in range(steps):
        actions = policy(on_host(observation), rng).astype(np.int64)
        outcomes = [env.step(actions) for env in envs]
        yield outcomes
        observation = outcomes[0][0]


def assert_same(one, other):
    for array, other_array in zip(one[:4], other[:4], strict=True):
        array, other_array = on_host(array), on_host(other_array)
        assert array.dtype == other_array.dtype
        np.testing.assert_array_equal(array, other_array)
    assert one[4].keys() == other[4].keys()
    if one[4]:
        ended = on_host(one[4]["_final_obs"])
        np.testing.assert_array_equal(ended, on_host(other[4]["_final_obs"]))
        final = [on_host(each[4]["final_obs"])[ended] for each in (one, other)]
        np.testing.assert_array_equal(*final)


SINGLE, DOUBLE = {"dtype": "float32"}, {"dtype": "float64"}
NEXT_STEP = {"autoreset_mode": "NEXT_STEP"}
GAMES = [
    (1, 400, DOUBLE | {"max_episode_steps": 30}),
    (7, 400, DOUBLE | {"first_env": 5, "workload": 3}),
    (7, 400, SINGLE | NEXT_STEP),
    (64, 300, SINGLE | {"first_env": 5, "workload": 3}),
    (2100, 110, DOUBLE | NEXT_STEP | {"workload": 3}),
    (2100, 110, SINGLE),
]
THREADS = {"threads": 2}
CASES = [
    (rung, *game, extra)
    for rung, extra in (("torch", {}), ("openmp", THREADS), ("threads", THREADS))
    for game in GAMES
]
NO_GPU = pytest.mark.skipif(not gpu.usable(), reason="no GPU")
ON_GPU = [{"device": "cuda", "execution": name} for name in ("eager", "graph", "compile")]
SLOW = [
    ("numba", {"threads_per_block": 3}, ()),
    *(("torch", extra, NO_GPU) for extra in ON_GPU),
]
SHORT = {"max_episode_steps": 40, "workload": 2}
CASES += [
    pytest.param(rung, 7, 60, SHORT | dtype | mode, extra, marks=marks)
    for rung, extra, marks in SLOW
    for dtype in (SINGLE, DOUBLE)
    for mode in ({}, NEXT_STEP)
]


def compiled(settings):
    return "torch", 7, 60, SHORT | settings, {"execution": "compile"}


CASES += system_tier(compiled(SINGLE | NEXT_STEP), compiled(DOUBLE))
CASES += system_tier(compiled(SINGLE), compiled(DOUBLE | NEXT_STEP), release=True)


@pytest.mark.parametrize(("rung", "num_envs", "steps", "settings", "extra"), CASES)
def test_rungs_are_the_same_bit_for_bit(rung, num_envs, steps, settings, extra):
    settings = {"max_episode_steps": 100} | settings
    envs = [make("cpp", num_envs, **settings), make(rung, num_envs, **settings, **extra)]
    ended = np.zeros(2)
    seeds = [2**64 - 1 - i // 2 for i in range(num_envs)]  # all 64 bits count
    for one, other in play(envs, steps, seed=seeds):
        assert_same(one, other)
        ended += one[2].sum(), one[3].sum()
    assert (ended > 0).all()
    assert envs[0].get_state() == envs[1].get_state()


RUNGS = {
    "gymnasium": {},
    "torch": {},
    "numba": {"threads_per_block": 2},
    "openmp": {"threads": 2},
    "threads": {"threads": 2},
}


@pytest.mark.parametrize("given", [False, True], ids=["random", "given"])
@pytest.mark.parametrize("mode", ["SAME_STEP", "NEXT_STEP"])
@pytest.mark.parametrize("rung", RUNGS)
def test_many_steps_at_once_are_as_many_steps(rung, mode, given):
    how = {"autoreset_mode": mode, "max_episode_steps": 60, "first_env": 3}
    num_envs = 1500 if rung in ("torch", "openmp", "threads") else 5
    exact = rung != "gymnasium"
    one, other = make("cpp", num_envs, **how), make(rung, num_envs, **how, **RUNGS[rung])
    for env in (one, other):
        env.reset(seed=11)
    rng = np.random.default_rng(0)
    for count in (1, 31, 97, 40):  # across words and blocks of random bits
        actions = rng.integers(2, size=(count, num_envs)) if given else None
        if given:
            rewards, ended = np.zeros(num_envs, np.float32), np.zeros(num_envs, np.int32)
            for row in actions:
                observation, reward, terminated, truncated, _ = one.step(row)
                rewards, ended = rewards + reward, ended + (terminated | truncated)
        else:
            observation, rewards, ended = one.step_many(count)
        outcome = [on_host(each) for each in other.step_many(count, actions)]
        assert [each.dtype for each in outcome] == [np.float32, np.float64, np.int32]
        np.testing.assert_allclose(outcome[0], observation, atol=0 if exact else 1e-4)
        np.testing.assert_array_equal(outcome[1], rewards)
        np.testing.assert_array_equal(outcome[2], ended)
        assert ended.sum() > 0 or count == 1
    if exact:
        assert one.get_state() == other.get_state()


def test_random_actions_are_bits_of_philox():
    env, plain = make("cpp", 40, first_env=2, seed=7), make("cpp", 40, first_env=2, seed=7)
    for each in (env, plain):
        each.reset()
    drawn = [
        [philox(7, 2 + i, 0, 0, Purpose.CARTPOLE_ACTION) >> step & 1 for i in range(40)]
        for step in range(20)
    ]
    assert 0.4 < np.mean(drawn) < 0.6
    np.testing.assert_array_equal(env.step_many(20)[0], plain.step_many(20, np.array(drawn))[0])
    state = env.get_state()
    later = env.step_many(50)[0].copy()
    plain.set_state(state)  # which says how many were drawn
    np.testing.assert_array_equal(plain.step_many(50)[0], later)
    env.reset(seed=7)
    assert env.get_state() != state
    np.testing.assert_array_equal(env.step_many(70)[0], later)


@pytest.mark.parametrize("mode", AutoresetMode)
def test_every_step_is_gymnasiums_over_whole_episodes(mode):
    steps, longest = (1200, 500) if mode == AutoresetMode.SAME_STEP else (400, 100)
    settings = {"autoreset_mode": mode, "max_episode_steps": longest}
    envs = gymnasium_env, cpp_env = [make(rung, 12, **settings) for rung in ("gymnasium", "cpp")]
    rng = np.random.default_rng(0)
    for env in envs:
        env.reset(seed=3)
    whole = fallen = 0
    for _ in range(steps):
        # A pole is unstable, and what differs in the last place would grow with every step.
        gymnasium_env.set_state(cpp_env.get_state())
        before = cpp_env.carts.dump()["state"].copy()
        actions = balancing(cpp_env._outputs.observation, rng).astype(np.int64)
        outcomes = [env.step(actions) for env in envs]
        for one, other in zip(outcomes[0][1:4], outcomes[1][1:4], strict=True):
            np.testing.assert_array_equal(one, other)
        after = [env.carts.dump()["state"] for env in envs]
        assert_near(after[1], after[0], before)
        ended = outcomes[0][2] | outcomes[0][3]
        fallen, whole = fallen + outcomes[0][2].sum(), whole + outcomes[0][3].sum()
        if mode == AutoresetMode.DISABLED and ended.any():
            for env in envs:
                env.reset(options={"reset_mask": ended})
    assert whole > 1
    assert fallen > 30


def assert_near(states, expected, before):
    """A state after a step, within four units in the last place of what it is the sum of.

    That is the state before and what the force adds, up to 0.2 to the cart's speed and 0.3 to the
    pole's, whose rounding is there where they nearly cancel.
    """
    scale = np.maximum(np.maximum(np.abs(before), np.abs(expected)), 0.3)
    assert (np.abs(states - expected) <= 4 * np.spacing(scale)).all()


def test_a_step_is_gymnasiums_within_a_few_units_in_the_last_place():
    rng = np.random.default_rng(1)
    n = 4000
    states = rng.uniform(-1, 1, (4, n)) * np.array([[2.4], [3.0], [MAX_THETA], [3.5]])
    actions = rng.integers(2, size=n)
    ours = np.array(physics(8).advance(*states, np.where(actions, 10.0, -10.0), SECONDS))
    single = np.array(
        physics(4).advance(
            *states.astype(np.float32), np.where(actions, 10, -10).astype("f4"), SECONDS
        )
    )
    assert single.dtype == np.float32
    theirs, env = np.empty_like(ours), CartPoleEnv()
    for i in range(n):
        env.reset()
        env.state, env.steps_beyond_terminated = states[:, i], None
        env.step(int(actions[i]))
        theirs[:, i] = env.state
    assert_near(ours, theirs, states)
    scale = np.abs(states).max(axis=1, keepdims=True).astype(np.float32)
    assert (np.abs(single - theirs) <= 2 * np.spacing(scale)).all()


def test_more_work_is_as_much_closer_to_the_true_motion():
    def angles(workload):
        env = make("cpp", 8, workload=workload)
        env.reset(seed=4)
        for step in range(10):
            env.step(np.full(8, step % 2))
        return env.carts.dump()["state"][2]

    truth = angles(10**5)
    errors = [np.abs(angles(10**power) - truth) for power in range(4)]
    for coarse, fine in itertools.pairwise(errors):  # Euler's method is of first order
        np.testing.assert_allclose(coarse / fine, 10, rtol=0.25)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_sine_and_cosine_of_a_pole_that_stands_are_exact_to_a_unit(dtype):
    angles = np.linspace(-MAX_THETA, MAX_THETA, 100_001).astype(dtype)
    functions = physics(angles.itemsize)
    for function, reference in ((functions.sine, np.sin), (functions.cosine, np.cos)):
        expected = reference(angles.astype(np.longdouble))
        off = np.abs(function(angles) - expected) / np.spacing(np.abs(expected).astype(dtype))
        assert off.max() <= 1


CONTRACT = [rung.name for rung in rungs.rungs_of("cartpole")]


@pytest.mark.parametrize("rung", CONTRACT)
class TestContract:
    def test_spaces_are_gymnasiums(self, rung):
        env, gymnasium_env = make(rung, 3), gymnasium.make_vec("CartPole-v1", 3)
        assert env.single_observation_space == gymnasium_env.single_observation_space
        assert env.single_action_space == gymnasium_env.single_action_space
        observation, info = env.reset(seed=1)
        assert info == {}
        assert env.observation_space.contains(on_host(observation))
        assert (np.abs(on_host(observation)) <= 0.05).all()
        observation, reward, terminated, truncated, _ = env.step(np.array([0, 1, 1]))
        assert on_host(observation).shape == (3, 4)
        for array, dtype in ((reward, np.float32), (terminated, np.bool_), (truncated, np.bool_)):
            assert on_host(array).dtype == dtype
        env.close()

    def test_seeds_and_episodes_decide_where_they_start(self, rung):
        env = make(rung, 5, seed=9)
        first = on_host(env.reset()[0]).copy()
        assert not np.array_equal(first, on_host(env.reset()[0]))
        np.testing.assert_array_equal(on_host(env.reset(seed=9)[0]), first)
        part = make(rung, 2, seed=9, first_env=3)
        np.testing.assert_array_equal(on_host(part.reset()[0]), first[3:])

    def test_where_that_is_disabled_it_waits_for_a_reset_also_of_some(self, rung):
        env = make(rung, 4, autoreset_mode="DISABLED", max_episode_steps=3)
        before = on_host(env.reset()[0]).copy()
        which = np.array([True, False, True, False])
        after = on_host(env.reset(options={"reset_mask": which})[0]).copy()
        np.testing.assert_array_equal((before != after).any(axis=1), which)
        for _ in range(3):
            env.step(np.array([0, 1, 0, 1]))
        with pytest.raises(gymnasium.error.ResetNeeded, match="0, 1"):
            env.step(np.array([0, 1, 0, 1]))

    def test_a_state_goes_on_on_another_rung(self, rung):
        env, other = make(rung, 6), make("cpp", 6)
        list(play([env], 10, seed=4))
        observation, _ = other.set_state(env.get_state())
        np.testing.assert_array_equal(observation, on_host(env._outputs.observation))
        actions = np.array([0, 1, 1, 0, 1, 0])
        for _ in range(15):  # in which every pole falls
            outputs, other_outputs = env.step(actions), other.step(actions)
            np.testing.assert_allclose(on_host(outputs[0]), other_outputs[0], atol=1e-6)

    def test_an_invalid_action_in_one_step_or_many_changes_nothing(self, rung):
        env = make(rung, 3, first_env=10)
        with pytest.raises(gymnasium.error.ResetNeeded, match="step_many"):
            env.step_many(2)
        before = on_host(env.reset()[0]).copy()
        for action in (-1, 2, 2**40):
            with pytest.raises(ValueError, match=f"environment 11: action {action}"):
                env.step(np.array([0, action, 0]))
            np.testing.assert_array_equal(before, on_host(env._outputs.observation))
        for named, steps, actions in (
            ("environment 11: action 2", 3, np.array([[0, 1, 0], [1, 2, 0], [1, 1, 3]])),
            ("shape", 2, np.zeros((3, 3), int)),
            *(("steps", steps, None) for steps in (0, 1.5)),
        ):
            with pytest.raises(ValueError, match=named):
                env.step_many(steps, actions)
        np.testing.assert_array_equal(before, on_host(env._outputs.observation))


@pytest.mark.parametrize("rung", ["cpp", "openmp", "threads", "gymnasium"])
@pytest.mark.parametrize(("mode", "value"), [("SAME_STEP", 2), ("NEXT_STEP", 255)])
def test_a_mask_of_other_bytes_than_0_and_1(rung, mode, value):
    env, other = (rungs.make("cartpole", rung, 300, autoreset_mode=mode) for _ in range(2))
    mask = np.zeros(300, np.uint8)
    mask[::3] = value
    for each, which in ((env, mask.view(np.bool_)), (other, mask != 0)):
        each.reset(seed=0)
        each.step(np.ones(300, np.int64))
        observation, _ = each.reset(options={"reset_mask": which})
    np.testing.assert_array_equal(env.carts.outputs.observation, observation)
    assert env.get_state() == other.get_state()


@pytest.mark.system
def test_sums_go_on_where_single_precision_ends():
    env = rungs.make("cartpole", "cpp", 1)
    env.reset(seed=0)
    steps = 2**24 + 9
    _, rewards, _ = env.step_many(steps)
    assert rewards.tolist() == [steps]


WRONG = {"num_envs": 0, "seed": -1, "dtype": "float16", "workload": 0, "max_episode_steps": 0}
WRONG |= {"autoreset_mode": "LATER", "colour": 1}


@pytest.mark.parametrize(("name", "value"), WRONG.items())
def test_wrong_settings_are_named(name, value):
    with pytest.raises(ConfigurationError, match=name):
        make("cpp", **({"num_envs": 2} | {name: value}))
