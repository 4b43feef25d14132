"""Parts of every notebook: its run, sentences with numbers, guesses, and the code it is about."""

import ast
import contextlib
import datetime
import json
import math
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import filelock
import ipywidgets
import pandas as pd
from IPython.core.getipython import get_ipython
from IPython.display import HTML, Markdown, display
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from rungs.devel import atomic_write, choice, schema_error, user_dir
from rungs.errors import ConfigurationError
from rungs_course import paths
from rungs_course.machine import naming
from rungs_course.measure import results
from rungs_course.measure.disturbance import disturbances, usage
from rungs_course.measure.noise import Factor
from rungs_course.plots import image, same_axes, save_figure
from rungs_course.tables import markdown, with_interval
from rungs_course.widgets import WHOLE_LABEL

Value = TypeVar("Value")


def say(text: str) -> None:
    """Shows a paragraph of Markdown below a cell."""
    display(Markdown(text))


def in_words(factor: Factor) -> str:
    """Writes a factor, its interval and a verdict: "1.49× (1.42 to 1.55): larger"."""
    text = with_interval(factor.middle, factor.low, factor.high)
    return f"{text}: {verdict(factor)}"


def verdict(
    factor: Factor, *, larger: str = "larger", smaller: str = "smaller", than: float = 1.0
) -> str:
    """Writes what a factor says: that it is `larger` or `smaller` than a number, that it equals it
    within some per cent, or that nothing can be told.
    """
    if factor.beyond(than):
        return larger if factor.middle > than else smaller
    within = factor.equals_within(than)
    return "cannot tell" if within is None else f"equal within {max(0.01, within):.0%}"


def at_size(values: Mapping[str, Value], size: object) -> Value:
    """Returns a notebook's values at its parameter `size`."""
    return values[choice("size", size, tuple(values))]


def live() -> Callable[[str], None]:
    """Shows a line below a cell; returns the function that replaces it."""
    # Markdown("") would be shown as the name of its type in a book.
    handle = display({"text/markdown": "", "text/plain": ""}, raw=True, display_id=True)

    def replace(text: str) -> None:
        if handle:  # nothing is shown outside a notebook
            handle.update(Markdown(text))

    return replace


_STRIP = 0.35  # inches, at the right of a disturbed figure
_MIN_MEASUREMENT = 1.0  # seconds: cells that take less only write or draw


