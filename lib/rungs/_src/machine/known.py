"""Published facts of processors that no system call returns, each with its source."""

import dataclasses
from collections.abc import Container

from rungs._src.machine.cpu import cpu_identity


@dataclasses.dataclass(frozen=True)
class Microarchitecture:
    """A core's floating-point arithmetic, and the source of what is known of it."""

    name: str
    # Operations per cycle and lane of the widest vectors, a multiply-add as two; None: unknown.
    flops_per_lane: float | None
    source: str


_ZEN = "AMD, Software Optimization Guide for the {} Microarchitecture, publication {}"
_INTEL = "Intel, 64 and IA-32 Architectures Optimization Reference Manual, 248966, {}"
_LINUX = "Linux, arch/x86/{}"
_NAMED_AMD = _LINUX.format("kernel/cpu/amd.c")
_NAMED_INTEL = _LINUX.format("include/asm/intel-family.h")

# By vendor, family and models.
_KNOWN: dict[tuple[str, int, Container[int]], Microarchitecture] = {
    ("AuthenticAMD", 23, (*range(0x30), *range(0x50, 0x60))): Microarchitecture(
        "Zen", None, _NAMED_AMD
    ),
    ("AuthenticAMD", 23, (*range(0x30, 0x50), *range(0x60, 0x100))): Microarchitecture(
        "Zen 2", 4, _ZEN.format("AMD Family 17h Models 30h and Greater", 56305)
    ),
    ("AuthenticAMD", 25, (*range(0x10), *range(0x20, 0x60))): Microarchitecture(
        "Zen 3", 4, _ZEN.format("AMD EPYC 7003", 56665)
    ),
    # Two 256-bit units, both of which a 512-bit multiply-add occupies.
    ("AuthenticAMD", 25, (*range(0x10, 0x20), *range(0x60, 0xB0))): Microarchitecture(
        "Zen 4", 2, _ZEN.format("AMD Zen 4", 57647)
    ),
    # Of servers: two 512-bit units. Those of laptops have narrower ones.
    ("AuthenticAMD", 26, range(0x20)): Microarchitecture(
        "Zen 5", 4, _ZEN.format("AMD Zen 5", 58455)
    ),
    ("AuthenticAMD", 26, (*range(0x20, 0x50), *range(0x60, 0x80))): Microarchitecture(
        "Zen 5", None, _NAMED_AMD
    ),
    ("GenuineIntel", 6, (0x3F,)): Microarchitecture(
        "Haswell", 4, _INTEL.format("chapter on Haswell, table of ports")
    ),
    ("GenuineIntel", 6, (0x4F, 0x56)): Microarchitecture(
        "Broadwell", 4, _INTEL.format("chapter on Haswell, table of ports")
    ),
    # One model for three microarchitectures, which differ in stepping.
    ("GenuineIntel", 6, (0x55,)): Microarchitecture("Skylake server", None, _NAMED_INTEL),
    ("GenuineIntel", 6, (0x6A, 0x6C)): Microarchitecture(
        "Ice Lake server", 4, _INTEL.format("chapter on Ice Lake, table of ports")
    ),
    ("GenuineIntel", 6, (0x8F,)): Microarchitecture(
        "Sapphire Rapids", 4, _INTEL.format("chapter on Golden Cove, ports")
    ),
    ("GenuineIntel", 6, (0xCF,)): Microarchitecture(
        "Emerald Rapids", 4, _INTEL.format("chapter on Golden Cove, ports")
    ),
    ("GenuineIntel", 6, (0xAD, 0xAE)): Microarchitecture("Granite Rapids", None, _NAMED_INTEL),
}


def microarchitecture(identity: dict | None = None) -> Microarchitecture | None:
    """Returns the microarchitecture of this processor, or of an `identity`; None if unknown."""
    if identity is None:
        identity = cpu_identity()
    for (vendor, family, models), known in _KNOWN.items():
        if (identity["cpu_vendor"], identity["cpu_family"]) != (vendor, family):
            continue
        if identity["cpu_model"] in models:
            return known
    return None
