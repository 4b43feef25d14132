"""Whether an agent can go on from what was saved."""

from typing import Protocol

import torch
from torch import nn

from rungs._src.core.schema import schema_error
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
        InvalidStateError: it is of another network or optimizer, or holds a number that is not
            finite.
    """
    if wrong := schema_error(
        saved, {"network": {}, "optimizer": {"state": {}, "param_groups": list}}
    ):
        raise InvalidStateError(f"what was saved: {wrong}")
    ours = agent.state_dict()
    if not _alike(saved["network"], ours["network"]):
        raise InvalidStateError("the weights are of another network")
    if not _same_settings(saved["optimizer"]["param_groups"], ours["optimizer"]["param_groups"]):
        raise InvalidStateError("the optimizer has other settings")
    moments = [
        {"step": torch.zeros(()), "exp_avg": weights, "exp_avg_sq": weights}
        for weights in agent.network.parameters()
    ]
    state = saved["optimizer"]["state"]
    # There are none before the first update.
    if state and not _alike(state, dict(enumerate(moments))):
        raise InvalidStateError("the optimizer is of another network")
    steps = {float(each["step"]) for each in state.values()}
    if not all(step >= 1 and step == int(step) for step in steps) or len(steps) > 1:
        raise InvalidStateError(f"the optimizer made {sorted(steps)} steps")


def _same_settings(found: list, ours: list) -> bool:
    """Returns whether optimizers have the same settings, which are numbers."""
    try:
        return bool(found == ours)
    except (RuntimeError, ValueError):  # what tensors and arrays say of being compared
        return False


def _alike(found, ours) -> bool:
    """Returns whether dicts of dicts of tensors have the same keys, shapes and dtypes.

    All numbers must be finite, in memory, and written out.
    """
    if isinstance(ours, torch.Tensor):
        same = isinstance(found, torch.Tensor) and found.shape == ours.shape
        same = same and found.dtype == ours.dtype and found.layout == torch.strided
        return same and not found.is_meta and bool(found.isfinite().all())
    same = isinstance(found, dict) and found.keys() == ours.keys()
    return same and all(_alike(found[name], ours[name]) for name in ours)
