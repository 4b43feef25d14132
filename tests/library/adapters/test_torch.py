"""Our batches as an operator of PyTorch's: eager, in graphs and without it, the same games."""

import copy
import gc

import gymnasium
import numpy as np
import pytest

import rungs
from rungs.errors import ConfigurationError, IllegalActionError, InvalidActionError

pytest.importorskip("torch")
import torch

from rungs.adapters.torch import TorchEnv
from tests.library.adapters.drivers import host_array
from tests.saved import refusal
from tests.tiers import system_tier

FORMATS = [
    {},
    {"obs": "planes", "dtype": "float32", "mask": "bits"},
    {"obs": "planes", "dtype": "uint8", "mask": "list"},
    {"obs": "planes", "dtype": "bfloat16", "autoreset_mode": "NEXT_STEP"},
    {"obs": "bitplanes", "mask": "bits"},
]


@pytest.fixture(autouse=True)
def _nothing_compiled():
    torch.compiler.reset()
    yield
    torch.compiler.reset()


def chess(**settings):
    return rungs.make(
        "chess", "cpp", 4, **{"opponent": "random", "seed": 5, "max_plies": 9} | settings
    )


def carts(rung="cpp"):
    return rungs.make("cartpole", rung, 4, seed=2, max_episode_steps=11)


def assert_is_environments(seen, expected):
    """Compares what a step returned with the environment's; `final_obs` is in all of ours."""
    *outputs, info = seen
    *arrays, its_info = expected
    for ours, theirs in zip(outputs, arrays, strict=True):
        np.testing.assert_array_equal(host_array(ours), theirs, strict=True)
    names = {"action_mask", "player", "reason", "action_count", "final_obs"} & {*its_info}
    assert names == {*info} - ({"final_obs"} - {*its_info})
    for name in names:
        np.testing.assert_array_equal(host_array(info[name]), its_info[name], strict=True)


def two_steps(env, first, second):
    return env.step(first), env.step(second)


GRAPHS = [(chess, {}, "eager"), *((chess, formats, "aot_eager") for formats in FORMATS)]
GRAPHS += [(carts, {"rung": rung}, "aot_eager") for rung in ("gymnasium", "threads")]
# Which compiles C++.
GRAPHS += system_tier((chess, {}, "inductor"), (carts, {}, "inductor"))


@pytest.mark.parametrize(("make", "settings", "backend"), GRAPHS)
def test_two_steps_in_a_graph_are_the_environments(make, settings, backend):
    plain, env, rng = make(**settings), TorchEnv(make(**settings)), np.random.default_rng(0)
    played = torch.compile(two_steps, fullgraph=True, backend=backend)
    expected, seen = plain.reset(seed=3), env.reset(seed=3)
    for _ in range(12):
        assert_is_environments(seen, expected)
        actions, stepped = [], []
        for _ in range(2):
            actions.append(plain.sample_actions(rng) if make is chess else rng.integers(2, size=4))
            stepped.append(copy.deepcopy(plain.step(actions[-1])))
        first, seen = played(env, *map(torch.from_numpy, actions))
        assert_is_environments(first, stepped[0])
        expected = stepped[1]
    assert_is_environments(seen, expected)
    assert env._turn == 24


def test_backward_takes_no_step_again():
    env, same = TorchEnv(chess()), TorchEnv(chess())
    network = torch.nn.Linear(72, 4672)

    def play(env, observation, mask):
        total = 0
        for _ in range(2):
            scores = network(observation.float()).masked_fill(~mask, -1e9).log_softmax(-1)
            actions = scores.argmax(-1)
            total = total + scores.gather(1, actions[:, None]).sum()
            observation, *_, info = env.step(actions)
            mask = info["action_mask"]
        return total, observation, mask

    compiled = torch.compile(play, fullgraph=True, backend="aot_eager")
    seen, expected = ((each.reset()[0], each.reset()[1]["action_mask"]) for each in (env, same))
    for step in range(1, 6):
        total, *seen = compiled(env, *seen)
        total.backward()
        assert env._turn == 2 * step
        total, *expected = play(same, *expected)
        for ours, theirs in zip(seen, expected, strict=True):
            torch.testing.assert_close(ours, theirs, rtol=0, atol=0)


def test_code_compiled_for_one_environment_steps_another():
    compiled = torch.compile(TorchEnv.step, fullgraph=True, backend="eager")
    for seed in range(4):
        env, plain = TorchEnv(chess(seed=seed)), chess(seed=seed)
        env.reset(), plain.reset()
        for step in range(2):
            actions = plain.sample_actions(step)
            assert_is_environments(compiled(env, torch.from_numpy(actions)), plain.step(actions))


