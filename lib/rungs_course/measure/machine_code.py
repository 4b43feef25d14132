"""The machine code of innermost loops, read from binaries."""

import re
from pathlib import Path

import pandas as pd

from rungs.devel import run_program
from rungs.errors import UnavailableError

_SECONDS = 600.0  # for a program that reads or simulates machine code


def loop(library: str | Path, function: str) -> pd.DataFrame:
    """Reads the longest innermost loop of a function from a binary, by objdump.

    A function of C++ is named with its parameters, "rungs::machine::cycles(int, long)". Returns a
    row per instruction, in AT&T's syntax: `instruction` and `operands`.
    """
    command = ["objdump", "-d", "-C", "--no-show-raw-insn", f"--disassemble={function}"]
    rows = []
    for line in printed([*command, str(library)], "binutils").splitlines():
        if fields := re.match(r"\s*([0-9a-f]+):\s+(\S+)\s*([^#<]*)", line):
            rows.append((int(fields[1], 16), fields[2], fields[3].strip()))
    addresses = [row[0] for row in rows]
    loops: list[list[tuple[int, str, str]]] = []
    for last, (address, name, target) in enumerate(rows):
        if name.startswith("j") and (back := int(target, 16)) <= address and back in addresses:
            first = addresses.index(back)
            inside = rows[first:last]
            if not any(row[1].startswith("j") for row in inside):
                loops.append(rows[first : last + 1])
    longest = max(loops, key=len, default=[])
    frame = pd.DataFrame(longest, columns=["address", "instruction", "operands"])
    return frame.drop(columns="address")


def printed(command: list[str], package: str, given: str = "") -> str:
    """Returns what a program of a Debian package prints; `given` is its input."""
    done = run_program(command, _SECONDS, given, f"apt-get install {package}")
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["nothing"]
        raise UnavailableError(f"{command[0]} failed; it says: {said[0]}")
    return done.stdout
