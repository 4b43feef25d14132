"""Detection of other programs that use the processor while this one measures."""

import contextlib
import dataclasses
import os
import resource
import time
from pathlib import Path

import psutil

# Shares of all cores' time: what other programs may use (the system counts in hundredths of a
# second), and what a hypervisor may give to other machines.
MAX_BUSY, MAX_STOLEN = 0.15, 0.03
# Switches of a core from one thread to another, a second. In a virtual machine, waking a sleeping
# core takes up to 0.2 ms, which count as stolen: from this rate on, threads and processes that wait
# for each other have 2 % stolen by themselves (16 to 42 % where they do nothing else).
MAX_SWITCHES = 100.0
# A preemption takes a core from a thread of this program that could run on, for microseconds or for
# much longer. So this many a second count only if threads also waited for a core for this share of
# the time that they ran: on an idle machine two computing threads wait 0.6 % of it, beside a
# neighbour 6 to 80 %.
MAX_PREEMPTED, MAX_WAITED = 50.0, 0.02
_SHORTEST = 0.5  # seconds: below it, hundredths of a second are too coarse

STAT = Path("/proc/stat")
_TICKS = os.sysconf("SC_CLK_TCK")  # of the system's clock, a second


@dataclasses.dataclass(frozen=True)
class CpuTimes:
    """The time of all cores since the system began, in its ticks."""

    busy: int  # any process here
    stolen: int  # by the hypervisor, or lost in waking a core, while a process wanted to run
    total: int  # idle time included
    switches: int  # between threads, a number and no time


@dataclasses.dataclass(frozen=True)
class Stolen:
    """Stolen time and switches, as rates."""

    share: float  # of all cores' time
    switches: float  # between threads, per core and second

    @property
    def disturbs(self) -> bool:
        """Whether it is too much, and not from waking cores for threads that waited."""
        return self.share > MAX_STOLEN and self.switches < MAX_SWITCHES


def cpu_times() -> CpuTimes | None:
    """Returns the time of all cores so far; None where the system does not report it."""
    try:
        lines = dict(line.split(maxsplit=1) for line in STAT.read_text().splitlines())
        times, switches = lines["cpu"], lines["ctxt"]
    except (OSError, KeyError):
        return None
    # user nice system idle iowait irq softirq steal; what comes after is part of user and nice.
    ticks = [int(word) for word in times.split()[:8]]
    idle, stolen = ticks[3] + ticks[4], ticks[7]
    return CpuTimes(sum(ticks) - idle - stolen, stolen, sum(ticks), int(switches))


def stolen_since(before: CpuTimes | None) -> Stolen | None:
    """Returns the time stolen since `before`; None where it is not reported."""
    spent = _spent(before, cpu_times())
    return _stolen(spent) if spent else None


def _stolen(spent: CpuTimes) -> Stolen:
    return Stolen(spent.stolen / spent.total, spent.switches / spent.total * _TICKS)


def busy_for(seconds: float) -> float | None:
    """Sleeps, and returns which share of all cores' time was used meanwhile, or None."""
    before = cpu_times()
    time.sleep(seconds)
    spent = _spent(before, cpu_times())
    return (spent.busy + spent.stolen) / spent.total if spent else None


def _spent(before: CpuTimes | None, after: CpuTimes | None) -> CpuTimes | None:
    """Returns the time between two counts; None where one is unknown or no time has passed."""
    if not before or not after or after.total == before.total:
        return None
    pairs = zip(dataclasses.astuple(after), dataclasses.astuple(before), strict=True)
    return CpuTimes(*(end - start for end, start in pairs))


@dataclasses.dataclass(frozen=True)
class Usage:
    """CPU time that this program and the machine have used so far."""

    at: float  # seconds
    cores: CpuTimes | None  # None where the system does not say
    process_seconds: float  # CPU seconds of this program and all processes that it started
    preempted: int  # how often the system took a core from a thread of this process
    ran: float  # seconds that threads of this process ran, also those that have ended
    waited: float  # seconds that living threads were ready to run but had no core; 0 where unknown


def usage() -> Usage:
    """Returns the usage so far; on systems other than Linux, without cores."""
    return Usage(
        time.perf_counter(),
        cpu_times(),
        _own_seconds(),
        resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw,
        time.process_time(),
        _waited(),
    )


def disturbances(
    before: Usage, after: Usage, *, threads_share_cores: bool = False
) -> dict[str, float]:
    """Returns the disturbances of a measurement: phrases to format, each with its share.

    With `threads_share_cores` the measurement itself has more threads or processes than cores, and
    that they take cores from each other does not count.
    """
    seconds = after.at - before.at
    if seconds < _SHORTEST:
        return {}
    phrases = {}
    if spent := _spent(before.cores, after.cores):
        stolen = _stolen(spent)
        process_ticks = (after.process_seconds - before.process_seconds) * _TICKS
        others = (spent.busy - process_ticks) / spent.total
        if stolen.disturbs:
            phrases["the hypervisor took {:.0%} of the cores' time"] = stolen.share
        if others > MAX_BUSY:
            phrases["other programs used {:.0%} of the cores' time"] = others
    if threads_share_cores:
        return phrases
    preempted = (after.preempted - before.preempted) / seconds
    waited = after.waited - before.waited
    share = waited / (waited + max(after.ran - before.ran, _SHORTEST))
    if preempted > MAX_PREEMPTED and share > MAX_WAITED:
        phrases["threads waited for a core for {:.0%} of the time that they wanted to run"] = share
    return phrases


def _own_seconds() -> float:
    """Returns the CPU seconds of this process, of those it started, and of those they started."""
    seconds = sum(os.times()[:4])
    for child in psutil.Process().children(recursive=True):
        try:
            seconds += sum(child.cpu_times()[:4])
        except psutil.Error:  # it has just ended
            continue
    return seconds


def _waited() -> float:
    """Returns the seconds that this process's threads were ready to run but had no core."""
    nanoseconds = 0
    for file in Path("/proc/self/task").glob("[0-9]*/schedstat"):
        with contextlib.suppress(OSError):  # it has just ended
            nanoseconds += int(file.read_text().split()[1])
    return nanoseconds * 1e-9
