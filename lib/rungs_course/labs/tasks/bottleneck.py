"""Lab 11: the bottleneck of a system that we broke."""

import dataclasses

import numpy as np

from rungs_course.labs.lab import Difference, Lab, require

STAGES = ("generate", "infer", "learn", "log")
_NOISE, _MAX_UPDATES = 0.05, 20_000


@dataclasses.dataclass(frozen=True)
class Stage:
    """A stage's work in an update."""

    seconds: float
    first: float = 0.0  # additional seconds, the first time
    every: int = 1  # it does something in one of this many updates
    # "here", in the process that runs the loop; on the "device", which queues work and does it
    # later, in order; or "beside", in another process, which works ahead by one update.
    runs_on: str = "here"


class System:
    """A simulated system that generates, infers, learns and logs, with a clock of its own.

    `noise` is a standard deviation, of the logarithms of a stage's seconds.
    """

    remote_methods, remote_fields = ("clock", "update"), ("updates",)

    def __init__(self, stages: dict[str, Stage], noise: float = 0.0, seed: int = 0):
        self._stages, self._noise, self._rng = stages, noise, np.random.default_rng(seed)
        self._first = {name: stage.first for name, stage in stages.items()}
        self._now = self._device = self._beside = 0.0
        self.updates = 0

    def clock(self) -> float:
        """Returns the seconds since it began."""
        return self._now

    def update(self, free: str | None = None) -> dict[str, float]:
        """Goes through all stages once; returns the seconds that a stopwatch shows for each.

        The stage `free` is skipped: a stand-in replaces its output. The update ends, as part of the
        last stage, when the device has done its work.
        """
        laps = {}
        for name in STAGES:
            began = self._now
            self._run(self._stages[name], 0.0 if name == free else self._takes(name))
            if name == STAGES[-1]:
                self._now = max(self._now, self._device)
            laps[name] = self._now - began
        self.updates += 1
        return laps

    def _takes(self, name: str) -> float:
        stage = self._stages[name]
        if self.updates % stage.every:
            return 0.0
        first, self._first[name] = self._first[name], 0.0
        return stage.seconds * self._rng.lognormal(0, self._noise) + first

    def _run(self, stage: Stage, seconds: float) -> None:
        if stage.runs_on == "here":
            self._now += seconds
        elif stage.runs_on == "device":
            self._device = max(self._device, self._now) + seconds
        else:
            self._now = max(self._now, self._beside)
            self._beside = self._now + seconds


def seconds_without(stages: dict[str, Stage], free: str | None) -> float:
    """Returns the seconds of an update without a stage, in the long run and without noise."""
    system = System(stages)
    for _ in range(32):
        system.update()
    system.update(free)
    began = system.clock()
    for _ in range(128):
        system.update(free)
    return (system.clock() - began) / 128


def _stages(**stages: Stage | float) -> dict[str, Stage]:
    usual: dict[str, Stage | float] = {"generate": 2.0, "infer": 2.0, "learn": 2.0, "log": 0.1}
    return {
        name: stage if isinstance(stage, Stage) else Stage(stage)
        for name, stage in (usual | stages).items()
    }


# The broken systems, by the property that makes their bottlenecks hard to see.
CASES = {
    "all is done in turns": _stages(generate=6.0),
    "all is done in turns, with another stage slow": _stages(learn=5.0),
    "the first update is unlike the others": _stages(generate=5.0, infer=Stage(1.0, first=90.0)),
    "a device is given work, and does it later": _stages(
        infer=Stage(6.0, runs_on="device"), learn=Stage(2.0, runs_on="device")
    ),
    "something is done in few updates only": _stages(log=Stage(40.0, every=8)),
    "another process is always ahead": _stages(generate=Stage(5.0, runs_on="beside"), learn=6.0),
    "another process is waited for": _stages(
        generate=Stage(9.0, runs_on="beside"), infer=1.5, learn=4.0
    ),
    "a device works later, and something is done in few updates": _stages(
        generate=1.0,
        infer=Stage(2.0, first=50.0, runs_on="device"),
        learn=Stage(6.0, runs_on="device"),
        log=Stage(16.0, every=8),
    ),
}


def _judge(submission, _):
    for seed, (case, stages) in enumerate(CASES.items()):
        yield from _differences(submission, case, System(stages, _NOISE, seed))


def _differences(submission, case: str, system: System):
    """Yields what is wrong with the bottleneck returned, and with the updates used to find it."""
    stages, name = CASES[case], submission.bottleneck(system)
    full_seconds = seconds_without(stages, None)
    shares = {stage: seconds_without(stages, stage) / full_seconds for stage in STAGES}
    bottleneck = min(STAGES, key=shares.__getitem__)
    if name != bottleneck:
        got = f"{name!r:.200}, which is not a stage"
        if name in STAGES:
            got = f"'{name}', without which it takes {shares[name]:.0%}"
        yield Difference(
            f"the bottleneck of the system where {case}",
            f"'{bottleneck}', without which an update takes {shares[bottleneck]:.0%} of the time",
            got,
        )
    if system.updates > _MAX_UPDATES:
        most, updates = f"at most {_MAX_UPDATES:,}", f"{system.updates:,}"
        yield Difference(f"updates of the system where {case}", most, updates)


def _count(functions, seed: int) -> float:
    systems = {
        case: System(stages, _NOISE, seed + i) for i, (case, stages) in enumerate(CASES.items())
    }
    for case in np.random.default_rng(seed).permutation(list(systems)).tolist():
        require(_differences(functions, case, systems[case]))
    return sum(system.updates for system in systems.values())


LAB = Lab(
    "11",
    ("bottleneck",),
    _judge,
    target=0.7,
    cause="exercise",
    language="python",
    unit="updates",
    count=_count,
)
