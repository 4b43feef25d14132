"""The times of messages between ranks, by size, and of an agreement, by the number of ranks.

Run on every rank, by `race_messages` and `race_agreements`.
"""

import ctypes
import functools
import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pandas as pd

from rungs.devel import gpp, launch, mpi, paths, temporary_dir
from rungs_course.measure.turns import timed_rounds

LATE = 1e-3  # seconds after which the other rank receives what was sent early

_SOURCE = paths.CPP / "course" / "mpi_messages.cpp"
_TURN = 2**22  # about how many bytes a turn of a ping-pong sends each way
_MAX_TRIPS, _AGREEMENTS = 200, 20


def race_messages(sizes: Iterable[int], *, repeats: int, warmup: int) -> pd.DataFrame:
    """Times messages of some bytes between two ranks, all sizes in turns.

    Returns a row per size, measurement and repeat: `bytes`, `what`, `repeat`, `seconds`. "trip" is
    a message's way from one rank to the other; "send" how long `MPI_Send` takes where the other
    rank receives `LATE` seconds later.
    """
    return _on_ranks(2, sizes=list(sizes), repeats=repeats, warmup=warmup)


def race_agreements(rank_counts: Iterable[int], *, repeats: int, warmup: int) -> pd.DataFrame:
    """Times agreements on one number, in a job for each number of ranks.

    Returns a row per number of ranks and repeat: `ranks`, `repeat`, and `seconds` of an agreement.
    """
    frames = [
        _on_ranks(ranks, sizes=[], repeats=repeats, warmup=warmup).assign(ranks=ranks)
        for ranks in rank_counts
    ]
    return pd.concat(frames, ignore_index=True)[["ranks", "repeat", "seconds"]]


def _on_ranks(ranks: int, **settings) -> pd.DataFrame:
    with temporary_dir() as folder:
        out = Path(folder) / "times.csv"
        launch(ranks, __name__, [json.dumps([str(out), settings])], module=True)
        return pd.read_csv(out)


def main() -> None:
    """Runs one rank: messages of some sizes, or agreements where there are none."""
    out, settings = json.loads(sys.argv[1])
    flags = [*gpp.FLAGS.split(), *mpi.flags(), "-fvisibility=default"]
    library = ctypes.CDLL(str(gpp.build("mpi_messages", _SOURCE, flags)))
    for function in ("ping_pong", "send_early", "agree"):
        getattr(library, f"rungs_mpi_{function}").restype = ctypes.c_double

    racers: dict[tuple[str, int], Callable[[], float]] = {}
    for size in settings["sizes"]:
        trips = max(1, min(_MAX_TRIPS, _TURN // size))
        count = ctypes.c_int64(size)
        trip = functools.partial(library.rungs_mpi_ping_pong, count, ctypes.c_int64(trips))
        early = functools.partial(library.rungs_mpi_send_early, count, ctypes.c_double(LATE))
        racers |= {("trip", size): trip, ("send", size): early}
    if not racers:
        racers["agree", 8] = functools.partial(library.rungs_mpi_agree, ctypes.c_int64(_AGREEMENTS))
    timing = {"repeats": settings["repeats"], "warmup": settings["warmup"]}
    rows = [(*name, *row) for name, *row in timed_rounds(racers, **timing)]

    from mpi4py import MPI

    if MPI.COMM_WORLD.rank == 0:
        frame = pd.DataFrame(rows, columns=["what", "bytes", "repeat", "seconds"])
        frame.to_csv(out, index=False)


def border(times: pd.DataFrame) -> tuple[int, int] | None:
    """Finds between which two sizes the protocol changes.

    Returns the largest size of which `MPI_Send` returns before the other rank receives, in the
    median of its repeats, and the next one; None where all sizes, or none, do so.
    """
    sends = times[times["what"] == "send"].groupby("bytes")["seconds"].median()
    returns = sends.index[sends < LATE / 2]
    waits = sends.index[(sends >= LATE / 2) & (sends.index > returns.max())]
    return (int(returns.max()), int(waits.min())) if len(returns) and len(waits) else None


if __name__ == "__main__":
    main()
