"""The errors of the course, and how IPython shows them."""

import contextlib
from collections.abc import Iterator

from rungs.errors import RungsError


class NotebookError(RungsError, RuntimeError):
    """A notebook failed; the message names notebook, cell and error."""


class BookError(RungsError, RuntimeError):
    """The book could not be made, or has faults; the message lists them."""


class CellError(RungsError, ValueError):
    """The C++ of a cell can't be compiled; the message names its lines."""


@contextlib.contextmanager
def sentence_alone() -> Iterator[None]:
    """Lets IPython show an error of Rungs by its sentence, without a traceback of the library."""
    try:
        yield
    except RungsError as error:
        sentence = str(error)
        error._render_traceback_ = lambda: [sentence]  # type: ignore[attr-defined]
        raise
