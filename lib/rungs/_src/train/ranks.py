"""Data-parallel learners, started by torchrun: each plays on its own boards, all learn together."""

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

# A rank waits this long for another: for rank 0, which evaluates alone. A rank that died is noticed
# at once, as its connections end. The default is half an hour, and ten minutes with NCCL.
_PATIENCE = datetime.timedelta(days=1)


class Ranks:
    """This process's rank among all learners; 0 of 1 unless torchrun started it."""

    def __init__(self):
        self.rank = int(os.environ.get("RANK", 0))
        self.size = int(os.environ.get("WORLD_SIZE", 1))
        self.job = os.environ.get("TORCHELASTIC_RUN_ID")  # outlasts restarts; None without torchrun

    def wrap(self, network: nn.Module) -> nn.Module:
        """Returns a network with rank 0's weights, whose gradients are the means over all ranks.

        The order of additions, and so the rounding, depends on a gradient's place in DDP's buckets.
        By default DDP rebuilds its buckets after a first step, so that a resumed run would differ
        from an uninterrupted one; with `find_unused_parameters` it never does.
        """
        if self.size == 1:
            return network
        # In a group of its own, as DDP would keep the default one from ending: see `all_ranks`.
        group = dist.new_group(timeout=_PATIENCE)
        return nn.parallel.DistributedDataParallel(
            network, process_group=group, find_unused_parameters=True
        )

    def total(self, numbers: dict[str, float]) -> dict[str, float]:
        """Returns sums over all ranks, which must pass the same names."""
        if self.size == 1:
            return numbers
        names = sorted(numbers)
        values = torch.tensor([float(numbers[name]) for name in names], dtype=torch.float64)
        dist.all_reduce(values)
        return dict(zip(names, values.tolist(), strict=True))

    def gather(self, value) -> list:
        """Returns every rank's value, in order, on rank 0; an empty list on the others."""
        if self.size == 1:
            return [value]
        values = [None] * self.size if self.rank == 0 else None
        dist.gather_object(value, values)
        return values or []

    def agree(self, decide: Callable):
        """Returns what `decide` returns on rank 0, or raises its RungsError, on all ranks."""
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
        """Returns when all ranks have called it: a barrier."""
        self.total({"here": 1})


@contextlib.contextmanager
def all_ranks(device: str) -> Iterator[Ranks]:
    """Joins the other ranks, if torchrun started any, and leaves them at the end.

    Then gloo's threads must end too, as one that frees a tensor after Python has ended aborts the
    process. They end unless something else holds their group. DDP would, so it has its own; and
    so would `torch.distributed.nn.functional` if DDP were the first to import it: the default group
    at that moment is a default argument of its functions.
    """
    ranks = Ranks()
    if ranks.size == 1:
        yield ranks
        return
    signalled_at_parents_death(signal.SIGTERM)()  # torchrun's death, which we would survive
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
        get_error_handler().record_exception(error)  # for torchrun's error report
        raise
    finally:
        dist.destroy_process_group()


def _meet(ranks: Ranks) -> dist.Store:
    """Returns a store of these ranks alone, in which they exchange their addresses.

    torchrun's store outlasts its ranks, and a restarted rank would find addresses of dead ones in
    it (pytorch/pytorch#135712). So each rank, under a name that was never used before, requests a
    prefix for all keys from rank 0.
    """
    address = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    store = dist.PrefixStore("rungs", dist.TCPStore(*address, timeout=_PATIENCE))
    token = uuid.uuid4().hex
    if ranks.rank:
        store.set(f"rank {ranks.rank}", token)
        prefix = store.get(token).decode()  # waits
        store.set(f"{prefix} {token}", "heard")
        return dist.PrefixStore(prefix, store)
    waiting = set(range(1, ranks.size))
    while waiting:
        time.sleep(0.01)
        for rank in sorted(waiting):
            asks = store.get(f"rank {rank}").decode()  # a dead rank's, until the new one has come
            store.set(asks, token)
            if store.check([f"{token} {asks}"]):
                waiting.remove(rank)
    return dist.PrefixStore(token, store)
