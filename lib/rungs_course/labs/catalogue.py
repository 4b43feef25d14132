"""Which labs there are, and the best known solutions."""

import functools
import importlib
import pkgutil

from IPython.display import Code

from rungs.errors import ConfigurationError
from rungs_course.labs import tasks
from rungs_course.labs.lab import Lab


@functools.cache
def labs() -> dict[str, Lab]:
    """Returns all labs by name, in the course's order."""
    modules = (entry.name for entry in pkgutil.iter_modules(tasks.__path__) if entry.ispkg)
    found = [importlib.import_module(f"{tasks.__name__}.{name}").LAB for name in modules]
    return {lab.name: lab for lab in sorted(found, key=lambda lab: lab.name)}


def find(name: str) -> Lab:
    """Returns the lab called `name`, "03a" or "lab-03a".

    Raises:
        ConfigurationError: there is none; the message names those that there are.
    """
    lab = labs().get(str(name).removeprefix("lab-"))
    if lab is None:
        raise ConfigurationError(f"no lab {name!r}; there are: {', '.join(labs())}")
    return lab


def solution(name: str) -> Code:
    """Shows a lab's best known solution.

    Raises:
        ConfigurationError: no such lab.
    """
    lab = find(name)
    return Code(lab.code("solution"), language="cpp" if lab.language == "cpp" else "python")
