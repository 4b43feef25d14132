"""A cache, simulated access by access."""


class Cache:
    """Lines in sets of `ways`, of which the least recently used leaves.

    Args:
        line: bytes of a line.
        sets: where a line may be is its number modulo `sets`.
        ways: lines that a set holds.

    Attributes:
        misses: accesses whose line was not there.
    """

    def __init__(self, line: int, sets: int, ways: int):
        self._line, self._ways = line, ways
        self._sets: list[list[int]] = [[] for _ in range(sets)]  # from least to most recently used
        self.misses = 0

    def touch(self, address: int) -> None:
        """Accesses a byte, and whatever else is in its line."""
        number = address // self._line
        held = self._sets[number % len(self._sets)]
        if number in held:
            held.remove(number)
        else:
            self.misses += 1
            if len(held) == self._ways:
                del held[0]
        held.append(number)
