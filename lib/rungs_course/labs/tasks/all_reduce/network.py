"""All-reduces, simulated message by message, with the numbers that they add up."""

import numpy as np


class Network:
    """Processes that each hold some numbers, one for each process, and send each other some.

    Whoever sends, receives at the same time. A message arrives `latency` and its bytes over
    `bandwidth` after both its ends were free.

    Args:
        processes: how many.
        num_bytes: of all the numbers that a process holds.
        latency: seconds.
        bandwidth: bytes per second.

    Attributes:
        numbers: (p, p), what each process holds; what it held at first is its rank and a thousand
            for each place.
        clock: (p,), seconds at which each is free.
    """

    def __init__(self, processes: int, num_bytes: int, latency: float, bandwidth: float):
        ranks = np.arange(processes)
        self.numbers = ranks[:, None] + 1000.0 * ranks
        self.total = self.numbers.sum(0)
        self.clock = np.zeros(processes)
        self._latency = latency
        self._seconds = num_bytes / processes / bandwidth  # of one number

    def exchange(self, messages: list[tuple[int, int, np.ndarray]], *, add: bool) -> None:
        """Sends messages at once: (from, to, which numbers), to be added or to replace."""
        before, clock = self.numbers.copy(), self.clock.copy()
        for sender, receiver, which in messages:
            sent = before[sender, which]
            self.numbers[receiver, which] = self.numbers[receiver, which] + sent if add else sent
            began = max(clock[sender], clock[receiver])
            arrived = began + self._latency + len(which) * self._seconds
            for end in (sender, receiver):
                self.clock[end] = max(self.clock[end], arrived)

    def finish(self) -> float:
        """Returns when the last process has finished.

        Raises:
            AssertionError: one of them has no sums.
        """
        assert (self.numbers == self.total).all()
        return float(self.clock.max())


def ring(processes: int, *link) -> float:
    """Returns the seconds of an all-reduce around a ring (Patarasuk and Yuan, 2009)."""
    network = Network(processes, *link)
    for first, add in ((0, True), (1, False)):
        for turn in range(processes - 1):
            network.exchange(
                [
                    (rank, (rank + 1) % processes, np.array([(rank + first - turn) % processes]))
                    for rank in range(processes)
                ],
                add=add,
            )
    return network.finish()


def halving(processes: int, *link) -> float:
    """Returns the seconds by halving and doubling (Thakur, Rabenseifner and Gropp, 2005)."""
    network, ranks = Network(processes, *link), np.arange(processes)
    distances = [2**power for power in range(processes.bit_length() - 1)]
    for distance in reversed(distances):
        # Each sends its partner the numbers of the half that the partner is in.
        network.exchange(
            [
                (rank, rank ^ distance, ranks[ranks // distance == (rank ^ distance) // distance])
                for rank in range(processes)
            ],
            add=True,
        )
    for distance in distances:
        network.exchange(
            [
                (rank, rank ^ distance, ranks[ranks // distance == rank // distance])
                for rank in range(processes)
            ],
            add=False,
        )
    return network.finish()
