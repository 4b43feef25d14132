"""The study's table 1 worked out again: what its counters say of the roofs it is drawn under.

"Optimizing Data Generation for Reinforcement Learning", section 4.1. Its operations are all
instructions that neither load nor store, and its operational intensity divides them by accesses,
where a roofline wants bytes.
"""

import pandas as pd

from rungs._src.core.memory import CACHE_LINE

_WORD = 8  # bytes that an access moves at most, but for those of vectors

PROGRAMS = {"sequential": "sequential Gflop/s", "OpenMP": "OpenMP Gflop/s"}


def operations(table: pd.Series) -> float:
    """Returns what the study counts as floating-point operations.

    Args:
        table: its table 1, by the names of `data/paper/chess_papi.csv`.
    """
    return table["instructions"] - table["loads and stores"]


def seconds(table: pd.Series, program: str = "sequential") -> float:
    """Returns how long a program of `PROGRAMS` took, by its rate."""
    return operations(table) / (table[PROGRAMS[program]] * 1e9)


def clock(table: pd.Series) -> float:
    """Returns the cycles per second that a core needs for all instructions in that time."""
    return table["instructions"] / table["instructions per cycle"] / seconds(table)


def memory_rate(table: pd.Series, program: str) -> float:
    """Returns the most bytes per second that can have come from memory: a line for each L1 miss."""
    return table["L1 data misses"] * CACHE_LINE / seconds(table, program)


def points(table: pd.Series) -> pd.DataFrame:
    """Returns where the study's programs stand in a roofline, by what is divided by.

    Returns:
        A row per program and way: `name` (of `PROGRAMS`), `per` ("access, as drawn", "byte of an
        access", "byte missing in L1"), `intensity`, `performance` (operations per second).
    """
    divisors = {
        "access, as drawn": table["loads and stores"],
        "byte of an access": table["loads and stores"] * _WORD,
        "byte missing in L1": table["L1 data misses"] * CACHE_LINE,
    }
    rows = [
        (name, per, operations(table) / divisor, table[rate] * 1e9)
        for per, divisor in divisors.items()
        for name, rate in PROGRAMS.items()
    ]
    return pd.DataFrame(rows, columns=["name", "per", "intensity", "performance"])
