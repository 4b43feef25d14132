"""A pool of Python processes over time: what runs when, and what a step waits for."""

import pickle
import time
from multiprocessing.connection import Connection, wait

import numpy as np
import pandas as pd

from rungs._src.chess.buffers import Buffers
from rungs._src.chess.policy import random_actions
from rungs._src.chess.settings import ChessSettings, share_ends
from rungs._src.processes.workers import CONTEXT, preload
from rungs_course import nb02_workers, plots

# What a step of all boards is made of, for the worker that answers last.
PARTS = ("send", "wake", "step", "pickle", "pipe", "unpickle", "copy")
# The same for all processes, as Linux counts from when the machine was started.
_now = time.perf_counter


def timeline(num_envs: int, workers: int, *, seed: int, steps: int, warmup: int) -> pd.DataFrame:
    """Notes what a pool's processes do while all boards are stepped, outputs sent as pickles.

    Args:
        num_envs: number of boards.
        workers: number of processes.
        seed: of the games and of the random actions.
        steps: steps noted.
        warmup: steps played first.

    Returns:
        A row per piece of work: `turn` (which step), `process` ("parent", "worker 1", ...), `work`
        (of `PARTS`, but for "wake"), `start` and `end`, seconds since the step began.
    """
    preload(nb02_workers.__name__)
    ends = share_ends(num_envs, workers)
    pipes: list[Connection] = []
    processes = []
    for first, end in zip([0, *ends[:-1]], ends, strict=True):
        ours, theirs = CONTEXT.Pipe()
        arguments = (theirs, end - first, first, seed)
        process = CONTEXT.Process(target=nb02_workers.work, args=arguments, daemon=True)
        process.start()
        theirs.close()
        processes.append(process)
        pipes.append(ours)
    out = Buffers.allocate((num_envs,), ChessSettings())
    rows = [out.rows(slice(first, end)) for first, end in zip([0, *ends[:-1]], ends, strict=True)]
    for pipe, own in zip(pipes, rows, strict=True):
        own.restore(pipe.recv())
    rng, notes = np.random.default_rng(seed), []
    for turn in range(-warmup, steps):
        shares = np.split(random_actions(out.mask, rng), ends[:-1])
        began = _now()
        noted = _turn(pipes, shares, rows)
        notes += [(turn, "parent", *note) for note in noted]
        notes.append((turn, "parent", "whole", began, _now()))
    for number, (pipe, process) in enumerate(zip(pipes, processes, strict=True), 1):
        pipe.send(None)
        for turn, noted in enumerate(pipe.recv(), -warmup):
            notes += [(turn, f"worker {number}", *note) for note in noted]
        process.join()
    frame = pd.DataFrame(notes, columns=["turn", "process", "work", "start", "end"])
    return _since_the_step_began(frame[frame["turn"] >= 0])


def _turn(pipes: list, shares: list, rows: list) -> list[tuple]:
    """Plays a step as the parent; returns its notes: work, start, end."""
    notes = []
    for pipe, share in zip(pipes, shares, strict=True):
        start = _now()
        pipe.send(share)
        notes.append(("send", start, _now()))
    waiting = dict(zip(pipes, rows, strict=True))
    while waiting:
        for pipe in wait(list(waiting)):
            ready = _now()
            data = pipe.recv_bytes()  # type: ignore[union-attr]  # pipes are what we wait for
            read = _now()
            written = pickle.loads(data)
            unpickled = _now()
            waiting.pop(pipe).restore(written)  # type: ignore[call-overload]
            notes.append(("pipe", ready, read))
            notes.append(("unpickle", read, unpickled))
            notes.append(("copy", unpickled, _now()))
    return notes


def _since_the_step_began(frame: pd.DataFrame) -> pd.DataFrame:
    began = frame[frame["work"] == "whole"].set_index("turn")["start"]
    zero = frame["turn"].map(began)
    return frame.assign(start=frame["start"] - zero, end=frame["end"] - zero)


def parts(frame: pd.DataFrame) -> pd.DataFrame:
    """Takes every step apart, along the worker that answered last: nothing can go on without it.

    Args:
        frame: of `timeline`.

    Returns:
        A row per step and part: `turn`, `part` (of `PARTS`), `seconds`. Parts of a step add up to
        all of it. "wake" is from when all was sent until that worker had its actions, "pipe" from
        when its answer was pickled until the parent had it.
    """
    rows = []
    for turn, notes in frame.groupby("turn"):
        parent = notes[notes["process"] == "parent"].set_index("work")
        workers = notes[notes["process"] != "parent"]
        pickled = workers[workers["work"] == "pickle"].set_index("process")["end"]
        last = workers[workers["process"] == pickled.idxmax()].set_index("work")
        sent = parent.loc[["send"], "end"].max()
        read = parent.loc[["unpickle"], "start"].max()
        unpickled = parent.loc[["copy"], "start"].max()
        moments = [0.0, sent, last.loc["step", "start"], last.loc["pickle", "start"]]
        moments += [last.loc["pickle", "end"], read, unpickled, parent.loc["whole", "end"]]
        rows += [(turn, *pair) for pair in zip(PARTS, np.diff(moments), strict=True)]
    return pd.DataFrame(rows, columns=["turn", "part", "seconds"])


