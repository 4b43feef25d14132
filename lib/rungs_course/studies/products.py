"""The matrix product in five versions, `cpp/course/gemm_ladder.hpp`, raced beside PyTorch's."""

import functools
import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch

from rungs._src.native import loader
from rungs._src.native.abi import described
from rungs._src.threads.team import workers_of
from rungs.errors import MismatchError
from rungs_course import compiled
from rungs_course.measure.quartiles import quartiles
from rungs_course.measure.turns import timed_rounds


class Version(NamedTuple):
    """A function of `cpp/course/gemm_ladder.hpp`, and the idea that it adds to the one before."""

    name: str
    idea: str


# By `rungs::course::Product`'s names; what is last is PyTorch's own.
VERSIONS = (
    Version("naive", "as the formula has it"),
    Version("rows", "rows, not columns"),
    Version("blocked", "blocks in the cache"),
    Version("registers", "tiles in registers"),
    Version("threads", "all cores"),
)
LIBRARY = Version("torch", "PyTorch's library")


def multiply(version: str, a: np.ndarray, b: np.ndarray, *, threads: int) -> np.ndarray:
    """Multiplies two matrices.

    Args:
        version: of `VERSIONS`, or "torch".
        a: (n, n) float32.
        b: likewise.
        threads: of the version `threads`.

    Returns:
        (n, n) float32.
    """
    result = np.empty_like(a)
    _times(version, a, b, result, threads, 1)
    return result


def race(
    sizes: Iterable[int], *, threads: int, repeats: int, seconds: float, seed: int = 0
) -> pd.DataFrame:
    """Times all versions, and PyTorch on one thread and on all, in turns.

    Args:
        sizes: of the matrices, n.
        threads: of the version `threads` and of PyTorch.
        repeats: turns timed; one more comes before.
        seconds: about how long a turn takes: so many products are computed.
        seed: of the matrices.

    Returns:
        A row per size, version and repeat: `n`, `version`, `threads`, `repeat`, `per_second`,
        floating-point operations.

    Raises:
        MismatchError: a product differs from the exact one by more than rounding explains.
    """
    rng, racers = np.random.default_rng(seed), {}
    for n in sizes:
        a, b = rng.uniform(-1, 1, (2, n, n)).astype(np.float32)
        exact = a.astype(np.float64) @ b
        for name, number in _racers(threads):
            result = np.empty_like(a)
            turn = functools.partial(_times, name, a, b, result, number)
            once = turn(1)
            _check(name, result, exact)
            racers[n, name, number] = functools.partial(turn, max(1, int(seconds / once)))
    turns: dict[tuple, list[float]] = {key: [] for key in racers}
    for key, _, taken in timed_rounds(racers, repeats=repeats, warmup=1):
        turns[key].append(2 * key[0] ** 3 / taken)
    rows = [(*key, repeat, rate) for key in turns for repeat, rate in enumerate(turns[key])]
    return pd.DataFrame(rows, columns=["n", "version", "threads", "repeat", "per_second"])


def table(frame: pd.DataFrame, peaks: dict[int, float]) -> pd.DataFrame:
    """Sums up a race.

    Args:
        frame: of `race`.
        peaks: floating-point operations a second at most, by number of threads.

    Returns:
        A row per size and racer: `n`, `version`, `idea`, `threads`, `low`, `per_second` (the
        median) and `high`, `relative` (how many times as fast as the racer before), `absolute` (as
        the first), and `share` of the peak of so many threads.
    """
    keys = ["n", "version", "threads"]
    spread = quartiles(frame.groupby(keys)["per_second"], "per_second").reset_index()
    spread = frame[keys].drop_duplicates().merge(spread)  # in the order of the ladder
    spread.insert(2, "idea", spread["version"].map(dict((*VERSIONS, LIBRARY))))
    by_size = spread.groupby("n")["per_second"]
    spread["relative"] = spread["per_second"] / by_size.shift(1).fillna(spread["per_second"])
    spread["absolute"] = spread["per_second"] / by_size.transform("first")
    spread["share"] = spread["per_second"] / spread["threads"].map(peaks)
    return spread


def _racers(threads: int) -> list[tuple[str, int]]:
    """Returns names and numbers of threads, in the order of the ladder."""
    ours = [(version.name, 1) for version in VERSIONS[:-1]]
    several = [("threads", threads), (LIBRARY.name, threads)] if threads > 1 else []
    return [*ours, (LIBRARY.name, 1), *several]


def _times(
    version: str, a: np.ndarray, b: np.ndarray, result: np.ndarray, threads: int, count: int
) -> float:
    """Multiplies so often; returns the seconds of each time."""
    multiplies = _by_torch if version == LIBRARY.name else _by_ours(version)
    return multiplies(a, b, result, threads, count)


def _by_ours(version: str) -> Callable[..., float]:
    api = compiled.load_course()
    number = described(api).enumerations["Product"][version]

    def multiplies(a, b, result, threads: int, count: int) -> float:
        arrays = [array.ctypes.data for array in (a, b, result)]
        workers = workers_of(loader.load(), threads)
        start = time.perf_counter()
        for _ in range(count):
            api.rungs_learn_product(number, *arrays, len(a), *workers)
        return (time.perf_counter() - start) / count

    return multiplies


def _by_torch(a, b, result, threads: int, count: int) -> float:
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        left, right, out = map(torch.from_numpy, (a, b, result))
        start = time.perf_counter()
        for _ in range(count):
            torch.mm(left, right, out=out)
        return (time.perf_counter() - start) / count
    finally:
        torch.set_num_threads(before)


def _check(name: str, found: np.ndarray, exact: np.ndarray) -> None:
    """Raises MismatchError where sums of n products are off by more than n roundings."""
    bound = len(exact) * np.finfo(np.float32).eps
    error = np.abs(found - exact).max()
    if not error <= bound:
        raise MismatchError(f"{name}: the product of {len(exact)} is off by {error:.1e}")
