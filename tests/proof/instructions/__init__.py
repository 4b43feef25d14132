"""Counts the instructions of the library's calls, which no other process can disturb.

Valgrind counts them, in what g++ compiles for processors with AVX2. `python -m
tests.proof.instructions` records the counts; a test compares those of today with them.
"""

import json
import tempfile
from pathlib import Path

from rungs._src import paths
from rungs._src.native import gpp
from rungs_course.measure import valgrind
from rungs_course.notebooks import nb17_versions

HERE = Path(__file__).parent
RECORD = HERE / "recorded.json"
# A change beyond the first is reported, one beyond the second refused: a compiler that inlines
# another function changes some per cent.
REPORTED, REFUSED = 0.02, 0.10

# The function counted, and what `work` is asked to do.
_CALLS = {
    "a ply of chess, bool": ("rungs_chess_step", "chess", "0", "64", "100"),
    "a ply of chess, bits": ("rungs_chess_step", "chess", "1", "64", "100"),
    "a ply of chess, list": ("rungs_chess_step", "chess", "2", "64", "100"),
    "a ply of chess, list, one board": ("rungs_chess_step", "chess", "2", "1", "1000"),
    "a step of CartPole": ("rungs_cartpole_step", "cartpole", "8", "64", "500"),
    "a leaf of perft": ("rungs_perft", "perft", "4"),
    "a simulation, gumbel": ("rungs_search_simulate", "search", "0", "32", "4"),
    "a simulation, puct": ("rungs_search_simulate", "search", "1", "32", "4"),
}
_POSITIONS = "a position learnt from, float32"


def counts() -> dict[str, float]:
    """Returns instructions by what they are for: those of `_CALLS`, 03's versions, the learner.

    Raises:
        CompilerError: g++ or valgrind failed; the message holds what it printed.
    """
    library = gpp.load(valgrind.MACHINE)._name
    learner = gpp.build(
        "learner-counted",
        HERE.parent / "cpp" / "learner.cpp",
        [*valgrind.FLAGS, f"-I{paths.CPP}", "-pthread"],
    )

    def learnt(rounds: str) -> tuple[int, int]:
        command = [str(learner), rounds, "1"]
        report = valgrind.callgrind_of("main", command)
        return valgrind.totals(report)["instructions"], int(gpp.run(command))

    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder) / "work")
        source = [str(HERE / "work.c"), f"-I{paths.CPP / 'include'}"]
        gpp.run(["gcc", "-O1", *source, "-o", program, "-ldl"])

        def called(function: str, *asked: str) -> float:
            command = [program, library, *asked]
            report = valgrind.callgrind_of(function, command)
            return valgrind.totals(report)["instructions"] / int(gpp.run(command))

        found = dict(zip(_CALLS, valgrind.together(called, _CALLS.values()), strict=True))
    # The first round, and the games learnt from, cancel out.
    (few, fewer), (many, more) = valgrind.together(learnt, [("1",), ("3",)])
    found[_POSITIONS] = (many - few) / (more - fewer)
    versions = nb17_versions.instructions(nb17_versions.random_games(64, 60, seed=0))
    named = zip(versions["racer"], versions["instructions"], strict=True)
    return found | {f"a ply of 03's {name}": number for name, number in named}


def changed(before: dict[str, float], now: dict[str, float], limit: float) -> list[str]:
    """Returns a line for each count that differs by more than a limit, or is in one only."""
    lines = [f"{name}: counted on one side only" for name in sorted(before.keys() ^ now.keys())]
    for name in before.keys() & now.keys():
        ratio = now[name] / before[name]
        if abs(ratio - 1) > limit:
            lines.append(f"{name}: {before[name]:,.1f} to {now[name]:,.1f}, {ratio - 1:+.1%}")
    return sorted(lines)


def recorded() -> tuple[str, dict[str, float]]:
    """Returns the version line of the compiler, and the counts, that were recorded."""
    record = json.loads(RECORD.read_text())
    return record["compiler"], record["instructions"]


def record() -> None:
    """Records the counts of today."""
    found = {name: round(number, 2) for name, number in counts().items()}
    text = json.dumps({"compiler": gpp.version(), "instructions": found}, indent=1)
    RECORD.write_text(text + "\n")
