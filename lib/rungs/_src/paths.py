"""Where the C++ headers are, in the package, which modules are ours, and files that hide others."""

import os
import sys
from collections.abc import Iterable
from importlib.machinery import PathFinder
from pathlib import Path

# Packages that the library can't do without.
REQUIRED = ("chess", "filelock", "gymnasium", "numpy", "platformdirs")

CPP = (Path(__file__).parents[1] / "cpp").resolve()


def is_ours(module: str | None) -> bool:
    """Returns whether a module, by its name, is of this project."""
    return module is None or module.partition(".")[0] in ("rungs", "rungs_course")


def search_current_folder_last() -> None:
    """Moves the current folder, which `python -m` puts first for our modules, to the end."""
    if sys.flags.safe_path or "-m" not in sys.orig_argv:
        return
    after = sys.orig_argv[sys.orig_argv.index("-m") + 1 :]
    if after and is_ours(after[0]) and sys.path[:1] == [os.getcwd()]:
        sys.path.append(sys.path.pop(0))


def refuse_hiding(names: Iterable[str]) -> None:
    """Raises ImportError where a file in the first folder of `sys.path` hides a module."""
    if sys.flags.safe_path:
        return
    folder = Path(sys.path[0]).absolute()
    for name in names:
        for file in (folder / f"{name}.py", folder / name / "__init__.py"):
            hides = file.is_file() and not any(folder.glob(f"{name}-*.*-info"))
            if hides and PathFinder.find_spec(name, sys.path[1:]):
                raise ImportError(
                    f"{file} hides the module {name}, which Rungs needs: rename it, or start "
                    "Python with -P",
                    name=name,
                    path=str(file),
                )
