"""Lab 09: cache misses, predicted."""

import functools
from typing import NamedTuple

from rungs_course.labs.lab import Difference, Lab, timed

_WAYS = ("row by row", "column by column")


class Traversal(NamedTuple):
    """An array, `item` bytes each, and a cache: `sets` of `ways` lines of `line` bytes each."""

    rows: int
    columns: int
    item: int
    line: int
    sets: int
    ways: int

    def __str__(self) -> str:
        return (
            f"{self.rows} rows of {self.columns} items of {self.item} bytes, through "
            f"{self.sets * self.ways * self.line:,} bytes of cache, {self.sets} sets of "
            f"{self.ways} lines of {self.line} bytes"
        )


# All of it fits; a column does; it doesn't; a power of two fits, but not in its sets; a row a line
# longer fixes that; sets are used unevenly.
_CASES = [
    Traversal(8, 16, 4, 64, 16, 4),
    Traversal(32, 72, 8, 64, 16, 4),
    Traversal(80, 40, 8, 64, 16, 4),
    Traversal(32, 128, 8, 64, 16, 4),
    Traversal(32, 136, 8, 64, 16, 4),
    Traversal(30, 32, 8, 64, 16, 4),
    Traversal(66, 8, 8, 64, 16, 4),
    Traversal(64, 512, 4, 64, 64, 8),
    Traversal(100, 48, 4, 32, 8, 2),
    Traversal(20, 96, 2, 64, 4, 1),
    Traversal(17, 64, 1, 64, 1, 16),
    Traversal(16, 64, 1, 64, 1, 16),
]


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


def simulated(case: Traversal) -> tuple[int, int]:
    """Returns the misses of going through the array by rows and by columns, access by access."""
    rows, columns, item, line, sets, ways = case
    by_rows, by_columns = Cache(line, sets, ways), Cache(line, sets, ways)
    for at in range(rows * columns):
        by_rows.touch(at * item)
        row, column = at % rows, at // rows
        by_columns.touch((row * columns + column) * item)
    return by_rows.misses, by_columns.misses


@functools.cache
def _expected() -> list[tuple[int, int]]:
    return [simulated(case) for case in _CASES]


def _judge(functions) -> Difference | None:
    for case, expected in zip(_CASES, _expected(), strict=True):
        found = functions.misses(*case)
        if not isinstance(found, tuple | list) or len(found) != 2:
            return Difference("what it returns", "two numbers", f"{found!r:.200}")
        for way, should, got in zip(_WAYS, expected, found, strict=True):
            if got != should:
                return Difference(f"misses {way}: {case}", f"{should}", f"{got}")
    return None


def _work(functions):
    case = Traversal(96, 128, 8, 64, 64, 8)
    return timed(lambda: functions.misses(*case))


LAB = Lab(
    name="09",
    defines=("misses",),
    judge=_judge,
    work=_work,
    target=0.5,
    language="python",
)
