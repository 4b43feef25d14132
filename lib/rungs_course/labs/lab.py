"""What a lab is: a notebook with the task, and how an answer is judged and raced."""

import dataclasses
import functools
import importlib
import inspect
import pkgutil
import re
import time
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
    """The unit of work that a kernel's cost is given for.

    Attributes:
        name: "position", "message".
        count: how many of them a call of `Lab.work`, and a `Case` of the harness, processes.
        num_bytes: the fewest bytes that must be moved for each; 0 where caches hold all.
        level: where they are moved from: "memory", "L2"; see `peaks.measure_bandwidth`.
    """

    name: str
    count: int
    num_bytes: float = 0
    level: str = "memory"


class Head(NamedTuple):
    """A lab's title, the notebook it belongs to ("17_versions"), and the minutes that it takes."""

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


class WrongError(Exception):
    """A result is wrong while a cost is counted or a clock runs.

    Attributes:
        difference: the first thing that is wrong.
    """

    def __init__(self, difference: Difference):
        super().__init__(difference.what)
        self.difference = difference


class Call(NamedTuple):
    """A call of an answer's function: its name, its arguments, and how.

    Attributes:
        how: None for a single call; "each" for a call per row of the arguments, which are columns;
            "chain" for a call per row of the second argument, whose first argument is the first
            part of the previous result; or a list, to launch a kernel on that grid.
    """

    name: str
    args: Sequence[Any]
    how: str | list[int] | None = None


@dataclasses.dataclass(frozen=True)
class Lab:
    """How answers to a lab are judged. The task and its stub are in its notebook.

    Attributes:
        name: its notebook's number, and a letter where that has several: "03a".
        defines: the functions that a submission must define.
        judge: given the functions of a submission and of the baseline, which is slow and right,
            yields what differs in each case, or None.
        work: given a submission's functions, returns a function that does some work with them and
            returns its cost. Where the cost is counted, a second argument is the seed of the case,
            and WrongError is raised where a result is wrong.
        target: the share of the best known solution's rate, or the bound's, that counts as reached.
        cause: one of `CAUSES`.
        language: "cpp", "python", or "cuda" for Python whose kernels Numba simulates.
        harness: C++ that calls a submission, compiled after it in its namespace.
        alone: whether nothing else of its kind may run in its process: Cling compiles OpenMP's
            pragmas right only in the first code that has any, and Numba decides when it is
            imported whether it simulates.
        unit: of what `work` returns; "s" is raced, anything else is counted once.
        race: given a random generator, returns the calls that are timed where an answer is graded:
            their inputs can't be foreseen, and their results can be compared with those of the
            best known solution. None where a cost is counted.
        idle: a function of the harness that does all that the race's does, except for calling the
            answer; "" where sending and receiving are the only overhead.
        agrees: given the race's calls, their results and the solution's, returns whether the former
            are right; None where both must be the same.
        per: the unit of a kernel's cost, where a prediction is asked for before the race and counts
            explain it afterwards; its harness is of `harness.for_case`. None for other labs.
        bound: given the best known solution's functions, returns a function that does only what
            every answer must do and returns the seconds; then the target is a share of its rate,
            and the harness has a function `bound`, called as its `race` is.
        headers: below `cpp/`, that answers may use in addition to those that all may.
    """

    name: str
    defines: tuple[str, ...]
    judge: Callable[[Any, Any], Iterator[Difference | None]]
    work: Callable[..., Callable[[], float]]
    target: float
    cause: str
    language: str = "cpp"
    harness: str = ""
    alone: bool = False
    unit: str = "s"
    race: Callable[[np.random.Generator], list[Call]] | None = None
    idle: str = ""
    agrees: Callable[[list[Call], list, list], bool] | None = None
    per: Unit | None = None
    bound: Callable[[Any], Callable[[], float]] | None = None
    headers: tuple[str, ...] = ()

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

    def first_difference(self, yours: Any, baseline: Any) -> Difference | None:
        """Returns the first thing that a submission's functions get wrong, if any."""
        return next(filter(None, self.judge(yours, baseline)), None)

    def head(self) -> Head:
        """Reads the beginning of its notebook.

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


def require(differences: Iterable[Difference | None]) -> None:
    """Raises WrongError where anything differs."""
    for difference in filter(None, differences):
        raise WrongError(difference)


def apart(functions: Any, count: int) -> list[Any]:
    """Returns an answer's functions `count` times: in separate processes, where it is graded."""
    return functions.apart(count) if hasattr(functions, "apart") else [functions] * count


def timed(call: Callable[[], object]) -> Callable[[], float]:
    """Returns a function that measures the seconds of a call, the mean over some 5 ms."""

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
