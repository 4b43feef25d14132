"""Carts as an array of structures and as a structure of arrays: the same arithmetic, timed.

They are advanced even after their poles have fallen: this is not an environment, and the values of
the numbers make no difference to the time.
"""

import functools
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import seaborn

from rungs.errors import MismatchError
from rungs.memory import zeroed_lines
from rungs_course import compiled, plots
from rungs_course.machine.topology import Cache
from rungs_course.measure.turns import timed_rounds

LAYOUTS = ("array of structures", "structure of arrays")
WORKS = ("all four numbers", "one number")
CART_BYTES = 32  # four float64


def places(caches: list[Cache], least: int) -> dict[str, int]:
    """Returns how many carts fit half of the second cache, and how many, at least `least`, exceed
    the last.
    """
    second, last = (caches[1].bytes, caches[-1].bytes) if len(caches) > 1 else (2**18, 0)
    beyond = max(least, 4 * last // CART_BYTES)
    return {"in a cache": second // 2 // CART_BYTES, "in memory": beyond}


def race_layouts(
    counts: Mapping[str, int], *, seconds: float, repeats: int, warmup: int, seed: int
) -> pd.DataFrame:
    """Times both layouts in turns, where all of a cart's numbers are needed and where one is.

    Returns a row per place, work, layout and repeat: `place`, `carts`, `work` (of `WORKS`),
    `layout` (of `LAYOUTS`), `repeat`, and `seconds` of a cart.
    """
    api, rows = compiled.load_course(), []
    for place, number in counts.items():
        start = np.random.default_rng(seed).uniform(-0.05, 0.05, (number, 4))
        carts = {layout: zeroed_lines(start.nbytes).view(np.float64) for layout in LAYOUTS}
        _check(api, carts, start)
        calls: dict[tuple[str, str], Callable[[int], Any]] = {}
        for arrays, (layout, memory) in enumerate(carts.items()):
            all_four, one = api.rungs_layouts_advance, api.rungs_layouts_count
            calls["all four numbers", layout] = _timed(all_four, arrays, memory, number)
            calls["one number", layout] = _timed(one, arrays, memory, number)
        racers = {}
        for name, call in calls.items():
            times = max(2, round(seconds / max(call(2) / 2, 1e-7)))
            racers[name] = functools.partial(_seconds, call, times - times % 2, number)
        rows += [
            (place, number, *name, repeat, taken)
            for name, repeat, taken in timed_rounds(racers, repeats=repeats, warmup=warmup)
        ]
    columns = ["place", "carts", "work", "layout", "repeat", "seconds"]
    return pd.DataFrame(rows, columns=columns)


def _check(api, carts: dict[str, np.ndarray], start: np.ndarray) -> None:
    structures, arrays = carts.values()
    number = len(start)
    structures[:], arrays[:] = start.ravel(), start.T.ravel()
    counts = []
    for is_arrays, memory in enumerate(carts.values()):
        api.rungs_layouts_advance(is_arrays, memory, number, 2)
        counts.append(api.rungs_layouts_count(is_arrays, memory, number, 1))
    if not np.array_equal(structures.reshape(number, 4), arrays.reshape(4, number).T):
        raise MismatchError("the layouts end with different carts")
    if counts[0] != counts[1]:
        raise MismatchError(f"the layouts count differently: {counts[0]} and {counts[1]}")


def _timed(call: Callable, arrays: int, memory: np.ndarray, number: int) -> Callable[[int], float]:
    def run(times: int) -> float:
        begin = time.perf_counter()
        call(arrays, memory, number, times)
        return time.perf_counter() - begin

    return run


def _seconds(call: Callable[[int], float], times: int, number: int) -> float:
    return call(times) / times / number


def draw_layouts(times: pd.DataFrame):
    """Draws the time of a cart by layout, a panel for each work; `times` is of `race_layouts`."""
    figure, panels = plots.axes(8.5, 3.0, ncols=len(WORKS))
    colors = dict(zip(LAYOUTS, (plots.ORANGE, plots.BLUE), strict=True))
    for panel, work in zip(panels, WORKS, strict=True):
        rows = times[times["work"] == work].assign(nanoseconds=times["seconds"] * 1e9)
        at = {"x": "nanoseconds", "y": "place", "hue": "layout", "palette": colors}
        look = {"dodge": 0.4, "linestyle": "none", "markers": ["s", "o"], "legend": False}
        look |= {"estimator": "median", "errorbar": ("pi", 50)}
        seaborn.pointplot(rows, ax=panel, **at, **look)
        panel.set(title=work, ylabel="", xlabel="nanoseconds per cart")
        panel.set_xlim(0, None)
    for layout, marker in zip(LAYOUTS, "so", strict=True):
        panels[0].plot([], [], marker, color=colors[layout], label=layout)
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    return figure
