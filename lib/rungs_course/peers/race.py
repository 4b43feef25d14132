"""Races of our environments against others, on the same cores and at the same stage of games.

Each environment runs in its own process, which may use only as many cores as the race has threads;
so one library's threads never disturb another's. They take turns, some steps each. All play at
random, and equally many steps, so that their games are equally old. Only `step` is timed, with all
outputs that a user gets and the resets that it includes; a step that only resets does not count.
"""

import dataclasses
import functools
import math
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd

from rungs import conformance
from rungs.conformance import Case, Result
from rungs.devel import Workers, preload
from rungs.devel.envs import environments, share_ends
from rungs.machine import usable_cores
from rungs_course import peers
from rungs_course.measure.noise import MIN_REPEATS, Factor, factor, factor_apart
from rungs_course.measure.quartiles import quartiles
from rungs_course.measure.turns import timed_rounds
from rungs_course.peers import agreement
from rungs_course.peers.ours import OUTPUTS
from rungs_course.peers.peer import Peer, array_bytes


@dataclasses.dataclass(frozen=True)
class Entry:
    """A racer: its constructor, and the arguments."""

    # `make(num_envs, threads, **arguments)` returns a `Peer`; it can be pickled
    make: Callable[..., Peer]
    arguments: dict = dataclasses.field(default_factory=dict)
    max_envs: int | None = None  # the most environments it is measured with
    processes: bool = False  # whether it uses several cores by a process on each
    parent: bool = False  # whether it starts processes of its own


class Field:
    """Racers, each in a process of its own that stays until `close`.

    Importing libraries and compiling with them takes longer than most races. So racers are spread
    over the cores and start and `compare` in parallel; in a race they play one at a time.
    """

    def __init__(self, entries: dict[str, Entry], threads: int = 1):
        self._entries, self._threads = entries, threads
        self._racers: dict[str, _Racer] = {}

    def __enter__(self) -> "Field":
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def race(
        self,
        counts: list[int],
        *,
        steps: int | Callable[[int], int],
        repeats: int,
        warmup: int,
        seed: int,
        at_best: int = 0,
    ) -> pd.DataFrame:
        """Times steps of each entry, as `race`, and then `at_best` rounds in which each plays with
        the number of environments at which it was fastest.
        """
        rounds = functools.partial(self._rounds, steps=steps, warmup=warmup, seed=seed)
        frames = [
            rounds(self._fitting(num_envs), repeats, first=i * repeats)
            for i, num_envs in enumerate(counts)
        ]
        if at_best:
            chosen = best(pd.concat(frames)).set_index("racer")["num_envs"].to_dict()
            frames.append(rounds(chosen, at_best, first=len(counts) * repeats))
        return pd.concat(frames, ignore_index=True)

    def _fitting(self, num_envs: int) -> dict[str, int]:
        """Returns `num_envs` by the name of each entry that is measured with so many."""
        return {
            name: num_envs
            for name, entry in self._entries.items()
            if (self._threads if entry.processes else 1) <= num_envs <= (entry.max_envs or num_envs)
        }

    def _rounds(
        self, counts: dict[str, int], repeats: int, *, first: int, steps, warmup: int, seed: int
    ) -> pd.DataFrame:
        """Times racers in turns, each with its number of environments; numbers rounds from `first`
        on.
        """
        for name in self._racers.keys() - counts:  # to free their memory
            self._racers.pop(name).close()
        self._begin(counts, seed)
        racers = {
            name: functools.partial(
                self._racers[name].play, steps(count) if callable(steps) else steps
            )
            for name, count in counts.items()
        }
        times = timed_turns(racers, repeats=repeats, warmup=warmup, threads=self._threads)
        times.insert(1, "num_envs", times["racer"].map(counts))
        return times.assign(repeat=times["repeat"] + first)

    def compare(self, names: list[str], games: int, seed: int) -> dict:
        """Returns the results of `agreement.compare` for chess entries over one game on each of
        their boards, by name.
        """
        self._begin(dict.fromkeys(names, games), seed)
        return self._in_parallel({name: (_PeerProcess.compare, seed) for name in names})

    def ask(self, cases: dict[str, list[str]]) -> dict[str, list[Result]]:
        """Plays cases of the conformance suite, in the racers' processes."""
        self._begin({name: 1 for name in cases if name not in self._racers}, 0)
        by_id = {case.id: case for case in conformance.load().cases}
        return self._in_parallel(
            {
                name: (_PeerProcess.ask, name, [by_id[one] for one in ids])
                for name, ids in cases.items()
            }
        )

    def close(self) -> None:
        """Ends all processes."""
        while self._racers:
            self._racers.popitem()[1].close()

    def _in_parallel(self, calls: dict[str, tuple]) -> dict:
        """Calls a function with arguments in the process of each racer; returns by its name."""
        with ThreadPoolExecutor(usable_cores()) as threads:
            results = threads.map(lambda name: self._racers[name].call(*calls[name]), calls)
            return dict(zip(calls, results, strict=True))

    def _begin(self, counts: dict[str, int], seed: int) -> None:
        """Begins each racer's number of games in its process, which is started where necessary."""

        def started(name: str) -> _Racer:
            place = list(self._entries).index(name)
            racer = self._racers.get(name) or _Racer(self._entries[name], self._threads, place)
            racer.begin(counts[name], seed)
            return racer

        with ThreadPoolExecutor(usable_cores()) as threads:
            begun = [(name, threads.submit(started, name)) for name in counts]
        failed = None
        for name, future in begun:
            try:
                self._racers[name] = future.result()
            except Exception as error:
                failed = failed or error
        if failed:
            raise failed


