"""What a lab is: a task, how an answer is judged, and what it is measured against."""

import dataclasses
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

# How submissions end, by language.
SUFFIX = {"cpp": ".hpp", "python": ".py", "cuda": ".py"}


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
    """A task for a student. Its folder holds `stub`, `baseline` and `solution`, as code.

    Attributes:
        name: its notebook's number, and a letter where that has several: "03a".
        title: in a few words.
        notebook: whose lab it is: "03_cpp".
        minutes: that it takes.
        goal: what is given and what is asked, as Markdown.
        defines: the functions that a submission must define.
        hints: two, the second saying more than the first. (The third is the solution.)
        judge: given a submission's functions, returns its first difference, if any.
        work: given a submission's functions, returns a function that does some work with them and
            returns what that costs.
        target: the share of the best known solution's rate that counts as reached.
        folder: where its code is.
        language: "cpp", "python", or "cuda" for Python whose kernels Numba simulates.
        harness: C++ that calls a submission, compiled after it in its namespace.
        alone: whether nothing else of its kind may run in its process: Cling compiles OpenMP's
            pragmas right only in the first code that has any, and Numba decides when it is
            imported whether it simulates.
        unit: of what `work` returns; "s" is raced, anything else is counted once.
    """

    name: str
    title: str
    notebook: str
    minutes: int
    goal: str
    defines: tuple[str, ...]
    hints: tuple[str, str]
    judge: Callable[[Any], Difference | None]
    work: Callable[[Any], Callable[[], float]]
    target: float
    folder: Path
    language: str = "cpp"
    harness: str = ""
    alone: bool = False
    unit: str = "s"

    def code(self, which: str) -> str:
        """Returns its "stub", "baseline" or "solution"."""
        return (self.folder / f"{which}{SUFFIX[self.language]}").read_text()


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
