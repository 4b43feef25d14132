"""What the student has written: the cell magic `%%rung`, and its function."""

import itertools

from IPython.core.magic import Magics, cell_magic, magics_class

from rungs.errors import ConfigurationError
from rungs_course.labs.inside.building import SubmissionError, build
from rungs_course.labs.lab import Lab, find

_codes: dict[str, str | None] = {}  # by lab; None where the last cell failed
_numbers = itertools.count(1)


@magics_class
class RungMagics(Magics):
    """The cell magic of the labs."""

    @cell_magic
    def rung(self, line: str, cell: str) -> None:
        """Submits the cell for a lab: `%%rung 03a`. Its functions are then at hand as `yours`."""
        assert self.shell
        self.shell.user_ns.pop("yours", None)
        try:
            self.shell.user_ns["yours"] = submit(line.strip(), cell)
        except SubmissionError as error:
            print(error)


def submit(name: str, code: str):
    """Compiles an answer to a lab and keeps it for `check`.

    Returns:
        An object with the functions that it defines, to be tried.

    Raises:
        ConfigurationError: no such lab.
        SubmissionError: it does not compile, or lacks a function. What was kept before is
            forgotten, as of anything else that it raises: it is no longer what the cell says.
        UnavailableError: it is C++, and cppyy is not installed.
    """
    lab = find(name)
    _codes[lab.name] = None
    functions = build(lab, {"yours": code}, unit=str(next(_numbers)))["yours"]
    _codes[lab.name] = code
    return functions


def code_of(lab: Lab) -> str:
    """Returns what was last submitted for a lab.

    Raises:
        ConfigurationError: nothing was, or the last cell failed.
    """
    if lab.name not in _codes:
        raise ConfigurationError(
            f"nothing was submitted for lab {lab.name}: begin a cell with %%rung {lab.name}"
        )
    code = _codes[lab.name]
    if code is None:
        raise ConfigurationError(
            f"the last cell for lab {lab.name} failed, and earlier ones are not judged in its "
            "place: correct it and run it again"
        )
    return code
