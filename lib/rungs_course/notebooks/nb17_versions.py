"""One step of chess in twelve versions, `cpp/course/steps.cpp`: what each idea gains.

All play the same games. A step plays an action, finds the legal actions of the new position, writes
their mask and says whether it is mate or stalemate. Before them stand the rung `python`, which is a
whole environment (observations, repetitions, rewards), and two that do a version's step in Python
and no more: "mailbox", function by function the algorithm of version "king", and python-chess,
which has bitboards, attack tables and pins, about as version "pins". Behind them stands the rung
`cpp`, a whole environment again."""

import ctypes
import dataclasses
import functools
import html
import itertools
import time
import weakref
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol

import chess
import numpy as np
import pandas as pd
from IPython.display import HTML
from matplotlib.colors import LogNorm

import rungs
from rungs.chess import NUM_ACTIONS, ChessRung, Reason, legal_actions, move_of, random_actions
from rungs.devel import Api, gpp, loader, paths, temporary_dir
from rungs.devel.envs import parse_fen
from rungs.errors import MismatchError, UnavailableError
from rungs.memory import zeroed_lines
from rungs_course import compiled, plots
from rungs_course.measure import machine_code, valgrind
from rungs_course.measure.noise import Factor, factor
from rungs_course.measure.peaks import writing_seconds
from rungs_course.measure.turns import timed_rounds
from rungs_course.notebook import source
from rungs_course.notebooks.nb17_mailbox import Mailbox

# The versions of `cpp/course/steps.cpp`, and the idea that each adds to the one before.
VERSIONS = {
    "first": "the first attempt in C++",
    "king": "look out from the king",
    "arrays": "no allocation",
    "bitboards": "bitboards",
    "rays": "sliders by table",
    "pins": "pins and check mask",
    "planes": "the mask, no list",
    "side": "one side, no colours",
    "lanes": "eight directions at once",
    "bytes": "64 bytes at once",
    "together": "eight boards at once",
    "memory": "past the caches",
}
# The racers, in the order of the waterfall. The last version is a variant of the tenth, for more
# boards than fit into a cache.
ALL = {
    "python": "Python, the whole rung",
    "mailbox": "only the step, 64 squares",
    "python-chess": "only the step, bitboards and pins",
    **{name: idea for name, idea in VERSIONS.items() if name != "memory"},
    "cpp": "C++, the whole rung",
}
NATIVE = ("-O3", "-march=native")
FLAGS = (("-O0",), ("-O2",), ("-O3",), NATIVE)
# A loop of each of some versions: the function that has it, and its source.
_WRITE = "Board::write_legal(unsigned char*) const"
_WALK = "rungs::steps::attacked<rungs::steps::bitboards::Walk>"
LOOPS = {
    "bitboards": (
        f"bool {_WALK}(rungs::steps::Sets const&, int, bool, unsigned long)",
        ("cpp/course/step_bitboards.hpp", "step", "Walk"),
    ),
    "side": (
        f"rungs::steps::side::{_WRITE}",
        ("cpp/course/step_planes.hpp", "Generator.back", "Generator.add_slides"),
    ),
    "lanes": (
        f"rungs::steps::lanes::{_WRITE}",
        ("cpp/course/step_planes.hpp", "Generator.write_planes"),
    ),
    "bytes": (
        f"rungs::steps::bytes::{_WRITE}",
        ("cpp/env/mask.hpp", "detail.bits_in_bytes", "expand_bits_to_ones"),
    ),
}
_LEAD = 80  # plies of random play before the games, so that boards are at all stages


@dataclasses.dataclass(frozen=True)
class Games:
    """The games that all racers play."""

    starts: list[str]  # FENs from which boards were drawn
    seed: int
    fens: list[str]  # where each board begins
    actions: np.ndarray  # (steps, N) int16
    ends: np.ndarray  # (steps, N) bool: the board's game ends there and the next begins
    begins: list[str]  # FENs of those next games, in order
    masks: np.ndarray  # (steps, N, 73) uint64, legal after each step

    @property
    def steps(self) -> int:
        return len(self.actions)

    @property
    def num_envs(self) -> int:
        return len(self.fens)

    @functools.cached_property
    def positions(self) -> np.ndarray:
        """Positions in which boards begin, (N, 8) uint64."""
        return _positions(self.fens)

    @functools.cached_property
    def later_positions(self) -> np.ndarray:
        """Positions in which later games begin, (n, 8) uint64."""
        return _positions(self.begins)