class NotebookRun:
    """A run of a notebook: saves its tables and pictures, and watches each cell for what else used
    the processor while it measured.

    As soon as the run is disturbed, it says so at the top of the notebook. Conclusions go through
    `verdicts` and figures through `figure`, which take this into account.

    Args:
        notebook: its number, "07"; files begin with it.
        size: "smoke", "quick" or "full", for the provenance of tables.
        seed: also for the provenance.
        out: the folder whose `results` hold the tables.
        figures: the folder of pictures.
        root: the source tree with the recorded tables.
        parameters: more of the provenance of all tables.
    """

    def __init__(
        self,
        notebook: str,
        size: str,
        seed: int,
        out: str | Path,
        figures: str | Path,
        *,
        root: Path = paths.ROOT,
        **parameters: Any,
    ):
        self._notebook, self._root = notebook, root
        self._parameters = {"size": size, "seed": seed, **parameters}
        self._results, self._figures = Path(out) / "results", Path(figures)
        self.tables: dict[str, pd.DataFrame] = {}  # that were saved, by name
        self._top = live()
        self._all: dict[str, float] = {}  # the worst of each kind
        self._current: dict[str, float] = {}  # of the next figures' measurements
        self._figure_shown = False
        self._crowded = False
        self._before = usage()
        if shell := get_ipython():
            shell.events.register("pre_run_cell", self._begin)
            shell.events.register("post_run_cell", self._end)

    @property
    def disturbed(self) -> bool:
        """Whether the last measurements were disturbed. Ends the current one."""
        self._end()
        return bool(self._current)

    @property
    def was_disturbed(self) -> bool:
        """Whether any measurement so far was disturbed."""
        self._end()
        return bool(self._all)

    @contextlib.contextmanager
    def crowded(self) -> Iterator[None]:
        """Marks a block that measures more threads or processes than there are cores.

        That they take cores from each other is then not a disturbance.
        """
        self._end()
        self._crowded = True
        try:
            yield
            self._end()
        finally:
            self._crowded = False

    @contextlib.contextmanager
    def unmeasured(self) -> Iterator[None]:
        """Marks a block in which nothing is timed.

        It may leave orphaned processes behind, whose CPU time no parent inherits: it would count as
        another program's.
        """
        self._end()
        try:
            yield
        finally:
            self._before = usage()

    def verdicts(
        self,
        factors: Mapping[Any, Factor],
        titles: Sequence[str],
        *,
        larger: str = "larger",
        smaller: str = "smaller",
        than: float = 1.0,
    ) -> None:
        """Shows a table of factors by a text or a tuple of texts, a row each, with the verdict on
        each by itself; the last title is the factor's.
        """
        rows, lost = [], self._lost()
        mark = " (disturbed)" if lost else ""
        for row, measured in factors.items():
            factor = measured.widened(lost)
            text = with_interval(factor.middle, factor.low, factor.high) + mark
            judged = verdict(factor, larger=larger, smaller=smaller, than=than)
            rows.append((*(row if isinstance(row, tuple) else (row,)), text, judged))
        say(markdown(pd.DataFrame(rows, columns=[*titles, "verdict"])))

    def _lost(self) -> float:
        """Returns the share of the time that others took from the last measurements."""
        return max(self._current.values()) if self.disturbed else 0.0

    def save_table(self, name: str, frame: pd.DataFrame, **parameters: Any) -> None:
        """Saves a table as `NOTEBOOK_name.csv`, with more parameters in its provenance."""
        self.tables[name] = frame
        path = self._results / f"{self._notebook}_{name}.csv"
        results.save(frame, path, self._parameters | parameters)

    def save_picture(self, name: str, figure: Figure) -> Figure:
        """Saves a figure as `NOTEBOOK_name.png`, and returns it."""
        save_figure(figure, self._figures / f"{self._notebook}_{name}.png")
        return figure

    def figure(
        self, table: str, draw: Callable[..., Figure], frame: pd.DataFrame, **others: pd.DataFrame
    ) -> None:
        """Saves a table and its figure, and shows it below the recorded one, in the same axes.

        `table` is the name of the files of `frame` and of the picture, without number and ending;
        `draw` also takes the tables `others`, by the names of their files.
        """
        disturbed, figure = self.disturbed, draw(frame, **others)
        self._figure_shown = True
        for name, saved in {table: frame, **others}.items():
            self.save_table(name, saved)
        if recorded := self._draw_recorded(table, draw, frame, **others):
            same_axes(recorded, figure)
            display(image(recorded))
        if disturbed:
            _mark_disturbed(figure)
        why = f" was disturbed: {_listed(self._current)}" if disturbed else ""
        say(f"*This run{why}:*")
        display(image(self.save_picture(table, figure)))
        self._before = usage()  # drawing is not measured

    def _draw_recorded(
        self, table: str, draw: Callable[..., Figure], frame: pd.DataFrame, **others: pd.DataFrame
    ) -> Figure | None:
        """Draws the recorded figure of what this run measured, if there is one, and says whose it
        is; arguments as for `figure`.
        """
        tables = self._recorded({table: frame, **others})
        if tables is None:
            say("*No run of this figure is recorded.*")
            return None
        facts = tables[table].attrs["provenance"]
        try:
            source = f"{naming.in_words(facts)}, {facts['date'][:10]}, size `{facts['size']}`"
            figure = draw(tables.pop(table), **tables)
        except (KeyError, IndexError, ValueError) as error:  # it may lack this size's boards
            say(f"*Recorded data can't be drawn here: {type(error).__name__}, {error}.*")
            return None
        say(f"*As recorded on {source}:*")
        return figure

    def of_record(self, function: Callable[..., Value], *tables: str) -> Value | None:
        """Returns what a function of saved tables, by their names, gives for the recorded ones;
        None where there are none, or not for this size's boards.
        """
        recorded = self._recorded({name: self.tables[name] for name in tables})
        if recorded is None:
            return None
        try:
            return function(**recorded)
        except (KeyError, IndexError, ValueError):
            return None

    def _recorded(self, like: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame] | None:
        """Returns recorded tables with these columns: of this kind of machine, else of another."""
        for folder in results.recorded_folders(self._root):
            files = {name: folder / f"{self._notebook}_{name}.csv" for name in like}
            if all(file.exists() for file in files.values()):
                tables = {name: results.load(file) for name, file in files.items()}
                if all(set(like[name].columns) <= set(tables[name].columns) for name in like):
                    return tables
        return None

    def _begin(self, *_) -> None:
        self._before = usage()

    def _end(self, *_) -> None:
        """Ends a measurement and begins the next."""
        after = usage()
        causes = disturbances(self._before, after, threads_share_cores=self._crowded)
        measured = after.at - self._before.at > _MIN_MEASUREMENT
        self._before = after
        if measured and self._figure_shown:
            self._current, self._figure_shown = {}, False
        if not causes:
            return
        for worst in (self._current, self._all):
            worst.update(
                {phrase: max(much, worst.get(phrase, 0)) for phrase, much in causes.items()}
            )
        self._top(
            f"**This run was disturbed**: at worst {_listed(self._all)}. Disturbed figures and "
            "numbers are marked, and their intervals are wider."
        )


