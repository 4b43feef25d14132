"""What one training batch costs: generate it, infer on it, update on it.

The total time of training is batches * (update + generate). This module measures the part that no
rung changes, so that a rung's effect on training can be told from its speed alone.
"""

import time

import pandas as pd
import torch
from gymnasium.vector import VectorEnv

from rungs.train.network import PolicyValueNetwork


def time_batches(env: VectorEnv, *, seed: int, repeats: int, warmup: int = 2) -> pd.DataFrame:
    """Plays and learns `repeats` batches of one step on all boards, timing each part.

    The update is a policy-gradient step (REINFORCE with a value baseline) on the batch just played:
    one forward and one backward pass over N positions, and Adam.

    Args:
        env: a chess environment with `mask="bool"`.
        seed: of the games, the network's weights and the actions sampled.
        repeats: batches timed.
        warmup: batches played first, untimed.

    Returns:
        A row per batch and part: `batch`, `part` ("infer", "generate" or "update"), `seconds`.
    """
    torch.manual_seed(seed)
    network = PolicyValueNetwork()
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    observation, info = env.reset(seed=seed)
    rows = []
    for batch in range(-warmup, repeats):
        start = time.perf_counter()
        # The update needs these after `step` has overwritten the environment's arrays.
        positions = torch.from_numpy(observation).clone()
        mask = torch.from_numpy(info["action_mask"]).clone()
        with torch.no_grad():
            actions = _sample(network(positions, mask)[0])
        inferred = time.perf_counter()
        observation, reward, _, _, info = env.step(actions)
        generated = time.perf_counter()
        _update(network, optimizer, positions, mask, actions, torch.from_numpy(reward))
        updated = time.perf_counter()
        if batch >= 0:
            rows.append((batch, "infer", inferred - start))
            rows.append((batch, "generate", generated - inferred))
            rows.append((batch, "update", updated - generated))
    return pd.DataFrame(rows, columns=["batch", "part", "seconds"])


def _sample(log_probability: torch.Tensor) -> torch.Tensor:
    """One action per row, where the row's cumulative probability passes a uniform number."""
    cumulative = log_probability.exp().cumsum(1, dtype=torch.float64)
    drawn = torch.rand(len(cumulative), 1, dtype=torch.float64) * cumulative[:, -1:]
    return torch.searchsorted(cumulative, drawn, right=True).squeeze(1)


def _update(network, optimizer, positions, mask, actions, reward) -> None:
    log_probability, value = network(positions, mask)
    chosen = log_probability.gather(1, actions[:, None]).squeeze(1)
    advantage = reward - value
    loss = (advantage.square() - advantage.detach() * chosen).mean()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
