"""What can be asked: our rungs, python-chess, and a class of yours in a file or a module."""

import importlib
import importlib.metadata
import importlib.util
from pathlib import Path

import rungs
from rungs._src.conformance.environment import Environment
from rungs._src.core.arguments import shown
from rungs.errors import ConfigurationError, UnavailableError
from rungs.version import __version__

PYTHON_CHESS = "python-chess"
_CLASSES = {PYTHON_CHESS: "rungs._src.conformance.environments.python_chess:PythonChess"}


def ours() -> list[str]:
    """Returns the names of our rungs of chess."""
    return [rung.name for rung in rungs.rungs_of("chess")]


def check(name: str) -> None:
    """Refuses a name that `make` doesn't know.

    Raises:
        ConfigurationError: it is no rung, nor python-chess, FILE.py:CLASS or MODULE:CLASS.
    """
    if name not in ours() and name not in _CLASSES and ":" not in name:
        known = ", ".join([*ours(), *_CLASSES])
        raise ConfigurationError(
            f"no environment {shown(name)}; there are: {known}, or FILE.py:CLASS or MODULE:CLASS"
        )


def named(names: list[str]) -> dict[str, tuple[str, bool]]:
    """Returns the environments that names stand for.

    Args:
        names: as of `make`; "rungs" is all of ours, as far as they are here.

    Returns:
        By the name in the table: the name for `make`, and whether it may be missing here.

    Raises:
        ConfigurationError: there is none of such a name.
    """
    chosen: dict[str, tuple[str, bool]] = {}
    for name in names:
        several = name == "rungs"
        for one in ours() if several else [name]:
            check(one)
            chosen[one] = one, several and chosen.get(one, (one, True))[1]
    return chosen


def make(name: str) -> Environment:
    """Makes an environment to be asked.

    Args:
        name: a rung, python-chess, FILE.py:CLASS or MODULE:CLASS: a class derived from
            `Environment`, which takes no arguments.

    Raises:
        ConfigurationError: there is none of this name, or the file or module holds no such class.
        UnavailableError: it is not installed.
    """
    check(name)
    if name in ours():
        from rungs._src.conformance.environments.rung import RungEnvironment

        return RungEnvironment(name)
    place, _, kind = _CLASSES.get(name, name).rpartition(":")
    try:
        module = _of_file(place) if place.endswith(".py") else importlib.import_module(place)
        made = getattr(module, kind, None)
        if not isinstance(made, type) or not issubclass(made, Environment):
            raise ConfigurationError(f"{place} has no class {kind} derived from Environment")
        return made()
    except ModuleNotFoundError as error:
        if f"{place}.".startswith(f"{error.name}."):
            raise ConfigurationError(f"there is no module {place}") from None
        raise UnavailableError(f"{error.name} is not installed") from None


def version(name: str) -> str:
    """Returns the version that is installed of an environment's project; "" of yours."""
    if name in ours():
        return __version__
    return importlib.metadata.version("chess") if name == PYTHON_CHESS else ""


def _of_file(file: str):
    if not Path(file).is_file():
        raise ConfigurationError(f"there is no file {file}")
    spec = importlib.util.spec_from_file_location(Path(file).stem, file)
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]  # a file has a spec
    spec.loader.exec_module(module)  # type: ignore[union-attr]  # and that a loader
    return module