def _mark_disturbed(figure: Figure) -> None:
    """Widens a figure by a strip that says that the run was disturbed."""
    width = figure.get_figwidth() + _STRIP
    figure.set_figwidth(width)
    engine = figure.get_layout_engine()
    if isinstance(engine, ConstrainedLayoutEngine):
        engine.set(rect=(0, 0, 1 - _STRIP / width, 1))
    place: dict[str, Any] = {"ha": "center", "va": "center", "rotation": 90}
    figure.text(1 - _STRIP / 2 / width, 0.5, "disturbed run", color="grey", size="large", **place)


def _listed(causes: dict[str, float]) -> str:
    return "; ".join(phrase.format(much) for phrase, much in causes.items())


class Guesses:
    """The guesses of one notebook, kept in this user's own folder."""

    def __init__(self, notebook: str, file: Path | None = None):
        self._notebook = notebook
        self._file = file or user_dir("data") / "guesses.json"
        self._questions: dict[str, tuple[str, str]] = {}
        self._read()

    def ask(self, name: str, question: str, unit: str) -> ipywidgets.VBox:
        """Asks for a number in "×", "plies/s" or "%", before `beside` takes what was measured by
        this name.
        """
        self._questions[name] = question, unit
        saved = self._read().get(name)
        number = ipywidgets.Text(
            value=f"{saved['guess']:g}" if saved else "",
            placeholder="a number, then Enter",
            description=f"your guess, {unit}",
            style=WHOLE_LABEL,
            continuous_update=False,
        )
        answer = ipywidgets.Label()

        def on_guess(change):
            try:
                value = float(change["new"].replace(",", ""))
            except ValueError:
                value = math.nan
            if not math.isfinite(value):
                answer.value = f"{change['new']!r} is not a number"
                return
            self._keep(name, value)
            answer.value = "Kept. The measured value is shown next to it at the end."

        number.observe(on_guess, "value")
        line = ipywidgets.HBox([number, answer], layout={"flex_flow": "row wrap"})
        return ipywidgets.VBox([ipywidgets.Label(question), line])

    def beside(
        self, this_run: NotebookRun, measured: Callable[..., Mapping[str, float]], *tables: str
    ) -> HTML:
        """Shows all questions, the guesses, and the measured values, with the recorded ones.

        `measured` takes tables that this run saved, by their names `tables`, and returns a number
        per question; so it also finds the recorded numbers.
        """
        frame = self.table(this_run, measured, *tables)
        return HTML(frame.to_html(index=False, border=0))

    def table(
        self, this_run: NotebookRun, measured: Callable[..., Mapping[str, float]], *tables: str
    ) -> pd.DataFrame:
        """Returns the table of `beside`: a row per question. A guess is compared with what was
        measured, or with what is recorded where this run was disturbed.
        """
        values = measured(**{name: this_run.tables[name] for name in tables})
        if values.keys() != self._questions.keys():
            different = values.keys() ^ self._questions.keys()
            raise ConfigurationError(f"asked or measured, but not both: {', '.join(different)}")
        disturbed, recorded = this_run.was_disturbed, this_run.of_record(measured, *tables)
        true, mark = (recorded or values), " (disturbed)"
        guesses, rows = self._read(), []
        for name, (question, unit) in self._questions.items():
            row = {"question": question}
            if guesses:
                row["guessed"] = row["off by"] = ""
            if name in guesses:
                guess = guesses[name]["guess"]
                row["guessed"] = _with_unit(guess, unit)
                row["off by"] = _off(guess, float((true if disturbed else values)[name]), unit)
            row["measured"] = _with_unit(float(values[name]), unit) + mark * disturbed
            row["recorded"] = _with_unit(float(recorded[name]), unit) if recorded else "no record"
            rows.append(row)
        return pd.DataFrame(rows)

    def _read(self) -> dict[str, dict]:
        """Returns this notebook's guesses by name."""
        return self._all().get(self._notebook, {})

    def _all(self) -> dict[str, dict]:
        if not self._file.exists():
            return {}
        try:
            guesses = json.loads(self._file.read_text())
        except ValueError:
            guesses = None
        if schema_error(guesses, {...: {...: {"guess": (int, float)}}}):
            raise ConfigurationError(f"{self._file} holds no guesses; move it away")
        return guesses

    def _keep(self, name: str, value: float) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with filelock.FileLock(f"{self._file}.lock"):
            guesses = self._all()
            date = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
            guesses.setdefault(self._notebook, {})[name] = {"guess": value, "date": date}
            with atomic_write(self._file) as unfinished:
                unfinished.write_text(json.dumps(guesses, indent=1))


