"""The training batch that rungs are weighed against."""

import torch

import rungs
from rungs.train.cost import _sample, time_batches
from rungs.train.network import PolicyValueNetwork


def test_parts_of_every_batch_are_timed():
    frame = time_batches(rungs.make("chess", "cpp", 8), seed=0, repeats=3)
    assert frame["part"].tolist() == ["infer", "generate", "update"] * 3
    assert (frame["seconds"] > 0).all()


def test_only_legal_actions_are_likely_and_sampled():
    env = rungs.make("chess", "cpp", 16)
    observation, info = env.reset()
    mask = torch.from_numpy(info["action_mask"])
    torch.manual_seed(0)
    with torch.no_grad():
        log_probability, value = PolicyValueNetwork()(torch.from_numpy(observation), mask)
    assert value.shape == (16,)
    assert torch.equal(log_probability > -torch.inf, mask)
    torch.testing.assert_close(log_probability.exp().sum(1), torch.ones(16))
    seen = torch.stack([_sample(log_probability) for _ in range(200)])
    assert mask[torch.arange(16), seen].all()
    assert len(seen.unique()) == 20
