"""The dashboard: the course's widgets in one place, drawn from saved results or measured now."""

import html
from pathlib import Path

import ipywidgets
import pandas as pd

import rungs
from rungs.devel import gpp
from rungs.errors import ConfigurationError, RungsError, UnavailableError
from rungs.machine import describe, usable_cores
from rungs_course.diagrams import OPERA_GAME
from rungs_course.labs import record
from rungs_course.machine.naming import differing
from rungs_course.measure import peaks, valgrind
from rungs_course.measure import results as saved
from rungs_course.measure.race import race
from rungs_course.notebooks import (
    nb00_start,
    nb01_python,
    nb02_parallel,
    nb05_mpi,
    nb06_cuda,
    nb07_ladder,
    nb08_roofline,
    nb10_scaling,
)
from rungs_course.notebooks import nb11_full_system as nb11
from rungs_course.notebooks import nb12_peers as nb12
from rungs_course.notebooks import nb14_cost_model as nb14
from rungs_course.notebooks import nb15_training as nb15
from rungs_course.outline import FILES, number_of
from rungs_course.paths import ROOT

# Tables that live panels are drawn over, where they were measured on this machine.
_ROOFLINE, _STRONG = ("08_compute", "08_bandwidth", "08_rungs"), "10_strong"
_SEED = 0
# Shows the keyboard focus, which the widgets' own style doesn't show on sliders.
_FOCUS = "<style>.rungs :focus-visible { box-shadow: 0 0 0 3px #0072B2 !important }</style>"


def explore(results: Path | str | None = None) -> ipywidgets.VBox:
    """Shows all of the course's widgets, one at a time; a panel is made when it is chosen.

    Tables come from the folder `results`, by default from `data/run`, else from what was recorded,
    on this machine first. A panel says where its tables come from, or why it has none.
    """
    tables = _Tables(_default() if results is None else [_tables_in(Path(results))])
    panels = {
        "ladder": lambda: nb07_ladder.explore_ladder(tables["07_race"]),
        "profile": lambda: nb01_python.explore_amdahl(tables["01_profile"]),
        "updates": lambda: nb11.explore_updates(tables["11_updates"]),
        "chess peers": lambda: nb12.explore_peers(tables["12_alone"], "rungs, board + bits"),
        "CartPole": lambda: nb12.explore_peers(tables["13_times"], "cpp", "environments"),
        "nodes": lambda: _nodes(tables["14_updates"]),
        "learning": lambda: nb15.explore_learning(tables["15_evaluations"]),
        "ranks": lambda: nb05_mpi.explore_step(tables["05_works"]),
        "a warp": lambda: nb06_cuda.explore_warp(tables["06_followed"]),
        "a game": lambda: nb00_start.explore_game(nb00_start.play(OPERA_GAME)),
        "labs": _labs,
        "processes, live": lambda: nb02_parallel.predict_processes(
            tables["02_race"], usable_cores(), seed=_SEED
        ),
        "scaling, live": lambda: _scaling(tables),
        "roofline, live": lambda: _roofline(tables),
    }
    choice = ipywidgets.ToggleButtons(options=list(panels), description="panel")
    frames = [ipywidgets.VBox() for _ in panels]
    stack = ipywidgets.Stack(frames, selected_index=0)

    def show(change=None):
        stack.selected_index = choice.index
        frame = frames[choice.index]
        if not frame.children:
            frame.children = [_line("One moment: a live panel may measure this machine first …")]
            tables.read.clear()
            try:
                panel = panels[choice.value]()
            except RungsError as error:
                panel = _line(str(error))
            frame.children = [panel, _line(tables.origin())] if tables.read else [panel]

    choice.observe(show, "value")
    show()
    about = "Live panels measure this machine; the others are drawn from saved results."
    dashboard = ipywidgets.VBox([_line(about), choice, stack, ipywidgets.HTML(_FOCUS)])
    dashboard.add_class("rungs")
    return dashboard