def _positions(fens: list[str]) -> np.ndarray:
    api = loader.load()
    return np.array([parse_fen(api, fen) for fen in fens], np.uint64).reshape(-1, 8)


def random_games(num_envs: int, steps: int, *, seed: int) -> Games:
    """Plays random games on the rung `cpp`, and writes down what was played."""
    rng = np.random.default_rng(seed)
    lead = rungs.make("chess", "cpp", num_envs, seed=seed)
    lead.reset()
    for _ in range(_LEAD):
        lead.step(lead.sample_actions(rng))
    starts = lead.fens()
    pilot = rungs.make("chess", "cpp", num_envs, start_fens=starts, mask="bits")
    _, info = pilot.reset(seed=seed)
    fens, begins, rows = pilot.fens(), [], []
    for _ in range(steps):
        actions = random_actions(info["action_mask"], rng)
        *_, terminated, truncated, info = pilot.step(actions)
        ended = terminated | truncated
        if ended.any():
            now = pilot.fens()
            begins += [now[i] for i in np.flatnonzero(ended)]
        rows.append((actions.astype(np.int16), ended, info["action_mask"].copy()))
    actions, ends, masks = map(np.stack, zip(*rows, strict=True))
    return Games(starts, seed, fens, actions, ends, begins, masks)


def on_boards(games: Games, boards: np.ndarray, steps: int) -> Games:
    """Returns the first steps of the games on some of their boards, which may be repeated."""
    number = np.cumsum(games.ends).reshape(games.ends.shape) - 1  # of the game that begins next
    arrays = (games.actions, games.ends, games.masks, number)
    actions, ends, masks, later = (array[:steps].take(boards, axis=1) for array in arrays)
    fens = [games.fens[board] for board in boards]
    begins = [games.begins[game] for game in later[ends]]
    return Games(games.starts, games.seed, fens, actions, ends, begins, masks)


class Racer(Protocol):
    """Something that plays games, always from their beginning."""

    games: Games
    masks: np.ndarray  # (N, 4672) bool, legal at the end

    def play(self, steps: int) -> float:
        """Plays `steps` steps; returns the seconds they took."""


class VersionBoards:
    """Boards of a version."""

    def __init__(self, api: Api, name: str, games: Games):
        self._api, self.games = api, games
        version = ctypes.create_string_buffer(name.encode())
        self._boards = api.rungs_steps_new(ctypes.addressof(version), games.num_envs)
        weakref.finalize(self, api.rungs_steps_delete, self._boards)
        shape = (games.num_envs, NUM_ACTIONS)
        self.masks = zeroed_lines(games.num_envs * NUM_ACTIONS).reshape(shape)
        self.outcomes = np.zeros(games.num_envs, np.int8)

    def play(self, steps: int) -> float:
        """See `Racer`."""
        games = self.games
        arrays = (games.actions, games.ends, games.later_positions, self.masks, self.outcomes)
        addresses = [array.ctypes.data for array in arrays]
        self._api.rungs_steps_start(
            self._boards, games.positions.ctypes.data, self.masks.ctypes.data
        )
        start = time.perf_counter()
        self._api.rungs_steps_play(self._boards, steps, *addresses)
        return time.perf_counter() - start

    def perft(self, fen: str, depth: int) -> int:
        """Counts the leaves of the tree of moves from `fen`, as `rungs.chess.perft_python`."""
        position = parse_fen(loader.load(), fen)
        return self._api.rungs_steps_perft(self._boards, position.ctypes.data, depth)


class ChessBoard:
    """A board of python-chess, with the methods that `PythonBoards` needs."""

    def __init__(self, fen: str):
        self._board = chess.Board(fen)

    def legal(self) -> list[int]:
        """Returns the legal actions."""
        return list(legal_actions(self._board))

    def play(self, action: int) -> None:
        """Plays a legal action."""
        self._board.push(move_of(action, self._board))  # type: ignore[arg-type]  # legal

    def is_check(self) -> bool:
        """Whether the side to move is in check."""
        return self._board.is_check()


