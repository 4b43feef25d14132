"""Races any chess environment against ours, on one core of this machine.

A result is a JSON file that a pull request can add to `data/bench/`. It holds what was measured:
the time of every turn, the bytes that a step writes and how fast this machine writes them, the
results of the conformance suite, and the machine. `table` computes all other numbers from it.
"""

import dataclasses
import json
import math
import re
from pathlib import Path
from typing import Any

import pandas as pd

from rungs.conformance import load as load_suite
from rungs.devel import Say, atomic_write, check_is_file, line, provenance, schema_error
from rungs.devel.envs import FAILS, NOT_OFFERED, PASSES, environments, run_aside
from rungs.errors import ConfigurationError
from rungs_course import paths, peers
from rungs_course.machine.naming import SAME, slug_of
from rungs_course.measure import disturbance
from rungs_course.measure.peaks import core_speed, writing_seconds
from rungs_course.peers import race
from rungs_course.peers.ours import OUTPUTS, OurChess
from rungs_course.peers.peer import ChessPeer, Games, Peer
from rungs_course.peers.race import Entry, Field

SCHEMA = 1
FOLDER = paths.ROOT / "data" / "bench"

_MIN_PLIES, _MIN_STEPS = 2048, 16  # of a turn: fewer take too short a time to measure
_WARMUP = 3
_NUMBER = (int, float)
_FORM = {
    "schema": int,
    "name": str,
    "version": str,
    "step": {...: str},
    "facts": {"machine": str, "cores": int, "date": str, "clock_mhz": (*_NUMBER, type(None))},
    "disturbed": [str],
    "times": [{"racer": str, "num_envs": int, "repeat": int, "plies": int, "seconds": _NUMBER}],
    "bytes_per_ply": {...: _NUMBER},
    "writing_seconds_per_ply": {...: _NUMBER},
    "conformance": {"suite": int, "passes": int, "not_offered": int, "failed": [str]},
}
_FACTS = (*SAME, "clock_mhz", "commit", "date", "rungs")
# Text without any character that Markdown interprets.
_PLAIN = re.compile(r"[\w][\w .,:;/()@#+~-]{0,99}")


def make_racer(num_envs: int, threads: int = 1, *, name: str) -> Peer:
    """Makes a batch of an environment that `conformance.environments.make` knows, not a rung; a
    class that is no `ChessPeer` has an instance per game.
    """
    if name == environments.PYTHON_CHESS:
        return Games(num_envs, environments.PythonChess)
    kind: Any = environments.class_of(name)
    return kind(num_envs, threads) if issubclass(kind, ChessPeer) else Games(num_envs, kind)


def measure(
    name: str, *, boards: list[int], repeats: int, seed: int, say: Say = line
) -> dict[str, Any]:
    """Races an environment against Rungs, in turns, and runs the conformance suite on it; returns a
    result as `read` does.
    """
    if min([repeats, *boards], default=0) < 1 or not boards:
        raise ConfigurationError("boards and repeats must be at least 1")
    ((label, (environment, _)),) = peers.to_be_asked([name]).items()
    if environment in environments.rung_names():
        entry = Entry(OurChess, {"rung": environment})
    else:
        entry = Entry(make_racer, {"name": environment}, parent=True)
    label = label.rpartition(":")[2]
    say(f"running the conformance suite on {label}")
    suite = load_suite()
    results = run_aside(environment, suite.cases)
    before = disturbance.usage()
    with Field(
        {label: entry}
        | {rung_label: Entry(OurChess, arguments) for rung_label, arguments in OUTPUTS.items()}
    ) as field:
        say(f"racing it on {' and '.join(map(str, boards))} boards, {repeats} turns")
        times = field.race(
            boards,
            steps=lambda count: max(_MIN_STEPS, _MIN_PLIES // count),
            repeats=repeats,
            warmup=_WARMUP,
            seed=seed,
        )
        disturbed = disturbance.disturbances(before, disturbance.usage())
    racers = race.table(times, None)
    written = racers["bytes_per_ply"].fillna(0).to_dict()
    status = [result.status for result in results]
    return {
        "schema": SCHEMA,
        "name": label,
        "version": peers.version(name),
        "step": _step(environment),
        "facts": provenance({"seed": seed}, core_speed()),
        "disturbed": [phrase.format(much) for phrase, much in disturbed.items()],
        "times": times.drop(columns=["threads", "bytes_per_ply"]).to_dict("records"),
        "bytes_per_ply": written,
        "writing_seconds_per_ply": {
            racer: writing_seconds(round(num_bytes * num_envs)) / num_envs
            for racer, num_bytes, num_envs in racers[["bytes_per_ply", "num_envs"]].itertuples()
            if num_bytes > 0
        },
        "conformance": {
            "suite": suite.version,
            "passes": status.count(PASSES),
            "not_offered": status.count(NOT_OFFERED),
            "failed": [result.case for result in results if result.status == FAILS],
        },
    }


def table(result: dict[str, Any]) -> pd.DataFrame:
    """Returns the racers at their best, as `rungs_course.peers.race.table`."""
    times = pd.DataFrame(result["times"])
    times["bytes_per_ply"] = times["racer"].map(result["bytes_per_ply"])
    return race.table(times, result["facts"]["clock_mhz"], result["writing_seconds_per_ply"])


def write(result: dict[str, Any], folder: Path) -> Path:
    """Writes a result to a folder, in place of an earlier one only; returns the file's path."""
    stem = re.sub(r"[^a-z0-9]+", "-", result["name"].lower()).strip("-")
    path = folder / f"{slug_of(result['facts'])}-{stem}.json"
    if path.exists():
        read(path)
    with atomic_write(path) as unfinished:
        unfinished.write_text(json.dumps(result, indent=1) + "\n")
    return path


def read(path: Path) -> dict[str, Any]:
    """Reads a result."""
    try:
        check_is_file(path)
        result = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{path} is not a result of bench: {error}") from None
    if fault := schema_error(result, _FORM) or _flaw(result):
        raise ConfigurationError(f"{path} is not a result of bench: {fault}")
    return result


def _flaw(result: dict[str, Any]) -> str:
    """Returns the fault of a result of the right form; "" where there is none."""
    if result["schema"] != SCHEMA:
        return f"schema {result['schema']}, not {SCHEMA}"
    facts = result["facts"]
    if missing := [name for name in _FACTS if name not in facts]:
        return f"facts has no {missing[0]!r}"
    named = [result["name"], result["version"], *facts.values(), *result["conformance"]["failed"]]
    texts = [text for text in named if isinstance(text, str) and text]
    if formatted := [text for text in texts if not _PLAIN.fullmatch(text)]:
        return f"{formatted[0]!r} is not plain text"
    racers = {row["racer"] for row in result["times"]}
    if racers != {result["name"], *OUTPUTS}:
        return f"times are of {', '.join(sorted(racers))}"
    numbers = [
        row[column] for row in result["times"] for column in ("num_envs", "plies", "seconds")
    ]
    numbers += [*result["writing_seconds_per_ply"].values()]
    if not all(0 < number < math.inf for number in numbers):
        return "a time or a count is not above 0"
    unknown = {*result["bytes_per_ply"], *result["writing_seconds_per_ply"]} - racers
    return f"no times of {unknown.pop()!r}" if unknown else ""


def _step(environment: str) -> dict[str, str]:
    """Returns the parts of an environment's step, where its class names them."""
    step = getattr(environments.class_of(environment), "STEP", None) if ":" in environment else None
    return dataclasses.asdict(step) if step else {}