def _with_unit(value: float, unit: str) -> str:
    number = f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:.3g}"
    return f"{number}{'' if unit in '×%' else ' '}{unit}"


def _off(guess: float, value: float, unit: str) -> str:
    """Writes a guess's distance from a value: a share in points, anything else as a factor."""
    if unit == "%":
        return f"{abs(guess - value):.3g} points too {'high' if guess > value else 'low'}"
    if guess <= 0 or value <= 0:
        return _with_unit(abs(guess - value), unit)
    return f"{max(guess / value, value / guess):.3g}× too {'high' if guess > value else 'low'}"


# JupyterLab wraps the code of outputs at the panel's edge, within words too.
_UNWRAPPED = (
    "<style>div.jp-RenderedMarkdown.jp-OutputArea-output pre, "
    "div.jp-RenderedMarkdown.jp-OutputArea-output pre code "
    "{ white-space: pre; word-break: normal; overflow-x: auto; }</style>"
)
_LANGUAGES = {".hpp": "cpp", ".cpp": "cpp", ".py": "python"}


def source(file: str, *names: str) -> Markdown:
    """Shows functions, classes or structs of a file as they stand there, with the comments above
    them, and a link to the file.

    `file` is a path from the root of the source tree; names are as "step", or "Batch.step" for one
    inside another, and without any the whole file is shown. Of C++ functions with the same name,
    all are shown.
    """
    path = paths.ROOT / file
    language = _LANGUAGES.get(path.suffix)
    if not language or not path.is_file():
        raise ConfigurationError(f"no C++ or Python file {file!r} in {paths.ROOT}")
    lines = path.read_text().splitlines()
    find = _in_python if language == "python" else _in_cpp
    parts = [find(lines, name, file) for name in names] or ["\n".join(lines)]
    code = "\n\n".join(parts)
    return Markdown(f"{_UNWRAPPED}\n\n```{language}\n{code}\n```\n\n*{_link(path)}*")


