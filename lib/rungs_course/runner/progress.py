"""A run's progress: what was done, how long it took, and what is left, estimated."""

import time
from collections.abc import Callable


class Progress:
    """Says where a run stands, a line as each notebook begins and one as it ends.

    Args:
        notebooks: all of the run, in order.
        expected: the seconds they are expected to take, as far as that is known.
        say: where the lines go.
    """

    def __init__(
        self, notebooks: list[str], expected: dict[str, float], say: Callable[[str], None]
    ):
        self._notebooks, self._expected, self._say = notebooks, expected, say
        self._took: dict[str, float] = {}
        self._start = time.monotonic()

    def done_before(self, name: str, seconds: float) -> None:
        """Tells of one that needs no running."""
        self._took[name] = seconds
        self._say(f"{self._label(name)}: done before, {seconds:.1f} s")

    def begins(self, name: str) -> None:
        """Tells of one that begins."""
        alone = self._left([name])
        about = [] if alone is None else [f"about {in_words(alone)}"]
        rest = self._notebooks[self._notebooks.index(name) :]
        said = "; ".join([*about, *self._in_all(rest)])
        self._say(f"{self._label(name)} … {said}".rstrip())

    def ends(self, name: str, seconds: float, lacks: str) -> None:
        """Tells of one that was run; or that could not be, for what the machine lacks."""
        if not lacks:
            self._took[name] = seconds
        what = f"unavailable here: {lacks}" if lacks else f"{seconds:.1f} s"
        rest = self._notebooks[self._notebooks.index(name) + 1 :]
        self._say(f"{self._label(name)}: {'; '.join([what, *self._in_all(rest)])}")

    def elapsed(self) -> float:
        """Returns seconds since the start."""
        return time.monotonic() - self._start

    def _label(self, name: str) -> str:
        return f"[{self._notebooks.index(name) + 1}/{len(self._notebooks)}] {name}"

    def _in_all(self, rest: list[str]) -> list[str]:
        """Says how long the run has taken and will take, or "" if there is no saying."""
        elapsed, left = self.elapsed(), self._left(rest)
        said = [f"{in_words(elapsed)} so far"] if elapsed >= 1 else []
        said += [f"about {in_words(left)} left"] if left else []
        return [", ".join(said)] if said else []

    def _left(self, rest: list[str]) -> float | None:
        """Expects what some take, times how the run has fared so far; None if not known."""
        if not all(name in self._expected for name in rest):
            return None
        compared = self._took.keys() & self._expected.keys()
        expected = sum(self._expected[name] for name in compared)
        pace = sum(self._took[name] for name in compared) / expected if expected else 1.0
        return pace * sum(self._expected[name] for name in rest)


def in_words(seconds: float) -> str:
    """Writes a time as one waits for it: "40 s", "3 min", "1.5 h"."""
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5970 else f"{seconds / 3600:.1f} h"
