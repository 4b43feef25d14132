"""Outputs written where the caller wants them: one step after the other, never copied."""

import numpy as np
import pytest
import torch

import rungs
from rungs.errors import ConfigurationError, IllegalActionError

RUNGS = [("python", {}), ("cpp", {}), ("openmp", {"threads": 2})]
RUNGS += [("multiprocessing", {"workers": 2, "transport": name}) for name in ("queue", "shared")]


@pytest.mark.parametrize(("rung", "rung_settings"), RUNGS)
def test_a_rollout_keeps_every_step(rung, rung_settings):
    env = rungs.make("chess", rung, 4, mask="bits", **rung_settings)
    outputs, steps = env.rollout(6)
    rng, copies = np.random.default_rng(0), []
    env.reset()
    for out in steps:
        observation, *_, info = env.step(env.sample_actions(rng), out)
        assert np.shares_memory(observation, outputs.observation)
        copies.append((observation.copy(), info["action_mask"].copy()))
    np.testing.assert_array_equal(outputs.observation, [observation for observation, _ in copies])
    np.testing.assert_array_equal(outputs.mask, [mask for _, mask in copies])
    env.close()


def test_a_refused_step_writes_nowhere_new():
    env = rungs.make("chess", "cpp", 2)
    observation, info = env.reset()
    outputs, (out,) = env.rollout(1)
    with pytest.raises(IllegalActionError):
        env.step([524, 0], out)
    assert not outputs.observation.any()
    after, *_, later = env.step([524, 524])
    assert after is observation
    assert later["action_mask"] is info["action_mask"]


@pytest.mark.parametrize("rung", ["python", "cpp", "cuda"])
def test_a_rollout_of_another_kind_is_refused(rung):
    def make(rung, num_envs, **settings):
        device = {"device": "cpu"} if rung == "cuda" else {}
        return rungs.make("chess", rung, num_envs, **device, **settings)

    env = make(rung, 2)
    env.reset(seed=0)
    actions, before = [524, 524], env.get_state()
    outputs, (slot, _) = env.rollout(2)
    rows, kind = vars(slot), type(slot)
    other_memory = "cpp" if torch.is_tensor(slot.reward) else "cuda"
    others = [make("cpp", 2, mask="bits"), make("cpp", 3), make(other_memory, 2)]
    for out in (
        *(5, {}, [], rows, kind(), outputs),
        kind(**{name: array for name, array in rows.items() if name != "reward"}),
        kind(**dict(reversed(rows.items()))),
        kind(**rows | {"reward": [0.0, 0.0]}),
        *(other.rollout(1)[1][0] for other in others),
    ):
        with pytest.raises(ConfigurationError, match="out"):
            env.step(actions, out)
    assert env.get_state() == before
    env.step(actions, slot)


@pytest.mark.parametrize("rung", ["cpp", "openmp", "threads", "python"])
def test_actions_may_lie_where_the_step_writes(rung):
    env, other = (rungs.make("chess", rung, 73, mask="bits") for _ in range(2))
    for batch in (env, other):
        batch.reset(seed=0)
    _, (out,) = env.rollout(1)
    actions = out.mask[0].view(np.int64)  # (73,), board 0's mask
    actions[:] = env.legal_moves(0)["g1f3"]
    other.step(actions.copy())
    env.step(actions, out)
    assert env.fens() == other.fens()
