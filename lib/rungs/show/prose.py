"""Sentences with measured numbers in them."""

from IPython.display import Markdown, display


def say(text: str) -> None:
    """Shows a paragraph of Markdown below a cell."""
    display(Markdown(text))
