"""Judges an answer from outside the process in which it runs: a student's own, or one handed in.

The oracle, the inputs and the clock are in this process. In every timed turn an answer gets new
random inputs, and its results must be right as well: so it gains nothing by knowing the lab's
solution or its cases, by caching results, or by faking the clock or the verdict.
"""

import contextlib
import dataclasses
import itertools
import math
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from rungs.devel import cling
from rungs.errors import RungsError, UnavailableError
from rungs_course.labs import explaining, record, submissions
from rungs_course.labs.arrays import same
from rungs_course.labs.inside.building import SubmissionError, in_cell, plain
from rungs_course.labs.inside.wire import MAX_BYTES
from rungs_course.labs.lab import Call, Difference, Lab, WrongError, find
from rungs_course.labs.remote import Answer, EndedError, waited
from rungs_course.labs.sandbox import Launcher, Trusted
from rungs_course.labs.verdict import Verdict
from rungs_course.measure.noise import MIN_REPEATS
from rungs_course.measure.turns import rounds

_SECONDS = 60.0
_MAX_SHOWN = 2000  # characters that it printed
_REPEATS = 31  # many short turns, so that the interval leaves out the disturbed ones
_ENOUGH_SECONDS = 10.0  # after which a race needs only `MIN_REPEATS`
_TRIED = 3  # turns, whose median decides whether turns are long enough: one may be disturbed
_TURN_SECONDS = 3e-3  # that the best known solution takes in a turn, at least
_LONG_SECONDS = 0.1  # if the answer takes as long in a turn, turns are not made longer
_SLOW_SECONDS = 0.1  # if the baseline takes as long in a turn, it gets no more inputs
_MAX_UNITS = 1 << 9


def check(name: str, code: str | None = None, *, seconds: float = _SECONDS) -> Verdict:
    """Judges an answer to a lab, by default the student's last one, as `grade` does.

    It runs in a process of its own with limits on time, memory and output. That guards against
    mistakes; it is not a sandbox against malice. Where a lab asks for a prediction (`predict`), the
    answer is raced only once there is one; then counts explain the race.
    """
    lab = find(name)
    answer = submissions.code_of(lab) if code is None else code
    prediction = submissions.prediction_of(lab)
    race = bool(prediction) or not lab.per
    verdict = assess(name, answer, Trusted(), seconds=seconds, race=race)
    if lab.per and verdict.costs:
        counts = tuple(explaining.explain(lab, answer, verdict.nanoseconds))
        verdict = dataclasses.replace(verdict, prediction=prediction, counts=counts)
    if code is None:
        try:
            record.add(verdict, answer)
        except (RungsError, OSError) as error:
            warnings.warn(f"this check was not recorded: {error}", stacklevel=2)
    return verdict


def assess(
    name: str, code: str, launcher: Launcher, *, seconds: float = _SECONDS, race: bool = True
) -> Verdict:
    """Judges an answer; if it is right and `race` is True, races it, or counts its cost.

    Baseline and best known solution are raced beside it. `launcher` runs all three; `seconds`
    limits all calls of each together. The verdict's costs are those of "yours", "baseline",
    "solution" and, where the lab has one, "bound".
    """
    lab = find(name)
    if lab.language == "cpp":
        cling.interpreter()  # fills its cache on disk, which a sandbox can't write to
    with contextlib.ExitStack() as stack:

        def run(text: str, from_lab: bool = True) -> Answer:
            return stack.enter_context(Answer(lab, text, launcher, seconds, from_lab))

        solution, baseline = run(lab.code("solution")), run(lab.code("baseline"))
        answer = run(code, from_lab=False)
        for process in (solution, answer) if race else (answer,):  # compile at the same time
            process.start()
        fields = _verdict_fields(lab, answer, solution, baseline, race)
        verdict = Verdict(lab, **fields, printed=plain(answer.printed(), _MAX_SHOWN))
    if verdict.costs and lab.bound and verdict.share.low > 1:
        problem = "It takes less time than its bound, which does only what every answer must do."
        verdict = dataclasses.replace(verdict, problem=problem, costs={})
    return verdict


def one_line(text: str) -> str:
    """Returns `plain` text whose tabs and newlines are escaped as well: a file's name."""
    return plain(text).replace("\n", r"\n").replace("\t", r"\t")


def _verdict_fields(
    lab: Lab, answer: Answer, solution: Answer, baseline: Answer, race: bool
) -> dict[str, Any]:
    """Returns the fields of a verdict."""
    stage = "being checked"
    try:
        if difference := lab.first_difference(answer, baseline):
            return {"difference": _plain(difference)}
        if not race:
            return {}
        if lab.race:
            stage = "being raced"
            return {"costs": _race(lab, answer, solution, baseline)}
        stage = "its cost being counted"
        return {"costs": _count(lab, answer, solution, baseline)}
    except UnavailableError:
        raise
    except WrongError as error:
        return {"difference": _plain(error.difference)}
    except EndedError as error:
        return {"problem": f"While {stage}, {error}."}
    except Exception as error:
        text = str(error) if isinstance(error, SubmissionError) else in_cell(error)
        return {"problem": plain(text)}