class PythonBoards:
    """Boards that play the same step in Python."""

    def __init__(self, board: Callable[[str], ChessBoard | Mailbox], games: Games):
        self._board, self.games = board, games
        self.masks = np.zeros((games.num_envs, NUM_ACTIONS), np.bool_)
        self.outcomes = np.zeros(games.num_envs, np.int8)

    def play(self, steps: int) -> float:
        """See `Racer`."""
        boards, begins = list(map(self._board, self.games.fens)), iter(self.games.begins)
        for i, board in enumerate(boards):
            self._write_legal(board, i)
        start = time.perf_counter()
        for actions, ends in zip(self.games.actions[:steps], self.games.ends, strict=False):
            for i, (action, ended) in enumerate(zip(actions.tolist(), ends.tolist(), strict=True)):
                boards[i].play(action)
                self.outcomes[i] = self._write_legal(boards[i], i)
                if ended:
                    boards[i] = self._board(next(begins))
                    self._write_legal(boards[i], i)
        return time.perf_counter() - start

    def _write_legal(self, board: ChessBoard | Mailbox, i: int) -> Reason:
        legal = board.legal()
        self.masks[i] = False
        self.masks[i, legal] = True
        if legal:
            return Reason.ONGOING
        return Reason.CHECKMATE if board.is_check() else Reason.STALEMATE


class WholeRung:
    """A rung of the ladder: all that an environment does, called from Python."""

    def __init__(self, rung: ChessRung, games: Games):
        self.games = games
        self._env = rungs.make("chess", rung, games.num_envs, start_fens=games.starts)

    def play(self, steps: int) -> float:
        """See `Racer`."""
        self._env.reset(seed=self.games.seed)
        start = time.perf_counter()
        for actions in self.games.actions[:steps]:
            *_, info = self._env.step(actions)
        seconds = time.perf_counter() - start
        self.masks = info["action_mask"]
        return seconds


def numbered(version: str) -> str:
    """Returns a version's idea with its number, "12 eight boards at once"."""
    return f"{list(VERSIONS).index(version) + 1} {VERSIONS[version]}"


def ply_times(times: pd.DataFrame) -> pd.DataFrame:
    """Returns nanoseconds per ply of `race_versions`, a row per repeat and a column per racer."""
    per_ply = times.assign(nanoseconds=times["seconds"] / times["plies"] * 1e9)
    return per_ply.pivot(index="repeat", columns="racer", values="nanoseconds")


def gains(times: pd.DataFrame, pairs: Iterable[tuple[Any, Any]]) -> dict[tuple[Any, Any], Factor]:
    """Returns how many times as fast the second racer of each pair is as the first."""
    nanoseconds = ply_times(times)
    return {
        (before, after): factor(nanoseconds[before] / nanoseconds[after]) for before, after in pairs
    }


def bits(masks: np.ndarray) -> np.ndarray:
    """Returns masks of bytes, (N, 4672), as bits, (N, 73) uint64."""
    return np.packbits(masks.view(np.bool_), axis=1, bitorder="little").view(np.uint64)


def racers(games: Games, fewer: Games, api: Api) -> dict[str, Racer]:
    """Returns the racers of `ALL`, by name; those in Python play `fewer` games, and the versions
    use `api`: see `VersionBoards`.
    """
    return {
        "python": WholeRung("python", fewer),
        "mailbox": PythonBoards(Mailbox, fewer),
        "python-chess": PythonBoards(ChessBoard, fewer),
        **{name: VersionBoards(api, name, games) for name in VERSIONS if name in ALL},
        "cpp": WholeRung("cpp", games),
    }


def race_versions(racers: dict, *, repeats: int, warmup: int, seconds: float) -> pd.DataFrame:
    """Times all racers in turns of about `seconds` at most; each must find the legal actions of its
    games after every turn.

    Slow racers play fewer of the steps, of all boards. Returns a row per racer and repeat: `racer`,
    `repeat`, `plies`, `seconds`.
    """
    turns = {}
    for name, racer in racers.items():
        steps = int(np.clip(seconds / racer.play(1), 1, racer.games.steps))
        turns[name] = functools.partial(_turn, name, racer, steps)
    rows = [
        (name, repeat, *turn)
        for name, repeat, turn in timed_rounds(turns, repeats=repeats, warmup=warmup)
    ]
    frame = pd.DataFrame(rows, columns=["racer", "repeat", "plies", "seconds"])
    order = frame["racer"].map({name: i for i, name in enumerate(racers)})
    return frame.iloc[np.lexsort((frame["repeat"], order))].reset_index(drop=True)


def _turn(name: object, racer: Racer, steps: int) -> tuple[int, float]:
    seconds = racer.play(steps)
    if not np.array_equal(bits(racer.masks), racer.games.masks[steps - 1]):
        raise MismatchError(f"{name}: its legal actions differ from the rung cpp's")
    return steps * racer.games.num_envs, seconds


