"""A system that learns, with a clock of its own: what is measured is the same every time."""

import dataclasses

import numpy as np

STAGES = ("generate", "infer", "learn", "log")


@dataclasses.dataclass(frozen=True)
class Stage:
    """What a stage does in an update.

    Attributes:
        seconds: it takes.
        first: seconds more, the first time.
        every: how many updates go by until it does something.
        where: "here", in the process that runs the loop; on the "device", which is given work
            and does it later, one thing after the other; or "beside", in another process, which
            does the next update's while this one's goes on.
    """

    seconds: float
    first: float = 0.0
    every: int = 1
    where: str = "here"


class System:
    """Generates, infers, learns and logs, again and again.

    Args:
        stages: by name of `STAGES`.
        noise: how far off a stage's seconds are each time, a standard deviation of logarithms.
        seed: of the noise.

    Attributes:
        updates: how many there were.
    """

    def __init__(self, stages: dict[str, Stage], noise: float = 0.0, seed: int = 0):
        self._stages, self._noise, self._rng = stages, noise, np.random.default_rng(seed)
        self._first = {name: stage.first for name, stage in stages.items()}
        self._now = self._device = self._beside = 0.0
        self.updates = 0

    def clock(self) -> float:
        """Returns the seconds since it began."""
        return self._now

    def update(self, free: str | None = None) -> dict[str, float]:
        """Goes through all stages once.

        Args:
            free: a stage that is left out: something stands in for what it would have made.

        Returns:
            Seconds that a stopwatch shows for each stage, by name. The update ends, as part of the
            last one, when the device has done its work.
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
        if stage.where == "here":
            self._now += seconds
        elif stage.where == "device":
            self._device = max(self._device, self._now) + seconds
        else:
            self._now = max(self._now, self._beside)
            self._beside = self._now + seconds


def bottleneck(stages: dict[str, Stage]) -> str:
    """Returns the stage without which an update takes least, in the long run and without noise."""
    return min(STAGES, key=lambda name: long_run(stages, name))


def long_run(stages: dict[str, Stage], free: str | None) -> float:
    """Returns the seconds of an update, the first ones not counted."""
    system = System(stages)
    for _ in range(32):
        system.update()
    system.update(free)
    began = system.clock()
    for _ in range(128):
        system.update(free)
    return (system.clock() - began) / 128
