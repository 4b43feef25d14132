"""Defines a lab: its notebook with the task, and how an answer is judged and raced."""

import dataclasses
import functools
import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rungs.errors import ConfigurationError
from rungs_course import paths
from rungs_course.labs import tasks

NOTEBOOKS = paths.ROOT / "notebooks" / "labs"
_ANSWERS = Path(__file__).with_name("answers")
_HEAD = re.compile(r"# Lab \w+ · (.+)\n\nSome (\d+) minutes, after \[.+\]\(\.\./(\w+)\.ipynb\)")


# Why a lab's baseline is slow. Exercises have nothing to do with a machine's speed.
CAUSES = (
    "core bound",
    "bad speculation",
    "memory bound",
    "sharing",
    "latency and bandwidth",
    "any cause",
    "exercise",
)


@dataclasses.dataclass(frozen=True)
class Unit:
    """The unit of work that a kernel's cost is given for."""

    name: str  # "position", "message"
    count: int  # per `Case` of the harness
    num_bytes: float = 0  # the fewest that must be moved per unit; 0 where caches hold all
    level: str = "memory"  # from which bytes are moved, as in `peaks.measure_bandwidth`


class Head(NamedTuple):
    """A lab's title, the notebook it belongs to ("17_versions"), and the minutes that it takes."""

    title: str
    notebook: str
    minutes: int


@dataclasses.dataclass(frozen=True)
class Difference:
    """The first wrong output of a submission."""

    output: str  # names the output, in words
    expected: str
    got: str
    fen: str | None = None
    extra: tuple[int, ...] = ()  # squares (0 to 63) that the submission has and shouldn't
    missing: tuple[int, ...] = ()  # squares that it should have and hasn't


class WrongError(Exception):
    """A result is wrong while a cost is counted or a clock runs."""

    def __init__(self, difference: Difference):
        super().__init__(difference.output)
        self.difference = difference


class Call(NamedTuple):
    """A call, or calls, of an answer's function."""

    name: str
    args: Sequence[Any]
    # None for a single call; "each" for a call per row of the arguments, which are columns; "chain"
    # for a call per row of the second argument, whose first argument is the first part of the
    # previous result; or a list, to launch a kernel on that grid.
    mode: str | list[int] | None = None


@dataclasses.dataclass(frozen=True)
class Lab:
    """The rules by which answers to a lab are judged; the task and its stub are in its notebook."""

    name: str  # its notebook's number, and a letter where that has several: "03a"
    defines: tuple[str, ...]  # functions that a submission must define
    # Given the functions of a submission and of the baseline, which is slow and right, yields the
    # difference of each case, or None.
    judge: Callable[[Any, Any], Iterator[Difference | None]]
    target: float  # share of the best known solution's rate, or the bound's, that must be reached
    cause: str  # one of `CAUSES`
    language: str = "cpp"  # or "python", or "cuda" for Python whose kernels Numba simulates
    harness: str = ""  # C++ that calls a submission, compiled after it in its namespace
    # Whether nothing else of its kind may run in its process: Cling compiles OpenMP's pragmas right
    # only in the first code that has any, and Numba decides at its import whether it simulates.
    alone: bool = False
    unit: str = "s"  # of a cost; "s" is raced, anything else is counted once
    # Given an answer's functions and the seed of a case, returns the cost; raises WrongError where
    # a result is wrong. None where answers are raced.
    count: Callable[[Any, int], float] | None = None
    # Given a random generator, returns the calls that are timed: their inputs can't be foreseen,
    # and their results can be compared with those of the best known solution. None where a cost is
    # counted.
    race: Callable[[np.random.Generator], list[Call]] | None = None
    # A function of the harness that does all that the race's does, except for calling the answer;
    # "" where sending and receiving are the only overhead.
    idle: str = ""
    # Given the race's calls, their results and the solution's, returns whether the former are
    # right; None where both must be the same.
    agrees: Callable[[list[Call], list, list], bool] | None = None
    # The unit of a kernel's cost, where the lab asks for a prediction before the race and counts
    # explain it afterwards; its harness is of `harness.for_case`.
    per: Unit | None = None
    # Whether the harness has a function `bound`, called as its `race` is, that does only what every
    # answer must do: then the target is a share of its rate.
    bound: bool = False
    headers: tuple[str, ...] = ()  # below `cpp/`, in addition to those that all answers may use

    @property
    def on_one_core(self) -> bool:
        """Whether a race counts the CPU time of all threads, as if they shared one core."""
        return self.cause in ("core bound", "bad speculation", "memory bound", "exercise")

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

    def first_difference(self, submission: Any, baseline: Any) -> Difference | None:
        """Returns the first thing that a submission's functions get wrong, if any."""
        return next(filter(None, self.judge(submission, baseline)), None)

    def head(self) -> Head:
        """Reads title, notebook and minutes from its notebook; ConfigurationError without them."""
        import nbformat

        try:
            match = _HEAD.match(nbformat.read(self.notebook, 4).cells[0].source)
        except (OSError, ValueError, IndexError) as error:
            raise ConfigurationError(f"{self.notebook} can't be read: {error}") from None
        if not match:
            raise ConfigurationError(f"{self.notebook} doesn't begin with a lab's title and time")
        return Head(match[1], match[3], int(match[2]))


@functools.cache
def labs() -> dict[str, Lab]:
    """Returns all labs by name, in the course's order."""
    modules = (entry.name for entry in pkgutil.iter_modules(tasks.__path__))
    all_labs = [importlib.import_module(f"{tasks.__name__}.{name}").LAB for name in modules]
    return {lab.name: lab for lab in sorted(all_labs, key=lambda lab: lab.name)}


def find(name: str) -> Lab:
    """Returns the lab called `name`, "03a" or "lab-03a"; ConfigurationError where there is none."""
    lab = labs().get(str(name).removeprefix("lab-"))
    if lab is None:
        raise ConfigurationError(f"no lab {name!r}; there are: {', '.join(labs())}")
    return lab


def require(differences: Iterable[Difference | None]) -> None:
    """Raises WrongError where anything differs."""
    for difference in filter(None, differences):
        raise WrongError(difference)


def apart(functions: Any, count: int) -> list[Any]:
    """Returns an answer's functions `count` times, in separate processes where they are remote."""
    return functions.apart(count) if hasattr(functions, "apart") else [functions] * count
