"""A race with the MPI rung in it: run on every rank, by `race_on_ranks`."""

import json
import sys
import tempfile
from pathlib import Path

import pandas as pd

import rungs
from rungs.measure.race import race
from rungs.mpi import launch


def race_on_ranks(ranks: int, *, num_envs: int, mask: str, threads: int = 1, **race_settings):
    """Races `mpi` on some ranks against `cpp`, in a job of its own.

    Args:
        ranks: how many.
        num_envs: boards on all ranks together.
        mask: "bool" or "bits".
        threads: per rank.
        **race_settings: of `rungs.measure.race.race`.

    Returns:
        As `race`, racers "cpp" and "mpi".
    """
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "race.csv"
        settings = {"num_envs": num_envs, "mask": mask}
        launch(ranks, __file__, [json.dumps([str(out), threads, settings, race_settings])])
        return pd.read_csv(out)


def main() -> None:
    """One rank of the race."""
    out, threads, settings, race_settings = json.loads(sys.argv[1])
    env = rungs.make("chess", "mpi", threads=threads, **settings)
    if env.serve():
        return
    racers = {"cpp": rungs.make("chess", "cpp", **settings), "mpi": env}
    pilot = rungs.make("chess", "cpp", **settings)
    race(racers, pilot, **race_settings).to_csv(out, index=False)
    env.close()


if __name__ == "__main__":
    main()
