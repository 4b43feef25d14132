"""The Python rung: sampled stacks as a flame graph, how it ages, and Amdahl's law."""

import functools
from collections import Counter
from collections.abc import Iterable

import chess
import ipywidgets
import numpy as np
import pandas as pd

from rungs_course import plots, widgets

_PACKAGES = {"rungs": "Rungs", "chess": "python-chess"}  # all others are "NumPy and Python"
_NARROWEST = 0.003  # of the samples, that a function needs to be drawn
_LETTER = 0.0095  # the width of one in a name, as a share of the axes


def draw_flames(stacks: pd.DataFrame):
    """Draws a flame graph: each function stands on the one that called it, as wide as its share of
    the samples.

    `stacks` has a row per stack: `stack`, functions as `module.qualified_name` from the outermost
    in, separated by ";", and `samples`.
    """
    widths: Counter = Counter()
    for stack, samples in zip(stacks["stack"], stacks["samples"], strict=True):
        functions = tuple(stack.split(";"))
        for depth in range(1, len(functions) + 1):
            widths[functions[:depth]] += samples
    total = stacks["samples"].sum()
    deepest = max(len(prefix) for prefix in widths if widths[prefix] > _NARROWEST * total)
    figure, axes = plots.axes(width=9.0, height=1.3 + 0.28 * deepest)
    names = [*_PACKAGES.values(), "NumPy and Python"]
    colors = dict(zip(names, (plots.ORANGE, plots.SKY, plots.GREY), strict=True))
    left = {(): 0.0}  # of what is drawn next above a function, as a share of the samples
    for prefix in sorted(widths):  # callers before what they call
        share, start = widths[prefix] / total, left[prefix[:-1]]
        left[prefix[:-1]], left[prefix] = start + share, start
        if share < _NARROWEST:
            continue
        module, *_, name = prefix[-1].split(".")
        color = colors[_PACKAGES.get(module, names[-1])]
        place = {"left": 100 * start, "height": 0.92, "edgecolor": "white", "linewidth": 0.5}
        axes.barh(len(prefix), 100 * share, color=color, **place)
        letters = int(share / _LETTER)
        if letters > 4 or letters >= len(name):
            text = name if letters >= len(name) else f"{name[: letters - 1]}…"
            middle = (100 * (start + share / 2), len(prefix))
            axes.annotate(text, middle, ha="center", va="center", fontsize="x-small")
    axes.grid(False)
    axes.set(xlim=(0, 100), xlabel="per cent of the samples")
    axes.set(yticks=[], ylabel="functions, each above its caller")
    axes.set_title("Where a step of the python rung goes")
    plots.legend_below(figure, {name: {"facecolor": colors[name]} for name in names}, 3)
    return figure


def random_games(ages: Iterable[int], games: int, seed: int) -> dict[int, list[chess.Board]]:
    """Returns `games` boards of each age in plies, of games that lasted to the greatest age."""
    rng, ages = np.random.default_rng(seed), sorted(ages)
    boards_of_age: dict[int, list[chess.Board]] = {age: [] for age in ages}
    while len(boards_of_age[ages[-1]]) < games:
        board, stages = chess.Board(), {}
        while board.ply() < ages[-1] and (moves := list(board.legal_moves)):
            board.push(moves[rng.integers(len(moves))])
            if board.ply() in boards_of_age:
                stages[board.ply()] = board.copy()
        if len(stages) == len(ages):
            for age, stage in stages.items():
                boards_of_age[age].append(stage)
    return boards_of_age


def draw_aging(times: pd.DataFrame):
    """Draws what a ply takes as the games get older: medians of three segments, and their range."""
    figure, axes = plots.axes(height=3.6)
    steps = (times["plies"] // times["num_envs"]).iloc[0]
    length = steps + -(-steps // 4)  # a race plays a quarter more, untimed
    age = (times["repeat"] // 3 * 3 + 1.5) * length
    per_ply = times.assign(age=age, microseconds=times["seconds"] / times["plies"] * 1e6)
    look = {"hue": "racer", "style": "racer", "palette": [plots.ORANGE, plots.BLUE]}
    look |= {"markers": ["o", "s"], "estimator": "median", "errorbar": ("pi", 100)}
    plots.seaborn.lineplot(per_ply, x="age", y="microseconds", ax=axes, **look)
    axes.set(xlabel="plies since the first game began", ylabel="microseconds per ply")
    axes.set_ylim(0, None)
    axes.legend(frameon=False)
    axes.set_title("The same games, as they get older")
    return figure


def draw_search(times: pd.DataFrame):
    """Draws what a look for a repetition takes over the age of the game, a line for each `how`."""
    figure, axes = plots.axes(height=3.6)
    microseconds = times.assign(microseconds=times["seconds"] * 1e6)
    plots.median_lines(axes, microseconds, "how", "age", "microseconds")
    axes.set(xlabel="age of the game, plies", ylabel="microseconds per position")
    axes.set_ylim(0, None)
    axes.legend(frameon=False)
    axes.set_title("To look for a repetition in one position")
    return figure


def amdahl(share, times_as_fast):
    """Returns how many times as fast the whole is when a part, `share` of its time (0 to 1), is:
    numbers, or arrays.
    """
    return 1 / (1 - share + share / times_as_fast)


def draw_amdahl(shares: pd.DataFrame, chosen: str, faster: float):
    """Draws what the whole gains over how many times as fast a part becomes, a line for each part;
    marks one part at `faster`.
    """
    figure, axes = plots.axes(width=8.0, height=4.2)
    factors = np.geomspace(1, 100, 61)
    for part, rows, look in plots.lines(shares.groupby("part", sort=False)):
        share = rows["share"].iloc[0]
        look |= {"markevery": 10, "linewidth": 3 if part == chosen else 1}
        axes.plot(factors, amdahl(share, factors), label=f"{part}, {share:.0%}", **look)
    share = shares.set_index("part")["share"][chosen]
    limit, gained = amdahl(share, np.inf), amdahl(share, faster)
    axes.axhline(limit, color=plots.BLACK, linestyle="--", linewidth=1)
    axes.text(1.05, limit, f"if it took no time: {plots.ratio(limit)}", va="bottom")
    axes.plot(faster, gained, "*", color=plots.BLACK, markersize=14, zorder=4)
    axes.set_xscale("log")
    axes.set_xticks([1, 2, 5, 10, 20, 50, 100], ["1×", "2×", "5×", "10×", "20×", "50×", "100×"])
    axes.minorticks_off()
    axes.set_xlabel("how many times as fast that part becomes")
    axes.set_ylabel("how many times as fast a step becomes")
    axes.set_title(f"{chosen} {faster:g} times as fast: a step {plots.ratio(gained)}")
    plots.legend_beside(axes)
    return figure


def explore_amdahl(shares: pd.DataFrame):
    """Shows what a step gains where a part of the reader's choice becomes faster."""
    part = ipywidgets.Dropdown(options=shares["part"].tolist(), description="part")
    faster = widgets.slider([1, 1.5, 2, 3, 5, 10, 20, 50, 100], 10, "faster, ×")
    return widgets.explore(functools.partial(draw_amdahl, shares), chosen=part, faster=faster)