def fill_seconds(num_envs: int) -> float:
    """Returns the seconds per ply that overwriting the outputs alone takes: the bound."""
    return writing_seconds(num_envs * (NUM_ACTIONS + 1)) / num_envs  # the mask and the outcome


def waterfall(times: pd.DataFrame, floor: float) -> pd.DataFrame:
    """Returns a row per racer of `race_versions`.

    Columns: `racer`, `idea`, `nanoseconds` per ply (median), `low` and `high` (quartiles),
    `relative` (how many times as fast as the row before) and `absolute` (as the first), medians of
    ratios repeat by repeat, and `share` of the bound `floor`.
    """
    wide = ply_times(times)
    wide = wide[[name for name in ALL if name in wide]]
    table = {
        "idea": pd.Series(ALL)[wide.columns],
        "nanoseconds": wide.median(),
        "low": wide.quantile(0.25),
        "high": wide.quantile(0.75),
        "relative": wide.shift(axis=1).div(wide).median().fillna(1.0),
        "absolute": wide.rdiv(wide.iloc[:, 0], axis=0).median(),
        "share": floor * 1e9 / wide.median(),
    }
    return pd.DataFrame(table).rename_axis("racer").reset_index()


def side_by_side(left: str, right: str, flags: str) -> HTML:
    """Shows a loop of two versions of `LOOPS` next to each other: its source, its machine code in
    the build with these flags, and how long each port is busy in an iteration.
    """
    columns = [_loop(version, flags) for version in (left, right)]
    parts = "".join(itertools.chain(*zip(*columns, strict=True)))  # a row for each kind
    style = "display: grid; grid-template-columns: repeat(auto-fit, minmax(22em, 1fr)); gap: 0 1em"
    return HTML(f'<div style="{style}">{parts}</div>')


def _loop(version: str, flags: str) -> list[str]:
    """Returns a version's source, machine code and ports as HTML."""
    function, place = LOOPS[version]
    code = source(*place).data.split("```")[1].removeprefix("cpp\n")
    loop = machine_code.loop(compiled.load_steps(*flags.split())._name, function)
    listing = "\n".join(f"{row.instruction:13}{row.operands}" for row in loop.itertuples())
    name = numbered(version)
    parts = {
        f"version {name}": code,
        f"{name}: {len(loop)} instructions": listing,
        f"{name}: ports": _ports(loop),
    }
    style = "overflow-x: auto; font-size: small; line-height: 1.2"
    return [
        f'<div style="min-width: 0"><b>{html.escape(title)}</b>'
        f'<pre style="{style}">{html.escape(text)}</pre></div>'
        for title, text in parts.items()
    ]


def _ports(loop: pd.DataFrame) -> str:
    """Writes what llvm-mca simulates of a loop, a line for each port."""
    if loop.empty:
        return "This build has no loop without branches here."
    try:
        model = machine_code.host_model()
        cycles, busy, waits = machine_code.ports(loop, model)
    except UnavailableError as error:
        return f"Not simulated: {error}."
    lines = [f"{cycles:.1f} cycles an iteration on {model}; limited by: {waits}"]
    return "\n".join(
        lines + [f"{port:12}{part:6.2f} {'█' * round(part)}" for port, part in busy.items()]
    )


def instructions(games: Games) -> pd.DataFrame:
    """Counts each version's instructions by callgrind, and branches that a simple processor would
    have guessed wrong.

    Returns a row per version: `racer`, `instructions`, `branches` and `mispredicted`, per ply.
    """
    source = paths.CPP / "course" / "bench_versions.cpp"
    program = gpp.build("versions", source, [*valgrind.FLAGS, "-Wno-psabi"])
    with temporary_dir() as folder:
        file = Path(folder) / "games"
        write(games, file)

        def counted(version: str) -> dict:
            command = [str(arg) for arg in (program, version, games.num_envs, games.steps, file)]
            report = valgrind.callgrind_of("play_version", command, "--branch-sim=yes")
            return valgrind.totals(report)

        counts = valgrind.together(counted, [(name,) for name in VERSIONS])
    frame = pd.DataFrame(counts)[["instructions", "branches", "mispredicted branches"]]
    frame = frame.rename(columns={"mispredicted branches": "mispredicted"})
    frame /= games.steps * games.num_envs
    frame.insert(0, "racer", list(VERSIONS))
    return frame


