"""Lab 11: the bottleneck of a system that we broke."""

from pathlib import Path

from rungs_course.labs.lab import Difference, Lab
from rungs_course.labs.tasks.bottleneck import system as broken
from rungs_course.labs.tasks.bottleneck.system import Stage, System

_NOISE, _MOST = 0.05, 20_000  # updates


def _stages(generate=2.0, infer=2.0, learn=2.0, log=0.1) -> dict[str, Stage]:
    told = {"generate": generate, "infer": infer, "learn": learn, "log": log}
    return {
        name: stage if isinstance(stage, Stage) else Stage(stage) for name, stage in told.items()
    }


# What was broken and why that is hard to see, and how.
CASES = {
    "all is done in turns": _stages(generate=6.0),
    "all is done in turns, with another stage slow": _stages(learn=5.0),
    "the first update is unlike the others": _stages(generate=5.0, infer=Stage(1.0, first=90.0)),
    "a device is told, and works later": _stages(
        infer=Stage(6.0, where="device"), learn=Stage(2.0, where="device")
    ),
    "something is done in few updates only": _stages(log=Stage(40.0, every=8)),
    "a process beside is always ahead": _stages(
        generate=Stage(5.0, where="beside"), infer=2.0, learn=6.0
    ),
    "a process beside is waited for": _stages(
        generate=Stage(9.0, where="beside"), infer=1.5, learn=4.0
    ),
    "a device works later, and something is done in few updates": _stages(
        generate=1.0,
        infer=Stage(2.0, first=50.0, where="device"),
        learn=Stage(6.0, where="device"),
        log=Stage(16.0, every=8),
    ),
}


def _judge(functions) -> Difference | None:
    for seed, (told, stages) in enumerate(CASES.items()):
        system = System(stages, _NOISE, seed)
        name = functions.bottleneck(system)
        limits = broken.bottleneck(stages)
        if name != limits:
            gained = _gained(stages, limits)
            if name not in broken.STAGES:
                got = f"{name!r:.200}, which is no stage"
            else:
                got = f"'{name}', without which it takes {_gained(stages, name)}"
            return Difference(
                f"the bottleneck of the system where {told}",
                f"'{limits}', without which an update takes {gained} of the time",
                got,
            )
        if system.updates > _MOST:
            many = f"{system.updates:,}"
            return Difference(f"updates of the system where {told}", f"at most {_MOST:,}", many)
    return None


def _gained(stages: dict[str, Stage], name: str) -> str:
    return f"{broken.long_run(stages, name) / broken.long_run(stages, None):.0%}"


def _work(functions):
    def updates() -> float:
        systems = [System(stages, _NOISE, 100 + i) for i, stages in enumerate(CASES.values())]
        for system in systems:
            functions.bottleneck(system)
        return sum(system.updates for system in systems)

    return updates


LAB = Lab(
    name="11",
    title="the bottleneck of a broken system",
    notebook="11_full_system",
    minutes=30,
    goal="""A system generates, infers, learns and logs, again and again. We broke eight of them,
each in another way. Write a function that is given a system and returns the name of the stage that
limits it: `"generate"`, `"infer"`, `"learn"` or `"log"`, the one without which updates would take
least. You can ask it for

- `system.update()`: one update. It returns what a stopwatch shows for each stage, by name.
- `system.update("learn")`: one without that stage, as if it cost nothing.
- `system.clock()`: the seconds since it began. The clock is simulated, so nothing takes long.

Stopwatches can mislead. An accelerator is told what to do and does it later; who waits for it at
the end seems slow. A process beside may be always ahead, and cost nothing, or be waited for. Some
things are done only in the first update, others in every eighth. And times are some percent off.
The stub believes the stopwatch of one update. What counts, once you name all eight, is how few
updates you need for it.""",
    defines=("bottleneck",),
    hints=(
        "A stage is the bottleneck if the whole gets faster without it. That is an experiment: "
        "leave out each of the four in turn, and read the clock, not the stopwatches.",
        "Do one update as it is first, so that whatever is done once is over. Then, for each "
        "stage, one update without it that doesn't count, as the process beside still does what it "
        "began before, and eight that do, so that what is done in every eighth is among them.",
    ),
    judge=_judge,
    work=_work,
    target=0.7,
    folder=Path(__file__).parent,
    language="python",
    unit="updates",
)
