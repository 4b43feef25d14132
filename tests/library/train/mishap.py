"""`python -m rungs …` on ranks some of which fail, always at the same point.

    python -m tests.library.train.mishap '[[ATTEMPT, RANK, MISHAP, COUNT], …]' train …

In torchrun's attempt ATTEMPT, from 0, this happens to rank RANK as it comes there the COUNTth time:

- "raises", or "killed": when it begins to learn;
- "torn": killed, with half a file of PyTorch written;
- "deserts": killed, handing its boards over to MPI's rank 0.

Each rank that reaches the end of `train` writes its weights next to the run's folder.
"""

import contextlib
import json
import os
import signal
import sys

from rungs._src import cli
from rungs._src.chess.boards.cpp import CppBoards
from rungs._src.train import torch_file, training
from rungs._src.train.ppo import Learner

_ATTEMPT = int(os.environ.get("TORCHELASTIC_RESTART_COUNT", 0))
_RANK = int(os.environ.get("RANK", os.environ.get("PMI_RANK", 0)))


def main() -> int:
    """Returns the command's exit status, where the rank lives to see it."""
    plan, *arguments = sys.argv[1:]
    places = {"torn": (torch_file, "atomic_write"), "deserts": (CppBoards, "dump")}
    for attempt, rank, mishap, count in json.loads(plan):
        if (attempt, rank) == (_ATTEMPT, _RANK):
            _prepare(*places.get(mishap, learning(arguments[0])), mishap, count)
    training.train = _saving_weights(training.train)
    return cli.main(arguments)


def learning(command: str) -> tuple[type, str]:
    """Returns the class and the name of the method that learns in each update of a command."""
    if command == "train":
        return Learner, "learn"
    from rungs._src.selfplay.training import _SelfPlayRun  # where it is run: it imports pandas

    return _SelfPlayRun, "_learn"


def _saving_weights(train):
    def saving(settings, out, **options):
        if learner := train(settings, out, **options):
            training.torch.save(learner.network.state_dict(), out.with_name(f"{_RANK}.pt"))

    return saving


def _prepare(owner, name: str, mishap: str, count: int) -> None:
    original, calls = getattr(owner, name), []

    def failing(*arguments, **options):
        calls.append(True)
        if len(calls) == count:
            if mishap == "raises":
                raise RuntimeError("as asked")
            if mishap == "torn":
                return _torn(original(*arguments))
            _die()
        return original(*arguments, **options)

    setattr(owner, name, failing)


@contextlib.contextmanager
def _torn(writing):
    with writing as path:
        yield path
        os.truncate(path, path.stat().st_size // 2)
        _die()


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
