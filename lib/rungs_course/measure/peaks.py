"""Measured peaks of this machine: operations, cycles and bytes per second."""

import functools
import itertools
import time
from collections.abc import Callable, Collection, Iterable

import pandas as pd

from rungs.devel import Api, described, loader, openmp, whole_lines
from rungs.errors import CompilerError, UnavailableError
from rungs.memory import zeroed_lines
from rungs_course import compiled
from rungs_course.machine.topology import caches

# The name of each in `rungs::machine::Peak`.
COMPUTE = {
    "float32": "FLOAT32",
    "float64": "FLOAT64",
    "64-bit integers, vectors": "VECTOR_INTEGER",
    "64-bit integers": "SCALAR_INTEGER",
    "clock": "CYCLE",
}
# And those that only some processors have, by the unit.
BFLOAT16 = {"bfloat16, AVX512-BF16": "BFLOAT16", "bfloat16, AMX": "BFLOAT16_TILES"}
_NAMES = COMPUTE | BFLOAT16
# Names in `rungs::machine::Stream`, as are the two ways of writing.
STREAMS = ("read", "copy", "triad")
_WRITES = ("WRITE", "WRITE_PAST_CACHES")

# Operations that take a core some milliseconds: a fixed number, as one that is found by timing
# would be too small on a busy machine.
_MILLISECONDS = {"float32": 100_000_000, "clock": 6_000_000}

_MEMORY_BYTES = 128 * 2**20  # in all, and at least four times the largest caches


def measure_compute(
    threads: Iterable[int], *, repeats: int, seconds: float, peaks: Iterable[str] = COMPUTE
) -> pd.DataFrame:
    """Measures the peaks of computing, interleaved, with each number of threads, for about
    `seconds` each.

    `peaks` are of `COMPUTE`, or of those of `BFLOAT16` that are here, multiply-adds of bfloat16 to
    float32. Returns a row per
    peak, number of threads and repeat: `peak`, `threads`, `repeat`, `per_second`: floating-point
    operations (a multiply-add is two), operations on 64-bit integers, or cycles, of all threads
    together.
    """
    api = compiled.load_machine()
    measurements: dict[tuple, Callable[[], float]] = {}
    for count in threads:
        openmp.team(loader.load(), count)
        measurements |= {(peak, count): _computing(api, peak, count, seconds) for peak in peaks}
    return _interleaved(measurements, ["peak", "threads"], repeats)


def is_here(peak: str) -> bool:
    """Returns whether processor and system have the instructions of a peak."""
    api = compiled.load_machine()
    return bool(api.rungs_peak_operations(described(api).enumerations["Peak"][_NAMES[peak]]))


@functools.cache
def product_peaks(threads: int) -> dict[str, float]:
    """Returns how many operations `threads` threads do a second, the best of nine, measured once
    per process: by "float32" and, where there are such instructions, "bfloat16", of the faster
    unit.
    """
    able = ["float32", *filter(is_here, BFLOAT16)]
    peaks = measure_compute([threads], repeats=9, seconds=0.01, peaks=able)
    kinds = peaks["peak"].str.partition(",")[0]
    return peaks["per_second"].groupby(kinds).max().to_dict()


@functools.cache
def core_speed() -> dict[str, float | None]:
    """Measures one core for some hundredths of a second, once in a process.

    Returns `clock_mhz`, by a chain of operations that take a cycle each, and `flops_per_cycle`, of
    multiply-adds in float32, which distinguishes processors of one name: the best of nine, or None
    without g++.
    """
    try:
        api = compiled.load_machine()
    except (CompilerError, OSError):  # there is no g++, or no sources next to a wheel's library
        return {"clock_mhz": None, "flops_per_cycle": None}
    best = dict.fromkeys(_MILLISECONDS, 0.0)
    for _ in range(9):
        for peak, work in _MILLISECONDS.items():
            number = described(api).enumerations["Peak"][_NAMES[peak]]
            iterations = round(work / api.rungs_peak_operations(number))
            work = iterations * api.rungs_peak_operations(number)
            best[peak] = max(best[peak], work / api.rungs_peak_seconds(number, 1, iterations))
    return {
        "clock_mhz": round(best["clock"] / 1e6),
        "flops_per_cycle": round(best["float32"] / best["clock"], 1),
    }


def measure_bandwidth(
    threads: Iterable[int],
    *,
    repeats: int,
    seconds: float,
    levels: Collection[str] | None = None,
    streams: Iterable[str] = STREAMS,
) -> pd.DataFrame:
    """Measures the bandwidth of caches and of memory.

    Returns a row per level, stream, number of threads and repeat: `level` ("L1", ..., "memory"),
    `stream` (of `STREAMS`), `threads`, `repeat`, `per_second`: bytes, of all threads together,
    counted as STREAM does.
    """
    api, streams = compiled.load_machine(), list(streams)
    measurements = {}
    for count in threads:
        openmp.team(loader.load(), count)
        sets = working_sets(count)
        chosen = [(level, sets[level]) for level in sets if levels is None or level in levels]
        memory = _Memory(api, count, max((size for _, size in chosen), default=0))
        for (level, size), stream in itertools.product(chosen, streams):
            measure = memory.streaming(stream.upper(), size, seconds)
            measurements[level, stream, count] = measure
    return _interleaved(measurements, ["level", "stream", "threads"], repeats)


