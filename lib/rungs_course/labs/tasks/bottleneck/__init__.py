"""Lab 11: the bottleneck of a system that we broke."""

from rungs_course.labs.lab import Difference, Lab
from rungs_course.labs.tasks.bottleneck import system as broken
from rungs_course.labs.tasks.bottleneck.system import Stage, System

_NOISE, _MAX_UPDATES = 0.05, 20_000


def _stages(generate=2.0, infer=2.0, learn=2.0, log=0.1) -> dict[str, Stage]:
    stages = {"generate": generate, "infer": infer, "learn": learn, "log": log}
    return {
        name: stage if isinstance(stage, Stage) else Stage(stage) for name, stage in stages.items()
    }


# What was broken and why that is hard to see, and how.
CASES = {
    "all is done in turns": _stages(generate=6.0),
    "all is done in turns, with another stage slow": _stages(learn=5.0),
    "the first update is unlike the others": _stages(generate=5.0, infer=Stage(1.0, first=90.0)),
    "a device is given work, and does it later": _stages(
        infer=Stage(6.0, where="device"), learn=Stage(2.0, where="device")
    ),
    "something is done in few updates only": _stages(log=Stage(40.0, every=8)),
    "another process is always ahead": _stages(
        generate=Stage(5.0, where="beside"), infer=2.0, learn=6.0
    ),
    "another process is waited for": _stages(
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
    for seed, (case, stages) in enumerate(CASES.items()):
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
                f"the bottleneck of the system where {case}",
                f"'{limits}', without which an update takes {gained} of the time",
                got,
            )
        if system.updates > _MAX_UPDATES:
            many = f"{system.updates:,}"
            return Difference(
                f"updates of the system where {case}", f"at most {_MAX_UPDATES:,}", many
            )
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
    defines=("bottleneck",),
    judge=_judge,
    work=_work,
    target=0.7,
    language="python",
    unit="updates",
)
