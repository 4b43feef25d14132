"""The ladder: all rungs in one race, over masks and over numbers of boards."""

import functools
import itertools
import json
from collections.abc import Callable, Iterable
from typing import Any

import ipywidgets
import pandas as pd

import rungs
from rungs.chess import ChessRung
from rungs.devel import run_program
from rungs.devel.envs import MaskFormat
from rungs.errors import UnavailableError
from rungs_course import paths, plots, widgets
from rungs_course.measure.peaks import measure_writing
from rungs_course.measure.quartiles import quartiles
from rungs_course.measure.race import output_bytes, race, steps_of
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
    axes.set_xlabel("plies per second (logarithmic; lines: 93 % intervals)")
    axes.set_title("The ladder: the same games on every rung")
    return figure


_NODE_SECONDS = 600.0  # beyond those of the race: to start, and its last round
_IN_NODE = """
import {{ readFileSync }} from "node:fs";
import {{ race }} from "./js/race.js";
import {{ load }} from "./js/rungs.js";

let raced;
race(await load(readFileSync({wasm})), {seconds}, (rows) => (raced = rows), {counts});
console.log(JSON.stringify(raced));
"""


def race_in_node(counts: Iterable[int], *, repeats: int, seconds: float) -> pd.DataFrame:
    """Times steps in WebAssembly by `js/race.js`, which plays games of its own, in Node, for
    `seconds` in all.

    Returns a row per number of boards, mask and repeat, as of `rungs_course.measure.race.race`; at
    least three rounds come, of which the last count.
    """
    if not paths.WASM.exists():
        raise UnavailableError(f"`node`: `make wasm` has not made {paths.WASM.name}")
    code = _IN_NODE.format(wasm=json.dumps(str(paths.WASM)), seconds=seconds, counts=[*counts])
    command = ["node", "--input-type=module", "--eval", code]
    done = run_program(command, seconds + _NODE_SECONDS, cwd=paths.ROOT)
    done.check_returncode()
    rows = [
        ("node", repeat, row["boards"], row["boards"] / rate, row["boards"], mask)
        for mask in ("bool", "bits")
        for row in json.loads(done.stdout)
        if row["version"] == f"{mask}, board"
        for repeat, rate in enumerate(row["rates"][-repeats:])
    ]
    return pd.DataFrame(rows, columns=["racer", "repeat", "plies", "seconds", "num_envs", "mask"])


# Steps are timed one after the other, or each behind what a learner does between two.
ALONE, IN_SITU = "alone", "in situ"
_STATE_BYTES = 1536  # of a board


def matrix_product(rows: int = 2048, width: int = 512) -> Callable[[], object]:
    """Makes a function that multiplies matrices on all of PyTorch's threads: evicts the caches."""
    import torch  # the rungs alone don't need it

    left, right = torch.rand(rows, width), torch.rand(width, width)
    return lambda: left @ right