def _link(path: Path) -> str:
    place = path.relative_to(paths.ROOT).as_posix()
    return f"[{place}](../{place})"


def _missing(name: str, file: str) -> ConfigurationError:
    return ConfigurationError(f"{file} defines no {name!r}")


def _in_python(lines: list[str], name: str, file: str) -> str:
    """Returns the lines of a function or class, with its decorators, moved to the left margin."""
    inside: Iterable[ast.AST] = ast.parse("\n".join(lines)).body
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    for part in name.split("."):
        definitions = [node for node in inside if isinstance(node, kinds) and node.name == part]
        if not definitions:
            raise _missing(name, file)
        inside = definitions[0].body
    first = min(node.lineno for node in [definitions[0], *definitions[0].decorator_list])
    text = _with_comment(lines, first - 1, "#") + lines[first - 1 : definitions[0].end_lineno]
    return textwrap.dedent("\n".join(text))


def _in_cpp(lines: list[str], name: str, file: str) -> str:
    """Returns the lines of every definition of a name, each from its comment to its last brace."""
    *scopes, member = name.split(".")
    low, high = 0, len(lines)
    for scope in scopes:
        low, high = next(iter(_definitions(lines, scope, low, high)), (0, 0))
    spans = list(_definitions(lines, member, low, high))
    if not spans:
        raise _missing(name, file)
    parts = []
    for first, end in spans:
        while re.match(r"\s*(template|requires|__global__)\b", lines[first - 1]):
            first -= 1
        parts.append(
            textwrap.dedent("\n".join(_with_comment(lines, first, "//") + lines[first:end]))
        )
    return "\n\n".join(parts)


def _definitions(lines: list[str], name: str, low: int, high: int):
    """Yields the first line and the end of each definition, found by clang-format's layout."""
    word = re.escape(name)
    function = re.compile(rf"^(?!\s*(?:return\b|else\b|//))[\w:<>,&*\s\[\]\"]*[\s*&]{word}\(")
    kinds = "struct|class|enum class|concept|namespace"
    record = re.compile(rf"^\s*(?:{kinds})\s+(?:alignas\(\w+\)\s+)?{word}\b")
    alias = re.compile(rf"^\s*(?:(?:inline |static )?constexpr\b.*\b{word}\b.*=|using {word} =)")
    at = low
    while at < high:
        if not any(kind.match(lines[at]) for kind in (function, record, alias)):
            at += 1
            continue
        end = _end(lines, at, high)
        if end:
            yield at, end
        at = end or at + 1


def _end(lines: list[str], first: int, high: int) -> int | None:
    """Returns the line after a definition; None where it is only a declaration or a call."""
    depth, opened = 0, False
    for at in range(first, high):
        bare = re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])\'|//.*', "", lines[at])
        depth += sum(bare.count(c) for c in "({[") - sum(bare.count(c) for c in ")}]")
        opened |= "{" in bare or "=" in bare
        if depth == 0 and re.search(r"[;}]\s*$", bare):
            return at + 1 if opened else None
    return None


def _with_comment(lines: list[str], first: int, mark: str) -> list[str]:
    """Returns the lines of the comment that stands right above a line."""
    start = first
    while start and lines[start - 1].strip().startswith(mark):
        start -= 1
    return lines[start:first]