def race(
    entries: dict[str, Entry],
    counts: list[int],
    *,
    threads: int = 1,
    steps: int | Callable[[int], int],
    repeats: int,
    warmup: int,
    seed: int,
) -> pd.DataFrame:
    """Times steps of each entry.

    Returns a row per entry and round: `racer`, `num_envs`, `threads`, `repeat` (the round's number,
    over all counts), `plies` (actions played), `seconds`, `bytes_per_ply` (of the arrays that the
    last step returned; 0 where it returned none).
    """
    with Field(entries, threads) as field:
        return field.race(counts, steps=steps, repeats=repeats, warmup=warmup, seed=seed)


def timed_turns(racers: dict, *, repeats: int, warmup: int, **settings: int) -> pd.DataFrame:
    """Calls racers, which return as `timed_steps`, in turns.

    Returns a row per racer and repeat: `racer`, the `settings`, `repeat`, `plies`, `seconds`,
    `bytes_per_ply`.
    """
    rows = [
        (name, *settings.values(), repeat, *timed)
        for name, repeat, timed in timed_rounds(racers, repeats=repeats, warmup=warmup)
    ]
    columns = ["racer", *settings, "repeat", "plies", "seconds", "bytes_per_ply"]
    return pd.DataFrame(rows, columns=columns)


