"""A description of this machine, for every number that is measured on it."""

import os
import platform

from rungs._src.machine import gpu
from rungs._src.machine.cpu import cpu_features, cpu_identity, cpu_name, usable_cores
from rungs._src.machine.known import microarchitecture


def describe() -> dict:
    """Describes the machine; an unknown fact is None.

    Returns:
        `machine` (the processor's name), `cpu_vendor`, `cpu_family`, `cpu_model`, `cpu_stepping`,
        `microarchitecture` ("unknown" if not in `machine.known`), `gpu` (its name),
        `cores` (that this process may use), `all_cores`, `memory_bytes`, `virtual` (whether a
        hypervisor is reported), `system`, `python`.
    """
    features, known = cpu_features().split(), microarchitecture()
    return {
        "machine": cpu_name(),
        **cpu_identity(),
        "microarchitecture": known.name if known else "unknown",
        "gpu": gpu.name(),
        "cores": usable_cores(),
        "all_cores": os.cpu_count(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        # Only x86's list of features, in which "fpu" always is, says whether there is a hypervisor.
        "virtual": "hypervisor" in features if "fpu" in features else None,
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }
