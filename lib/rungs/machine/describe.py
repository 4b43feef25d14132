"""This machine in a few words, to stand beside every number measured on it."""

import os
import platform
import re

from rungs.machine import gpu
from rungs.machine.cpu import cpu_features, cpu_name, usable_cores


def describe() -> dict:
    """Describes the machine; a fact the system does not tell is None.

    Returns:
        `machine` (the processor's name), `gpu` (its name), `cores` this process may use,
        `all_cores`, `memory_bytes`, `virtual` (whether a hypervisor says it is there), `system`,
        `python`.
    """
    features = cpu_features()
    # Without a list of features there's the architecture, which says nothing about a hypervisor.
    listed = features != platform.machine()
    return {
        "machine": cpu_name(),
        "gpu": gpu.name(),
        "cores": usable_cores(),
        "all_cores": os.cpu_count(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "virtual": "hypervisor" in features.split() if listed else None,
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }


def in_words(facts: dict) -> str:
    """Names a machine in a sentence: "2 cores of AMD EPYC", "16 cores of it with an NVIDIA H200".

    Args:
        facts: of `describe`, or a result's provenance, whose values are text.
    """
    gpu_name = facts.get("gpu")
    beside = f" with an {gpu_name}" if gpu_name not in (None, "None") else ""
    cores = "1 core" if int(facts["cores"]) == 1 else f"{facts['cores']} cores"
    return f"{cores} of {facts['machine']}{beside}"


def slug() -> str:
    """Names the machine as a folder of `data/recorded/`: "amd-epyc-2-cores", or "nvidia-h200"."""
    return slug_of({"gpu": gpu.name(), "machine": cpu_name(), "cores": usable_cores()})


def slug_of(facts: dict) -> str:
    """Names a machine as `slug` does, from facts as of `in_words`."""
    gpu_name = facts.get("gpu")
    if gpu_name in (None, "None"):
        gpu_name = f"{facts['machine']} {facts['cores']} cores"
    return re.sub(r"[^a-z0-9]+", "-", gpu_name.lower()).strip("-")
