"""The code that a wheel holds: compiled ahead of time, once for each kind of processor."""

import os
from pathlib import Path

from rungs.compile import functions
from rungs.compile.variants import VARIANTS, Variant, file_name
from rungs.errors import UnavailableError
from rungs.machine.cpu import cpu_features

FOLDER = Path(__file__).parents[1] / "compiled"


def is_here() -> bool:
    """Says whether this installation holds compiled code: a wheel's does, a source tree doesn't."""
    return any(path(variant).exists() for variant in VARIANTS)


def load() -> functions.Api:
    """Loads the functions of `cpp/bindings/api.hpp`, compiled for the best that this processor has.

    `RUNGS_ISA` forces a variant, by its name.

    Raises:
        UnavailableError: no variant is here that this processor could run, or `RUNGS_ISA` names
            none that is.
    """
    return functions.bound(path(chosen()))


def load_learn() -> functions.Api:
    """Loads the functions of `cpp/bindings/learn.hpp`, and their teams of threads; as `load`."""
    return functions.bound(path(chosen()), functions.LEARN_HEADERS)


def chosen() -> Variant:
    """Returns the variant that `load` loads; raises as that."""
    asked = os.environ.get("RUNGS_ISA")
    here = [variant for variant in VARIANTS if path(variant).exists()]
    has = set(cpu_features().split())
    able = [variant for variant in here if has.issuperset(variant.features)]
    if not has:  # unknown: what every processor of the family has, but what is asked for
        able = here if asked else here[-1:]
    if asked:
        named = [variant for variant in here if variant.name == asked]
        if not named:
            known = ", ".join(variant.name for variant in here)
            raise UnavailableError(f"RUNGS_ISA={asked!r} is none of what is compiled here: {known}")
        if named[0] not in able:
            lacks = sorted(set(named[0].features) - has)
            raise UnavailableError(f"RUNGS_ISA={asked!r}: this processor lacks {', '.join(lacks)}")
        return named[0]
    if not able:
        names = ", ".join(variant.name for variant in here)
        raise UnavailableError(f"what is compiled here ({names}) does not run on this processor")
    return able[0]


def path(variant: Variant) -> Path:
    """Returns where a variant's library is, if it is here."""
    return FOLDER / file_name(variant)
