"""`rungs.list()`: the environments, their rungs, and what this installation lacks for each."""

import dataclasses
import importlib.util

from rungs._src import registry
from rungs._src.machine import gpu
from rungs._src.native import cling, gpp, loader, wheel
from rungs.errors import ConfigurationError, UnavailableError, install_hint


@dataclasses.dataclass(frozen=True)
class ListedRung:
    """A rung of an environment, and how to get anything `missing`; "" where nothing is."""

    env_id: str
    rung: str
    implementation: str
    missing: str

    def __str__(self) -> str:
        return f"{self.implementation}{self.missing and f' (missing: {self.missing})'}"


class Listing(tuple[ListedRung, ...]):
    """All rungs, in the order of the ladder; shown as a table."""

    __slots__ = ()

    def __repr__(self) -> str:
        names = [(entry.env_id, entry.rung) for entry in self]
        widths = [max(map(len, column)) for column in zip(*names, strict=True)]
        return "\n".join(
            f"{env_id:{widths[0]}}  {rung:{widths[1]}}  {entry}"
            for (env_id, rung), entry in zip(names, self, strict=True)
        )


def _missing(rung: registry.Rung) -> str:
    try:
        for need in rung.needs:
            if callable(need):
                need()
            elif need in _CHECKS:
                _CHECKS[need]()
            elif not _is_installed(need):
                raise UnavailableError(f"{need} is not installed: {install_hint(rung.extra)}")
    except (UnavailableError, ConfigurationError) as error:
        return str(error)
    return ""


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # a package that it would be in
        return False


def _check_compiler(name: str | None = None) -> None:
    """Raises UnavailableError where C++ can't be loaded: compiled before, or by a compiler."""
    name = name or loader.chosen()
    if name == loader.WHEEL:
        wheel.chosen()
    elif name == loader.CLING and not cling.is_here():
        raise UnavailableError(f"Cling (cppyy) is not here: {install_hint('cling')}")
    elif name == loader.GPP and not gpp.is_here():
        raise UnavailableError("there is no g++: install it, or a wheel of Rungs, which needs none")


def _check_openmp() -> None:
    if loader.chosen() != loader.WHEEL:
        _check_compiler()
    elif not wheel.has_openmp():
        _check_any_compiler()


def _check_any_compiler() -> None:
    _check_compiler(loader.installed_compiler())


# The names in a rung's `needs` that are no modules.
_CHECKS = {
    "C++": _check_compiler,
    "OpenMP": _check_openmp,
    "MPI": _check_any_compiler,
    "GPU": gpu.require,
}


def list() -> Listing:
    """Lists the environments, their rungs, and what is missing here for each.

    Nothing is made, compiled or imported for it: it only looks for packages, a compiler and a GPU.
    `python -m rungs list` prints the same.

    Returns:
        A tuple, shown as a table, with an entry per rung: `env_id`, `rung`, `implementation`, and
        `missing`, which says how to get what it needs that is not here; "" where it can be made.
    """
    return Listing(
        ListedRung(env_id, rung.name, rung.implementation, _missing(rung))
        for env_id in registry.ENV_IDS
        for rung in registry.rungs_of(env_id)
    )