def test_a_step_whose_outputs_are_not_used_is_taken():
    env, plain = TorchEnv(carts()), carts()
    env.reset()

    def play(actions):
        env.step(actions)
        return actions + 1

    torch.compile(play, fullgraph=True, backend="aot_eager")(torch.tensor([0, 1, 1, 0]))
    plain.reset(), plain.step([0, 1, 1, 0])
    assert env.env.get_state() == plain.get_state()


def test_pytorchs_own_check_passes():
    # Each step ends the only ply of an episode, and all begin alike: outputs are the same in each.
    env = TorchEnv(chess(opponent=None, max_plies=1))
    env.reset()
    actions = torch.from_numpy(env.env.sample_actions(0))
    torch.library.opcheck(torch.ops.rungs.step.default, (env._turn, env._key, actions))


@pytest.mark.parametrize("formats", FORMATS)
def test_dlpack_hands_over_every_output_without_a_copy(formats):
    env = TorchEnv(chess(**formats))
    env.reset()
    observation, *flags, info = env.step(torch.from_numpy(env.env.sample_actions(0)))
    for tensor in (observation, *flags, *info.values()):
        # NumPy has no bfloat16: it takes the bits.
        ours = tensor.view(torch.uint16) if tensor.dtype == torch.bfloat16 else tensor
        array = np.from_dlpack(ours)
        back = torch.from_dlpack(array)
        assert tensor.data_ptr() == array.__array_interface__["data"][0] == back.data_ptr()
        assert torch.from_dlpack(tensor).data_ptr() == tensor.data_ptr()
        torch.testing.assert_close(back, ours, rtol=0, atol=0)


def test_compiled_code_refuses_what_is_wrong_and_changes_nothing():
    env = TorchEnv(chess())
    step = torch.compile(env.step, fullgraph=True, backend="aot_eager")
    good = torch.zeros(4, dtype=torch.int64)
    with pytest.raises(gymnasium.error.ResetNeeded):
        step(good)
    env.reset()
    with refusal(env.env, IllegalActionError):
        step(good)
    for wrong in (good[:3], good.float()):
        with refusal(env.env, ConfigurationError):
            step(wrong)
    assert env._turn == 0
    env.close()
    with pytest.raises(gymnasium.error.ClosedEnvironmentError):
        step(good)


@pytest.mark.filterwarnings("ignore:.*nested tensors")
def test_a_tensor_of_another_kind_is_refused_before_a_step():
    env, actions = TorchEnv(carts()), torch.tensor([0, 1, 1, 0])
    env.reset(seed=0)
    others = [actions.to("meta"), actions.to_sparse(), actions.bool()]
    others += [actions.to(torch.complex64).conj(), actions.float().requires_grad_()]
    for other in (*others, torch.nested.nested_tensor([actions[:1], actions[1:]])):
        with refusal(env.env, ConfigurationError, "actions"):
            env.step(other)
        if not other.is_nested:  # for which PyTorch finds no operator
            with refusal(env.env, ConfigurationError, "actions"):
                torch.ops.rungs.step(env._turn, env._key, other)
    assert env._turn == 0


def test_a_view_is_what_it_shows():
    env, other = (TorchEnv(carts()) for _ in range(2))
    actions, negative = torch.tensor([0, 1, 1, 0]), torch.tensor([[0, 9], [-1, 9], [-1, 9], [0, 9]])
    for each, given in ((env, torch._neg_view(negative[:, 0])), (other, actions)):
        each.reset(seed=0)
        each.step(given)
    assert env.env.get_state() == other.env.get_state()


def test_what_is_no_environment_is_refused():
    actions = torch.zeros(4, dtype=torch.int64)
    env = TorchEnv(carts())
    env.reset()
    with pytest.raises(InvalidActionError):
        env.step(actions + 2)
    with pytest.raises(ConfigurationError, match="list"):
        env.step([0, 1, 1, 0])
    turn, key = env._turn, env._key
    del env
    gc.collect()
    for given in ((torch.zeros(2), key), (turn, -1), (turn, key)):
        with pytest.raises(ConfigurationError, match=r"turn|env="):
            torch.ops.rungs.step(*given, actions)
    for other in (gymnasium.make("CartPole-v1"), carts("torch")):
        with pytest.raises(ConfigurationError, match="env"):
            TorchEnv(other)