def unevenness(frame: pd.DataFrame) -> pd.Series:
    """Returns how much longer than the mean worker the slowest stepped, by turn, in seconds."""
    steps = frame[frame["work"] == "step"]
    took = (steps["end"] - steps["start"]).groupby(steps["turn"])
    return took.max() - took.mean()


def median_turn(frame: pd.DataFrame) -> pd.DataFrame:
    """Returns the notes of the step that took neither longer nor shorter than most."""
    whole = frame[frame["work"] == "whole"].set_index("turn")["end"]
    middle = (whole - whole.median()).abs().idxmin()
    return frame[frame["turn"] == middle]


def promised(environments: int, each: float, learning: float) -> dict[str, pd.DataFrame]:
    """Returns what a step of some environments would look like, one after the other and at once.

    Args:
        environments: how many.
        each: seconds that one takes.
        learning: seconds that the agent takes then.

    Returns:
        Rows as of `timeline`, by what they are of.
    """
    frames = {}
    for title, starts in (
        ("one after the other", [each * i for i in range(environments)]),
        ("all at once", [0.0] * environments),
    ):
        rows = [(f"environment {i}", "step", at, at + each) for i, at in enumerate(starts, 1)]
        end = rows[-1][-1]
        rows.insert(0, ("agent", "learn", end, end + learning))
        frames[title] = pd.DataFrame(rows, columns=["process", "work", "start", "end"])
    return frames


# What pieces of work are drawn as.
_KINDS = {
    "step": "step the boards",
    "wake": "wake up",
    "pickle": "pickle and unpickle",
    "unpickle": "pickle and unpickle",
    "send": "through the pipe",
    "pipe": "through the pipe",
    "copy": "copy into place",
    "learn": "learn",
}
_COLORS = (plots.SKY, plots.BLACK, plots.ORANGE, plots.GREY, plots.BLUE)
_LOOKS = plots.fills(list(dict.fromkeys(_KINDS.values()))[:5], _COLORS)
_LOOKS["learn"] = plots.fills(("", "learn"), _COLORS[1:3])["learn"]


def draw_timeline(frames: dict[str, pd.DataFrame], unit: str = "ms", same_scale: bool = False):
    """Draws what each process does when, a panel for each of some steps.

    Args:
        frames: `process`, `work`, `start` and `end` in seconds, of one step, by title; see
            `rungs_course.nb02_timeline`.
        unit: "ms" or "s".
        same_scale: whether all panels are as long as the longest; else each fills its width.
    """
    scale = {"ms": 1e3, "s": 1}[unit]
    rows = {title: frame["process"].unique().tolist() for title, frame in frames.items()}
    heights = [1 + len(processes) for processes in rows.values()]
    figure, axes = plots.axes(
        8.0, 0.8 + 0.36 * sum(heights), nrows=len(frames), squeeze=False, height_ratios=heights
    )
    longest = max(frame["end"].max() for frame in frames.values())
    drawn = set()
    for each, (title, frame) in zip(axes[:, 0], frames.items(), strict=True):
        for piece in frame[frame["work"] != "whole"].itertuples():
            kind = _KINDS[piece.work]
            drawn.add(kind)
            at = rows[title].index(piece.process)
            length = (piece.end - piece.start) * scale
            each.barh(at, length, left=piece.start * scale, height=0.7, **_LOOKS[kind])
        each.set_yticks(range(len(rows[title])), rows[title])
        each.invert_yaxis()
        each.set_xlim(0, 1.03 * scale * (longest if same_scale else frame["end"].max()))
        each.set_title(title, fontsize=10)
    axes[-1, 0].set_xlabel({"ms": "milliseconds since the step began", "s": "seconds"}[unit])
    plots.legend_below(figure, {kind: _LOOKS[kind] for kind in _LOOKS if kind in drawn}, 4)
    return figure


def draw_parts(tables: dict[str, pd.DataFrame]):
    """Draws what steps are made of, a stacked bar each, in per cent.

    Args:
        tables: of `rungs_course.nb02_timeline.parts`, by name.
    """
    figure, axes = plots.axes(8.0, 1.8 + 0.5 * len(tables))
    for at, table in enumerate(tables.values()):
        medians = kinds(table)
        left = 0.0
        for kind, seconds in medians.items():
            width = 100 * seconds / medians.sum()
            axes.barh(at, width, left=left, **_LOOKS[kind])
            left += width
        axes.text(101, at, f"{plots.duration(medians.sum())}", va="center")
    axes.set_yticks(range(len(tables)), list(tables))
    axes.invert_yaxis()
    axes.set_xlim(0, 112)
    axes.set_xticks(range(0, 101, 20))
    axes.set_xlabel("per cent of a step, along the worker that answers last")
    plots.legend_below(figure, {kind: _LOOKS[kind] for kind in medians.index}, 3)
    axes.set_title("What a step of a pool is made of")
    return figure


def kinds(table: pd.DataFrame) -> pd.Series:
    """Returns the median seconds of each kind of work, by the name that it is drawn with.

    Args:
        table: of `rungs_course.nb02_timeline.parts`.
    """
    named = table.assign(kind=table["part"].map(_KINDS))
    medians = named.groupby(["turn", "kind"])["seconds"].sum().groupby("kind").median()
    return medians[[kind for kind in _LOOKS if kind in medians]]
