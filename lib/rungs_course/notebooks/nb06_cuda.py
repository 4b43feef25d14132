"""Chess on a GPU: the same games, what bounds them, divergent warps, and boards' layouts."""

import functools
import io
import struct
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

import rungs
from rungs.devel import described, loader
from rungs.devel.train import Host
from rungs.errors import ConfigurationError, MismatchError
from rungs_course import plots, widgets
from rungs_course.measure.race import steps_of
from rungs_course.measure.turns import timed_rounds

# Bytes of a GPU's cache lines and of their sectors, and threads of a warp.
LINE, SECTOR, WARP = 128, 32, 32
# Ways to run the kernels' code on the host, a board after the other.
HOST_WAYS = ("vectors", "plain words, as on a GPU")
# Of each multiprocessor of compute capability 8.0 and 9.0, by the table of technical specifications
# in the CUDA C++ Programming Guide: registers, the unit in which a warp gets them, warps at most.
_REGISTERS, _REGISTER_UNIT, _MAX_WARPS = 65_536, 256, 64
# Attributes of a kernel in a cubin's section .nv.info, whose entries are a form, an attribute, a
# size in bytes, and a value: here the kernel's symbol and a number.
_SIZED_VALUE, _PAIR = 4, struct.Struct("<II")
_ENTRY = struct.Struct("<BBH")
_ATTRIBUTES = {0x2F: "registers", 0x11: "stack bytes"}


def ply_bytes() -> dict[str, int]:
    """Returns the bytes that a random ply must move per board on a GPU (`board`, `bits`), by name.

    A board is read from memory and written back in every ply; keys of past positions are read too,
    eight bytes each, as many as there are. Legal actions stay in the thread's own memory.
    """
    return {
        "position, key and counts, read and written": 2 * 88,
        "what decides legality, written": 64,
        "key of the position left, written": 8,
        "mask": 584,
        "observation": 72,
        "reward, flags and codes": 9,
    }


