"""What a lab is: a notebook with the task, and how an answer is judged and raced."""

import dataclasses
import inspect
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from rungs.errors import ConfigurationError
from rungs_course import paths

NOTEBOOKS = paths.ROOT / "notebooks" / "labs"
_SUFFIX = {"cpp": ".hpp", "python": ".py", "cuda": ".py"}  # of code, by language
_HEAD = re.compile(r"# Lab \w+ · (.+)\n\nSome (\d+) minutes, after \[.+\]\(\.\./(\w+)\.ipynb\)")

_LONG = 4000  # characters
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


class Head(NamedTuple):
    """What a lab's notebook begins with: its title, whose lab it is ("03_cpp"), and its minutes."""

    title: str
    notebook: str
    minutes: int


@dataclasses.dataclass(frozen=True)
class Difference:
    """The first thing that a submission gets wrong.

    Attributes:
        what: which output of what, in words.
        expected: what it should be.
        got: what it is.
        fen: the position, where there is one.
        wrong: squares (0 to 63) that the submission has and shouldn't.
        missing: squares that it should have and hasn't.
    """

    what: str
    expected: str
    got: str
    fen: str | None = None
    wrong: tuple[int, ...] = ()
    missing: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True)
class Lab:
    """How answers to a lab are judged. The task and its stub are in its notebook.

    Attributes:
        name: its notebook's number, and a letter where that has several: "03a".
        defines: the functions that a submission must define.
        judge: given a submission's functions, returns its first difference, if any.
        work: given a submission's functions, returns a function that does some work with them and
            returns what that costs.
        target: the share of the best known solution's rate that counts as reached.
        language: "cpp", "python", or "cuda" for Python whose kernels Numba simulates.
        harness: C++ that calls a submission, compiled after it in its namespace.
        alone: whether nothing else of its kind may run in its process: Cling compiles OpenMP's
            pragmas right only in the first code that has any, and Numba decides when it is
            imported whether it simulates.
        unit: of what `work` returns; "s" is raced, anything else is counted once.
    """

    name: str
    defines: tuple[str, ...]
    judge: Callable[[Any], Difference | None]
    work: Callable[[Any], Callable[[], float]]
    target: float
    language: str = "cpp"
    harness: str = ""
    alone: bool = False
    unit: str = "s"

    @property
    def folder(self) -> Path:
        """Holds the judge, and as code `baseline` and `solution`; named as the notebook is."""
        return Path(inspect.getfile(self.judge)).parent

    @property
    def notebook(self) -> Path:
        """The notebook that students work in."""
        return NOTEBOOKS / f"{self.name}_{self.folder.name}.ipynb"

    def code(self, which: str) -> str:
        """Returns its "baseline" or "solution"."""
        return (self.folder / f"{which}{_SUFFIX[self.language]}").read_text()

    def head(self) -> Head:
        """Reads what its notebook says of it.

        Raises:
            ConfigurationError: the notebook is gone, or its first lines are not a lab's.
        """
        import nbformat

        try:
            found = _HEAD.match(nbformat.read(self.notebook, 4).cells[0].source)
        except (OSError, ValueError, IndexError) as error:
            raise ConfigurationError(f"{self.notebook} can't be read: {error}") from None
        if not found:
            raise ConfigurationError(f"{self.notebook} doesn't begin with a lab's title and time")
        return Head(found[1], found[3], int(found[2]))


def timed(call: Callable[[], object]) -> Callable[[], float]:
    """Returns a function that says how many seconds a call takes, the mean over some 5 ms."""
    calls = 1
    # The best of three, as one alone may have been interrupted, and then a turn would be too short.
    while calls < 1 << 20 and min(_seconds(call, calls) for _ in range(3)) < 5e-3:
        calls *= 2
    return lambda: _seconds(call, calls) / calls


def _seconds(call: Callable[[], object], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return time.perf_counter() - start


def plain(text: str, limit: int = _LONG) -> str:
    """Escapes control characters but tab and newline, and lone surrogates, which no encoding has.

    Args:
        text: any.
        limit: characters, of which the first and the last are kept.
    """
    if len(text) > limit:
        text = f"{text[: limit // 2]} […] {text[-(limit // 2) :]}"
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)
