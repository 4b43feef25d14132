"""Progress of long tasks: a bar on a terminal or in a notebook, lines in a log, or nothing."""

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Self, TypeVar

Item = TypeVar("Item")
Say = Callable[[str], Any]  # is given a line at a time

_bars: list[Any] = []  # that are shown


def line(text: str) -> None:
    """Prints a line above any bars, and flushes it, so that a file has it at once, too."""
    tqdm = sys.modules.get("tqdm")
    if tqdm is None:
        print(text, flush=True)
        return
    tqdm.tqdm.write(text)
    sys.stdout.flush()


def silent(text: str) -> None:
    """Takes a line and prints nothing."""


def is_shown(say: Say) -> bool:
    """Returns whether to show a bar: on a terminal or in a notebook, with the default `say`."""
    return say is line and (sys.stderr.isatty() or _in_notebook())


def close_bars() -> None:
    """Removes all bars, so that an error message gets a line of its own."""
    while _bars:
        _bars.pop().close()


class Progress:
    """The progress of a task, `done` of `total` steps: a bar with a text, or lines in a log."""

    def __init__(self, task: str, total: float, say: Say, done: float = 0):
        self._say = say
        self._bar: Any = None
        if is_shown(say):
            from tqdm.auto import tqdm  # where a bar is shown

            layout = "{desc} {percentage:3.0f}%|{bar:20}| {elapsed}<{remaining}{postfix}"
            options = {"bar_format": layout, "dynamic_ncols": True, "leave": False}
            self._bar = tqdm(desc=task, total=total, initial=done, **options)
            _bars.append(self._bar)
        self._in_log = self._bar is None or (not sys.stdout.isatty() and not _in_notebook())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if any(bar is self._bar for bar in _bars):  # bars compare by their places
            self._bar.close()
            _bars.remove(self._bar)

    def advance(self, steps: float = 1, text: str = "") -> None:
        """Counts steps that were done; `text` describes their result."""
        if self._bar is not None:
            if text:
                self._bar.set_postfix_str(text, refresh=False)
            self._bar.update(steps)
        if text and self._in_log:
            self._say(text)


def watched(items: Iterable[Item], task: str, total: int, say: Say) -> Iterator[Item]:
    """Yields `items`, of which there are `total`; shows how many are done, by a `Progress`."""
    with Progress(task, total, say) as progress:
        for item in items:
            yield item
            progress.advance()


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython and ipython.get_ipython()
    return shell is not None and shell.__class__.__name__ == "ZMQInteractiveShell"
