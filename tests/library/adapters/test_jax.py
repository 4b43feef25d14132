"""Chess as functions of JAX's: the games of the rungs, in graphs, scans and replays."""

import numpy as np
import pytest

import rungs
from rungs._src.native import gpp
from rungs.errors import ConfigurationError, UnavailableError

pytest.importorskip("jax")
import jax
import jax.numpy as jnp

from rungs.adapters import jax as adapter
from rungs.adapters.jax import ChessFunctions, Outputs, random_actions

pytestmark = pytest.mark.skipif(not gpp.is_here(), reason="no g++")

SETTINGS = [
    {"mask": "list"},
    {"mask": "bits", "opponent": "random"},
    {"mask": "list", "opponent": "random", "autoreset_mode": "NEXT_STEP"},
]


def functions(num_envs=11, **settings):
    return ChessFunctions(num_envs, **{"max_plies": 9} | settings)


def played(env, seed, keys):
    """Random games by a scan: the last state, and the actions and outputs of all steps."""

    @jax.jit
    def play(state, outputs, keys):
        def body(carry, key):
            state, outputs = carry
            actions = random_actions(key, outputs)
            state, outputs = env.step(state, actions)
            return (state, outputs), (actions, outputs)

        (state, _), seen = jax.lax.scan(body, (state, outputs), keys)
        return state, *seen

    return play(*env.init(seed), keys)


def assert_same(ours: Outputs, boards, *, final: bool):
    """Compares outputs with the arrays of a rung's boards."""
    for name, array in ours._asdict().items():
        if array is None:
            continue
        theirs = getattr(boards.buffers, name)
        array = np.asarray(array)
        if name == "final_observation":
            over = boards.buffers.terminated | boards.buffers.truncated
            assert not array[~over].any()
            if not final:
                continue
            array, theirs = array[over], theirs[over]
        if name == "mask" and array.dtype == np.uint32:
            array = array.view(np.uint64)
        np.testing.assert_array_equal(array, theirs.reshape(array.shape), strict=True, err_msg=name)


@pytest.mark.parametrize("seed", [2**40 + 3, list(range(11))])
@pytest.mark.parametrize("settings", SETTINGS)
def test_games_are_those_of_the_rung(settings, seed):
    env = functions(**settings)
    raw = rungs.make("chess", "cpp", 11, max_plies=9, **settings)
    raw.reset(seed=seed)
    state, outputs = env.init(seed)
    assert_same(outputs, raw.boards, final=False)
    step, rng, ended = jax.jit(env.step, donate_argnums=0), np.random.default_rng(0), 0
    for _ in range(40):
        actions = raw.sample_actions(rng)
        raw.step(actions)
        state, outputs = step(state, actions.astype(np.int32))
        assert_same(outputs, raw.boards, final=settings.get("autoreset_mode") is None)
        ended += int(outputs.truncated.sum())
    assert ended > 11


def test_a_scan_plays_legal_games_that_the_rung_plays_too():
    env = functions(max_plies=None)
    _, actions, seen = played(env, 5, jax.random.split(jax.random.key(0), 300))
    raw = rungs.make("chess", "cpp", 11, mask="list")
    raw.reset(seed=5)
    for t, row in enumerate(np.asarray(actions, np.int64)):
        raw.step(row)
        assert_same(jax.tree.map(lambda each, t=t: each[t], seen), raw.boards, final=True)
    assert np.asarray(seen.terminated).any()


def test_a_state_is_kept_as_numpys_and_replayed(tmp_path):
    env = functions(opponent="random")
    state, _ = env.init(3)
    actions = np.asarray(played(env, 3, jax.random.split(jax.random.key(1), 30))[1])
    step, states = jax.jit(env.step), []
    for row in actions:
        states.append(state)
        state, outputs = step(state, row)
    np.save(tmp_path / "state.npy", np.asarray(states[12]))
    again = np.load(tmp_path / "state.npy")
    for row in actions[12:]:
        again, replayed = step(again, row)
    np.testing.assert_array_equal(again, state)
    jax.tree.map(np.testing.assert_array_equal, replayed, outputs)


def test_a_donated_state_is_stepped_in_place_and_another_is_not():
    env = functions()
    state, outputs = env.init(0)
    before, actions = np.array(state), random_actions(jax.random.key(0), outputs)
    after, _ = jax.jit(env.step)(state, actions)
    np.testing.assert_array_equal(state, before)
    address = state.unsafe_buffer_pointer()
    donated, _ = jax.jit(env.step, donate_argnums=0)(state, actions)
    assert state.is_deleted()
    assert donated.unsafe_buffer_pointer() == address
    np.testing.assert_array_equal(donated, after)


def test_a_seed_may_be_traced():
    env = functions()
    for seed in (jnp.uint32(7), jnp.arange(11)):
        state, _ = jax.jit(env.init)(seed)
        np.testing.assert_array_equal(state, env.init(np.asarray(seed).tolist())[0])


@pytest.mark.parametrize("wrong", [0, -1, 4672, 2**31 - 1])
def test_an_illegal_action_names_its_board(wrong):
    env = functions(max_plies=None)
    state, outputs = env.init(0)
    before = np.array(state)
    actions = random_actions(jax.random.key(0), outputs).at[9].set(wrong)

    @jax.jit
    def scanned(state):
        return jax.lax.scan(lambda state, a: env.step(state, a), state, actions[None])

    for play in (scanned, lambda state: env.step(state, actions)):
        with pytest.raises(jax.errors.JaxRuntimeError, match=f"board 9: action {wrong} .* rnbq"):
            jax.block_until_ready(play(state))
    np.testing.assert_array_equal(state, before)


@pytest.mark.parametrize(
    "call",
    [
        lambda env, state, actions: functions(mask="bool"),
        lambda env, state, actions: functions(autoreset_mode="DISABLED"),
        lambda env, state, actions: functions(opponent="kasparov"),
        lambda env, state, actions: functions(0),
        lambda env, state, actions: functions(max_plies=0),
        lambda env, state, actions: env.init(-1),
        lambda env, state, actions: env.init([1, 2]),
        lambda env, state, actions: env.init(jnp.float32(1)),
        lambda env, state, actions: env.step(state[1:], actions),
        lambda env, state, actions: env.step(state.astype(jnp.int32), actions),
        lambda env, state, actions: env.step(state, actions[1:]),
        lambda env, state, actions: env.step(state, actions.astype(jnp.float32)),
        lambda env, state, actions: random_actions(
            jax.random.key(0), functions(mask="bits").init(0)[1]
        ),
    ],
)
def test_what_it_does_not_take_is_refused(call):
    env = functions()
    state, outputs = env.init(0)
    with pytest.raises(ConfigurationError):
        call(env, state, random_actions(jax.random.key(0), outputs))


def test_what_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(gpp, "is_here", lambda: False)
    adapter._block_bytes.cache_clear()
    with pytest.raises(UnavailableError, match=r"g\+\+"):
        functions()
