"""Learners side by side, as torchrun starts them: each plays its own boards, all learn together."""

import contextlib
import os
from collections.abc import Iterator

import torch
import torch.distributed as dist
from torch import nn


class Ranks:
    """This learner among all: alone, unless torchrun started it.

    Attributes:
        rank: its number, from 0.
        size: how many there are.
        restarted: whether torchrun started all of them again after one had died.
    """

    def __init__(self):
        self.rank = int(os.environ.get("RANK", 0))
        self.size = int(os.environ.get("WORLD_SIZE", 1))
        self.restarted = int(os.environ.get("TORCHELASTIC_RESTART_COUNT", 0)) > 0

    def wrap(self, network: nn.Module) -> nn.Module:
        """A network whose gradients are the mean over all ranks, and whose weights are rank 0's."""
        if self.size == 1:
            return network
        return nn.parallel.DistributedDataParallel(network)

    def total(self, numbers: dict[str, float]) -> dict[str, float]:
        """Sums over all ranks, which give the same names."""
        if self.size == 1:
            return numbers
        names = sorted(numbers)
        values = torch.tensor([float(numbers[name]) for name in names], dtype=torch.float64)
        dist.all_reduce(values)
        return dict(zip(names, values.tolist(), strict=True))

    def gather(self, value) -> list:
        """Rank 0 gets every rank's value, in order; the others nothing."""
        if self.size == 1:
            return [value]
        values = [None] * self.size if self.rank == 0 else None
        dist.gather_object(value, values)
        return values or []


@contextlib.contextmanager
def all_ranks(device: str) -> Iterator[Ranks]:
    """Joins the others, where torchrun started some, and leaves them at the end."""
    ranks = Ranks()
    if ranks.size == 1:
        yield ranks
        return
    if device == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    # Gloo for what is gathered on the CPU; where gradients are on GPUs, NCCL for those.
    dist.init_process_group("cpu:gloo,cuda:nccl" if device == "cuda" else "gloo")
    try:
        yield ranks
    finally:
        dist.destroy_process_group()
