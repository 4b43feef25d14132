"""Move generators against each other: perft, counted in bulk at the leaves by all of them."""

import contextlib
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator

import chess
import pandas as pd

from rungs.errors import EngineError, SamenessError

# Position and depth: the two that everyone compares by.
POSITIONS = {
    "start": chess.STARTING_FEN,
    "Kiwipete": "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
}

Counter = Callable[[str, int], int]


def find_stockfish() -> str | None:
    """The path of Stockfish, where it is installed."""
    return shutil.which("stockfish") or shutil.which("/usr/games/stockfish")


@contextlib.contextmanager
def stockfish(program: str) -> Iterator[Counter]:
    """Stockfish as a function (FEN, depth) -> leaves, by its `go perft`; it runs meanwhile.

    Raises:
        EngineError: it stopped before it answered.
    """
    command = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
    with subprocess.Popen([program], **command) as engine:

        def ask(text: str, answer: str) -> str:
            engine.stdin.write(f"{text}\n")
            for line in engine.stdout:
                if line.startswith(answer):
                    return line
            raise EngineError(f"{program} stopped when asked {text!r}")

        def perft(fen: str, depth: int) -> int:
            engine.stdin.write(f"position fen {fen}\n")
            return int(ask(f"go perft {depth}", "Nodes searched").split()[-1])

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
    rows = []
    for repeat in range(-1, repeats):
        for position, depth in depths.items():
            leaves = {}
            for name, count in counters.items():
                start = time.perf_counter()
                leaves[name] = count(POSITIONS[position], depth)
                seconds = time.perf_counter() - start
                if repeat >= 0:
                    rows.append((name, position, depth, repeat, leaves[name], seconds))
            if len(set(leaves.values())) > 1:
                raise SamenessError(f"perft {depth} of {position}: {leaves}")
    columns = ["racer", "position", "depth", "repeat", "leaves", "seconds"]
    return pd.DataFrame(rows, columns=columns)
