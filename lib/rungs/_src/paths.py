"""Where the C++ headers are, in the package, and which modules are ours."""

from pathlib import Path

CPP = (Path(__file__).parents[1] / "cpp").resolve()


def is_ours(module: str | None) -> bool:
    """Returns whether a module, by its name, is of this project."""
    return module is None or module.partition(".")[0] in ("rungs", "rungs_course")
