"""Whether an agent can go on from what was saved."""

from typing import Protocol

import torch
from torch import nn

from rungs.errors import InvalidStateError


class Learns(Protocol):
    """What has weights and an optimizer, as every `Agent`."""

    @property
    def network(self) -> nn.Module:
        """Returns the weights as they are now."""

    def state_dict(self) -> dict:
        """Returns "network" and "optimizer"."""


def check(agent: Learns, saved: dict) -> None:
    """Refuses what PyTorch would refuse half-way, or only when it learns.

    Args:
        agent: that is to go on.
        saved: what an agent's `state_dict` returned.

    Raises:
        InvalidStateError: it is of another network or optimizer.
    """
    ours = agent.state_dict()
    if not _alike(saved["network"], ours["network"]):
        raise InvalidStateError("the weights are of another network")
    if saved["optimizer"].get("param_groups") != ours["optimizer"]["param_groups"]:
        raise InvalidStateError("the optimizer has other settings")
    moments = [
        {"step": torch.zeros(()), "exp_avg": weights, "exp_avg_sq": weights}
        for weights in agent.network.parameters()
    ]
    state = saved["optimizer"].get("state")
    # There are none before the first update.
    if state != {} and not _alike(state, dict(enumerate(moments))):
        raise InvalidStateError("the optimizer is of another network")


def _alike(found, ours) -> bool:
    """Returns whether dicts of dicts of tensors have the same keys, shapes and dtypes."""
    if isinstance(ours, torch.Tensor):
        same = isinstance(found, torch.Tensor) and found.shape == ours.shape
        return same and found.dtype == ours.dtype
    same = isinstance(found, dict) and found.keys() == ours.keys()
    return same and all(_alike(found[name], ours[name]) for name in ours)
