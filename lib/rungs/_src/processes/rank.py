"""The program of `python -m rungs mpi` on every rank: a script, whose failure ends all ranks."""

import atexit
import os
import socket
import sys
import traceback
from pathlib import Path

import chess  # noqa: F401 (before a script's folder comes first, which may have a chess.py)


def main() -> None:
    """Runs one rank: `python -m rungs._src.processes.rank FOLDER [-m] SCRIPT ARGUMENTS...`."""
    folder, *command = sys.argv[1:]
    from mpi4py import MPI
    from mpi4py.run import run_command_line

    rank = MPI.COMM_WORLD.rank
    # It stands for this rank until that is done, and then holds the traceback of an exception.
    note = Path(folder) / f"{socket.gethostname()} {rank} {os.getpid()}"
    note.touch()
    atexit.register(note.unlink)
    # Python was started without the current folder. A module is looked for there last; a script's
    # folder comes first: mpi4py puts it in place of the first entry.
    if command[0] == "-m":
        sys.path.append(os.getcwd())
    else:
        sys.path.insert(0, "")
    try:
        run_command_line(command)
    except SystemExit:
        raise
    except BaseException:
        raised = traceback.format_exc()
        note.write_text(raised)  # mpiexec may drop the last output
        atexit.unregister(note.unlink)  # as ranks may all raise, and be in each other's way
        # In one piece, as another rank's failure may end us before the next line.
        sys.stderr.write(raised)
        sys.stderr.flush()
        MPI.COMM_WORLD.Abort(1)


main()