def timed_steps(steps: int, choose: Callable, step: Callable) -> tuple[int, float, float]:
    """Returns the actions played, the seconds they took, and the last step's bytes per action.

    `step` takes what `choose` returns, and returns pairs: the actions played, and all outputs. A
    quarter as many steps come first, untimed, until memory and processor are as in the middle of a
    race.
    """
    plies, seconds = 0, 0.0
    for turn in range(-steps // 4, steps):
        actions = choose()
        start = time.perf_counter()
        outcomes = step(actions)
        taken = time.perf_counter() - start
        if turn >= 0:
            seconds += taken
            plies += sum(played for played, _ in outcomes)
    written = sum(array_bytes(outputs) for _, outputs in outcomes)
    return plies, seconds, written / max(1, sum(played for played, _ in outcomes))


def table(
    times: pd.DataFrame, clock_mhz: float | None, writing_seconds: dict[str, float] | None = None
) -> pd.DataFrame:
    """Returns each racer of a race on one core at its best, the fastest first.

    A row per racer, by name: `num_envs`, `rate`, `low` and `high`, see `best`; `per_kilocycle`
    (plies in 1,000 cycles; NaN where the clock is not known); `bytes_per_ply` (where no game ends;
    NaN where a step returns no arrays); `share` of the bound (`writing_seconds`, by racer, to write
    a ply's bytes alone, over the time of a ply; NaN where not known); and for each of `OUTPUTS` a
    column of its name, the `Factor` of its rate over the racer's.
    """
    rows = best(times).set_index("racer")
    writing = pd.Series(writing_seconds or {}, dtype=float)
    rates = _rates_at_best(times)
    return rows.assign(
        per_kilocycle=rows["rate"] / ((clock_mhz or math.nan) * 1e3),
        bytes_per_ply=times.groupby("racer")["bytes_per_ply"].min().replace(0, math.nan),
        share=writing * rows["rate"],
        **{name: [_factor(rates[name], rates[r]) for r in rows.index] for name in OUTPUTS},
    )


def best(times: pd.DataFrame) -> pd.DataFrame:
    """Returns each racer's rate with the number of environments at which it is fastest, the fastest
    first.

    Where a racer has more repeats with one number than with others, as after rounds `at_best`, it
    is that one. Columns: `racer`, `num_envs`, `rate` (actions per second, the median over repeats),
    `low` and `high` (quartiles).
    """
    repeats = times.groupby(["racer", "num_envs"])["repeat"].transform("count")
    often = times[repeats == repeats.groupby(times["racer"]).transform("max")]
    rates = often.assign(rate=often["plies"] / often["seconds"])
    table = quartiles(rates.groupby(["racer", "num_envs"])["rate"], "rate").reset_index()
    fastest = table.sort_values("rate", ascending=False).drop_duplicates("racer")
    return fastest[["racer", "num_envs", "rate", "low", "high"]].reset_index(drop=True)


def gain(times: pd.DataFrame, baseline: str, racer: str) -> Factor:
    """Returns how many times as fast as `baseline` a racer is, each at its best; see `best`."""
    rates = _rates_at_best(times)
    return _factor(rates[racer], rates[baseline])


def _rates_at_best(times: pd.DataFrame) -> dict[str, pd.Series]:
    """Returns each racer's rates by round, at the number of environments that `best` has."""
    round_of = ["repeat"]
    if times.duplicated(["racer", "repeat"]).any():  # anew for each count, before 0.4
        round_of = ["num_envs", "repeat"]
    rates = times.assign(rate=times["plies"] / times["seconds"]).groupby(["racer", "num_envs"])
    counts = best(times).set_index("racer")["num_envs"]
    return {
        racer: rates.get_group((racer, count)).set_index(round_of)["rate"]
        for racer, count in counts.items()
    }


def _factor(numerators: pd.Series, denominators: pd.Series) -> Factor:
    """Returns the factor of two rates, by the rounds that both raced, if there are enough."""
    ratios = (numerators / denominators).dropna()
    return factor(ratios) if len(ratios) >= MIN_REPEATS else factor_apart(numerators, denominators)


class _Racer:
    """A racer's process, which measures its own time; or a process on each core.

    Each of several processes has its share of the environments; actions and outputs are sent.
    """

    def __init__(self, entry: Entry, threads: int, place: int = 0):
        # Racers of different places are on different cores.
        first = threads * (place % max(1, usable_cores() // threads))
        self._count = threads if entry.processes else 1
        share = threads // self._count
        processes = [(entry.make, share, entry.arguments, first + i) for i in range(self._count)]
        # Their imports take seconds; where most racers are ours, C++ is compiled once for all.
        preload("rungs_course.ready", __name__)
        self._pool = Workers(_PeerProcess, processes, daemon=not entry.parent)

    def begin(self, num_envs: int, seed: int) -> None:
        shares = np.diff(share_ends(num_envs, self._count), prepend=0).tolist()
        self._pool.call(_PeerProcess.begin, [(share, seed + i) for i, share in enumerate(shares)])

    def play(self, steps: int) -> tuple[int, float, float]:
        if self._count == 1:
            return self.call(_PeerProcess.play, steps)
        return timed_steps(
            steps, self._choose, lambda actions: self._pool.call(_PeerProcess.step, actions)
        )

    def _choose(self) -> list[tuple]:
        return [(chosen,) for chosen in self._pool.call(_PeerProcess.choose, [()] * self._count)]

    def call(self, function: Callable, *arguments: Any) -> Any:
        """Calls a method of `_PeerProcess` in a racer's only process."""
        return self._pool.call_one(0, function, *arguments)

    def close(self) -> None:
        self._pool.close()


class _PeerProcess:
    """A peer in a process that may use some cores only."""

    def __init__(self, make: Callable, threads: int, arguments: dict, first: int):
        cores = sorted(os.sched_getaffinity(0))[: usable_cores()]
        os.sched_setaffinity(0, cores[first : first + threads])
        self._make, self._threads, self._arguments = make, threads, arguments
        self._peer: Any = None

    def begin(self, num_envs: int, seed: int) -> None:
        """Begins with `num_envs` environments, in place of those before."""
        if self._peer is not None:
            self._peer.close()
            self._peer = None  # to free its memory
        self._peer = self._make(num_envs, self._threads, **self._arguments)
        self._peer.reset(seed)
        self._rng = np.random.default_rng(seed)

    def choose(self):
        return self._peer.choose(self._rng)

    def step(self, actions) -> tuple[int, tuple]:
        outputs = self._peer.step(actions)
        return self._peer.played(), outputs

    def play(self, steps: int) -> tuple[int, float, float]:
        return timed_steps(steps, self.choose, lambda actions: [self.step(actions)])

    def compare(self, seed: int):
        return agreement.compare(self._peer, seed)

    def ask(self, name: str, cases: list[Case]) -> list[Result]:
        return conformance.run(environments.make(peers.to_be_asked([name])[name][0]), cases)
