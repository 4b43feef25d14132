"""Move generators against each other: perft, counted in bulk at the leaves by all of them."""

import contextlib
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


def engine_name(program: str) -> str:
    """What a UCI engine calls itself, with its version."""
    done = subprocess.run([program], input="uci\nquit\n", capture_output=True, text=True)
    return next(line for line in done.stdout.splitlines() if line.startswith("id name"))[8:]


@contextlib.contextmanager
def stockfish(program: str) -> Iterator[Counter]:
    """Stockfish as a function (FEN, depth) -> leaves, by its `go perft`; it runs meanwhile.

    Raises:
        EngineError: it stopped before it answered.
    """
    # Without buffers, nothing written is left over when the program is gone.
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "bufsize": 0}
    with subprocess.Popen([program], **pipes) as engine:

        def ask(text: str, answer: str) -> str:
            with contextlib.suppress(BrokenPipeError):
                engine.stdin.write(f"{text}\n".encode())
            for line in engine.stdout:
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
