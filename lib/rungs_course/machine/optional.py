"""Optional tools, which parts of the course use, and whether each is installed."""

import dataclasses

from rungs.chess import find_program


@dataclasses.dataclass(frozen=True)
class Tool:
    """A tool: its name, its executable, its purpose, and how to get it."""

    name: str
    program: str
    purpose: str
    to_get: str


TOOLS = (
    Tool(
        "valgrind",
        "valgrind",
        "exact instruction counts where there are no hardware counters",
        "apt-get install valgrind",
    ),
    Tool("PAPI", "papi_avail", "hardware counters", "apt-get install papi-tools"),
    Tool(
        "Stockfish",
        "stockfish",
        "an opponent, and a peer in counting moves",
        "apt-get install stockfish",
    ),
    Tool(
        "clang++", "clang++", "fuzzing the C++ (make fuzz)", "apt-get install clang libclang-rt-dev"
    ),
    Tool("llvm-mca", "llvm-mca", "simulating a loop on a core's ports", "apt-get install llvm"),
    Tool(
        "Chromium",
        "chromium",
        "testing the widgets and the book as a reader uses them",
        "apt-get install chromium",
    ),
    Tool(
        "bubblewrap",
        "bwrap",
        "grading answers in a sandbox",
        "apt-get install bubblewrap",
    ),
    Tool("ip", "ip", "testing MPI across network namespaces", "apt-get install iproute2"),
    Tool("GPU", "nvidia-smi", "the rungs on a GPU", "a card of NVIDIA's, and its driver"),
)


def optional_tools():
    """Lists tools: a row each of `tool`, `used for`, `here` (its path, or "no"), `to get it`."""
    import pandas as pd  # which `python -m rungs_course doctor` does without

    rows = [
        (tool.name, tool.purpose, find_program(tool.program) or "no", tool.to_get) for tool in TOOLS
    ]
    return pd.DataFrame(rows, columns=["tool", "used for", "here", "to get it"])
