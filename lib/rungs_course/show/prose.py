"""Sentences with measured numbers in them."""

from collections.abc import Callable

from IPython.display import Markdown, display

from rungs_course.measure.noise import Factor
from rungs_course.show.style import ratio


def say(text: str) -> None:
    """Shows a paragraph of Markdown below a cell."""
    display(Markdown(text))


def in_words(factor: Factor) -> str:
    """Writes a factor with its noise: "1.49× (1.42 to 1.55)", or that it is but noise."""
    text = f"{ratio(factor.middle)} ({factor.low:.3g} to {factor.high:.3g})"
    if not factor.judged:
        return f"{text}, too few repeats to tell noise"
    return text if factor.beyond() else f"{text}, within the noise of this run"


def live() -> Callable[[str], None]:
    """Shows a line below a cell, which is replaced when the function returned is given another."""
    shown = display(Markdown(""), display_id=True)

    def replace(text: str) -> None:
        if shown:  # nothing is shown outside a notebook
            shown.update(Markdown(text))

    return replace
