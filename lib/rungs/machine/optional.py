"""Tools that parts of the course can use and the rest does without: what is here, what is not."""

import shutil

import pandas as pd

_TOOLS = (
    ("valgrind", "valgrind", "exact instruction counts where there are no hardware counters"),
    ("PAPI", "papi_avail", "hardware counters"),
    ("Stockfish", "stockfish", "an opponent, and a peer in counting moves"),
    ("clang++", "clang++", "fuzzing the C++ (make check)"),
    ("Chromium", "chromium", "testing the widgets as a reader uses them"),
    ("ip", "ip", "testing MPI across network namespaces"),
    ("NVIDIA driver", "nvidia-smi", "the rungs on a GPU"),
)
# Debian puts games where root's PATH doesn't look.
GAMES = "/usr/games"
_INSTALL = {
    "valgrind": "apt-get install valgrind",
    "PAPI": "apt-get install papi-tools",
    "Stockfish": "apt-get install stockfish",
    "clang++": "apt-get install clang",
    "Chromium": "apt-get install chromium",
    "ip": "apt-get install iproute2",
    "NVIDIA driver": "comes with the card",
}


def find(program: str) -> str | None:
    """The path of a program, where it is installed."""
    return shutil.which(program) or shutil.which(program, path=GAMES)


def optional_tools() -> pd.DataFrame:
    """A row per tool: `tool`, `used for`, `here` (its path, or "no"), `to get it`."""
    rows = [
        (tool, purpose, find(program) or "no", _INSTALL[tool]) for tool, program, purpose in _TOOLS
    ]
    return pd.DataFrame(rows, columns=["tool", "used for", "here", "to get it"])
