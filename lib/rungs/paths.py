"""Where things are: the C++ headers in the package, and the source tree around it."""

from pathlib import Path

CPP = (Path(__file__).parent / "cpp").resolve()
ROOT = Path(__file__).resolve().parents[2]
