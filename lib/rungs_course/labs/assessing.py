"""Judges an answer that somebody handed in, from outside the process in which it runs.

Oracle, inputs and clock are here. An answer gets inputs that nobody has seen before each time the
clock runs, and what it returns then must be right as well: so it gains nothing by knowing the
lab's solution or its cases, by keeping results, by a clock of its own, or by a verdict of its own.
"""

import contextlib
import dataclasses
import math
import time
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from rungs._src.native import cling
from rungs.errors import UnavailableError
from rungs_course.labs.arrays import same
from rungs_course.labs.inside.building import SubmissionError, in_cell
from rungs_course.labs.inside.wire import MAX_BYTES
from rungs_course.labs.judging import MAX_SHOWN, plain
from rungs_course.labs.lab import Call, Difference, Lab, WrongError, find
from rungs_course.labs.remote import Answer, EndedError
from rungs_course.labs.sandbox import Sandbox, Trusted
from rungs_course.labs.verdict import Verdict
from rungs_course.measure.compare import MIN_REPEATS
from rungs_course.measure.turns import rounds

_SECONDS = 60.0
_REPEATS = 11
_ENOUGH_SECONDS = 20.0  # of a race, if it has had enough repeats
_TURN_SECONDS = 5e-3  # of the best known solution
_LONG_SECONDS = 0.1  # of the answer: then a turn is not made longer
_MAX_UNITS = 1 << 9


def assess(name: str, code: str, place: Sandbox | Trusted, *, seconds: float = _SECONDS) -> Verdict:
    """Judges an answer, and races it with the best known solution where it is right.

    Args:
        name: the lab's.
        code: the answer.
        place: where it runs, and what it is compared with, too.
        seconds: that it may take in all.

    Returns:
        What was found; its costs are of "yours", "solution" and, where the lab has one, "bound".

    Raises:
        ConfigurationError: no such lab.
        UnavailableError: this machine lacks something that the lab needs.
    """
    lab = find(name)
    if lab.language == "cpp":
        cling.interpreter()  # what it keeps for later processes can't be written in a sandbox
    with contextlib.ExitStack() as stack:

        def run(text: str, ours: bool = True) -> Answer:
            return stack.enter_context(Answer(lab, text, place, seconds, ours))

        solution, baseline = run(lab.code("solution")), run(lab.code("baseline"))
        yours = run(code, ours=False)
        for answer in (solution, yours):  # both compile at the same time
            answer.start()
        found = _found(lab, yours, solution, baseline)
        printed = plain(yours.printed(), MAX_SHOWN)
    return Verdict(lab, **found, printed=printed)


def _found(lab: Lab, yours: Answer, solution: Answer, baseline: Answer) -> dict[str, Any]:
    """Returns the fields of a verdict."""
    stage = "being checked"
    try:
        if difference := lab.first_difference(yours, baseline):
            return {"difference": _plain(difference)}
        if lab.race:
            stage = "being raced"
            return {"costs": _race(lab, yours, solution)}
        stage = "its cost being counted"
        return {"costs": _count(lab, yours, solution)}
    except UnavailableError:
        raise
    except WrongError as error:
        return {"difference": _plain(error.difference)}
    except EndedError as error:
        return {"problem": f"While {stage}, {error}."}
    except Exception as error:
        text = str(error) if isinstance(error, SubmissionError) else in_cell(error)
        return {"problem": plain(text)}


def _count(lab: Lab, yours: Answer, solution: Answer) -> dict[str, list[float]]:
    """Returns costs that are counted, of the same new case."""
    seed = int(np.random.SeedSequence().generate_state(1)[0])
    costs = {"yours": lab.work(yours, seed)(), "solution": lab.work(solution, seed)()}
    if not (math.isfinite(costs["yours"]) and costs["yours"] > 0):
        raise SubmissionError(f"it costs {costs['yours']:g} {lab.unit}, which can't be compared")
    return {which: [float(cost)] for which, cost in costs.items()}


def _race(lab: Lab, yours: Answer, solution: Answer) -> dict[str, list[float]]:
    """Returns the seconds of both in each turn, less those that requests take without a call.

    Raises:
        WrongError: what it returned is not what the solution returned.
    """
    assert lab.race
    race, rng, units = lab.race, np.random.default_rng(), 1
    calls: list[Call] = []

    def new() -> None:
        calls[:] = [call for _ in range(units) for call in race(rng)]

    def idle() -> tuple[float, list[Any]]:
        if not lab.idle:
            return solution.decoded(calls)
        return solution.calls([call._replace(name=lab.idle) for call in calls])

    def alone(answer: Answer, run: Callable[[], tuple[float, list[Any]]]) -> Callable:
        """Returns a racer during whose turn nothing of the other's runs."""

        def turn() -> tuple[float, list[Any]]:
            answer.resume()
            try:
                return run()
            finally:
                answer.pause()

        return turn

    racers = {
        "yours": alone(yours, lambda: yours.calls(calls)),
        "solution": alone(solution, lambda: solution.calls(calls)),
        "idle": alone(solution, idle),
    }
    if lab.bound:
        racers["bound"] = alone(
            solution, lambda: solution.calls([call._replace(name="bound") for call in calls])
        )
    yours.pause()

    def turns() -> Iterator[dict[str, float]]:
        """Yields the seconds of each; every turn has inputs of its own."""
        new()
        for turn in rounds(racers):
            expected, got = turn["solution"][1], turn["yours"][1]
            if not (lab.agrees or same)(calls, got, expected):
                raise WrongError(_wrong(calls, got, expected))
            yield {name: seconds for name, (seconds, _) in turn.items()}
            new()

    costs: dict[str, list[float]] = {name: [] for name in racers if name != "idle"}
    began = time.monotonic()
    for turn in islice(turns(), 1, None):  # in the first, something may be compiled
        short = turn["solution"] - turn["idle"] < _TURN_SECONDS and turn["yours"] < _LONG_SECONDS
        if short and units < _MAX_UNITS and sum(map(_nbytes, calls)) < MAX_BYTES // 4:
            units *= 2
            costs = {name: [] for name in costs}
            continue
        for name, seconds in costs.items():
            # What is left of next to nothing is noise: then it is a hundredth of what was seen.
            seconds.append(max(turn[name] - turn["idle"], turn[name] / 100))
        late = time.monotonic() - began > _ENOUGH_SECONDS
        if len(costs["yours"]) >= (MIN_REPEATS if late else _REPEATS):
            break
    return costs


def _nbytes(call: Call) -> int:
    return sum(arg.nbytes for arg in call.args if isinstance(arg, np.ndarray))


def _wrong(calls: list[Call], got: Any, expected: Any) -> Difference:
    names = " and ".join(sorted({call.name for call in calls}))
    return Difference(
        f"what {names} returned while the clock ran, of inputs made for that turn",
        f"{expected!r:.200}",
        f"{got!r:.200}",
    )


def _plain(difference: Difference) -> Difference:
    return dataclasses.replace(
        difference,
        what=plain(difference.what),
        expected=plain(difference.expected),
        got=plain(difference.got),
    )