def write(games: Games, file: Path) -> None:
    """Writes games as `cpp/course/bench_versions.cpp` reads them."""
    played = (games.positions, games.actions, games.ends, games.later_positions)
    file.write_bytes(b"".join(array.tobytes() for array in played))


def draw_waterfall(table: pd.DataFrame):
    """Draws the time of a ply, row by row: each bar is what one idea takes away, or adds."""
    figure, axes = plots.axes(8.0, 1.4 + 0.38 * len(table))
    times = table["nanoseconds"]
    floor = (table["share"] * times).iloc[0]
    for i, row in enumerate(table.itertuples()):
        before = times.iloc[max(i - 1, 0)]
        left, right = sorted((row.nanoseconds, before))
        color = plots.BLUE if row.relative >= 1 else plots.ORANGE
        if i == 0:
            left, color = 0, plots.GREY
        hatch = {"hatch": "///", "edgecolor": "white"} if color == plots.ORANGE else {}
        axes.barh(i, right - left, left=left, color=color, **hatch)
        axes.plot([row.nanoseconds] * 2, [i - 0.4, min(i + 1.4, len(table) - 0.6)], color="black")
        gain = f"  {plots.ratio(row.relative)}" if i else ""
        text = f"{plots.duration(row.nanoseconds * 1e-9)}{gain}"
        axes.annotate(text, (right, i), (5, 0), textcoords="offset points", va="center")
    names = [
        f"{numbered(row.racer) if row.racer in VERSIONS else row.idea}  [{row.racer}]"
        for row in table.itertuples()
    ]
    axes.set_yticks(range(len(table)), names)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlim(min(times.min(), floor) / 1.5, times.max() * 12)
    axes.axvline(floor, color=plots.BLACK, linestyle="--", zorder=0)
    axes.text(floor, -0.75, " bound: only writing the outputs", fontsize="small")
    axes.grid(axis="x", color="#DDDDDD")
    axes.set_xlabel("nanoseconds per ply (logarithmic)\n×: speed relative to the row above")
    axes.set_title("From Python to C++, one idea at a time", pad=16)
    return figure


def draw_work(counts: pd.DataFrame):
    """Draws instructions and mispredicted branches of a ply, a row for each version."""
    named = counts.assign(idea=counts["racer"].map(numbered))
    figure, panels = plots.axes(9.0, 5.0, ncols=2, sharey=True)
    forms = {"instructions": "{:,.0f}", "mispredicted": "{:,.1f}"}
    for axes, (column, form) in zip(panels, forms.items(), strict=True):
        plots.seaborn.stripplot(
            named, x=column, y="idea", color=plots.BLUE, size=7, jitter=False, ax=axes
        )
        for place, number in enumerate(named[column]):
            beside = {"textcoords": "offset points", "va": "center"}
            axes.annotate(form.format(number), (number, place), (8, 0), **beside)
        axes.set(xscale="log", ylabel="")
        axes.margins(x=0.25)
    panels[0].set(xlabel="instructions per ply (logarithmic)", title="Instructions")
    panels[1].set(xlabel="mispredicted branches per ply (simulated)", title="Mispredictions")
    return figure


def draw_flags(times: pd.DataFrame):
    """Draws the time of a ply by version and by flags, coloured relative to its row's fastest."""
    nanoseconds = times.assign(ns=times["seconds"] / times["plies"] * 1e9)
    medians = nanoseconds.groupby(["racer", "flags"], sort=False)["ns"].median().unstack()
    medians = medians[[" ".join(flags) for flags in FLAGS]].rename(numbered)
    medians = medians.rename(columns=lambda flags: flags.replace(" ", "\n"))
    relative = medians.div(medians.min(axis=1), axis=0)
    look = {
        "annot": medians.map(lambda ns: plots.duration(ns * 1e-9)),
        "fmt": "",
        "linewidths": 1,
        "cmap": plots.seaborn.light_palette(plots.BLUE, as_cmap=True),
        "norm": LogNorm(1, relative.max(axis=None) * 1.01),
    }
    figure, axes = plots.axes(7.0, 3.8)
    plots.seaborn.heatmap(relative, cbar_kws={"label": "times the row's fastest"}, ax=axes, **look)
    axes.set(xlabel="flags of g++", ylabel="", title="The same headers, other flags: time of a ply")
    axes.tick_params(length=0, labelrotation=0)
    return figure
