"""A student's submissions: the cell magic `%%rung`, and its function."""

import itertools
import math
from typing import NamedTuple

from IPython.core.magic import Magics, cell_magic, magics_class

from rungs.errors import ConfigurationError
from rungs_course.labs.inside.building import SubmissionError, build
from rungs_course.labs.lab import Lab, find

_codes: dict[str, str | None] = {}  # by lab; None where the last cell failed
_predictions: dict[str, "Prediction"] = {}
_numbers = itertools.count(1)


class Prediction(NamedTuple):
    """A student's prediction for an answer, made before it is raced."""

    gain: float  # how many times as fast as the baseline
    bound: float  # the fewest nanoseconds per unit of its lab (`Unit.name`)


@magics_class
class RungMagics(Magics):
    """The cell magic of the labs."""

    @cell_magic
    def rung(self, line: str, cell: str) -> None:
        """Submits the cell for a lab: `%%rung 03a`. Its functions are then available as `yours`."""
        assert self.shell
        self.shell.user_ns.pop("yours", None)
        try:
            self.shell.user_ns["yours"] = submit(line.strip(), cell)
        except SubmissionError as error:
            print(error)


def submit(name: str, code: str):
    """Compiles an answer to a lab, keeps it for `check`, and returns an object with its functions.

    After an error the previous answer is forgotten, as it is no longer what the cell says.
    """
    lab = find(name)
    _codes[lab.name] = None
    functions = build(lab, {"yours": code}, unit=str(next(_numbers)))["yours"]
    _codes[lab.name] = code
    return functions


def code_of(lab: Lab) -> str:
    """Returns the last submission for a lab; ConfigurationError if there is none or it failed."""
    if lab.name not in _codes:
        raise ConfigurationError(
            f"nothing was submitted for lab {lab.name}: begin a cell with %%rung {lab.name}"
        )
    code = _codes[lab.name]
    if code is None:
        raise ConfigurationError(
            f"the last cell for lab {lab.name} failed, and earlier cells are not judged instead: "
            "correct it and run it again"
        )
    return code


def predict(name: str, *, gain: float | None = None, bound: float | None = None) -> None:
    """Keeps a prediction for an answer, to be compared with what is measured.

    `gain` is how many times as fast as the baseline the answer will be, `bound` the fewest
    nanoseconds per unit of the lab. If one is missing, it is asked for again, and `check` races
    nothing.
    """
    lab = find(name)
    if not lab.per:
        raise ConfigurationError(f"lab {lab.name} asks for no prediction")
    _predictions.pop(lab.name, None)
    if gain is None or bound is None:
        print(
            "Enter both numbers: how many times as fast as the baseline your answer will be,\n"
            f"and how many nanoseconds per {lab.per.name} it takes at best."
        )
        return
    for field, value in (("gain", gain), ("bound", bound)):
        if not (isinstance(value, int | float) and math.isfinite(value) and value > 0):
            raise ConfigurationError(f"{field}={value!r} is not a positive number")
    _predictions[lab.name] = Prediction(gain, bound)
    print("Saved. The measurement will be shown next to it.")


def prediction_of(lab: Lab) -> Prediction | None:
    """Returns the prediction for an answer to a lab; None where there is none."""
    return _predictions.get(lab.name)