def _count(lab: Lab, answer: Answer, solution: Answer, baseline: Answer) -> dict[str, list[float]]:
    """Returns the counted costs of all three, on the same new case."""
    seed = int(np.random.SeedSequence().generate_state(1)[0])
    answers = {"yours": answer, "solution": solution, "baseline": baseline}
    assert lab.count
    costs = {which: lab.count(process, seed) for which, process in answers.items()}
    if not (math.isfinite(costs["yours"]) and costs["yours"] > 0):
        raise SubmissionError(f"it costs {costs['yours']:g} {lab.unit}, which can't be compared")
    return {which: [float(cost)] for which, cost in costs.items()}


def _race(lab: Lab, answer: Answer, solution: Answer, baseline: Answer) -> dict[str, list[float]]:
    """Returns each racer's seconds per call of `Lab.race`, minus the overhead: see `Lab.idle`.

    The baseline, which may be hundreds of times as slow, gets only the first of a turn's inputs.
    """
    assert lab.race
    race, rng = lab.race, np.random.default_rng()
    units = {"all": 1, "first": 1}
    calls: dict[str, list[Call]] = {}

    def draw_calls() -> None:
        batches = [race(rng) for _ in range(units["all"])]
        for part, count in units.items():
            calls[part] = list(itertools.chain(*batches[:count]))

    def alone(process: Answer, run: Callable[[], tuple[float, list[Any]]]) -> Callable:
        """Returns a racer that runs while the processes of all others are paused."""

        def turn() -> tuple[float, list[Any]]:
            process.resume()
            try:
                return _seconds_alone(process, run) if lab.on_one_core else run()
            finally:
                process.pause()

        return turn

    def renamed(name: str, part: str = "all") -> Callable[[], tuple[float, list[Any]]]:
        return lambda: solution.calls([call._replace(name=name) for call in calls[part]])

    def idle(part: str) -> Callable:
        nothing = renamed(lab.idle, part) if lab.idle else lambda: solution.decoded(calls[part])
        return alone(solution, nothing)

    racers = {
        "yours": alone(answer, lambda: answer.calls(calls["all"])),
        "solution": alone(solution, lambda: solution.calls(calls["all"])),
        "all": idle("all"),
        "baseline": alone(baseline, lambda: baseline.calls(calls["first"])),
        "first": idle("first"),
    }
    if lab.bound:
        racers["bound"] = alone(solution, renamed("bound"))
    for process in (answer, solution, baseline):
        process.calls([])  # compiles it before any clock runs
        process.pause()

    def turns() -> Iterator[dict[str, float]]:
        """Yields each racer's seconds, turn by turn; every turn has new inputs."""
        draw_calls()
        for turn in rounds(racers):
            expected, got = turn["solution"][1], turn["yours"][1]
            if not (lab.agrees or same)(calls["all"], got, expected):
                raise WrongError(_race_difference(calls["all"], got, expected))
            yield {name: seconds for name, (seconds, _) in turn.items()}
            draw_calls()

    costs: dict[str, list[float]] = {name: [] for name in racers if name not in units}
    recent_turns: list[dict[str, float]] = []  # turns of one length
    began, long_enough = time.monotonic(), False
    for turn in islice(turns(), 1, None):  # skips the first, in which something may be compiled
        recent_turns.append(turn)
        for name, seconds in costs.items():
            part = "first" if name == "baseline" else "all"
            # A tiny difference is noise: a cost is at least a hundredth of the time measured.
            cost = max(turn[name] - turn[part], turn[name] / 100)
            seconds.append(cost / units[part])
        if not long_enough and len(recent_turns) >= _TRIED:
            medians = {n: statistics.median(t[n] for t in recent_turns[-_TRIED:]) for n in turn}
            long_enough = medians["solution"] - medians["all"] >= _TURN_SECONDS
            small = sum(map(_nbytes, calls["all"])) < MAX_BYTES // 4 and units["all"] < _MAX_UNITS
            if not long_enough and small and medians["yours"] < _LONG_SECONDS:
                units["all"] *= 2
                units["first"] *= 2 if medians["baseline"] < _SLOW_SECONDS else 1
                costs, recent_turns = {name: [] for name in costs}, []
                continue
        late = time.monotonic() - began > _ENOUGH_SECONDS
        if len(costs["yours"]) >= (MIN_REPEATS if late else _REPEATS):
            break
    return costs


def _seconds_alone(
    process: Answer, run: Callable[[], tuple[float, list[Any]]]
) -> tuple[float, list[Any]]:
    """Calls `run`; returns its result, and its seconds as if the answer had one core to itself.

    The time that answer and judge waited for a busy core is subtracted. The CPU time of all threads
    counts: one after the other they would take that long.
    """
    before, judge = process.clocks(), waited("thread-self")
    seconds, value = run()
    after = process.clocks()
    seconds -= after.waited - before.waited + waited("thread-self") - judge
    return max(seconds, after.computed - before.computed), value


def _nbytes(call: Call) -> int:
    return sum(arg.nbytes for arg in call.args if isinstance(arg, np.ndarray))


def _race_difference(calls: list[Call], got: Any, expected: Any) -> Difference:
    names = " and ".join(sorted({call.name for call in calls}))
    return Difference(
        f"what {names} returned in a timed turn, for inputs made for that turn",
        f"{expected!r:.200}",
        f"{got!r:.200}",
    )


def _plain(difference: Difference) -> Difference:
    return dataclasses.replace(
        difference,
        output=plain(difference.output),
        expected=plain(difference.expected),
        got=plain(difference.got),
    )
