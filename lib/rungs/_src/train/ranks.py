"""Learners side by side, as torchrun starts them: each plays its own boards, all learn together."""

import contextlib
import datetime
import os
import signal
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed.nn.functional  # see `all_ranks`
from torch import nn
from torch.distributed.elastic.multiprocessing.errors import get_error_handler

from rungs._src.processes.parent_death import signalled_at_parents_death
from rungs.errors import RungsError, WorkerDiedError

# How long a rank waits for another. Not for one that died, as its connections end with it, but for
# rank 0, which evaluates alone. By default it would be half an hour, and ten minutes with NCCL.
_PATIENCE = datetime.timedelta(days=1)


class Ranks:
    """This learner among all: alone, unless torchrun started it.

    Attributes:
        rank: its number, from 0.
        size: how many there are.
        job: torchrun's id of the run, which outlasts restarts; None without torchrun.
    """

    def __init__(self):
        self.rank = int(os.environ.get("RANK", 0))
        self.size = int(os.environ.get("WORLD_SIZE", 1))
        self.job = os.environ.get("TORCHELASTIC_RUN_ID")

    def wrap(self, network: nn.Module) -> nn.Module:
        """Returns a network with rank 0's weights, whose gradients are the means over all ranks.

        What is added to what first, and so the rounding, depends on a gradient's place in a
        message. Left to itself, DDP fills messages anew after a first step, and a run that broke
        would differ from one that didn't; where it looks for unused parameters, it never does.
        """
        if self.size == 1:
            return network
        # A group of its own, as it would keep the others' from ending: see `all_ranks`.
        how = {"process_group": dist.new_group(timeout=_PATIENCE), "find_unused_parameters": True}
        return nn.parallel.DistributedDataParallel(network, **how)

    def total(self, numbers: dict[str, float]) -> dict[str, float]:
        """Sums over all ranks, which give the same names."""
        if self.size == 1:
            return numbers
        names = sorted(numbers)
        values = torch.tensor([float(numbers[name]) for name in names], dtype=torch.float64)
        dist.all_reduce(values)
        return dict(zip(names, values.tolist(), strict=True))

    def gather(self, value) -> list:
        """Gives rank 0 every rank's value, in order; the others nothing."""
        if self.size == 1:
            return [value]
        values = [None] * self.size if self.rank == 0 else None
        dist.gather_object(value, values)
        return values or []

    def agree(self, decide: Callable):
        """Decides on rank 0 for all ranks, or raises the RungsError that `decide` does there."""
        answer = refusal = None
        if self.rank == 0:
            try:
                answer = decide()
            except RungsError as error:
                refusal = error
        agreed = [answer, refusal]
        if self.size > 1:
            dist.broadcast_object_list(agreed)
        answer, refusal = agreed
        if refusal:
            raise refusal
        return answer

    def wait(self) -> None:
        """Returns when all ranks have come here."""
        self.total({"here": 1})


@contextlib.contextmanager
def all_ranks(device: str) -> Iterator[Ranks]:
    """Joins the others, where torchrun started some, and leaves them at the end.

    Then gloo's threads must end too, as one that lets go of a tensor of ours after Python ended
    aborts the process. They end unless something else holds their group. DDP would, so it has
    another; and so would `torch.distributed.nn.functional` if DDP were the first to import it:
    the default group of that moment is a default argument of its functions.

    Raises:
        WorkerDiedError: another rank is gone.
    """
    ranks = Ranks()
    if ranks.size == 1:
        yield ranks
        return
    signalled_at_parents_death(signal.SIGTERM)()  # torchrun's, which would leave us behind
    if device == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    # Gloo for what is on the CPU; where gradients are on GPUs, NCCL for those.
    backend = "cpu:gloo,cuda:nccl" if device == "cuda" else "gloo"
    meeting: dict[str, Any] = {}
    if os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True":
        meeting = {"store": _meet(ranks), "rank": ranks.rank, "world_size": ranks.size}
    dist.init_process_group(backend, timeout=_PATIENCE, **meeting)
    try:
        yield ranks
    except Exception as error:
        if "gloo/transport" in str(error):
            raise WorkerDiedError(ranks.rank, "lost another, which was killed or raised") from error
        get_error_handler().record_exception(error)  # for torchrun's last words
        raise
    finally:
        dist.destroy_process_group()


def _meet(ranks: Ranks) -> dist.Store:
    """Returns a store of these ranks alone, in which to tell each other their addresses.

    torchrun's outlasts its ranks, and in it a rank that was started again would find addresses of
    the dead (pytorch/pytorch#135712). So each asks rank 0, under a name that it never had before,
    for what to put before all keys.
    """
    address = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    store = dist.PrefixStore("rungs", dist.TCPStore(*address, timeout=_PATIENCE))
    own = uuid.uuid4().hex
    if ranks.rank:
        store.set(f"rank {ranks.rank}", own)
        prefix = store.get(own).decode()  # waits
        store.set(f"{prefix} {own}", "heard")
        return dist.PrefixStore(prefix, store)
    waiting = set(range(1, ranks.size))
    while waiting:
        time.sleep(0.01)
        for rank in sorted(waiting):
            asks = store.get(f"rank {rank}").decode()  # one of the dead, until the new one has come
            store.set(asks, own)
            if store.check([f"{own} {asks}"]):
                waiting.remove(rank)
    return dist.PrefixStore(own, store)
