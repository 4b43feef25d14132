"""What a lab is: a notebook with the task, and how an answer is judged and raced."""

import dataclasses
import functools
import importlib
import inspect
import pkgutil
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from rungs.errors import ConfigurationError
from rungs_course import paths
from rungs_course.labs import tasks

NOTEBOOKS = paths.ROOT / "notebooks" / "labs"
_ANSWERS = Path(__file__).with_name("answers")
_HEAD = re.compile(r"# Lab \w+ · (.+)\n\nSome (\d+) minutes, after \[.+\]\(\.\./(\w+)\.ipynb\)")


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
        judge: given the functions of a submission and of the baseline, which is slow and right,
            yields what differs in each case, or None.
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
    judge: Callable[[Any, Any], Iterator[Difference | None]]
    work: Callable[[Any], Callable[[], float]]
    target: float
    language: str = "cpp"
    harness: str = ""
    alone: bool = False
    unit: str = "s"

    @property
    def _title(self) -> str:
        return Path(inspect.getfile(self.judge)).stem

    @property
    def notebook(self) -> Path:
        """The notebook that students work in."""
        return NOTEBOOKS / f"{self.name}_{self._title}.ipynb"

    def code(self, which: str) -> str:
        """Returns its "baseline" or "solution"."""
        suffix = "hpp" if self.language == "cpp" else "py"
        return (_ANSWERS / f"{self._title}_{which}.{suffix}").read_text()

    def first_difference(self, yours: Any, baseline: Any) -> Difference | None:
        """Returns the first thing that a submission's functions get wrong, if any."""
        return next(filter(None, self.judge(yours, baseline)), None)

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


@functools.cache
def labs() -> dict[str, Lab]:
    """Returns all labs by name, in the course's order."""
    modules = (entry.name for entry in pkgutil.iter_modules(tasks.__path__))
    found = [importlib.import_module(f"{tasks.__name__}.{name}").LAB for name in modules]
    return {lab.name: lab for lab in sorted(found, key=lambda lab: lab.name)}


def find(name: str) -> Lab:
    """Returns the lab called `name`, "03a" or "lab-03a".

    Raises:
        ConfigurationError: there is none; the message names those that there are.
    """
    lab = labs().get(str(name).removeprefix("lab-"))
    if lab is None:
        raise ConfigurationError(f"no lab {name!r}; there are: {', '.join(labs())}")
    return lab


def timed(call: Callable[[], object]) -> Callable[[], float]:
    """Returns a function that says how many seconds a call takes, the mean over some 5 ms."""

    def seconds(calls: int) -> float:
        start = time.perf_counter()
        for _ in range(calls):
            call()
        return time.perf_counter() - start

    calls = 1
    # The best of three, as one alone may have been interrupted, and then a turn would be too short.
    while calls < 1 << 20 and min(seconds(calls) for _ in range(3)) < 5e-3:
        calls *= 2
    return lambda: seconds(calls) / calls
