"""The roofline: what a processor can do at most, and where the study's programs stand in it.

Two bounds: how many operations its cores can do a second, and how many bytes come from memory in
that time. A program that does few operations per byte (its operational intensity) meets the second
first. Equations are those of "Optimizing Data Generation for Reinforcement Learning", section 4.1.
"""

import dataclasses

import numpy as np
import pandas as pd

from rungs.devel import CACHE_LINE

CHANNEL_BITS = 64  # the width of a DDR memory channel


@dataclasses.dataclass(frozen=True)
class Processor:
    """The numbers of a processor from which its peaks follow."""

    name: str  # as it is sold
    cores: int  # of all sockets
    frequency: float  # cycles per second
    simd_bits: int  # width of a vector
    flops_per_lane: float  # per cycle and core: 2 for a multiply-add, times the units that do them
    channels: int  # memory channels of all sockets
    transfers: float  # per second and channel, such as 2400e6 for DDR4-2400

    def peak_flops(self, precision_bits: int) -> float:
        """Returns floating-point operations per second (the paper's equation 1)."""
        lanes = self.simd_bits / precision_bits
        return self.frequency * self.cores * lanes * self.flops_per_lane

    def peak_bandwidth(self) -> float:
        """Returns bytes per second from memory (the paper's equation 4)."""
        return self.transfers * self.channels * CHANNEL_BITS / 8


def attainable(intensity, peak: float, bandwidth: float):
    """Returns the operations per second that both bounds allow; `intensity` may be an array."""
    return np.minimum(peak, np.asarray(intensity) * bandwidth)


def ridge(peak: float, bandwidth: float) -> float:
    """Returns the operations per byte above which computing, not memory, is the bound."""
    return peak / bandwidth


# The paper's two machines as the paper has them (section 4.1, equations 2 to 7) ...
PAPER = (
    Processor("Intel Xeon E5-2683 v4", 32, 2.5e9, 256, 4, 4, 2400e6),
    Processor("AMD Opteron 6376", 64, 3.2e9, 256, 4, 4, 1600e6),
)
# ... and with the channels of all the sockets that have those cores, each with four channels, and
# the Opteron's shared units: the two cores of a module have two of 128 bits between them.
CORRECTED = (
    Processor("Intel Xeon E5-2683 v4, two sockets", 32, 2.5e9, 256, 4, 8, 2400e6),
    Processor("AMD Opteron 6376, four sockets", 64, 3.2e9, 128, 2, 16, 1600e6),
)
# The GPU of the study's section 4.3 and table 2, by NVIDIA's white paper (2020): 108 units of 64
# lanes in single precision and 32 in double, and 5 stacks of 1024 bits of HBM2.
A100 = Processor("NVIDIA A100, 40 GB", 108, 1.41e9, 2048, 2, 80, 2430e6)
# The study's programs, and their rates in its table 1, `data/paper/chess_papi.csv`.
PROGRAMS = {"sequential": "sequential Gflop/s", "OpenMP": "OpenMP Gflop/s"}


def operations(table: pd.Series) -> float:
    """Returns what the study counts as floating-point operations in its table."""
    return table["instructions"] - table["loads and stores"]


def seconds(table: pd.Series, program: str = "sequential") -> float:
    """Returns how long a program of `PROGRAMS` took, by its rate."""
    return operations(table) / (table[PROGRAMS[program]] * 1e9)


def memory_rate(table: pd.Series, program: str) -> float:
    """Returns the most bytes per second that can have come from memory: a line for each L1 miss."""
    return table["L1 data misses"] * CACHE_LINE / seconds(table, program)


def points(table: pd.Series) -> pd.DataFrame:
    """Returns where the study's programs stand in a roofline, for several divisors.

    A row per program and way: `name` (of `PROGRAMS`), `per` ("access, as drawn", "byte of an
    access", "byte missing in L1"), `intensity`, `performance` (operations per second).
    """
    divisors = {
        "access, as drawn": table["loads and stores"],
        "byte of an access": table["loads and stores"] * 8,  # the most, without vectors
        "byte missing in L1": table["L1 data misses"] * CACHE_LINE,
    }
    rows = [
        (name, per, operations(table) / divisor, table[rate] * 1e9)
        for per, divisor in divisors.items()
        for name, rate in PROGRAMS.items()
    ]
    return pd.DataFrame(rows, columns=["name", "per", "intensity", "performance"])
