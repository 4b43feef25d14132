"""This run of a notebook: whether something disturbed it, and what may be concluded from it."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from IPython.core.getipython import get_ipython
from IPython.display import display
from matplotlib.figure import Figure

from rungs._src.machine.describe import in_words
from rungs_course import paths
from rungs_course.measure import results
from rungs_course.measure.disturbance import disturbances, usage
from rungs_course.measure.noise import Factor
from rungs_course.show.prose import live, say

_ACROSS: dict[str, Any] = {"ha": "center", "va": "center", "rotation": 20}
_MEASURING = 1.0  # seconds: cells that take less only write or draw


class NotebookRun:
    """Watches each cell of a notebook for what else used the processor while it measured.

    It says at the top of the notebook that the run was disturbed, as soon as it was. What is
    concluded then, and which figure a reader is to believe, goes through `judge` and `figure`.

    Args:
        notebook: its number, "07", with which the names of its tables begin.
        root: of the source tree, for recorded tables.
    """

    def __init__(self, notebook: str, root: Path = paths.ROOT):
        self._notebook, self._root = notebook, root
        self._top = live()
        self._all: dict[str, float] = {}  # the worst of each kind
        self._current: dict[str, float] = {}  # of the measurements that the next figures are of
        self._figure_shown = False
        self._crowded = False
        self._before = usage()
        if shell := get_ipython():
            shell.events.register("pre_run_cell", self._begin)
            shell.events.register("post_run_cell", self._end)

    @property
    def disturbed(self) -> bool:
        """Whether the last measurements were disturbed."""
        self._end()
        return bool(self._current)

    @contextlib.contextmanager
    def crowded(self) -> Iterator[None]:
        """Says that what the block measures has more threads or processes than there are cores.

        That they take cores from each other then counts as no disturbance.
        """
        self._end()
        self._crowded = True
        try:
            yield
            self._end()
        finally:
            self._crowded = False

    def judge(self, factor: Factor, *, larger: str, smaller: str, than: float = 1.0) -> str:
        """Returns what a factor shows: the one way in which a notebook's text may depend on it.

        Args:
            factor: of two that took turns.
            larger: the sentence where it is larger than `than`, beyond its noise.
            smaller: the sentence where it is smaller, beyond its noise.
            than: what it is compared with.

        Returns:
            `larger`, `smaller`, or that this run does not tell, with the reason; then it names
            neither a difference nor its absence.
        """
        if self.disturbed:
            return "This run was disturbed, so it does not tell."
        if not factor.judged:
            return "There are too few repeats to tell, or one of them is no number."
        if not factor.beyond(than):
            return "This run does not tell: its noise is larger."
        return larger if factor.middle > than else smaller

    def figure(
        self, table: str, draw: Callable[..., Figure], frame: pd.DataFrame, **others: pd.DataFrame
    ) -> Figure:
        """Shows a figure of this run; where it was disturbed also the recorded one, below it.

        Args:
            table: the name of the file that `frame` is saved as, without number and ending.
            draw: makes the figure from a table of that form, and from `others` by their names.
            frame: what this run measured.
            **others: further tables, by the names of their files.

        Returns:
            This run's figure.
        """
        disturbed, figure = self.disturbed, draw(frame, **others)
        self._figure_shown = True
        if not disturbed:
            display(figure)
            self._before = usage()  # drawing is no measurement
            return figure
        figure.text(0.5, 0.5, "disturbed run", color="grey", alpha=0.4, fontsize=28, **_ACROSS)
        display(figure)
        why = _in_words(self._current)
        say(f"*This run was disturbed: {why}.*")
        self.recorded(table, draw, frame, **others)
        self._before = usage()
        return figure

    def recorded(
        self, table: str, draw: Callable[..., Figure], frame: pd.DataFrame, **others: pd.DataFrame
    ) -> None:
        """Shows the recorded figure of what this run measured; arguments as of `figure`."""
        tables = self._recorded({table: frame, **others})
        if tables is None:
            say("*No run of this figure is recorded.*")
            return
        facts = tables[table].attrs["provenance"]
        try:
            where = f"{in_words(facts)}, {facts['date'][:10]}, size `{facts['size']}`"
            figure = draw(tables.pop(table), **tables)
        except (KeyError, IndexError, ValueError) as error:  # as what this size's boards are not of
            say(f"*What is recorded can't be drawn so: {type(error).__name__}, {error}.*")
        else:
            say(f"*As recorded on {where}:*")
            display(figure)

    def _recorded(self, like: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame] | None:
        """Returns recorded tables of these forms: of this kind of machine, or else of another."""
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
        found = disturbances(self._before, after, threads_share_cores=self._crowded)
        measured = after.at - self._before.at > _MEASURING
        self._before = after
        if measured and self._figure_shown:
            self._current, self._figure_shown = {}, False
        if not found:
            return
        for worst in (self._current, self._all):
            worst.update({what: max(much, worst.get(what, 0)) for what, much in found.items()})
        self._top(
            f"**This run was disturbed**: at worst {_in_words(self._all)}. Figures of what was "
            "disturbed say so, recorded ones stand below them, and nothing is concluded from it."
        )


def _in_words(found: dict[str, float]) -> str:
    return "; ".join(what.format(much) for what, much in found.items())
