"""The errors of the course's runner."""

from rungs.errors import RungsError


class NotebookError(RungsError, RuntimeError):
    """A notebook failed; the message names notebook, cell and error."""


class BookError(RungsError, RuntimeError):
    """The book could not be made, or has faults; the message lists them."""


class CellError(RungsError, ValueError):
    """The C++ of a cell can't be compiled; the message names its lines."""

    def _render_traceback_(self) -> list[str]:
        """Returns what IPython shows instead of the frames that led here."""
        return [str(self)]
