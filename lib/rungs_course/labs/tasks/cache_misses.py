"""Lab 09: cache misses, predicted."""

import numpy as np

from rungs_course.labs.arrays import compare
from rungs_course.labs.lab import Call, Lab

_RACED = 64
_WAYS = ("row by row", "column by column")

# An array's rows, columns and bytes per item; a cache's bytes per line, sets, and lines per set.
# The array fits; a column fits; a column doesn't; a power of two would fit, but not in its sets;
# rows that are one line longer fix that; sets are used unevenly.
_CASES = [
    (8, 16, 4, 64, 16, 4),
    (32, 72, 8, 64, 16, 4),
    (80, 40, 8, 64, 16, 4),
    (32, 128, 8, 64, 16, 4),
    (32, 136, 8, 64, 16, 4),
    (30, 32, 8, 64, 16, 4),
    (66, 8, 8, 64, 16, 4),
    (64, 512, 4, 64, 64, 8),
    (100, 48, 4, 32, 8, 2),
    (20, 96, 2, 64, 4, 1),
    (17, 64, 1, 64, 1, 16),
    (16, 64, 1, 64, 1, 16),
]


def _judge(submission, baseline):
    for case in _CASES:
        rows, columns, item, line, sets, ways = case
        words = (
            f"{rows} rows of {columns} items of {item} bytes, through {sets * ways * line:,} bytes "
            f"of cache, {sets} sets of {ways} lines of {line} bytes"
        )
        yield compare(
            submission.misses(*case),
            baseline.misses(*case),
            lambda i, words=words: f"misses {_WAYS[i]}: {words}",
            array_label="what it returns",
        )


def _race(rng):
    rows, columns = rng.integers(64, 128, _RACED), 8 * rng.integers(12, 20, _RACED)
    others = (np.full(_RACED, number) for number in (8, 64, 64, 8))
    return [Call("misses", (rows, columns, *others), "each")]


LAB = Lab("09", ("misses",), _judge, target=0.5, cause="exercise", language="python", race=_race)
