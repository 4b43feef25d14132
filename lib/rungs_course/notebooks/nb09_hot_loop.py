"""A hot loop as compilers translate it: instructions, vectorised loops, and ports.

The loop is `cpp/course/hot_loop.cpp`. What is read, counted and timed is one and the same binary.
"""

import ctypes
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd

from rungs.devel import gpp, paths
from rungs.errors import UnavailableError
from rungs.machine import cpu_features
from rungs_course.measure import machine_code

# Builds of the same file: flags, and the processor features that they need, by Linux's names.
_WORDS = ("-march=x86-64-v3", "-DRUNGS_SCALAR_LANES")
BUILDS = {
    "plain words": (*_WORDS, "-fno-tree-vectorize"),
    "plain words, vectorised by g++": _WORDS,
    "written for AVX2": ("-march=x86-64-v3",),
    "written for AVX-512": ("-march=x86-64-v4",),
}
_NEEDED = {"-march=x86-64-v3": "avx2", "-march=x86-64-v4": "avx512bw"}
FUNCTIONS = ("fills", "walks")

_SOURCE = paths.CPP / "course" / "hot_loop.cpp"
_FLAGS = ["-O3", "-std=c++20", "-shared", "-fPIC", "-w"]
_OTHER_MODEL = "skylake-avx512"  # simulated where this processor lacks the instructions
# Purposes of instructions, by their names without the suffix for the operands' size.
_MEANINGS = {
    "and": "and",
    "or": "or",
    "xor": "exclusive or",
    "add": "go to the next boards",
    "cmp": "compare with the end",
}
_TERNARY = {0xF8: "a | (b & c) in one instruction", 0x80: "a & b & c in one instruction"}


def build(name: str) -> Path:
    """Compiles a build of `BUILDS`, if it isn't there yet."""
    if "avx2" not in cpu_features().split():
        raise UnavailableError("the hot loop is compiled for x86-64 with AVX2, which is not here")
    return gpp.build("hot-loop", _SOURCE, [*_FLAGS, *BUILDS[name]])


def runs_here(name: str) -> bool:
    """Returns whether this processor has the instructions of a build."""
    return all(_NEEDED.get(flag, "avx2") in cpu_features() for flag in BUILDS[name])


def functions() -> Mapping[str, Callable]:
    """Loads the fills of each build that runs here, and first the walks in plain words."""
    walks = ctypes.CDLL(str(build("plain words"))).walks
    return {"a walk": walks} | {
        name: ctypes.CDLL(str(build(name))).fills for name in BUILDS if runs_here(name)
    }


def loop(build_name: str) -> pd.DataFrame:
    """Reads the loop over boards from a build of `BUILDS`.

    Returns the rows of `machine_code.loop`, `with_meanings`.
    """
    return with_meanings(machine_code.loop(build(build_name), "fills"))


def with_meanings(instructions: pd.DataFrame) -> pd.DataFrame:
    """Adds what each instruction of a loop is for, `meaning`; empty where that is not known."""
    meanings = map(_meaning, instructions["instruction"], instructions["operands"])
    return instructions.assign(meaning=list(meanings))


def _meaning(name: str, operands: str) -> str:
    if name.startswith("j"):
        return "repeat if not at the end"
    *_, last = operands.rpartition(",")
    if "mov" in name:
        return "store" if last.endswith(")") else "load" if "(" in operands else "copy"
    if shift := re.match(r"(?:vpsllq|shl|sal)\s+\$0x([0-9a-f]+)", f"{name} {operands}"):
        squares = int(shift[1], 16)
        text = f"shift by {squares}: {squares // 9} north-east"
    elif name == "vpternlogq":
        table = int(operands.split(",")[0].removeprefix("$"), 16)
        text = _TERNARY.get(table, f"function {table:#x} of three words")
    else:
        text = _MEANINGS.get(re.sub(r"^vp|q$", "", name), "")
    return f"{text}, one operand from memory" if text and "(" in operands else text


def boards_at_once(instructions: pd.DataFrame) -> int:
    """Returns how many boards an iteration of a `loop` has, by its widest registers."""
    operands = " ".join(instructions["operands"])
    widths = {"%zmm": 8, "%ymm": 4, "%xmm": 2}
    return next((boards for register, boards in widths.items() if register in operands), 1)


def vectorised(name: str) -> pd.DataFrame:
    """Asks g++ which loops over boards it vectorised in a build, and why not the others.

    Returns a row per function and loop: `function`, `line`, `loop` (its first line) and `g++ says`.
    """
    lines = _SOURCE.read_text().splitlines()
    starts = {
        function: next(i for i, line in enumerate(lines, 1) if f"void {function}(" in line)
        for function in FUNCTIONS
    }
    said: dict[tuple[str, int], str] = {}
    command = [gpp.COMPILER, *_FLAGS, *BUILDS[name], str(_SOURCE), "-o", "/dev/null"]
    printed = gpp.run([*command, "-fopt-info-vec-all=stdout"])
    for file, number, kind, message in re.findall(
        r"^(\S+?):(\d+):\d+: (optimized|missed): +(.*)$", printed, re.MULTILINE
    ):
        line = int(number)
        if Path(file).name != _SOURCE.name or "_t i = 0" not in lines[line - 1]:
            continue
        function = max((f for f in FUNCTIONS if starts[f] < line), key=starts.__getitem__)
        if kind == "optimized" or message.startswith("not vectorized"):
            said.setdefault((function, line), message)
    rows = [(*key, lines[key[1] - 1].strip(), message) for key, message in sorted(said.items())]
    return pd.DataFrame(rows, columns=["function", "line", "loop", "g++ says"])


def simulated(measured: Mapping[str, float]) -> pd.DataFrame:
    """Simulates the loop of each build of `BUILDS` on a model of this processor.

    `measured` has the cycles of a board by build. Returns a row per build: `build`, `instructions`
    and `boards` of an iteration, `simulated` cycles of a board, `on` (LLVM's name of the model),
    `waits for`, and `measured`. Raises `UnavailableError` without llvm-mca.
    """
    rows = []
    for name in BUILDS:
        instructions, model = loop(name), model_of(name)
        cycles, _, waits = machine_code.ports(instructions, model)
        boards = boards_at_once(instructions)
        rows.append(
            (name, len(instructions), boards, cycles / boards, model, waits, measured.get(name))
        )
    columns = ["build", "instructions", "boards", "simulated", "on", "waits for", "measured"]
    return pd.DataFrame(rows, columns=columns)


def model_of(name: str) -> str:
    """Returns the processor that a build is simulated on, by LLVM's name."""
    if not runs_here(name):
        return _OTHER_MODEL
    return machine_code.host_model()
