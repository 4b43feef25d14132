"""The course that is taught with Rungs: what its notebooks, labs, runner and book are made of.

What one notebook measures and draws is in the module named after it: `nb00_start`, `nb01_python`,
`nb02_parallel`, `nb03_cpp`, `nb04_openmp`, `nb05_mpi`, `nb06_cuda`, `nb07_ladder`,
`nb08_roofline`, `nb09_counters`, `nb10_scaling`, `nb11_full_system`, `nb12_peers`,
`nb13_cartpole`, `nb14_cost_model`, `nb15_training`, `nb16_search`. What several use:

- `measure`: races, their noise, saved results;
- `plots`: how figures look and are saved, and figures of several notebooks (`medians`, `gains`,
  `parts`);
- `tables`: tables in words and as Markdown;
- `boards`: positions and sets of squares, drawn;
- `notebook`: `NotebookRun`, `Guesses`, `say`, `live`, `in_words`, `source`;
- `widgets`: what widgets are made of; each widget is in its notebook's module;
- `dashboard` and `playing`: `explore` and `play`;
- `pages`: what README and docs take from recorded results.
"""

from typing import TYPE_CHECKING

from rungs._src.native import loader

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    import ipywidgets
    from IPython.core.interactiveshell import InteractiveShell

    from rungs_course.labs.verdict import Verdict

__all__ = ["check", "explore", "play"]

loader.prepare()  # OpenMP's runtime before PyTorch's, which notebooks import


def explore(results: "Path | str | None" = None) -> "ipywidgets.VBox":
    """Shows the course's widgets in a dashboard, for a notebook: `dashboard.explore`.

    Raises:
        UnavailableError: a package that it needs is not installed; it is named.
        ConfigurationError: there are no results in the folder `results`.
    """
    from rungs.errors import UnavailableError, install_hint

    try:
        from rungs_course import dashboard  # takes seconds to import
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        raise UnavailableError(
            f"rungs_course.explore() needs {package}: {install_hint('course')}"
        ) from None
    return dashboard.explore(results)


def play() -> "ipywidgets.VBox":
    """Shows a board to play on against an agent, for a notebook: `rungs_course.playing.play`.

    Raises:
        UnavailableError: a package that it needs is not installed; it is named.
    """
    from rungs.errors import UnavailableError, install_hint

    try:
        from rungs_course.playing import play as shown
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        raise UnavailableError(
            f"rungs_course.play() needs {package}: {install_hint('course')}"
        ) from None
    return shown()


def check(lab: str) -> "Verdict":
    """Judges what was written for a lab in this notebook: `rungs_course.labs.check`.

    Raises:
        ConfigurationError: no such lab, or nothing was submitted.
        UnavailableError: a package that labs need is not installed; it is named.
    """
    return _labs().check(lab)


def load_ipython_extension(shell: "InteractiveShell") -> None:
    """Teaches the cell magic `%%rung` to a notebook: `%load_ext rungs_course`."""
    shell.register_magics(_labs().RungMagics)


def _labs() -> "ModuleType":
    from rungs.errors import UnavailableError, install_hint

    try:
        from rungs_course import labs
    except ModuleNotFoundError as error:
        raise UnavailableError(f"labs need {error.name}: {install_hint('course')}") from None
    return labs
