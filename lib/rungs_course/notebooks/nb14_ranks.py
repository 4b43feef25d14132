"""Parts of an update of parallel learners, timed on every process by `measure`."""

import json
import os
import re
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd
import torch
import torch.distributed as dist
from torch import nn

import rungs
from rungs.devel import run_program, signalled_at_parents_death, temporary_dir
from rungs.devel.train import Ranks, all_ranks
from rungs.errors import WorkerDiedError
from rungs.train import Learner

PARTS = ("generate", "infer", "backward", "wait", "all-reduce")

# Ways in which parallel learners exchange gradients.
EXCHANGES = ("none", "in turn", "overlapped")

# PYTHONSAFEPATH makes the processes that torchrun starts behave as with `python -P`.
_SECONDS = 3600.0  # for all rounds of all teams
_ENVIRONMENT = {"GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1", "PYTHONSAFEPATH": "1"}

# All-reduces timed together where one is short, and the bytes from which one is long enough.
_TOGETHER, _LONG = 10, 2**20


def measure(
    processes: int,
    *,
    num_envs: int,
    alone: Iterable[int],
    sizes: Iterable[int],
    repeats: int,
    warmup: int,
    seed: int,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Times updates and all-reduces of 1 to `processes` processes, which take turns.

    Gloo carries the messages over loopback. Each process has a thread of PyTorch and one of C++;
    those whose turn it isn't are blocked. Updates are those of `PpoSettings`' defaults.

    Returns updates: a row per number of processes, of boards, exchange, repeat and part:
    `processes`, `num_envs` and `positions` (of each process), `messages` and `bytes` (of gradients,
    in all of an update), `exchange`, `repeat`, `part` (of `PARTS`), `seconds` (mean over the
    processes). `exchange` is of `EXCHANGES`. "none": each keeps its gradients, as one process alone
    does, all that they share is the machine, and "wait" is once, until the last has ended its
    update. "in turn": "backward" stops at each message, to "wait" until all processes have reached
    it, and then for the "all-reduce"; only there are messages and bytes counted. "overlapped":
    "backward" includes the messages, which are sent meanwhile, as in training.

    And messages: a row per number of processes, size and repeat: `processes`, `bytes`, `repeat`,
    `seconds`.
    """
    settings = {"num_envs": num_envs, "alone": list(alone), "sizes": list(sizes)}
    settings |= {"repeats": repeats, "warmup": warmup, "seed": seed}
    with temporary_dir() as folder:
        torchrun = [sys.executable, "-P", "-m", "torch.distributed.run", "--standalone"]
        program = ["-m", "rungs_course.notebooks.nb14_ranks", folder, json.dumps(settings)]
        done = run_program(
            [*torchrun, "--nproc-per-node", str(processes), *program],
            _SECONDS,
            env=os.environ | _ENVIRONMENT,
            preexec_fn=signalled_at_parents_death(signal.SIGTERM),
        )
        if done.returncode:
            sys.stderr.write(done.stderr)
            cause = re.search(r"Root Cause.*?rank +: (\d+)", done.stderr, re.DOTALL)
            raise WorkerDiedError(int(cause[1]) if cause else 0, "died (what it said is above)")
        names = ("updates", "messages")
        updates, messages = (pd.read_csv(Path(folder) / f"{name}.csv") for name in names)
        return updates, messages


class _Team(Ranks):
    """The first `size` processes, learning together."""

    def __init__(self, size: int, group, alone, exchange: str):
        super().__init__()
        self.size, self._group, self._alone, self._exchange = size, group, alone, exchange

    def wrap(self, network: nn.Module) -> nn.Module:
        """Wraps a network as `Ranks.wrap` does, within the team.

        Also where nothing is exchanged, so that gradients are packed into messages there, too.
        """
        group = self._alone if self._exchange == "none" else self._group
        ddp_kwargs = {"process_group": group, "find_unused_parameters": True}
        together = nn.parallel.DistributedDataParallel(network, **ddp_kwargs)
        if self._exchange == "in turn":
            together.register_comm_hook(self, _Team.average)
        return together

    def average(self, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
        """DDP's hook: averages some gradients at once."""
        gradients = bucket.buffer()
        start = time.perf_counter()
        dist.barrier(self._group)
        met = time.perf_counter()
        dist.all_reduce(gradients, group=self._group)
        gradients /= self.size
        self._took.update({"wait": met - start, "all-reduce": time.perf_counter() - met})
        # With the last bucket of a step DDP sends one message more: which weights have a gradient.
        self.messages += 1 + bucket.is_last()
        self.bytes += gradients.nbytes
        done: torch.futures.Future[torch.Tensor] = torch.futures.Future()
        done.set_result(gradients)
        return done

    def learn(self, learner: Learner) -> list[float]:
        """Learns; returns seconds of an update by `PARTS`, means over the team.

        `messages` and `bytes` are then of that update.
        """
        self._took: Counter[str] = Counter()
        self.messages = self.bytes = 0
        took = Counter(learner.learn())
        if self.size > 1 and self._exchange == "none":
            start = time.perf_counter()
            dist.barrier(self._group)
            took["wait"] = time.perf_counter() - start  # type: ignore[assignment]  # a Counter of seconds
        took["infer"] += took["transfer"]  # on the CPU nothing is transferred
        took["backward"] -= self._took.total()
        took.update(self._took)
        parts = torch.tensor([took[part] for part in PARTS], dtype=torch.float64)
        if self.size > 1:
            dist.all_reduce(parts, group=self._group)
        return (parts / self.size).tolist()


def main() -> None:
    """Runs one of the processes."""
    folder, settings = sys.argv[1], json.loads(sys.argv[2])
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", "find_unused_parameters=True was specified")
    with all_ranks("cpu") as ranks:
        # All processes make all groups, also those that they are not in.
        groups = {size: dist.new_group(range(size)) for size in range(1, ranks.size + 1)}
        alone = [dist.new_group([rank]) for rank in range(ranks.size)]
        frames = {"updates": _time_updates(groups, alone[ranks.rank], settings)}
        frames["messages"] = _time_messages(groups, settings)
        if ranks.rank == 0:
            for name, frame in frames.items():
                frame.to_csv(Path(folder) / f"{name}.csv", index=False)


def _time_updates(groups: dict, alone, settings: dict) -> pd.DataFrame:
    turns = [(1, boards, "none") for boards in [*settings["alone"], settings["num_envs"]]]
    turns += [
        (size, settings["num_envs"], exchange)
        for size in groups
        if size > 1
        for exchange in EXCHANGES
    ]
    # None for a team that this process is not in.
    learners = [_learner(*turn, groups, alone, settings["seed"]) for turn in turns]
    rows = []
    for repeat in range(-settings["warmup"], settings["repeats"]):
        for (size, boards, exchange), learner_and_team in zip(turns, learners, strict=True):
            dist.barrier()  # here the others wait
            if not learner_and_team:
                continue
            learner, team = learner_and_team
            positions = boards * learner.settings.num_steps
            seconds = team.learn(learner)
            case = (size, boards, positions, team.messages, team.bytes, exchange, repeat)
            rows += [(*case, *part) for part in zip(PARTS, seconds, strict=True)]
    names = ["processes", "num_envs", "positions", "messages", "bytes", "exchange", "repeat"]
    frame = pd.DataFrame(rows, columns=[*names, "part", "seconds"])
    return frame[frame["repeat"] >= 0]


def _learner(size: int, num_envs: int, exchange: str, groups: dict, alone, seed: int):
    """Returns this process's learner and team; None where it is not one of the first `size`."""
    rank = dist.get_rank()
    if rank >= size:
        return None
    env_kwargs: dict[str, Any] = {"opponent": "random", "mask": "bits", "max_plies": 200}
    env = rungs.make("chess", "cpp", num_envs, seed=seed, first_board=rank * num_envs, **env_kwargs)
    team = _Team(size, groups[size], alone, exchange)
    return Learner(env, seed=seed, ranks=team), team


def _time_messages(groups: dict, settings: dict) -> pd.DataFrame:
    rows = []
    for repeat in range(-settings["warmup"], settings["repeats"]):
        for size in settings["sizes"]:
            message = torch.zeros(size // 4)
            count = 1 if size >= _LONG else _TOGETHER
            for processes, group in groups.items():
                dist.barrier()
                if not 1 < processes > dist.get_rank():
                    continue
                dist.barrier(group)
                start = time.perf_counter()
                for _ in range(count):
                    dist.all_reduce(message, group=group)
                rows.append((processes, size, repeat, (time.perf_counter() - start) / count))
    frame = pd.DataFrame(rows, columns=["processes", "bytes", "repeat", "seconds"])
    return frame[frame["repeat"] >= 0]


if __name__ == "__main__":
    main()
