"""A race with the MPI rung in it: run on every rank, by `race_on_ranks`."""

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd

import rungs
from rungs._src.processes.ranks import launch
from rungs_course.measure.race import race


def race_on_ranks(
    ranks: int, games: list[dict], *, threads: int = 1, **race_settings
) -> pd.DataFrame:
    """Races `mpi` on some ranks against `cpp`, one race after the other in a job of its own.

    Args:
        ranks: how many.
        games: of each race, `num_envs` (boards on all ranks together), `mask` ("bool" or "bits")
            and `steps` (of `rungs_course.measure.race.race`).
        threads: per rank.
        **race_settings: of `rungs_course.measure.race.race`, the same for all.

    Returns:
        As `race`, racers "cpp" and "mpi", with columns `num_envs` and `mask`.
    """
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "race.csv"
        launch(
            ranks, __name__, [json.dumps([str(out), threads, games, race_settings])], module=True
        )
        return pd.read_csv(out)


def main() -> None:
    """Runs one rank of the races."""
    out, threads, games, race_settings = json.loads(sys.argv[1])
    frames = race_games(games, threads, race_settings)
    if frames:
        pd.concat(frames).to_csv(out, index=False)


def race_games(
    games: list[dict],
    threads: int,
    race_settings: dict,
    beside: Callable[[dict], dict] = lambda game: {},
) -> list[pd.DataFrame]:
    """Races on one rank, as all others do at the same time.

    Args:
        games, threads, race_settings: see `race_on_ranks`.
        beside: makes further racers of rank 0, by name, from `num_envs` and `mask`.

    Returns:
        The rows of `race` for each game, with columns `num_envs` and `mask`; nothing on a rank that
        serves another.
    """
    frames = []
    for game in games:
        steps = game.pop("steps")
        env = rungs.make("chess", "mpi", threads=threads, **game)
        if env.serve():
            continue
        racers = {"cpp": rungs.make("chess", "cpp", **game), "mpi": env} | beside(game)
        pilot = rungs.make("chess", "cpp", **game)
        frames.append(race(racers, pilot, steps=steps, **race_settings).assign(**game))
        env.close()
    return frames


if __name__ == "__main__":
    main()
