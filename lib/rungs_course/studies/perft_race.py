"""Move generators against each other: perft, counted in bulk at the leaves by all of them."""

import contextlib
import functools
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import Any

import chess
import pandas as pd

from rungs.errors import EngineError, MismatchError
from rungs_course.measure.turns import timed_rounds

# Position and depth: the two that everyone compares by.
POSITIONS = {
    "start": chess.STARTING_FEN,
    "Kiwipete": "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
}

Counter = Callable[[str, int], int]


def engine_name(program: str) -> str:
    """Returns what a UCI engine calls itself, with its version."""
    done = subprocess.run([program], input="uci\nquit\n", capture_output=True, text=True)
    return next(line for line in done.stdout.splitlines() if line.startswith("id name"))[8:]


@contextlib.contextmanager
def stockfish(program: str) -> Iterator[Counter]:
    """Runs Stockfish as a function (FEN, depth) -> leaves, by its `go perft`.

    Raises:
        EngineError: it stopped before it answered.
    """
    # Without buffers, nothing written is left over when the program is gone.
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "bufsize": 0}
    with subprocess.Popen([program], **pipes) as engine:

        def ask(text: str, answer: str) -> str:
            with contextlib.suppress(BrokenPipeError):
                engine.stdin.write(f"{text}\n".encode())  # type: ignore[union-attr]  # a pipe
            for line in engine.stdout:  # type: ignore[union-attr]
                if line.startswith(answer.encode()):
                    return line.decode()
            raise EngineError(f"{program} stopped when asked {text!r}")

        def perft(fen: str, depth: int) -> int:
            answer = ask(f"position fen {fen}\ngo perft {depth}", "Nodes searched")
            return int(answer.split()[-1])

        ask("uci", "uciok")
        ask("isready", "readyok")
        try:
            yield perft
        finally:
            engine.kill()


def perft_race(
    counters: dict[str, Counter], depths: dict[str, int], *, repeats: int
) -> pd.DataFrame:
    """Times the counters in turns, after one untimed round.

    Args:
        counters: by name.
        depths: how deep to count each of `POSITIONS`.
        repeats: rounds timed.

    Returns:
        A row per counter, position and round: `racer`, `position`, `depth`, `repeat`, `leaves`,
        `seconds`.

    Raises:
        SamenessError: two counters disagree.
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
            found = f"{name} counts {leaves:,}, {other} {expected:,}"
            raise MismatchError(f"perft {depths[position]} of {position}: {found}")
        rows.append((name, position, depths[position], repeat, leaves, seconds))
    columns = ["racer", "position", "depth", "repeat", "leaves", "seconds"]
    return pd.DataFrame(rows, columns=columns)


def _timed(count: Counter, fen: str, depth: int) -> tuple[int, float]:
    start = time.perf_counter()
    leaves = count(fen, depth)
    return leaves, time.perf_counter() - start
