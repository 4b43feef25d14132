"""Instructions per ply, counted exactly by callgrind, by the header they come from."""

import re
from pathlib import Path

import pandas as pd

from rungs._src import paths
from rungs_course.measure import valgrind


def instructions_by_header(boards: int, steps: int, mask: str) -> pd.DataFrame:
    """Counts the instructions of `step` in random self-play on the serial rung.

    Args:
        boards: number of boards.
        steps: steps of all boards, from the start of a game.
        mask: "bool" or "bits".

    Returns:
        A row per header: `header` ("chess/movegen.hpp"), `instructions` per ply, most first.

    Raises:
        CompilerError: g++ or valgrind failed; the message holds what it said.
    """
    totals = _by_file(valgrind.callgrind(boards, steps, mask))
    rows = [(_short(file), total / (boards * steps)) for file, total in totals.items()]
    frame = pd.DataFrame(rows, columns=["header", "instructions"])
    frame = frame.groupby("header", as_index=False)["instructions"].sum()
    return frame.sort_values("instructions", ascending=False, ignore_index=True)


def _by_file(text: str) -> dict[str, int]:
    """Instructions by source file, inlined code included where it was written."""
    names: dict[str, str] = {}
    totals: dict[str, int] = {}
    file, skip = "", False
    for line in text.splitlines():
        if match := re.match(r"(fl|fi|fe)=\((\d+)\)(?: (.*))?", line):
            number, name = match[2], match[3]
            file = names.setdefault(number, name)
        elif match := re.match(r"(?:cfi|cfl)=\((\d+)\) (.*)", line):
            names.setdefault(*match.groups())
        elif line.startswith("calls="):
            skip = True  # the next line is what the callee took, which is counted there
        elif re.match(r"[\d+*-]", line):
            if not skip:
                totals[file] = totals.get(file, 0) + int(line.split()[1])
            skip = False
    return totals


def _short(file: str) -> str:
    """Returns a header as the project calls it, and anything else as "the C++ library"."""
    root = f"{paths.CPP}/"
    resolved = str(Path(file).resolve())
    return resolved.removeprefix(root) if resolved.startswith(root) else "the C++ library"
