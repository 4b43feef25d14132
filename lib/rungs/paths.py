"""Where the C++ headers are: in the package."""

from pathlib import Path

CPP = (Path(__file__).parent / "cpp").resolve()
