"""The roofline: what a processor can do at most, from what is known of it.

Two bounds: how many operations its cores can do a second, and how many bytes come from memory in
that time. A program that does few operations per byte (its operational intensity) meets the second
first. Equations are those of "Optimizing Data Generation for Reinforcement Learning", section 4.1.
"""

import dataclasses

import numpy as np

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
