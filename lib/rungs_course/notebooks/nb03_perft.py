"""Perft: move generators raced."""

import contextlib
import functools
import os
import re
import shlex
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import Any

import chess
import pandas as pd

from rungs.devel import start_program
from rungs.errors import ConfigurationError, EngineError, MismatchError
from rungs_course import plots
from rungs_course.measure.turns import timed_rounds

# The two positions in which move generators are usually compared.
POSITIONS = {
    "start": chess.STARTING_FEN,
    "Kiwipete": "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
}
Counter = Callable[[str, int], int]


@contextlib.contextmanager
def stockfish(program: str) -> Iterator[Counter]:
    """Runs Stockfish as a function (FEN, depth) -> leaves, by its `go perft`."""
    with _conversation([program]) as ask:

        def perft(fen: str, depth: int) -> int:
            answer = ask(f"position fen {fen}\ngo perft {depth}", "Nodes searched")
            return _leaves(program, answer.rpartition(" ")[2])

        ask("uci", "uciok")
        ask("isready", "readyok")
        yield perft


def perft_programs() -> dict[str, list[str]]:
    """Returns the move generators that the environment variable `RUNGS_PERFT` names, by name.

    It holds `NAME=COMMAND`, several separated by semicolons. See `perft_program` for what a command
    has to do.
    """
    programs = {}
    for entry in filter(str.strip, os.environ.get("RUNGS_PERFT", "").split(";")):
        name, _, command = map(str.strip, entry.partition("="))
        if not name or not command:
            raise ConfigurationError(f"RUNGS_PERFT: {entry.strip()!r} is not NAME=COMMAND")
        programs[name] = shlex.split(command)
    return programs


@contextlib.contextmanager
def perft_program(command: list[str]) -> Iterator[Counter]:
    """Runs a program as a function (FEN, depth) -> leaves.

    It reads lines of a depth and a FEN, "5 rnbq... w KQkq - 0 1", and answers each at once with a
    line, the number of leaves. It counts on one thread, without a transposition table.
    """
    with _conversation(command) as ask:

        def perft(fen: str, depth: int) -> int:
            return _leaves(command[0], ask(f"{depth} {fen}", ""))

        yield perft


def _leaves(program: str, answer: str) -> int:
    """Returns the number that a program answered."""
    if not re.fullmatch(r"[0-9]{1,18}", answer.strip()):
        raise EngineError(f"{program} answered {answer.strip()!r}, not a number of leaves")
    return int(answer)


@contextlib.contextmanager
def _conversation(command: list[str]) -> Iterator[Callable[[str, str], str]]:
    """Runs a program; yields a function (text, prefix) -> the next line with that prefix."""
    # Without buffers, nothing written is left over when the program is gone.
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "bufsize": 0}
    with start_program(command, **pipes) as engine:
        printed: Any = engine.stdout

        def ask(text: str, answer: str) -> str:
            with contextlib.suppress(BrokenPipeError):
                engine.stdin.write(f"{text}\n".encode())  # type: ignore[union-attr]  # a pipe
            for line in printed:
                if line.startswith(answer.encode()):
                    return line.decode(errors="replace")
            raise EngineError(f"{command[0]} stopped when asked {text!r}")

        try:
            yield ask
        finally:
            engine.kill()


def perft_race(
    counters: dict[str, Counter], depths: dict[str, int], *, repeats: int
) -> pd.DataFrame:
    """Times the counters in turns, each of `POSITIONS` to its depth, after one untimed round.

    Returns a row per counter, position and round: `racer`, `position`, `depth`, `repeat`, `leaves`,
    `seconds`.
    """
    racers = {
        (name, position): functools.partial(_timed, count, POSITIONS[position], depth)
        for position, depth in depths.items()
        for name, count in counters.items()
    }
    rows: list[tuple] = []
    agreed: dict[str, tuple[str, int]] = {}
    for (name, position), repeat, (leaves, seconds) in timed_rounds(
        racers, repeats=repeats, warmup=1
    ):
        other, expected = agreed.setdefault(position, (name, leaves))
        if leaves != expected:
            difference = f"{name} counts {leaves:,}, {other} {expected:,}"
            raise MismatchError(f"perft {depths[position]} of {position}: {difference}")
        rows.append((name, position, depths[position], repeat, leaves, seconds))
    columns = ["racer", "position", "depth", "repeat", "leaves", "seconds"]
    return pd.DataFrame(rows, columns=columns)


def _timed(count: Counter, fen: str, depth: int) -> tuple[int, float]:
    start = time.perf_counter()
    leaves = count(fen, depth)
    return leaves, time.perf_counter() - start


def draw_perft(times: pd.DataFrame):
    """Draws a race of move generators: every repeat, and medians; `times` is of `perft_race`."""
    rates = times.assign(
        name=times["racer"] + ", " + times["position"],
        rate=times["leaves"] / times["seconds"] / 1e6,
    )
    return plots.repeats(rates, "million leaves per second", "Perft, one thread")
