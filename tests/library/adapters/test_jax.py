"""Chess as functions of JAX's: in graphs, scans and replays."""

import pickle
import runpy
from types import SimpleNamespace

import numpy as np
import pytest

from rungs._src import paths
from rungs._src.native import gpp
from rungs.errors import ConfigurationError, UnavailableError
from tests.library.adapters import drivers

pytest.importorskip("jax")
import jax
import jax.numpy as jnp

from rungs.adapters import jax as adapter
from rungs.adapters.jax import ChessFunctions, random_actions

pytestmark = [pytest.mark.system, pytest.mark.skipif(not gpp.is_here(), reason="no g++")]


@pytest.fixture(scope="module")
def env():
    return ChessFunctions(11)


def test_a_scan_is_steps_one_by_one_from_a_state_that_numpy_kept(env, tmp_path):
    @jax.jit
    def play(state, outputs, keys):
        def body(carry, key):
            state, outputs = carry
            actions = random_actions(key, outputs)
            state, outputs = env.step(state, actions)
            return (state, outputs), (actions, outputs)

        (state, _), steps = jax.lax.scan(body, (state, outputs), keys)
        return state, *steps

    first, outputs = env.init(5)
    np.save(tmp_path / "state.npy", np.asarray(first))
    last, actions, seen = play(first, outputs, jax.random.split(jax.random.key(0), 200))
    state, step = np.load(tmp_path / "state.npy"), jax.jit(env.step)
    reference = drivers.Rungs(drivers.Jax, num_envs=11)
    reference.reset(5)
    for number, row in enumerate(np.asarray(actions)):
        state, outputs = step(state, row)
        of_step = jax.tree.map(lambda arrays, number=number: arrays[number], seen)
        jax.tree.map(np.testing.assert_array_equal, outputs, of_step)
        drivers.assert_same(drivers.Jax.arrays(outputs), reference.step(row.astype(np.int64)))
    np.testing.assert_array_equal(state, last)
    ended = np.asarray(seen.terminated | seen.truncated)
    assert ended.any()
    assert not np.asarray(seen.final_observation)[~ended].any()


def test_only_a_donated_state_is_stepped_in_place(env):
    state, outputs = env.init(0)
    before, actions = np.array(state), random_actions(jax.random.key(0), outputs)
    after, _ = jax.jit(env.step)(state, actions)
    np.testing.assert_array_equal(state, before)
    address = state.unsafe_buffer_pointer()
    donated, _ = jax.jit(env.step, donate_argnums=0)(state, actions)
    assert state.is_deleted()
    assert donated.unsafe_buffer_pointer() == address
    np.testing.assert_array_equal(donated, after)


@pytest.mark.parametrize(
    ("seed", "dtype"),
    [(7, "uint32"), ([*range(11)], "int32"), *((n, "uint64") for n in (2**32 + 5, 2**64 - 1))],
)
def test_all_bits_of_a_seed_count_and_it_may_be_traced(env, seed, dtype):
    state, _ = env.init(seed)
    with jax.enable_x64(True):
        for play in (env.init, jax.jit(env.init)):
            np.testing.assert_array_equal(play(jnp.asarray(seed, dtype))[0], state)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_a_negative_seed_is_refused(env, dtype):
    with jax.enable_x64(True):
        seeds = jnp.arange(11, dtype=dtype).at[4].set(-1)
        with pytest.raises(ConfigurationError, match=r"seed\[4\]=.*-1"):
            env.init(seeds)
        with pytest.raises(jax.errors.JaxRuntimeError, match="seed 4 is negative"):
            jax.block_until_ready(jax.jit(env.init)(seeds))


def test_pickled_functions_play_the_same_games(env):
    same = pickle.loads(pickle.dumps(env))
    jax.tree.map(np.testing.assert_array_equal, same.init(3), env.init(3))


@pytest.mark.parametrize("action", [0, -1, 4672, 2**31 - 1])
def test_an_illegal_action_names_its_board_in_a_scan_too(env, action):
    state, outputs = env.init(0)
    before = np.array(state)
    actions = random_actions(jax.random.key(0), outputs).at[9].set(action)

    @jax.jit
    def scanned(state):
        return jax.lax.scan(lambda state, a: env.step(state, a), state, actions[None])

    for play in (scanned, lambda state: env.step(state, actions)):
        with pytest.raises(jax.errors.JaxRuntimeError, match=f"board 9: action {action} .* rnbq"):
            jax.block_until_ready(play(state))
    np.testing.assert_array_equal(state, before)


def test_arguments_that_it_does_not_take_are_refused(env):
    state, outputs = env.init(0)
    key = jax.random.key(0)
    actions = random_actions(key, outputs)
    wide, long_state = (np.asarray(each, np.int64) + 2**32 for each in (actions, state))
    others = [actions.astype(kind) for kind in (jnp.float32, jnp.complex64)]
    others += [np.asarray(actions, kind) for kind in (np.uint64, np.float64)]
    packed = ChessFunctions(11, mask="bits").init(0)[1]
    scalars = jnp.float32(1), jnp.int32(-1), jnp.bool_(True)
    for call, wrong in {
        ChessFunctions: [(0,)],
        env.init: [(seed,) for seed in (-1, [1, 2], *scalars, jnp.arange(3), None, "5")],
        env.step: [
            *((state, other) for other in (*others, wide, actions[1:], None, "e2e4")),
            (state, jax.random.split(key, 11)),
            *((other, actions) for other in (None, "state", state[1:], long_state)),
            (state.astype(jnp.int32), actions),
        ],
        random_actions: [(key, packed), (key, state)],
    }.items():
        for arguments in wrong:
            with pytest.raises(ConfigurationError):
                call(*arguments)


def test_a_missing_compiler_is_named(monkeypatch):
    monkeypatch.setattr(gpp, "is_here", lambda: False)
    adapter._block_bytes.cache_clear()
    with pytest.raises(UnavailableError, match=r"g\+\+"):
        ChessFunctions(1)


def test_ppo_adds_what_the_last_position_of_a_truncated_game_is_worth():
    env = ChessFunctions(4, opponent="random", max_plies=2)
    last, returns = [], []

    def step(state, actions):
        state, outputs = env.step(state, actions)
        last.append(outputs)
        return state, outputs

    page = SimpleNamespace(**runpy.run_path(str(paths.CPP.parent / "docs/howto/ppo_jax.py")))
    loss, code = page.loss, page.make_update.__globals__

    def spied(weights, seen, advantages, targets):
        returns.append(np.asarray(targets))
        return loss(weights, seen, advantages, targets)

    code |= {"loss": spied, "EPOCHS": 1}
    weights = page.initial(jax.random.key(1))
    adam = tuple(jax.tree.map(jnp.zeros_like, weights) for _ in range(2))
    update = page.make_update(SimpleNamespace(step=step), 1)
    with jax.disable_jit():
        update(weights, adam, jnp.float32(0), *env.init(0), jax.random.key(0))
    assert last[0].truncated.all()
    values = page.network(weights, last[0].final_observation, last[0].mask.astype(int))[1]
    assert np.abs(values).min() > 0
    np.testing.assert_allclose(returns[0][0], page.DISCOUNT * values, rtol=1e-5)
