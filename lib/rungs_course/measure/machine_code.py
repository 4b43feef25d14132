"""The machine code of innermost loops, read from binaries, and its simulation."""

import re
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from rungs.devel import run_program
from rungs.errors import UnavailableError

_SECONDS = 600.0  # for a program that reads or simulates machine code
_ITERATIONS = 100  # that llvm-mca simulates


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
            if not any(row[1].startswith(("j", "ret")) for row in inside):
                loops.append(rows[first : last + 1])
    longest = max(loops, key=len, default=[])
    frame = pd.DataFrame(longest, columns=["address", "instruction", "operands"])
    return frame.drop(columns="address")


def ports(instructions: pd.DataFrame, model: str) -> tuple[float, pd.Series, str]:
    """Simulates a loop on a model of a processor by `simulate`."""
    body = instructions[~instructions["instruction"].str.startswith("j")]
    return simulate(body["instruction"] + " " + body["operands"], model)


def simulate(lines: Iterable[str], model: str) -> tuple[float, pd.Series, str]:
    """Simulates a loop's instructions, without its jump, on a model of a processor by llvm-mca, all
    loads served by the first cache.

    Returns the cycles of an iteration; for how many of them each port that is used is busy; and
    what the loop waits for, according to llvm-mca.
    """
    command = ["llvm-mca", f"--mcpu={model}", f"--iterations={_ITERATIONS}"]
    command += ["--bottleneck-analysis", "--instruction-info=0"]
    report = printed(command, "llvm", "\n".join(lines))
    cycles = int(re.findall(r"Total Cycles:\s+(\d+)", report)[0]) / _ITERATIONS
    names = dict(re.findall(r"^(\[[\d.]+\])\s+- (\S+)$", report, re.MULTILINE))
    head, values = report.split("Resource pressure per iteration:")[1].split("\n")[1:3]
    busy = pd.Series(
        [0.0 if value == "-" else float(value) for value in values.split()],
        index=[names[number] for number in head.split()],
    )
    return cycles, busy.groupby(level=0, sort=False).sum()[lambda x: x > 0], _waits(report)


def _waits(report: str) -> str:
    shares = {
        kind: float(share)
        for kind, share in re.findall(
            r"(Resource Pressure|Register Dependencies|Memory Dependencies)\s+\[ *([\d.]+)%", report
        )
    }
    kind, share = max(shares.items(), key=lambda item: item[1], default=("", 0.0))
    words = {"Resource Pressure": "ports", "Register Dependencies": "dependencies"}
    return f"{words.get(kind, 'loads and stores')}, {share:.0f}%" if share else "nothing"


def host_model() -> str:
    """Returns this processor by LLVM's name, for `ports`."""
    host_cpu = re.search(r"Host CPU: (\S+)", printed(["llvm-mca", "--version"], "llvm"))
    return host_cpu[1] if host_cpu else "native"


def printed(command: list[str], package: str, given: str = "") -> str:
    """Returns what a program of a Debian package prints; `given` is its input."""
    done = run_program(command, _SECONDS, given, f"apt-get install {package}")
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["nothing"]
        raise UnavailableError(f"{command[0]} failed; it says: {said[0]}")
    return done.stdout
