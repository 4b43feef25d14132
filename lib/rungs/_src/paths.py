"""Where the C++ headers are: in the package."""

from pathlib import Path

CPP = (Path(__file__).parents[1] / "cpp").resolve()
