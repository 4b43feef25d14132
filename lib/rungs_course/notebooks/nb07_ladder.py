"""The ladder's figures."""

from typing import Any, NamedTuple

import pandas as pd

from rungs_course import plots, widgets
from rungs_course.measure.quartiles import quartiles
from rungs_course.tables import ladder_table


def draw_ladder(table: pd.DataFrame, floor: float | None = None):
    """Draws plies per second of every rung, and the bound `floor`, on a logarithmic scale."""
    figure, axes = plots.axes(height=1.5 + 0.55 * len(table))
    speeds = table["plies_per_second"]
    steps = speeds * table["seconds"]  # plies of a step
    errors = [speeds - steps / table["seconds_high"], steps / table["seconds_low"] - speeds]
    axes.errorbar(
        speeds, range(len(table)), xerr=errors, fmt="o", color=plots.BLUE, capsize=3, markersize=7
    )
    white = {"facecolor": "white", "linewidth": 0, "pad": 1}
    above = {"xytext": (0, 7), "textcoords": "offset points", "bbox": white}
    for i, (rate, gain) in enumerate(zip(speeds, table["absolute_speedup"], strict=True)):
        side = "right" if rate**2 > speeds.min() * speeds.max() else "left"  # off the bound's line
        text = f"{plots.speed(rate)}  ({plots.ratio(gain)})"
        axes.annotate(text, (rate, i), ha=side, **above)
    axes.set_yticks(range(len(table)), table["rung"])
    axes.set_ylim(len(table) - 0.4, -0.6)
    axes.set_xscale("log")
    axes.set_xlim(speeds.min() / 4, max(speeds.max(), floor or 0) * 4)
    if floor:
        axes.axvline(floor, color=plots.BLACK, linestyle="--", zorder=0)
        label = f"bound: only writing the outputs, {plots.speed(floor)} "
        axes.text(floor, len(table) - 0.1, label, ha="right", va="center", fontsize="small")
        axes.set_ylim(len(table) + 0.3, -0.6)
    axes.xaxis.set_major_formatter(lambda rate, _: plots.speed(rate))
    axes.set_xlabel("plies per second (logarithmic; lines: 93 % intervals)")
    axes.set_title("The ladder: the same games on every rung")
    return figure


class Lines(NamedTuple):
    """The lines of a source file that make a rung, and why it is faster or slower than others."""

    file: str
    code: str
    reason: str


_BOARDS = "lib/rungs/_src/chess/boards"
POSTER = {
    "python": Lines(
        f"{_BOARDS}/python.py",
        "env.step(action, reply, self.buffers, i)\n"
        "for i, (env, action, reply) in enumerate(played)",
        "python-chess: objects,\none board after the other",
    ),
    "multiprocessing": Lines(
        f"{_BOARDS}/multiprocessing.py",
        "self._change(PythonBoards.step_legal, parts, tuple(OUTPUTS))",
        "a process for each core;\nmessages take a part of the gain",
    ),
    "cpp": Lines(
        "cpp/rungs/cpu_loops.hpp",
        "for (std::int64_t b = 0; b < blocks; ++b) ended += batch.step_block(b);",
        "sets of squares are numbers,\neight boards step in one register",
    ),
    "openmp": Lines(
        "cpp/rungs/cpu_loops.hpp",
        "#pragma omp for schedule(static, chunk) nowait\n"
        "for (std::int64_t b = 0; b < blocks; ++b) body(b);",
        "a thread for each core;\na barrier waits for the last",
    ),
    "threads": Lines(
        "cpp/rungs/cpu_loops.hpp",
        "for (std::int64_t b = chunk * kChunk; b < end; ++b) sum += body(pass, b);",
        "a pool: whoever is ready takes\nthe next chunk of boards",
    ),
    "mpi": Lines(
        "cpp/rungs/mpi.hpp",
        "MPI_Allreduce(MPI_IN_PLACE, &illegal, 1, MPI_INT64_T, MPI_MIN, ranks.comm());",
        "ranks, also of several machines;\nmessages are copies",
    ),
    "cuda": Lines(
        "cpp/rungs/cuda.hpp",
        "const std::int64_t i = thread_number();\n"
        "if (batch->step_group(i)) atomicAdd(ended, 1ULL);",
        "a thread of the GPU\nfor each board",
    ),
}


