"""Sentences with measured numbers in them."""

from collections.abc import Callable

from IPython.display import Markdown, display


def say(text: str) -> None:
    """Shows a paragraph of Markdown below a cell."""
    display(Markdown(text))


def live() -> Callable[[str], None]:
    """A line below a cell, which is replaced whenever the function returned is given another."""
    shown = display(Markdown(""), display_id=True)

    def replace(text: str) -> None:
        if shown:  # nothing is shown outside a notebook
            shown.update(Markdown(text))

    return replace