class _Tables:
    """Tables, each from the first of the folders that has it; `read`: provenance of those read."""

    def __init__(self, folders: list[Path]):
        self._folders = folders
        self.read: dict[Path, dict[str, str]] = {}

    def __getitem__(self, name: str) -> pd.DataFrame:
        for folder in self._folders:
            if (path := folder / f"{name}.csv").exists():
                return self._load(path)
        reason = " or ".join(map(_short, self._folders))
        reason = f"no {name}.csv in {reason}" if reason else "none is here"
        raise UnavailableError(f"No table: {reason}. Notebook {number_of(name)} makes it.")

    def of_here(self, *names: str) -> list[pd.DataFrame] | None:
        """Returns tables of one folder that were all measured on this machine, or None."""
        here = describe()
        for folder in self._folders:
            paths = [folder / f"{name}.csv" for name in names]
            if not all(path.exists() for path in paths):
                continue
            if not any(differing(saved.load(path).attrs["provenance"], here) for path in paths):
                return [self._load(path) for path in paths]
        return None

    def _load(self, path: Path) -> pd.DataFrame:
        table = saved.load(path)
        self.read[path] = table.attrs["provenance"]
        return table

    def origin(self) -> str:
        """Returns where the tables that were read come from: machine, size and dates."""
        facts = pd.DataFrame(list(self.read.values()))
        machines = " and ".join((facts["machine"] + ", " + facts["cores"] + " cores").unique())
        sizes = " and ".join(facts["size"].unique())
        dates = " to ".join(sorted({*facts["date"].str[:10]}))
        folders = ", ".join(sorted({_short(path.parent) for path in self.read}))
        return f"Measured on {machines}, size {sizes}, {dates} ({folders})."


def _default() -> list[Path]:
    """Returns the folders of the last run, of this machine's recorded results, and of others'."""
    folders = [ROOT / "data" / "run" / "results", *saved.recorded_folders(ROOT)]
    return [folder for folder in folders if _has_tables(folder)]


def _tables_in(folder: Path) -> Path:
    for candidate in filter(_has_tables, (folder / "results", folder)):
        return candidate
    raise ConfigurationError(f"results={str(folder)!r} holds no tables of notebooks")


def _has_tables(folder: Path) -> bool:
    return any(folder.glob(f"{FILES}.csv"))


def _short(path: Path) -> str:
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


def _line(text: str) -> ipywidgets.HTML:
    return ipywidgets.HTML(f'<span role="status">{html.escape(text)}</span>')


def _labs() -> ipywidgets.Widget:
    """Shows which of this user's labs are right, and how fast."""
    table = record.table(record.read())
    formats = {"gain": "{:.2f}×", "of the best": "{:.0%}", "tries": "{:.0f}"}
    said = table.style.format(formats, na_rep="").hide().to_html()
    return ipywidgets.HTML(f'<div style="overflow-x: auto">{said}</div>')


def _nodes(updates: pd.DataFrame) -> ipywidgets.Widget:
    """Shows notebook 14's question, answered by the model that is fitted to its updates."""
    length = int((updates["positions"] / updates["num_envs"]).median())
    return nb14.explore_nodes(nb14.fit_update(updates), length)


def _scaling(tables: _Tables) -> ipywidgets.VBox:
    """Asks notebook 10's question, over its curve or one measured now."""
    cores = usable_cores()
    (strong,) = tables.of_here(_STRONG) or [_strong(cores)]
    return nb10_scaling.predict_scaling(strong, cores, seed=_SEED)


def _strong(cores: int) -> pd.DataFrame:
    threads = sorted({2**power for power in range(cores.bit_length())} | {cores, 2 * cores})
    racers = {count: rungs.make("chess", "openmp", 512, threads=count) for count in threads}
    pilot = rungs.make("chess", "cpp", 512)
    times = race(racers, pilot, seed=_SEED, steps=80, repeats=9, warmup=2)
    return times.rename(columns={"racer": "threads"}).assign(num_envs=512)


def _roofline(tables: _Tables) -> ipywidgets.VBox:
    """Asks notebook 08's question, under its roofs or some measured now."""
    if not valgrind.have_valgrind():
        raise UnavailableError(
            "Not measured: operations and bytes are counted by valgrind (apt-get install "
            "valgrind), on processors with AVX2."
        )
    cores = usable_cores()
    compute, bandwidth, points = tables.of_here(*_ROOFLINE) or _peaks(cores)
    work = {mask: valgrind.work_per_ply(64, 20, mask) for mask in ("bits", "bool")}
    api = gpp.load(valgrind.MACHINE)
    return nb08_roofline.predict_roofline(
        compute, bandwidth, points, work, cores, seed=_SEED, api=api
    )


def _peaks(cores: int) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    none = pd.DataFrame({"name": pd.Series(dtype=str), "intensity": [], "performance": []})
    counts = sorted({1, cores})
    compute = peaks.measure_compute(counts, repeats=15, seconds=0.005)
    bandwidth = peaks.measure_bandwidth(counts, repeats=15, seconds=0.005)
    return compute, bandwidth, none
