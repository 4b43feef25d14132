"""Simulated ranks that send each other arrays: threads of this process, each with its clock."""

import collections
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

MICROSECONDS_A_MESSAGE, BYTES_A_MICROSECOND = 20.0, 1000.0


class DeadlockError(RuntimeError):
    """A rank waits for a message that no rank will send."""


class _Network:
    """What all ranks share: messages under way, clocks, and who waits for whom."""

    def __init__(self, size: int):
        self.size = size
        self.clocks = [0.0] * size  # in microseconds
        # By sender and receiver: when each was sent, and what.
        self.boxes: dict[tuple[int, int], collections.deque] = collections.defaultdict(
            collections.deque
        )
        self.waiting: dict[int, int] = {}  # by rank, for whom; a rank that is done, for itself
        self.changed = threading.Condition()

    def stuck(self) -> bool:
        """Says whether all ranks wait or are done, and no message that one waits for is there."""
        pairs = [(source, rank) for rank, source in self.waiting.items()]
        return len(pairs) == self.size and not any(map(self.boxes.get, pairs))


class Communicator:
    """A rank's end of the network.

    Attributes:
        rank: its number, from 0.
        size: how many ranks there are.
    """

    def __init__(self, network: _Network, rank: int):
        self.rank, self.size = rank, network.size
        self._network = network

    def send(self, to: int, array: np.ndarray) -> None:
        """Sends an array to a rank, and goes on at once."""
        if not isinstance(array, np.ndarray) or array.dtype.hasobject:
            raise TypeError(f"only arrays of numbers can be sent, not {type(array).__name__}")
        if to not in range(self.size) or to == self.rank:
            raise ValueError(f"rank {self.rank} of {self.size} can't send to {to!r}")
        net = self._network
        with net.changed:
            net.boxes[self.rank, to].append((net.clocks[self.rank], array.copy()))
            net.changed.notify_all()

    def recv(self, source: int) -> np.ndarray:
        """Waits for the next array from a rank. That takes time by message and by bytes."""
        net, box = self._network, self._network.boxes[source, self.rank]
        with net.changed:
            while not box:
                net.waiting[self.rank] = source
                if net.stuck():
                    net.changed.notify_all()
                    raise DeadlockError(
                        f"rank {self.rank} waits for a message from rank {source}, which sends none"
                    )
                net.changed.wait()
                net.waiting.pop(self.rank, None)
            sent, array = box.popleft()
        took = MICROSECONDS_A_MESSAGE + array.nbytes / BYTES_A_MICROSECOND
        net.clocks[self.rank] = max(net.clocks[self.rank], sent) + took
        return array

    def leave(self) -> None:
        """Says that this rank is done."""
        with self._network.changed:
            self._network.waiting[self.rank] = self.rank
            self._network.changed.notify_all()


def on_ranks(body: Callable, arguments: Sequence[Any]) -> tuple[list[Any], float]:
    """Runs `body(communicator, argument)` on as many ranks as there are arguments.

    Returns:
        What each rank returned, and the microseconds until rank 0 was done.

    Raises:
        Exception: what the first rank raised that raised anything.
    """
    network = _Network(len(arguments))
    answers: list[Any] = [None] * len(arguments)
    errors: dict[int, Exception] = {}

    def run(rank: int) -> None:
        communicator = Communicator(network, rank)
        try:
            answers[rank] = body(communicator, arguments[rank])
        except Exception as error:
            errors[rank] = error
        finally:
            communicator.leave()

    threads = [
        threading.Thread(target=run, args=(rank,), daemon=True) for rank in range(network.size)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        # One that waits for another that has failed is not what went wrong.
        raise min(errors.items(), key=lambda e: (isinstance(e[1], DeadlockError), e[0]))[1]
    return answers, network.clocks[0]
