"""Optional tools, which parts of the course use, and whether each is installed."""

from typing import NamedTuple

from rungs.chess import find_program


class Tool(NamedTuple):
    """A tool: its name, its executable, its purpose, and how to get it."""

    name: str
    program: str
    purpose: str
    to_get: str


_APT = "apt-get install"
_COUNTS = "exact instruction counts where there are no hardware counters"
_BROWSING = "testing the widgets and the book as a reader uses them"
TOOLS = (
    Tool("valgrind", "valgrind", _COUNTS, f"{_APT} valgrind"),
    Tool("PAPI", "papi_avail", "hardware counters", f"{_APT} papi-tools"),
    Tool("Stockfish", "stockfish", "an opponent, and a peer in perft", f"{_APT} stockfish"),
    Tool("clang++", "clang++", "fuzzing the C++ (make fuzz)", f"{_APT} clang libclang-rt-dev"),
    Tool("llvm-mca", "llvm-mca", "simulating a loop on a core's ports", f"{_APT} llvm"),
    Tool("Chromium", "chromium", _BROWSING, f"{_APT} chromium"),
    Tool("bubblewrap", "bwrap", "grading answers in a sandbox", f"{_APT} bubblewrap"),
    Tool("ip", "ip", "testing MPI across network namespaces", f"{_APT} iproute2"),
    Tool("GPU", "nvidia-smi", "the rungs on a GPU", "a card of NVIDIA's, and its driver"),
)


def optional_tools():
    """Lists tools: a row each of `tool`, `used for`, `here` (its path, or "no"), `to get it`."""
    import pandas as pd  # which `python -m rungs_course doctor` does without

    rows = [
        (tool.name, tool.purpose, find_program(tool.program) or "no", tool.to_get) for tool in TOOLS
    ]
    return pd.DataFrame(rows, columns=["tool", "used for", "here", "to get it"])
