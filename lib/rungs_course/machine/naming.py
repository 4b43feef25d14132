"""Names of machines, in words and of folders, and what differs between two."""

import re

from rungs.machine import describe

# Facts that must agree for numbers to be of one machine: processors of two generations may both be
# named "AMD EPYC".
SAME = (
    *("machine", "gpu", "cores"),
    *("cpu_vendor", "cpu_family", "cpu_model", "cpu_stepping", "microarchitecture"),
)
_UNKNOWN = "unknown"  # microarchitecture

_VENDORS = {"AuthenticAMD": "amd", "GenuineIntel": "intel"}


def in_words(facts: dict) -> str:
    """Names a machine, from facts as values or text: "2 cores of AMD EPYC, Zen 4 with an H200"."""
    gpu_name, kind = facts.get("gpu"), facts.get("microarchitecture", _UNKNOWN)
    gpu_text = f" with an {gpu_name}" if gpu_name not in (None, "None") else ""
    cores = "1 core" if int(facts["cores"]) == 1 else f"{facts['cores']} cores"
    processor = re.sub(r"\((R|TM)\)", "", facts["machine"])
    return f"{cores} of {processor}{'' if kind == _UNKNOWN else f', {kind}'}{gpu_text}"


def slug() -> str:
    """Names the machine as a folder of `data/recorded/`: "amd-zen4-2-cores", or "nvidia-h200"."""
    return slug_of(describe())


def slug_of(facts: dict) -> str:
    """Names a machine as `slug` does, from facts as for `in_words`.

    A processor of unknown microarchitecture is named by family and model, such as
    "amd-family25-model17-2-cores"; one without those by its name.
    """
    name = facts.get("gpu")
    if name in (None, "None"):
        name = f"{_processor(facts)} {facts['cores']} cores"
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def _processor(facts: dict) -> str:
    vendor = facts.get("cpu_vendor")
    if vendor in (None, "None"):
        return facts["machine"]
    kind = facts["microarchitecture"]
    known = kind.replace(" ", "")
    numbers = f"family{facts['cpu_family']} model{facts['cpu_model']}"
    return f"{_VENDORS.get(vendor, vendor)} {numbers if kind == _UNKNOWN else known}"


def differing(facts: dict, machine: dict, names: tuple[str, ...] = SAME) -> str:
    """Returns the facts in which two descriptions differ: "microarchitecture Zen 4, not Zen 5"."""
    pairs = [(name, str(facts.get(name)), str(machine.get(name))) for name in names]
    return "; ".join(f"{name} {mine}, not {other}" for name, mine, other in pairs if mine != other)
