"""The MPI library that mpi4py loads, and the headers that belong to it."""

from pathlib import Path

from rungs.errors import UnavailableError, install_hint


def library() -> Path:
    """Returns the MPI library that mpi4py loads, and initialises it."""
    try:
        from mpi4py import MPI  # noqa: F401 (loads the library and initialises it)
    except (ImportError, RuntimeError) as error:
        raise UnavailableError(f"no MPI ({error}): {install_hint('mpi')}") from None
    try:
        maps = Path("/proc/self/maps").read_text().splitlines()
    except OSError:
        raise UnavailableError("only Linux tells which libmpi.so mpi4py has loaded") from None
    paths = [Path(fields[5]) for line in maps if len(fields := line.split(maxsplit=5)) == 6]
    libraries = [path for path in paths if path.name.startswith("libmpi.so")]
    if not libraries:
        raise UnavailableError(f"mpi4py's MPI is not a libmpi.so: {install_hint('mpi')}")
    return libraries[0]


def headers(library: Path) -> Path:
    """Returns the folder of a library's `mpi.h`; raises UnavailableError where that is missing."""
    include = library.parents[1] / "include"
    if not (include / "mpi.h").exists():
        raise UnavailableError(f"no mpi.h in {include}, of {library}: {install_hint('mpi')}")
    return include


def flags() -> list[str]:
    """Returns g++'s flags for code that calls MPI, and initialises MPI; raises as both above."""
    path = library()
    linker_flags = ["-Wl,--no-as-needed", str(path), f"-Wl,-rpath,{path.parent}"]
    return [f"-I{headers(path)}", *linker_flags]