def race_sizes(
    names: Iterable[ChessRung],
    masks: Iterable[MaskFormat],
    counts: Iterable[int],
    *,
    plies: int,
    repeats: int,
    warmup: int,
    seed: int,
) -> pd.DataFrame:
    """Races rungs in turns, alone and in situ, for each mask and number of boards.

    A repeat has about `plies`, in situ an eighth, but no fewer than two steps. Returns a row per
    racer, mask, number of boards, `where` (`ALONE` or `IN_SITU`) and repeat: `plies` and `seconds`.
    """
    product, frames, names = matrix_product(), [], list(names)
    timing = {"seed": seed, "repeats": repeats, "warmup": warmup}
    for mask, num_envs in itertools.product(masks, counts):
        env_kwargs: dict[str, Any] = {"num_envs": num_envs, "mask": mask}
        racers = {name: rungs.make("chess", name, **env_kwargs) for name in names}
        pilot = rungs.make("chess", "cpp", **env_kwargs)
        for situation, between, length in ((ALONE, None, plies), (IN_SITU, product, plies // 8)):
            steps = max(2, steps_of(length, num_envs))
            times = race(racers, pilot, steps=steps, between=between, **timing)
            frames.append(times.assign(**env_kwargs, where=situation))
        for env in (*racers.values(), pilot):
            env.close()
    return pd.concat(frames, ignore_index=True)


def bounds(
    masks: Iterable[MaskFormat], counts: Iterable[int], threads: Iterable[int], *, repeats: int
) -> pd.DataFrame:
    """Measures how fast the outputs of a step alone could be written, the fastest of the repeats.

    Returns a row per mask, number of boards and threads: `bytes` of a ply and `plies_per_second`.
    """
    frames, counts = [], list(counts)
    for mask in masks:
        ply = output_bytes(rungs.make("chess", "cpp", 1, mask=mask))
        sizes = [count * ply for count in counts]
        rates = measure_writing(sizes, threads, repeats=repeats, seconds=0.01)
        best = rates.groupby(["bytes", "threads"], as_index=False)["per_second"].max()
        best["plies_per_second"] = best["per_second"] / ply
        best = best.assign(mask=mask, num_envs=best["bytes"] // ply, bytes=ply)
        frames.append(best.drop(columns="per_second"))
    return pd.concat(frames, ignore_index=True)


def max_boards(masks: Iterable[MaskFormat], racers: int, memory_bytes: int) -> int:
    """Returns how many boards of each racer, and of a pilot, fit into half of a memory."""
    ply = max(output_bytes(rungs.make("chess", "cpp", 1, mask=mask)) for mask in masks)
    return memory_bytes // 2 // ((racers + 1) * (ply + _STATE_BYTES))


def summary(times: pd.DataFrame, limits: pd.DataFrame, threads: dict[str, int]) -> pd.DataFrame:
    """Sums up a race: each racer's rate and what share of its bound that is.

    Returns a row per mask, number of boards, `where` and racer: `plies_per_second`, `low` and
    `high` (median and quartiles of repeats) and `share` of the bound at that number of threads.
    """
    keys = ["mask", "num_envs", "where", "racer"]
    rates = (times["plies"] / times["seconds"]).groupby([times[key] for key in keys], sort=False)
    table = quartiles(rates, "plies_per_second")
    table = table.reset_index().assign(threads=lambda rows: rows["racer"].map(threads))
    bound = limits.set_index(["mask", "num_envs", "threads"])["plies_per_second"]
    at = pd.MultiIndex.from_frame(table[["mask", "num_envs", "threads"]])
    return table.assign(share=table["plies_per_second"] / bound.reindex(at).to_numpy())


_LINES = {ALONE: "-", IN_SITU: (0, (4, 2))}


def draw_sizes(table: pd.DataFrame, limits: pd.DataFrame, mask: str):
    """Draws rungs' plies per second, alone and in situ, and bounds over the number of boards."""
    figure, axes = plots.axes(height=4.8)
    chosen = table[table["mask"] == mask]
    for racer, rows, look in plots.lines(chosen.groupby("racer", sort=False)):
        for situation, rates in rows.groupby("where", sort=False):
            label = racer if situation == ALONE else None
            stroke = {"linestyle": _LINES[situation]}
            plots.band_line(axes, rates, "num_envs", "plies_per_second", label, look | stroke)
    axes.plot([], [], color=plots.BLACK, linestyle=_LINES[IN_SITU], label="in situ")
    for threads, bound in limits[limits["mask"] == mask].groupby("threads"):
        label = f"bound: writing on {threads} thread{'s' * (threads > 1)}"
        dots = {"color": plots.GREY, "linestyle": ":", "linewidth": 1 + threads, "label": label}
        axes.plot(bound["num_envs"], bound["plies_per_second"], **dots)
    axes.set_yscale("log")
    axes.set_ylabel("plies per second")
    plots.numbers_below(axes, "boards")
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    axes.set_title(f"Every number of boards, {mask} masks")
    return figure


def explore_ladder(race: pd.DataFrame, rest_of_batch: float):
    """Shows the ladder for a number of boards and a mask format of the reader's choice."""

    def draw(num_envs, mask):
        chosen = race[(race["num_envs"] == num_envs) & (race["mask"] == mask)]
        return draw_ladder(ladder_table(chosen, rest_of_batch, num_envs))

    counts = sorted(race["num_envs"].unique().tolist())
    slider = widgets.slider(counts, counts[0], "boards")
    return widgets.explore(draw, num_envs=slider, mask=_masks(race))


def explore_sizes(table: pd.DataFrame, limits: pd.DataFrame):
    """Shows rungs over the number of boards for a mask format of the reader's choice."""
    return widgets.explore(functools.partial(draw_sizes, table, limits), mask=_masks(table))


def _masks(table: pd.DataFrame) -> ipywidgets.ToggleButtons:
    masks = table["mask"].drop_duplicates().tolist()
    return ipywidgets.ToggleButtons(options=masks, description="mask")
