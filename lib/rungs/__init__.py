"""Rungs: reinforcement-learning environments that are the same, bit for bit, on every rung."""

from typing import TYPE_CHECKING

from rungs.compile import loader
from rungs.registry import make, make_async, register, rungs_of
from rungs.version import __version__

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    import ipywidgets
    from IPython.core.interactiveshell import InteractiveShell

    from rungs.labs.verdict import Verdict

__all__ = ["__version__", "check", "explore", "make", "make_async", "play", "rungs_of"]

loader.prepare()
register()


def explore(results: "Path | str | None" = None) -> "ipywidgets.VBox":
    """Shows the course's widgets in a dashboard, for a notebook: `rungs.show.dashboard.explore`.

    Raises:
        UnavailableError: a package that it needs is not installed; it is named.
        ConfigurationError: there are no results in the folder `results`.
    """
    from rungs.errors import UnavailableError, install_hint

    try:
        from rungs.show import dashboard  # takes seconds to import
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        raise UnavailableError(
            f"rungs.explore() needs {package}: {install_hint('course')}"
        ) from None
    return dashboard.explore(results)


def play() -> "ipywidgets.VBox":
    """Shows a board to play on against an agent, for a notebook: `rungs.show.play.play`.

    Raises:
        UnavailableError: a package that it needs is not installed; it is named.
    """
    from rungs.errors import UnavailableError, install_hint

    try:
        from rungs.show.play import play as shown
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        raise UnavailableError(f"rungs.play() needs {package}: {install_hint('course')}") from None
    return shown()


def check(lab: str) -> "Verdict":
    """Judges what was written for a lab in this notebook: `rungs.labs.check`.

    Raises:
        ConfigurationError: no such lab, or nothing was submitted.
        UnavailableError: a package that labs need is not installed; it is named.
    """
    return _labs().check(lab)


def load_ipython_extension(shell: "InteractiveShell") -> None:
    """Teaches the cell magic `%%rung` to a notebook: `%load_ext rungs`."""
    shell.register_magics(_labs().RungMagics)


def _labs() -> "ModuleType":
    from rungs.errors import UnavailableError, install_hint

    try:
        from rungs import labs
    except ModuleNotFoundError as error:
        raise UnavailableError(f"labs need {error.name}: {install_hint('course')}") from None
    return labs