def measure_writing(
    sizes: Iterable[int], threads: Iterable[int], *, repeats: int, seconds: float
) -> pd.DataFrame:
    """Measures how fast the same bytes are overwritten again and again, interleaved; sizes are of
    all threads together.

    Returns a row per size, number of threads and repeat: `bytes`, `threads`, `repeat`,
    `per_second`: bytes, by ordinary stores or past the caches, whichever is faster.
    """
    api = compiled.load_machine()
    measurements, sizes = {}, list(sizes)
    for count in threads:
        openmp.team(loader.load(), count)
        # Below a page the loop would be measured, and beyond a gigabyte nothing changes.
        thread_bytes = {size: min(max(size // count, 4096), 2**30 // count) for size in sizes}
        memory = _Memory(api, count, max(thread_bytes.values()))
        for size, store in itertools.product(sizes, _WRITES):
            measurements[size, count, store] = memory.streaming(store, thread_bytes[size], seconds)
    every = _interleaved(measurements, ["bytes", "threads", "way"], repeats)
    return every.groupby(["bytes", "threads", "repeat"], as_index=False)["per_second"].max()


def writing_seconds(num_bytes: int, threads: int = 1) -> float:
    """Returns the seconds that overwriting as many bytes takes, the fewest of nine measurements."""
    rates = measure_writing([num_bytes], [threads], repeats=9, seconds=0.01)["per_second"]
    return float(num_bytes / rates.max())


def gpu_bandwidth(repeats: int) -> float:
    """Returns bytes read and written per second as the GPU copies a gibibyte, the best of the
    repeats; one more comes first.
    """
    import torch  # takes seconds

    if not torch.cuda.is_available():
        raise UnavailableError("PyTorch finds no GPU")
    num_bytes = 2**30
    source = torch.zeros(num_bytes, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    rates = []
    for _ in range(repeats + 1):
        torch.cuda.synchronize()
        start = time.perf_counter()
        target.copy_(source)
        torch.cuda.synchronize()
        rates.append(2 * num_bytes / (time.perf_counter() - start))
    return max(rates[1:])


def working_sets(threads: int) -> dict[str, int]:
    """Returns the bytes a thread reads to be served by each level.

    Of L1 and L2 half its share; of L3, of which a virtual machine may have a small part, twice L2
    and at most half its share; of memory four times the largest caches.
    """
    sets: dict[str, int] = {}
    before = 0
    for cache in caches():
        half = cache.bytes // min(cache.cores, threads) // 2
        sets[f"L{cache.level}"] = half if cache.level <= 2 else min(2 * before, half)
        before = cache.bytes
    return sets | {"memory": max(4 * largest_caches(threads), _MEMORY_BYTES) // threads}


def largest_caches(threads: int) -> int:
    """Returns the bytes of the largest cache of each of `threads` cores, those shared once; or 0.

    A processor may have several caches of the last level, each shared by some of its cores.
    """
    return max((cache.bytes * -(-threads // cache.cores) for cache in caches()), default=0)


def _computing(api: Api, peak: str, threads: int, seconds: float) -> Callable[[], float]:
    """Makes a measurement of a peak's operations per second, which takes about `seconds`."""
    number = described(api).enumerations["Peak"][_NAMES[peak]]
    if not api.rungs_peak_operations(number):
        raise UnavailableError(f"this processor has no instruction for {peak}")
    run = functools.partial(api.rungs_peak_seconds, number)
    # As many as one thread does in that time: where others are busy, several wait for each other.
    iterations = _iterations(functools.partial(run, 1), seconds)
    work = api.rungs_peak_operations(number) * threads * iterations
    return lambda: work / run(threads, iterations)


class _Memory:
    """Memory of some threads, `num_bytes` of each, which all of their measurements use."""

    def __init__(self, api: Api, threads: int, num_bytes: int):
        self._api, self._threads, self._apart = api, threads, whole_lines(num_bytes)
        self._array = zeroed_lines(threads * self._apart)
        api.rungs_stream_touch(self._array.ctypes.data, self._apart, threads)

    def streaming(self, stream: str, num_bytes: int, seconds: float) -> Callable[[], float]:
        """Makes a measurement of bytes per second, in the first `num_bytes` of each thread."""
        number = described(self._api).enumerations["Stream"][stream]

        def run(passes: int) -> float:
            memory = (self._array.ctypes.data, self._apart, self._threads)
            return self._api.rungs_stream_seconds(number, *memory, num_bytes, passes)

        passes = _iterations(run, seconds)
        work = self._api.rungs_stream_bytes(number, num_bytes) * self._threads * passes
        return lambda: work / run(passes)


def _iterations(run: Callable[[int], float], seconds: float) -> int:
    """Returns how many iterations take about `seconds`."""
    iterations = 1
    # The shortest of three, as an interrupted thread's time is not that of its work.
    while (took := min(run(iterations) for _ in range(3))) < seconds / 8:
        iterations *= 4
    return max(1, round(iterations * seconds / took))


def _interleaved(measurements: dict, names: list[str], repeats: int) -> pd.DataFrame:
    rows = [
        (*key, repeat, measure())
        for repeat in range(repeats)
        for key, measure in measurements.items()
    ]
    return pd.DataFrame(rows, columns=[*names, "repeat", "per_second"])
