"""`python -m rungs train …` on ranks of which some come to grief, always at the same point.

    python -m tests.library.train.mishap '[[ATTEMPT, RANK, MISHAP, COUNT], …]' train …

In torchrun's attempt ATTEMPT, from 0, this happens to rank RANK as it comes there the COUNTth time:

- "raises", or "killed": beginning an update;
- "torn": killed, with half a checkpoint written;
- "deserts": killed, handing its boards over to MPI's rank 0.

Each rank that reaches the end writes its weights next to the run's folder, by its number.
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

_PLACES = {
    "raises": (Learner, "learn"),
    "killed": (Learner, "learn"),
    "torn": (torch_file, "atomic_write"),
    "deserts": (CppBoards, "dump"),
}
_ATTEMPT = int(os.environ.get("TORCHELASTIC_RESTART_COUNT", 0))
_RANK = int(os.environ.get("RANK", os.environ.get("PMI_RANK", 0)))


def main() -> int:
    """Returns the command's exit status, where the rank lives to see it."""
    plan, *arguments = sys.argv[1:]
    for attempt, rank, mishap, count in json.loads(plan):
        if (attempt, rank) == (_ATTEMPT, _RANK):
            _prepare(mishap, count)
    training.train = _saving_weights(training.train)
    return cli.main(arguments)


def _saving_weights(train):
    def saving(settings, out, **how):
        if learner := train(settings, out, **how):
            training.torch.save(learner.network.state_dict(), out.with_name(f"{_RANK}.pt"))

    return saving


def _prepare(mishap: str, count: int) -> None:
    owner, name = _PLACES[mishap]
    whole, calls = getattr(owner, name), []

    def place(*arguments, **how):
        calls.append(True)
        if len(calls) == count:
            if mishap == "raises":
                raise RuntimeError("as asked")
            if mishap == "torn":
                return _torn(whole(*arguments))
            _die()
        return whole(*arguments, **how)

    setattr(owner, name, place)


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
