"""What a reader guesses before a measurement: asked for, kept, and shown beside what came out."""

import datetime
import json
import math
from pathlib import Path

import filelock
import ipywidgets
import pandas as pd
import platformdirs
from IPython.display import HTML

from rungs._src.core.atomic import atomic_write
from rungs.errors import ConfigurationError
from rungs_course.show.widgets import WHOLE_LABEL


class Guesses:
    """The guesses of one notebook. They are kept in the reader's own folder.

    Args:
        notebook: its number, "07".
        file: where guesses are kept; by default in this user's folder.

    Raises:
        ConfigurationError: the file holds something else.
    """

    def __init__(self, notebook: str, file: Path | None = None):
        self._notebook = notebook
        self._file = file or Path(platformdirs.user_data_dir("rungs"), "guesses.json")
        self._asked: dict[str, tuple[str, str]] = {}
        self._read()

    def ask(self, name: str, question: str, unit: str) -> ipywidgets.VBox:
        """Asks for a number, before it is measured.

        Args:
            name: by which `beside` is told what came out.
            question: a sentence.
            unit: of the answer, "×", "plies/s" or "%".
        """
        self._asked[name] = question, unit
        kept = self._read().get(name)
        number = ipywidgets.Text(
            value=f"{kept['guess']:g}" if kept else "",
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
                answer.value = f"{change['new']!r} is no number"
                return
            self._keep(name, value)
            answer.value = "Kept. What came out stands beside it at the end."

        number.observe(on_guess, "value")
        line = ipywidgets.HBox([number, answer], layout={"flex_flow": "row wrap"})
        return ipywidgets.VBox([ipywidgets.Label(question), line])

    def beside(self, **measured: float) -> HTML:
        """Shows all that was asked, what was guessed, and what came out.

        Args:
            measured: by the names that `ask` was given.

        Raises:
            ConfigurationError: something was asked and not measured, or the other way round.
        """
        table = self.table(**measured)
        return HTML(table.to_html(index=False, border=0))

    def table(self, **measured: float) -> pd.DataFrame:
        """Returns what `beside` shows: a row per question, "guessed", "measured" and "off by"."""
        if measured.keys() != self._asked.keys():
            different = measured.keys() ^ self._asked.keys()
            raise ConfigurationError(f"asked or measured, but not both: {', '.join(different)}")
        kept, rows = self._read(), []
        for name, (question, unit) in self._asked.items():
            value = float(measured[name])
            guess = kept[name]["guess"] if name in kept else None
            rows.append(
                {
                    "question": question,
                    "guessed": "no guess" if guess is None else _shown(guess, unit),
                    "measured": _shown(value, unit),
                    "off by": "" if guess is None else _off(guess, value, unit),
                }
            )
        return pd.DataFrame(rows)

    def _read(self) -> dict[str, dict]:
        """Returns this notebook's guesses by name."""
        return self._all().get(self._notebook, {})

    def _all(self) -> dict[str, dict]:
        if not self._file.exists():
            return {}
        try:
            kept = json.loads(self._file.read_text())
            numbers = [each["guess"] for book in kept.values() for each in book.values()]
        except (ValueError, AttributeError, TypeError, KeyError):
            numbers = [None]
        if not all(isinstance(number, int | float) for number in numbers):
            raise ConfigurationError(f"{self._file} holds no guesses; move it away")
        return kept

    def _keep(self, name: str, value: float) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with filelock.FileLock(f"{self._file}.lock"):
            kept = self._all()
            date = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
            kept.setdefault(self._notebook, {})[name] = {"guess": value, "date": date}
            with atomic_write(self._file) as unfinished:
                unfinished.write_text(json.dumps(kept, indent=1))


def _shown(value: float, unit: str) -> str:
    number = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return f"{number}{'' if unit in '×%' else ' '}{unit}"


def _off(guess: float, value: float, unit: str) -> str:
    """Says how far off: of a share in points, of anything else as a factor."""
    if unit == "%":
        return f"{abs(guess - value):.3g} points too {'high' if guess > value else 'low'}"
    if guess <= 0 or value <= 0:
        return _shown(abs(guess - value), unit)
    return f"{max(guess / value, value / guess):.3g}× too {'high' if guess > value else 'low'}"
