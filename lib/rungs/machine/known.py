"""What makers publish of their processors and no system call tells.

Only what a source says: a processor that is not here is not guessed at.
"""

import dataclasses
import re
from pathlib import Path


@dataclasses.dataclass(frozen=True)
class Microarchitecture:
    """How a core does floating-point arithmetic.

    Attributes:
        name: the maker's.
        flops_per_lane: operations per cycle in each lane of its widest vectors; a multiply-add is
            two.
        source: where that is written.
    """

    name: str
    flops_per_lane: float
    source: str


_ZEN = "AMD, Software Optimization Guide for the {} Microarchitecture, publication {}"
_INTEL = "Intel, 64 and IA-32 Architectures Optimization Reference Manual, 248966, {}"

# By vendor, family and models.
_KNOWN = {
    ("AuthenticAMD", 23, range(0x30, 0x100)): Microarchitecture(
        "Zen 2", 4, _ZEN.format("AMD Family 17h Models 30h and Greater", 56305)
    ),
    ("AuthenticAMD", 25, (*range(0x10), *range(0x20, 0x60))): Microarchitecture(
        "Zen 3", 4, _ZEN.format("AMD EPYC 7003", 56665)
    ),
    # Two 256-bit units, which a 512-bit multiply-add takes both.
    ("AuthenticAMD", 25, (*range(0x10, 0x20), *range(0x60, 0xB0))): Microarchitecture(
        "Zen 4", 2, _ZEN.format("AMD Zen 4", 57647)
    ),
    ("GenuineIntel", 6, (0x3F, 0x4F, 0x56)): Microarchitecture(
        "Haswell or Broadwell", 4, _INTEL.format("chapter on Haswell, table of ports")
    ),
    ("GenuineIntel", 6, (0x6A, 0x6C)): Microarchitecture(
        "Ice Lake server", 4, _INTEL.format("chapter on Ice Lake, table of ports")
    ),
    ("GenuineIntel", 6, (0x8F, 0xCF)): Microarchitecture(
        "Sapphire or Emerald Rapids", 4, _INTEL.format("chapter on Golden Cove, ports")
    ),
}


def microarchitecture(cpuinfo: Path = Path("/proc/cpuinfo")) -> Microarchitecture | None:
    """Returns this processor's; None where it is not one of those known."""
    try:
        text = cpuinfo.read_text()
    except OSError:
        return None
    told = dict(re.findall(r"^(vendor_id|cpu family|model)\s*: (\S+)$", text, re.MULTILINE))
    for (vendor, family, models), known in _KNOWN.items():
        if (
            told.get("vendor_id") == vendor
            and told.get("cpu family") == str(family)
            and int(told.get("model", -1)) in models
        ):
            return known
    return None
