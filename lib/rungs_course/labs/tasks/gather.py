"""Lab 05: all ranks' arrays come together at rank 0, in few messages."""

import collections
import threading
from collections.abc import Callable, Sequence
from concurrent import futures
from typing import Any

import numpy as np

from rungs.chess import NUM_ACTIONS
from rungs_course.labs.arrays import compare
from rungs_course.labs.lab import Difference, Lab, apart, require

_BOARDS = 16  # of each rank
_RANKS = 16  # where time counts
_SIZES = (1, 2, 3, 8, 13, _RANKS)
_MAX_BYTES = 256 << 20  # that all ranks may send together
_MICROSECONDS_A_MESSAGE, _BYTES_A_MICROSECOND = 20.0, 1000.0


class DeadlockError(RuntimeError):
    """A rank waits for a message that no rank will send."""


class _Network:
    """The ranks' shared state: messages under way, clocks, and which rank waits for which."""

    def __init__(self, size: int):
        self.size = size
        self.clocks = [0.0] * size  # in microseconds
        # By sender and receiver: the time of sending, and the array.
        self.boxes: dict[tuple[int, int], collections.deque] = collections.defaultdict(
            collections.deque
        )
        self.sent = 0  # bytes
        self.waiting: dict[
            int, int
        ] = {}  # the awaited rank, by rank; a rank that is done awaits itself
        self.changed = threading.Condition()

    def stuck(self) -> bool:
        """Returns whether all ranks wait or are done, and no awaited message has arrived."""
        pairs = [(source, rank) for rank, source in self.waiting.items()]
        return len(pairs) == self.size and not any(map(self.boxes.get, pairs))


class Communicator:
    """A rank's end of a simulated network; ranks are threads of this process."""

    remote_methods, remote_fields = ("send", "recv"), ("rank", "size")

    def __init__(self, network: _Network, rank: int):
        self.rank, self.size = rank, network.size
        self._network = network

    def send(self, to: int, array: np.ndarray) -> None:
        """Sends an array to a rank, without waiting for it."""
        if not isinstance(array, np.ndarray) or array.dtype.hasobject:
            raise TypeError(f"only arrays of numbers can be sent, not {type(array).__name__}")
        if to not in range(self.size) or to == self.rank:
            raise ValueError(f"rank {self.rank} of {self.size} can't send to {to!r}")
        net = self._network
        with net.changed:
            net.sent += array.nbytes
            if net.sent > _MAX_BYTES:
                raise ValueError(f"more than {_MAX_BYTES >> 20} MB were sent in all")
            net.boxes[self.rank, to].append((net.clocks[self.rank], array.copy()))
            net.changed.notify_all()

    def recv(self, source: int) -> np.ndarray:
        """Waits for the next array from a rank. That costs time per message and per byte."""
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
        took = _MICROSECONDS_A_MESSAGE + array.nbytes / _BYTES_A_MICROSECOND
        net.clocks[self.rank] = max(net.clocks[self.rank], sent) + took
        return array

    def leave(self) -> None:
        """Marks this rank as done."""
        with self._network.changed:
            self._network.waiting[self.rank] = self.rank
            self._network.changed.notify_all()


def on_ranks(bodies: Sequence[Callable], arguments: Sequence[Any]) -> tuple[Any, float]:
    """Runs `body(communicator, argument)` on each rank; returns rank 0's result and microseconds.

    Raises the error of the first rank that had one; a DeadlockError only if all are.
    """
    network = _Network(len(arguments))

    def run(rank: int) -> Any:
        communicator = Communicator(network, rank)
        try:
            return bodies[rank](communicator, arguments[rank])
        finally:
            communicator.leave()

    with futures.ThreadPoolExecutor(network.size) as pool:
        ranks = [pool.submit(run, rank) for rank in range(network.size)]
    errors = [error for rank in ranks if (error := rank.exception())]
    if errors:
        # A rank that waits for one that has failed is not the cause.
        raise min(errors, key=lambda error: isinstance(error, DeadlockError))
    return ranks[0].result(), network.clocks[0]


def _blocks(ranks: int, seed: int) -> list[dict[str, np.ndarray]]:
    """Returns each rank's outputs: made up at random, so that they can't be compressed."""
    rng = np.random.default_rng(seed)
    return [
        {
            "observation": rng.integers(-128, 128, (_BOARDS, 72), np.int8),
            "mask": rng.random((_BOARDS, NUM_ACTIONS)) < 0.5,
            "reward": rng.standard_normal(_BOARDS).astype(np.float32),
            "terminated": rng.random(_BOARDS) < 0.5,
            "truncated": rng.random(_BOARDS) < 0.5,
        }
        for _ in range(ranks)
    ]


def _gather_on_ranks(functions, blocks: list[dict[str, np.ndarray]]) -> tuple[Any, float]:
    return on_ranks([answer.gather for answer in apart(functions, len(blocks))], blocks)


def _judge(submission, _):
    for ranks in _SIZES:
        blocks = _blocks(ranks, seed=ranks)
        yield from _differences(blocks, _gather_on_ranks(submission, blocks)[0])


def _differences(blocks: list[dict[str, np.ndarray]], gathered: Any):
    """Yields what is wrong with what rank 0 returned."""
    ranks = len(blocks)
    if not isinstance(gathered, dict):
        returned = f"what rank 0 of {ranks} returns"
        yield Difference(returned, "a dictionary of arrays", type(gathered).__name__)
    for name in blocks[0]:
        array_label = f"{name} of {ranks} rank{'s' * (ranks > 1)}"
        expected = np.concatenate([block[name] for block in blocks])

        def label(row: int, number: int | None = None, array_label: str = array_label) -> str:
            words = f"{array_label}, row {row} (rank {row // _BOARDS}'s board {row % _BOARDS})"
            return words if number is None else f"{words}, number {number}"

        yield compare(gathered.get(name), expected, label, array_label=array_label, exact=True)


def _count(functions, seed: int) -> float:
    blocks = _blocks(_RANKS, seed)
    gathered, duration = _gather_on_ranks(functions, blocks)
    require(_differences(blocks, gathered))
    return duration


LAB = Lab(
    "05",
    ("gather",),
    _judge,
    target=0.8,
    cause="exercise",
    language="python",
    unit="simulated µs",
    count=_count,
)