def draw_poster(table: pd.DataFrame, where: str):
    """Draws the ladder as one picture: a row for each rung of `POSTER` that was raced, with its
    code, how many times as fast as the first it is, and why; `where` names the machine.
    """
    rows = table[table["rung"].isin(POSTER)].reset_index(drop=True)
    figure, axes = plots.axes(width=11.0, height=1.0 + 0.95 * len(rows))
    gains = rows["absolute_speedup"]
    axes.barh(rows.index + 0.1, gains - 0.9, left=0.9, height=0.3, color=plots.BLUE)
    axes.set(xscale="log", xlim=(0.9, 9 * gains.max()), ylim=(len(rows) - 0.4, -0.6), yticks=[])
    axes.grid(False)
    figure.set_layout_engine("none")  # which would count the texts at the side in the axes' width
    axes.set_position((0.27, 0.1, 0.71, 0.83))
    at_side = {"transform": axes.get_yaxis_transform()}
    for i, (rung, gain) in enumerate(zip(rows["rung"], gains, strict=True)):
        lines = POSTER[rung]
        ratio = f"  {plots.ratio(gain)}"
        axes.text(gain, i + 0.1, ratio, va="center", size="x-large", weight="bold")
        axes.text(-0.37, i - 0.1, rung, size="large", weight="bold", va="bottom", **at_side)
        axes.text(-0.37, i - 0.05, lines.reason, va="top", **at_side)
        code = {"va": "bottom", "family": "monospace", "size": "small", **at_side}
        axes.text(0.0, i - 0.12, lines.code, **code)
    axes.xaxis.set_major_formatter(lambda gain, _: plots.ratio(gain))
    axes.set_xlabel(f"times as many plies per second as {rows['rung'][0]} (logarithmic); {where}")
    figure.suptitle("The ladder: the same games, bit for bit, and the lines that make each rung")
    return figure


_STROKES: dict[str, Any] = {"alone": "-", "in situ": (0, (4, 2))}


def draw_sizes(times: pd.DataFrame, bounds: pd.DataFrame):
    """Draws rungs' plies per second over the number of boards, alone and in situ, and the bounds of
    writing: medians and quartiles, a panel for `bool` masks and one for `bits`.
    """
    keys = ["mask", "where", "racer", "num_envs"]
    rates = (times["plies"] / times["seconds"]).groupby([times[key] for key in keys], sort=False)
    table = quartiles(rates, "plies_per_second").reset_index()
    figure, panels = plots.axes(width=9.0, height=4.8, ncols=2, sharey=True)
    for panel, mask in zip(panels, ("bool", "bits"), strict=True):
        chosen = table[table["mask"] == mask]
        for racer, rows, look in plots.lines(chosen.groupby("racer", sort=False)):
            for where, medians in rows.groupby("where", sort=False):
                label = racer if where == "alone" else None
                stroke = {"linestyle": _STROKES[where]}
                plots.band_line(
                    panel, medians, "num_envs", "plies_per_second", label, look | stroke
                )
        panel.plot([], [], color=plots.BLACK, linestyle=_STROKES["in situ"], label="in situ")
        for threads, bound in bounds[bounds["mask"] == mask].groupby("threads"):
            label = f"bound: writing on {threads} thread{'s' * (threads > 1)}"
            dots = {"color": plots.GREY, "linestyle": ":", "linewidth": 1 + threads, "label": label}
            panel.plot(bound["num_envs"], bound["plies_per_second"], **dots)
        panel.set_yscale("log")
        panel.set_title(f"{mask} masks")
        plots.numbers_below(panel, "boards")
    panels[0].set_ylabel("plies per second")
    panels[0].yaxis.set_major_formatter(lambda rate, _: plots.speed(rate))
    names = panels[0].get_legend_handles_labels()
    figure.legend(*names, loc="outside lower center", ncols=3, frameon=False)
    figure.suptitle("A step alone, and in situ: behind a matrix product")
    return figure


def explore_ladder(race: pd.DataFrame, note: str = ""):
    """Shows the ladder, with `bool` masks, for a number of boards of the reader's choice; `note`
    is added to the title.
    """
    race = race[race["mask"] == "bool"]

    def draw(num_envs):
        figure = draw_ladder(ladder_table(race[race["num_envs"] == num_envs], num_envs))
        (panel,) = figure.axes
        panel.set_title(f"{num_envs:,} boards{note}")
        return figure

    counts = sorted(race["num_envs"].unique().tolist())
    return widgets.explore(draw, num_envs=widgets.slider(counts, counts[-1], "boards"))
