"""What this machine does at most, measured: operations, cycles and bytes per second."""

import functools
import itertools
import time
from collections.abc import Callable, Iterable

import pandas as pd

from rungs._src.native import loader
from rungs._src.native.abi import Api, described
from rungs._src.threads import openmp
from rungs.errors import CompilerError, UnavailableError
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
# And those that only some processors have.
_NAMES = COMPUTE | {"bfloat16": "BFLOAT16"}
# Names in `rungs::machine::Stream`, as are the two ways of writing.
STREAMS = ("read", "copy", "triad")
_WRITES = ("WRITE", "WRITE_PAST_CACHES")

# Operations that take a core some milliseconds: a fixed number, as one that is found by timing
# would be too small on a busy machine.
_MILLISECONDS = {"float32": 100_000_000, "clock": 6_000_000}

_MEMORY_BYTES = 128 * 2**20  # in all, and at least four times the largest cache


def measure_compute(
    threads: Iterable[int], *, repeats: int, seconds: float, peaks: Iterable[str] = COMPUTE
) -> pd.DataFrame:
    """Measures the peaks of computing, interleaved, with each number of threads.

    Args:
        repeats: measurements of each.
        seconds: about how long each takes.
        peaks: of `COMPUTE`, or "bfloat16", multiply-adds of bfloat16 to float32.

    Returns:
        A row per peak, number of threads and repeat: `peak`, `threads`, `repeat`, `per_second`:
        floating-point operations (a multiply-add is two), operations on 64-bit integers, or cycles,
        of all threads together.

    Raises:
        CompilerError: there is no g++ to compile the measurement with.
        UnavailableError: the system gives fewer threads, or the processor has no such instruction.
    """
    api = compiled.load_machine()
    measurements: dict[tuple, Callable[[], float]] = {}
    for count in threads:
        openmp.require_threads(loader.load(), count)
        measurements |= {(peak, count): _computing(api, peak, count, seconds) for peak in peaks}
    return _interleaved(measurements, ["peak", "threads"], repeats)


@functools.cache
def product_peaks(threads: int) -> dict[str, float]:
    """Measures, once per process, how many operations `threads` threads do a second.

    Returns:
        The best of nine measurements, by the format of what is multiplied: "float32" and, where the
        processor has such instructions, "bfloat16".

    Raises:
        CompilerError: there is no g++ to compile the measurement with.
        UnavailableError: the system gives fewer threads.
    """
    api = compiled.load_machine()
    number = described(api).enumerations["Peak"][_NAMES["bfloat16"]]
    able = ["float32", "bfloat16"] if api.rungs_peak_operations(number) else ["float32"]
    peaks = measure_compute([threads], repeats=9, seconds=0.01, peaks=able)
    return peaks.groupby("peak")["per_second"].max().to_dict()


@functools.cache
def core_speed() -> dict[str, float | None]:
    """Measures one core for some hundredths of a second, once in a process.

    Returns:
        `clock_mhz`, by a chain of operations that take a cycle each, and `flops_per_cycle`, of
        multiply-adds in float32, which distinguishes processors that go by one name: the best
        of nine of each, in turns. Both are None where there is no g++ to compile it with.
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


def measure_bandwidth(threads: Iterable[int], *, repeats: int, seconds: float) -> pd.DataFrame:
    """Measures the bandwidth of each cache and of memory; arguments as for `measure_compute`.

    Returns:
        A row per level, stream, number of threads and repeat: `level` ("L1", ..., "memory"),
        `stream` ("read", "copy", "triad"), `threads`, `repeat`, `per_second`: bytes, of all threads
        together, counted as STREAM does.

    Raises:
        UnavailableError: the system gives fewer threads.
    """
    api = compiled.load_machine()
    measurements = {}
    for count in threads:
        openmp.require_threads(loader.load(), count)
        for level, size in working_sets(count).items():
            for stream in STREAMS:
                measure = _streaming(api, stream.upper(), count, size, seconds)
                measurements[level, stream, count] = measure
    return _interleaved(measurements, ["level", "stream", "threads"], repeats)


def measure_writing(
    sizes: Iterable[int], threads: Iterable[int], *, repeats: int, seconds: float
) -> pd.DataFrame:
    """Measures how fast the same bytes are overwritten again and again, interleaved.

    Args:
        sizes: bytes, of all threads together.
        threads, repeats, seconds: see `measure_compute`.

    Returns:
        A row per size, number of threads and repeat: `bytes`, `threads`, `repeat`, `per_second`:
        bytes, by ordinary stores or past the caches, whichever is faster.

    Raises:
        UnavailableError: the system gives fewer threads.
    """
    api = compiled.load_machine()
    measurements = {}
    for size, count in itertools.product(sizes, threads):
        openmp.require_threads(loader.load(), count)
        for way in _WRITES:
            # Below a page the loop would be measured, and beyond a gigabyte nothing changes.
            own = min(max(size // count, 4096), 2**30 // count)
            measurements[size, count, way] = _streaming(api, way, count, own, seconds)
    every = _interleaved(measurements, ["bytes", "threads", "way"], repeats)
    return every.groupby(["bytes", "threads", "repeat"], as_index=False)["per_second"].max()


def gpu_bandwidth(repeats: int) -> float:
    """Measures the rate at which the GPU copies its memory.

    Args:
        repeats: measurements of a gibibyte; a further one comes first and is left out.

    Returns:
        Bytes read and bytes written per second, the best of the repeats.

    Raises:
        UnavailableError: PyTorch finds no GPU.
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
    """Returns the bytes a thread reads to be served by each level: half its share of a cache."""
    known = caches()
    sets = {f"L{cache.level}": cache.bytes // min(cache.cores, threads) // 2 for cache in known}
    largest = max((cache.bytes for cache in known), default=0)
    return sets | {"memory": max(4 * largest, _MEMORY_BYTES) // threads}


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


def _streaming(
    api: Api, stream: str, threads: int, num_bytes: int, seconds: float
) -> Callable[[], float]:
    """Makes a measurement of bytes per second, of `num_bytes` by each thread; as `_computing`."""
    number = described(api).enumerations["Stream"][stream]
    run = functools.partial(api.rungs_stream_seconds, number, threads, num_bytes)
    iterations = _iterations(run, seconds)
    work = api.rungs_stream_bytes(number, num_bytes) * threads * iterations
    return lambda: work / run(iterations)


def _iterations(run: Callable[[int], float], seconds: float) -> int:
    """Returns how many iterations take about `seconds`."""
    iterations = 1
    # The shortest of three, as an interrupted thread's time is not that of its work.
    while (took := min(run(iterations) for _ in range(3))) < seconds / 8:
        if took < 0:
            raise MemoryError("there is no memory left to measure its bandwidth with")
        iterations *= 4
    return max(1, round(iterations * seconds / took))


def _interleaved(measurements: dict, names: list[str], repeats: int) -> pd.DataFrame:
    rows = [
        (*key, repeat, measure())
        for repeat in range(repeats)
        for key, measure in measurements.items()
    ]
    return pd.DataFrame(rows, columns=[*names, "repeat", "per_second"])
