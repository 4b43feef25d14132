"""A check's result, in words and as a board."""

import dataclasses
import html
import statistics
from collections.abc import Iterator

import chess
import chess.svg

from rungs.errors import ConfigurationError
from rungs_course.labs.harness import RACED_CASES
from rungs_course.labs.lab import Difference, Lab
from rungs_course.labs.submissions import Prediction
from rungs_course.measure.noise import Factor, factor

_MAX_SPREAD = 1.5  # of a share's interval, high over low
_EXTRA, _MISSING = "#D55E00aa", "#0072B2aa"


def _percent(share: float) -> int:
    return round(100 * share)


@dataclasses.dataclass(frozen=True)
class Verdict:
    """A check's result."""

    lab: Lab
    problem: str | None = None  # why it could not be judged or is wrong
    difference: Difference | None = None  # the first wrong output
    # By "yours", "baseline" and "solution", each turn's cost; empty where it was not raced.
    costs: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    printed: str = ""
    prediction: Prediction | None = None
    counts: tuple[str, ...] = ()  # sentences that explain the race

    @property
    def right(self) -> bool:
        """Whether nothing was found wrong."""
        return not self.problem and not self.difference

    @property
    def gain(self) -> Factor:
        """Baseline's cost over the submission's."""
        return self._factor_over("baseline")

    @property
    def share(self) -> Factor:
        """Share of the bound's rate where the lab has one, or else of the best known solution's."""
        return self._factor_over("bound" if self.lab.bound else "solution")

    @property
    def reached(self) -> bool:
        """Whether it is right, and its share, in whole percent as shown, is at least the target."""
        if not (self.right and self.costs):
            return False
        return _percent(self.share.middle) >= _percent(self.lab.target)

    @property
    def nanoseconds(self) -> dict[str, float]:
        """Each racer's median nanoseconds per `Unit` of the lab, which has one."""
        assert self.lab.per
        units = RACED_CASES * self.lab.per.count
        return {name: 1e9 * statistics.median(costs) / units for name, costs in self.costs.items()}

    @property
    def turns_disagree(self) -> bool:
        """Whether the interval of the share is so wide that the machine must have been busy."""
        return bool(self.costs) and self.share.high > _MAX_SPREAD * self.share.low

    def _factor_over(self, other: str) -> Factor:
        if not self.costs:
            raise ConfigurationError(f"lab {self.lab.name} was not raced: {self._request()}")
        pairs = zip(self.costs[other], self.costs["yours"], strict=True)
        return factor(other_cost / cost for other_cost, cost in pairs)

    def __str__(self) -> str:
        return "\n\n".join(text for _, text in self._parts())

    def _repr_html_(self) -> str:
        page = "".join(f"<{tag}>{html.escape(text)}</{tag}>" for tag, text in self._parts())
        if self.difference and self.difference.fen:
            page += self._board()
        return page

    def _parts(self) -> list[tuple[str, str]]:
        """Returns the verdict's parts, each with HTML's name for how it is shown."""
        state = "right." if self.right else "not right yet."
        parts = [("h4", f"Lab {self.lab.name}: {state}")]
        if self.problem:
            parts.append(("pre", self.problem))
        else:
            parts.append(("p", self._difference_text() if self.difference else self._speed_text()))
            parts += [("p", text) for text in (*self._prediction_text(), *self.counts)]
        if self.printed:
            parts += [("p", "Output:"), ("pre", self.printed)]
        if (self.costs and not self.reached) or not self.right:
            parts.append(("p", "Hints are at the end of the lab's notebook."))
        return parts

    def _difference_text(self) -> str:
        difference = self.difference
        assert difference
        words = f"The first difference is {difference.output}: "
        words += f"expected {difference.expected}, but it is {difference.got}."
        for which, squares in (("Missing", difference.missing), ("Too many", difference.extra)):
            if squares:
                words += f" {which}: {', '.join(map(chess.square_name, squares))}."
        if difference.fen:
            words += f" The position is {difference.fen}."
        return words

    def _request(self) -> str:
        return f'first enter your prediction: rungs_course.predict("{self.lab.name}", …)'

    def _prediction_text(self) -> Iterator[str]:
        """Yields what was expected, next to what was measured."""
        if not (self.prediction and self.costs and self.lab.per):
            return
        expected, unit = self.prediction, self.lab.per
        time, best = (self.nanoseconds[racer] for racer in ("yours", "solution"))
        yield f"You expected {expected.gain:g} times the baseline; it is {self.gain.middle:.2f}."
        words = f"Your bound was {expected.bound:.3g} ns per {unit.name}; yours takes {time:.3g}, "
        words += f"the best known solution {best:.3g}."
        if min(time, best) < expected.bound:
            who = "Yours" if time < expected.bound else "The best known solution"
            words += f" {who} is faster than your bound, so one of its facts is wrong: which?"
        yield words

    def _speed_text(self) -> str:
        if not self.costs:
            return f"Before it is raced, {self._request()}."
        gain, share, target = self.gain, self.share, self.lab.target
        of = "bound" if self.lab.bound else "best known solution"
        if self.lab.unit == "s":
            words = (
                f"{gain.middle:.2f} times the baseline ({gain.low:.2f} to {gain.high:.2f}), "
                f"{_percent(share.middle)}% of the {of} "
                f"({_percent(share.low)}% to {_percent(share.high)}%)."
            )
            if self.lab.bound:
                pairs = zip(self.costs["bound"], self.costs["solution"], strict=True)
                known = factor(bound / cost for bound, cost in pairs).middle
                words += f" The best known solution reaches {_percent(known)}%."
        else:
            cost, baseline_cost, best_cost = (
                self.costs[name][0] for name in ("yours", "baseline", "solution")
            )
            words = (
                f"{cost:,.6g} {self.lab.unit}; the baseline {baseline_cost:,.6g}, the best known "
                f"solution {best_cost:,.6g}, {_percent(share.middle)}% of yours."
            )
        goal = "reached" if self.reached else "not reached yet"
        aim = "bound" if self.lab.bound else "best"
        words += f" The target, {_percent(target)}% of the {aim}, is {goal}."
        if self.turns_disagree:
            words += " The turns disagree, as the machine is busy: check again."
        elif share.low < target <= share.high:
            words += " But it lies within the noise of this run: another check may find otherwise."
        return words

    def _board(self) -> str:
        assert self.difference
        assert self.difference.fen
        fill = dict.fromkeys(self.difference.extra, _EXTRA)
        fill |= dict.fromkeys(self.difference.missing, _MISSING)
        board = chess.Board(self.difference.fen, chess960=True)
        return chess.svg.board(board, fill=fill, size=300)
