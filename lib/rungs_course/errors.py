"""The errors of the course's runner."""

from rungs.errors import RungsError


class NotebookError(RungsError, RuntimeError):
    """A notebook failed; the message names notebook, cell and error."""


class BookError(RungsError, RuntimeError):
    """The book could not be made, or has faults; the message lists them."""
