"""How much of the processor's time goes to others, as Linux counts it."""

import dataclasses
import time
from pathlib import Path

STAT = Path("/proc/stat")


@dataclasses.dataclass(frozen=True)
class CpuTimes:
    """The time of all cores since the system began, in its ticks.

    Attributes:
        busy: spent by any process here.
        stolen: spent by the hypervisor on other machines, while a process here wanted to run.
        total: all of it, idle time included.
    """

    busy: int
    stolen: int
    total: int


def cpu_times() -> CpuTimes | None:
    """Returns the time of all cores so far; None where the system doesn't tell."""
    try:
        first = STAT.read_text().splitlines()[0].split()
    except (OSError, IndexError):
        return None
    # user nice system idle iowait irq softirq steal; what comes after is part of user and nice.
    ticks = [int(word) for word in first[1:9]]
    idle, stolen = ticks[3] + ticks[4], ticks[7]
    return CpuTimes(sum(ticks) - idle - stolen, stolen, sum(ticks))


def stolen_since(before: CpuTimes | None) -> float | None:
    """Returns which share of all cores' time was stolen since `before`; None where nobody tells."""
    after = cpu_times()
    if not before or not after or after.total == before.total:
        return None
    return (after.stolen - before.stolen) / (after.total - before.total)


def busy_for(seconds: float) -> float | None:
    """Sleeps, and returns which share of all cores' time others used meanwhile; as `stolen_since`.

    Args:
        seconds: how long: the system counts in hundredths.
    """
    before = cpu_times()
    time.sleep(seconds)
    after = cpu_times()
    if not before or not after or after.total == before.total:
        return None
    used = after.busy + after.stolen - before.busy - before.stolen
    return used / (after.total - before.total)