def resources(cubin: bytes, threads_per_block: int) -> pd.DataFrame:
    """Reads from compiled kernels what each thread needs, and how many warps it lets a GPU hold.

    `cubin` is an ELF file for compute capability 8.0 or 9.0. Returns a row per kernel: `kernel`,
    `registers` and `stack bytes` of a thread, `warps` that one multiprocessor holds at the same
    time, limited by its registers, and `occupancy`, their share of the 64 that it has room for.
    """
    elf = ELFFile(io.BytesIO(cubin))
    section, symbols = (elf.get_section_by_name(name) for name in (".nv.info", ".symtab"))
    if section is None or not isinstance(symbols, SymbolTableSection):
        raise ConfigurationError("this ELF file has no kernels of a GPU")
    info = section.data()
    kernel_attributes: dict[str, dict[str, int]] = {}
    at = 0
    while at < len(info):
        form, attribute, size = _ENTRY.unpack_from(info, at)
        at += _ENTRY.size
        if form == _SIZED_VALUE:
            if attribute in _ATTRIBUTES:
                symbol, value = _PAIR.unpack_from(info, at)
                kernel = symbols.get_symbol(symbol).name
                kernel_attributes.setdefault(kernel, {})[_ATTRIBUTES[attribute]] = value
            at += size
    rows = {name: kernel for name, kernel in kernel_attributes.items() if "registers" in kernel}
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=[*_ATTRIBUTES.values()])
    of_warp = -(-frame["registers"] * WARP // _REGISTER_UNIT) * _REGISTER_UNIT
    per_block = threads_per_block // WARP
    frame["warps"] = (_REGISTERS // of_warp).clip(upper=_MAX_WARPS) // per_block * per_block
    frame["occupancy"] = frame["warps"] / _MAX_WARPS
    return frame.rename_axis("kernel").sort_index().reset_index()


def race_layouts(
    board_counts: Iterable[int], *, plies: int, repeats: int, warmup: int, seed: int
) -> pd.DataFrame:
    """Times random plies on the host, a board after the other: with vectors, and without.

    g++ compiles both from the same headers, and they play the same games. Returns a row per way,
    number of boards and repeat: `racer` (of `HOST_WAYS`), `num_envs`, `repeat`, `plies`, `seconds`.
    """
    rows = []
    for num_envs in board_counts:
        steps = steps_of(plies, num_envs)
        env_kwargs: dict[str, Any] = {"device": "cpu", "mask": "bits", "validate": False}
        envs: list[Any] = [rungs.make("chess", "cuda", num_envs, **env_kwargs) for _ in HOST_WAYS]
        envs[0].boards._kernels = Host(vectors=True)
        for env in envs:
            env.reset(seed=seed)
        plays = [functools.partial(env.boards.step_many, 1) for env in envs]
        racers = {
            build: functools.partial(_seconds, play, steps)
            for build, play in zip(HOST_WAYS, plays, strict=True)
        }
        rows += [
            (build, num_envs, repeat, steps * num_envs, seconds)
            for build, repeat, seconds in timed_rounds(racers, repeats=repeats, warmup=warmup)
        ]
        if envs[0].fens() != envs[1].fens():
            raise MismatchError(f"{num_envs} boards: the host's ways play different games")
    return pd.DataFrame(rows, columns=["racer", "num_envs", "repeat", "plies", "seconds"])


def _seconds(play: Callable, steps: int) -> float:
    start = time.perf_counter()
    for _ in range(steps):
        play()
    return time.perf_counter() - start


def follow(num_envs: int, plies: int, seed: int) -> pd.DataFrame:
    """Follows random games by what a kernel's thread loops over or decides in each ply.

    Returns a row per ply and board: `ply`, `board`; the iterations of two loops: `keys`, over past
    positions compared, and `planes`, searched for the action; and `ended`, whether the game did,
    after which the next one begins in the same step.
    """
    env = rungs.make("chess", "cpp", num_envs, mask="bits")
    env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    frames = []
    for ply in range(plies):
        actions = env.sample_actions(rng)
        observation, _, terminated, truncated, info = env.step(actions)
        ended = terminated | truncated
        clock = observation[:, 69].copy()  # halfmoves since a pawn moved or a piece was taken
        if "final_obs" in info:
            clock[ended] = info["final_obs"][ended, 69]
        loops = {"keys": clock.astype(int), "planes": actions // 64 + 1, "ended": ended.astype(int)}
        frames.append(pd.DataFrame({"ply": ply, "board": np.arange(num_envs)} | loops))
    return pd.concat(frames, ignore_index=True)


def at_work(followed: pd.DataFrame, lanes: int = WARP) -> pd.DataFrame:
    """Returns how much of a warp works in a loop, which lasts as long as for its slowest lane.

    A smaller group at the end is left out. A row per loop: `loop`, `lane` and `warp` (the mean
    iterations that a thread needs, and that its warp makes), and `at_work`, the share of lanes that
    do something.
    """
    full_warps = followed[followed["board"] < followed["board"].nunique() // lanes * lanes]
    warps = full_warps.groupby(["ply", full_warps["board"] // lanes])
    rows = []
    for loop in ("keys", "planes", "ended"):
        lane, warp = float(full_warps[loop].mean()), float(warps[loop].max().mean())
        rows.append((loop, lane, warp, lane / warp if warp else 1.0))
    return pd.DataFrame(rows, columns=["loop", "lane", "warp", "at_work"])


def fetched() -> pd.DataFrame:
    """Returns where in memory the first warp's threads find the first word of a board each.

    A row per layout and thread: `layout` ("array of structures", "structure of arrays", "blocks of
    eight", ours), `board`, `byte`, `line` (of `LINE` bytes), `sector` (of `SECTOR` bytes, which
    memory transfers at once).
    """
    constants = described(loader.load()).constants
    block, together = constants["block_bytes"], constants["boards_per_block"]
    boards = pd.DataFrame({"board": range(WARP)})
    number = boards["board"]
    layouts = [
        boards.assign(layout="array of structures", byte=block // together * number),
        boards.assign(layout="structure of arrays", byte=8 * number),
        boards.assign(
            layout="blocks of eight", byte=block * (number // together) + 8 * (number % together)
        ),
    ]
    words = pd.concat(layouts, ignore_index=True)
    return words.assign(line=words["byte"] // LINE, sector=words["byte"] // SECTOR)


_LOOPS = {
    "keys": "past positions compared",
    "planes": "planes looked through for the action",
}
_SHOWN = 8  # lines of memory


def draw_warp(followed: pd.DataFrame, ply: int, lanes: int = WARP):
    """Draws the lanes of the first warp in both loops of a ply: how long each works, and how long
    it waits.
    """
    rows = followed[(followed["ply"] == ply) & (followed["board"] < lanes)].set_index("board")
    figure, axes = plots.axes(8.0, 1.6 + 0.1 * lanes, ncols=2)
    looks = plots.fills(("works", "waits for its warp"), (plots.BLUE, "white"))
    looks["waits for its warp"]["edgecolor"] = plots.GREY
    for panel, (loop, title) in zip(axes, _LOOPS.items(), strict=True):
        works, longest = rows[loop], rows[loop].max()
        table = pd.concat([works, longest - works], axis=1, keys=list(looks))
        plots.stacked_bars(panel, table, looks)
        share = works.mean() / longest if longest else 1
        panel.set_title(f"{title}\n{share:.0%} at work", fontsize="medium")
        panel.set_xlabel("times around the loop")
        ticks = range(0, lanes, max(1, lanes // 8))
        panel.set_yticks(ticks, [f"lane {lane}" for lane in ticks])
        panel.grid(False)
    plots.legend_below(figure, looks, 2)
    return figure


def explore_warp(followed: pd.DataFrame):
    """Shows the first warp in a ply, and of a size, of the reader's choice."""
    sizes = [size for size in (4, 8, 16, 32, 64) if size <= followed["board"].nunique()]
    plies = sorted(followed["ply"].unique().tolist())
    return widgets.explore(
        functools.partial(draw_warp, followed),
        ply=widgets.slider(plies, plies[-1], "ply"),
        lanes=widgets.slider(sizes, min(WARP, sizes[-1]), "lanes"),
    )


def draw_layouts(words: pd.DataFrame):
    """Draws the lines of memory that threads fetch, and which words of them are asked for."""
    groups = words.groupby("layout", sort=False)
    figure, axes = plots.axes(9.5, 3.4, ncols=len(groups))
    names = ("asked for", "fetched as well", "not fetched")
    looks = plots.fills(names, (plots.BLUE, plots.SKY, "white"))
    looks["not fetched"] |= {"edgecolor": plots.GREY, "hatch": ""}
    for panel, (name, rows) in zip(axes, groups, strict=True):
        lines = sorted(rows["line"].unique())[:_SHOWN]
        visible = rows[rows["line"].isin(lines)]
        place = visible["line"].map(lines.index)
        word, sector = visible["byte"] % LINE / 8, visible["byte"] % LINE // SECTOR * (SECTOR // 8)
        panel.barh(range(len(lines)), LINE // 8, **looks["not fetched"])
        panel.barh(place, SECTOR // 8, left=sector, **looks["fetched as well"])
        panel.barh(place, 1, left=word, **looks["asked for"])
        for at, boards in visible.groupby(place)["board"]:
            first, last = boards.min(), boards.max()
            text = f"boards {first} to {last}" if last > first else f"board {first}"
            panel.text(LINE // 8 + 0.5, at, text, va="center", fontsize="x-small")
        sectors = rows["sector"].nunique()
        used = 8 * len(rows) / (SECTOR * sectors)
        panel.set_title(f"{name}:\n{sectors} sectors, {used:.0%} used", fontsize="medium")
        panel.set_yticks(range(len(lines)), [f"byte {line * LINE:,}" for line in lines])
        panel.set_xticks([0, LINE // 8], ["0", f"{LINE} bytes"])
        panel.set_ylim(_SHOWN - 0.4, -0.6)
        panel.set_xlim(0, 1.7 * LINE // 8)
        panel.grid(False)
    figure.suptitle("Memory that a warp reads for the first word of 32 boards", fontsize="medium")
    plots.legend_below(figure, looks, 3)
    return figure
