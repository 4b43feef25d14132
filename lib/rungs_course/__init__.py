"""The course that is taught with Rungs: what its notebooks, labs, runner and book are made of.

What one notebook measures and draws is in `notebooks`, in modules named after it. What several use:

- `measure`: races, their noise, saved results;
- `plots`: how figures look and are saved, and figures of several notebooks (`medians`, `gains`,
  `parts`);
- `tables`: tables in words and as Markdown;
- `boards`: positions and sets of squares, drawn;
- `notebook`: `NotebookRun`, `Guesses`, `say`, `live`, `in_words`, `source`;
- `widgets`: what widgets are made of; each widget is in its notebook's module;
- `dashboard`: `explore`;
- `outline`: what each notebook says about itself;
- `pages`: the parts of README and docs that are generated.
"""

import importlib
import sys
from typing import TYPE_CHECKING

from rungs.devel import loader
from rungs.errors import UnavailableError, install_hint
from rungs_course.errors import sentence_alone

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    import ipywidgets
    from IPython.core.interactiveshell import InteractiveShell

    from rungs_course.labs.verdict import Verdict

__all__ = ["check", "explore", "predict"]

loader.prepare()  # OpenMP's runtime before PyTorch's, which notebooks import

# The notebooks' checker imports it if it can, to parse web addresses beyond ASCII, which takes 2 s
# of a core in each process. No notebook has such an address.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # can't be imported


def explore(results: "Path | str | None" = None) -> "ipywidgets.VBox":
    """Shows the course's widgets in a dashboard, for a notebook: `dashboard.explore`."""
    return _imported("dashboard", "rungs_course.explore() needs").explore(results)


def check(lab: str) -> "Verdict":
    """Judges what was written for a lab in this notebook: `rungs_course.labs.check`."""
    with sentence_alone():
        return _imported("labs", "labs need").check(lab)


def predict(lab: str, *, gain: float | None = None, bound: float | None = None) -> None:
    """Saves a prediction of an answer to a lab: its gain over the baseline, and the nanoseconds per
    item that it takes at best.
    """
    with sentence_alone():
        _imported("labs", "labs need").predict(lab, gain=gain, bound=bound)


def load_ipython_extension(shell: "InteractiveShell") -> None:
    """Registers the cell magic `%%rung` in a notebook: `%load_ext rungs_course`."""
    shell.register_magics(_imported("labs", "labs need").RungMagics)


def _imported(module: str, what_needs: str) -> "ModuleType":
    """Imports a module of the course when it is needed, as this takes seconds."""
    try:
        return importlib.import_module(f"{__name__}.{module}")
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        raise UnavailableError(f"{what_needs} {package}: {install_hint('course')}") from None
