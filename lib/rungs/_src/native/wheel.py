"""The compiled code of a wheel, one library for each kind of processor."""

import functools
import hashlib
import os
import platform
from pathlib import Path

from rungs._src.machine.cpu import cpu_features
from rungs._src.native.abi import Api, load_library
from rungs._src.native.variants import VARIANTS, Variant, file_name, of_machine
from rungs.errors import CompilerError, UnavailableError

FOLDER = Path(__file__).parents[2] / "compiled"


def is_here() -> bool:
    """Returns whether this installation has compiled code, as a wheel's has."""
    return any(path(variant).exists() for variant in VARIANTS)


def load() -> Api:
    """Loads the functions of `cpp/bindings` in the variant `RUNGS_ISA`, else the best one."""
    return _load_intact(path(chosen()))


def c_paths() -> dict[str, Path]:
    """Returns the paths of header and library for programs in other languages, by name."""
    if not is_here():
        raise UnavailableError(
            "a source tree has no compiled library: install a wheel (pip wheel .), or unpack what "
            "make archive makes"
        )
    lib = FOLDER / "lib"
    return {
        "include": FOLDER / "include",
        "lib": lib,
        "pkgconfig": lib / "pkgconfig",
        "cmake": lib / "cmake" / "rungs",
    }


def has_openmp() -> bool:
    """Returns whether the variant that `load` loads is here with OpenMP's loops, too."""
    return path(chosen(), openmp=True).exists()


def load_openmp() -> Api:
    """Loads the functions with OpenMP's loops, for which a runtime must be loaded; as `load`."""
    return _load_intact(path(chosen(), openmp=True))


@functools.cache
def _load_intact(library: Path) -> Api:
    """Loads a library after comparing its hash: damaged code could crash the process."""
    try:
        listed = (FOLDER / "sha256sums").read_bytes().split(b"\n")
        name = library.relative_to(FOLDER.parent).as_posix()
        line = f"{hashlib.sha256(library.read_bytes()).hexdigest()}  {name}"
        if line.encode() not in listed:
            raise CompilerError(f"{library} is damaged: install the wheel again")
    except OSError as error:
        raise CompilerError(f"the wheel is damaged, install it again: {error}") from None
    return load_library(library)


def chosen() -> Variant:
    """Returns the variant that `load` loads; raises as `load`."""
    isa = os.environ.get("RUNGS_ISA")
    installed = [variant for variant in of_machine(platform.machine()) if path(variant).exists()]
    available = set(cpu_features().split())
    able = [variant for variant in installed if available.issuperset(variant.features)]
    if not available:  # unknown: the least of the family, unless one is requested
        able = installed if isa else installed[-1:]
    if isa:
        requested = [variant for variant in installed if variant.name == isa]
        if not requested:
            known = ", ".join(variant.name for variant in installed)
            raise UnavailableError(f"RUNGS_ISA={isa!r} is not compiled here; there are: {known}")
        if requested[0] not in able:
            missing = sorted(set(requested[0].features) - available)
            raise UnavailableError(f"RUNGS_ISA={isa!r}: this processor lacks {', '.join(missing)}")
        return requested[0]
    if not able:
        names = ", ".join(variant.name for variant in installed)
        raise UnavailableError(f"what is compiled here ({names}) does not run on this processor")
    return able[0]


def path(variant: Variant, openmp: bool = False) -> Path:
    """Returns the path of a variant's library, or of the one with OpenMP; it need not exist."""
    return FOLDER / file_name(variant, openmp)
