"""Ranks that share boards out: races, and when each of them calls MPI. Run on every rank."""

import ctypes
import dataclasses
import itertools
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import rungs
from rungs.devel import gpp, launch, mpi, paths, temporary_dir
from rungs.errors import WorkerDiedError
from rungs_course.compiled import load_course
from rungs_course.measure.race import race
from rungs_course.teams import make as make_team

# Parts of a rank's step, in the order of time.
WORKS = ("order", "check", "agree", "play", "send")
TRANSPORTS = ("shared", "messages")

_CALLS = paths.CPP / "course" / "mpi_calls.cpp"


def race_layout(
    ranks: int,
    threads: int,
    games: list[dict],
    *,
    teams: bool = False,
    traced: tuple[int, int] | None = None,
    **race_settings,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Races `mpi` on some ranks against `cpp`, and notes when ranks call MPI, in a job of its own.

    `games` holds `num_envs` (boards on all ranks), `mask` and `steps` of each race. With `teams`,
    rank 0's threads race as well, without ranks: "openmp", and "twice", which wakes its team for
    the check and for playing, as a rank does. `traced` is a number of boards and of steps whose
    calls are noted, per transport. Returns the rows of `race`, with columns `num_envs` and `mask`;
    and the calls, a row each: `transport`, `rank`, `call`, `begin`, `end`, in seconds on the
    machine's clock.
    """
    with temporary_dir() as folder:
        arguments = [folder, threads, games, teams, traced, race_settings]
        launch(ranks, __name__, [json.dumps(arguments)], module=True)
        calls = [
            pd.read_csv(_calls_file(folder, transport, rank)).assign(transport=transport, rank=rank)
            for transport, rank in itertools.product(TRANSPORTS, range(ranks) if traced else ())
        ]
        return pd.read_csv(Path(folder) / "race.csv"), pd.concat(calls) if calls else pd.DataFrame()


def _calls_file(folder: str, transport: str, rank: int) -> Path:
    return Path(folder) / f"{transport} {rank}.csv"


def main() -> None:
    """Runs one rank."""
    folder, threads, games, teams, traced, race_settings = json.loads(sys.argv[1])
    notes = _noting() if traced else None

    def more_racers(game: dict) -> dict:
        if not teams:
            return {}
        play_twice = load_course().rungs_chess_twice
        return {
            "openmp": rungs.make("chess", "openmp", threads=threads, **game),
            "twice": make_team(play_twice, game["num_envs"], threads, game["mask"]),
        }

    frames = _race_games(games, threads, race_settings, more_racers)
    for transport in TRANSPORTS if traced else ():
        _note_calls(notes, transport, threads, traced, race_settings["seed"], folder)
    if frames:
        pd.concat(frames).to_csv(Path(folder) / "race.csv", index=False)


def _race_games(
    games: list[dict],
    threads: int,
    race_settings: dict,
    beside: Callable[[dict], dict],
) -> list[pd.DataFrame]:
    """Races on one rank, as all others do at the same time, with rank 0's further racers of
    `beside`; a rank that serves another returns nothing.
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


def _noting() -> ctypes.CDLL:
    """Loads the library that notes calls, before MPI's own, so that C++ finds it first."""
    flags = [*gpp.FLAGS.split(), *mpi.flags(), "-fvisibility=default"]
    return ctypes.CDLL(str(gpp.build("mpi_calls", _CALLS, flags)), ctypes.RTLD_GLOBAL)


def _note_calls(notes, transport, threads, traced, seed, folder) -> None:
    num_envs, steps = traced
    env = rungs.make("chess", "mpi", num_envs, threads=threads, transport=transport)
    notes.rungs_mpi_forget()
    boards: Any = env.boards
    rank = boards.ranks.rank
    if not env.serve():
        env.reset(seed=seed)
        rng = np.random.default_rng(seed)
        for _ in range(steps):
            env.step(env.sample_actions(rng))
        env.close()
    path = _calls_file(folder, transport, rank)
    if notes.rungs_mpi_write(str(path).encode()):
        raise WorkerDiedError(rank, f"could not write {path}")


def works(calls: pd.DataFrame) -> pd.DataFrame:
    """Derives what ranks do in each step, from their calls of MPI and the time between.

    Returns a row per piece of work: `transport`, `rank`, `step`, `work` (of `WORKS`), `begin`,
    `end`, in seconds from the moment when rank 0 gives that step's order. Resets are left out, and
    the waiting of other ranks before an order.
    """
    frames = []
    for (transport, rank), rank_calls in calls.groupby(["transport", "rank"], sort=False):
        order = "MPI_Wait" if rank == 0 else "MPI_Test"
        rank_calls = rank_calls.assign(
            step=(rank_calls["call"] == order).cumsum(), transport=transport, rank=rank
        )
        rank_calls.loc[rank_calls["call"] == "MPI_Ibcast", "step"] += 1  # it begins the order
        frames += [_pieces(rows) for _, rows in rank_calls.groupby("step")]
    pieces = pd.concat([frame for frame in frames if len(frame)], ignore_index=True)
    starts = pieces[(pieces["rank"] == 0) & (pieces["work"] == "order")]
    starts = starts.set_index(["transport", "step"])["begin"]
    keys = pd.MultiIndex.from_frame(pieces[["transport", "step"]])
    pieces = pieces[keys.isin(starts.index)]
    start = starts.loc[pd.MultiIndex.from_frame(pieces[["transport", "step"]])].to_numpy()
    return pieces.assign(begin=pieces["begin"] - start, end=pieces["end"] - start)


def _pieces(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns a rank's pieces of work in one step; an empty frame where it is not a step."""
    meetings = rows[rows["call"] == "MPI_Allreduce"]
    begun = rows[rows["call"].isin(["MPI_Wait", "MPI_Test"])]
    columns = ["transport", "rank", "step", "work", "begin", "end"]
    if len(meetings) != 2 or not len(begun):
        return pd.DataFrame(columns=columns)
    rank, ordered = rows["rank"].iloc[0], begun["end"].iloc[0]
    pieces = [("order", rows["begin"].iloc[0] if rank == 0 else ordered, ordered)]
    agree, done = meetings.itertuples()
    sent = rows[rows["call"].isin(["MPI_Scatterv", "MPI_Igatherv", "MPI_Waitall"])]
    before, after = sent[sent["end"] <= agree.begin], sent[sent["begin"] >= agree.end]
    if len(before):
        ordered = before["end"].iloc[-1]
        pieces.append(("send", before["begin"].iloc[0], ordered))
    pieces += [("check", ordered, agree.begin), ("agree", agree.begin, agree.end)]
    played = after["begin"].iloc[0] if len(after) else done.begin
    pieces.append(("play", agree.end, played))
    if len(after):
        pieces.append(("send", played, after["end"].iloc[-1]))
    pieces.append(("agree", done.begin, done.end))
    step_key = (rows["transport"].iloc[0], rank, rows["step"].iloc[0])
    return pd.DataFrame([(*step_key, *piece) for piece in pieces], columns=columns)


def typical_step(pieces: pd.DataFrame, transport: str) -> int:
    """Returns the step of `works` whose length is the median."""
    rows = pieces[pieces["transport"] == transport]
    lengths = rows.groupby("step")["end"].max().sort_values()
    return int(lengths.index[len(lengths) // 2])


def shares(pieces: pd.DataFrame) -> pd.DataFrame:
    """Returns which share of a step, 0 to 1, rank 0 spends on each of `WORKS`: a row per transport
    and step (the index), a column per work.
    """
    root = pieces[pieces["rank"] == 0]
    keys = [root[name] for name in ("transport", "step", "work")]
    took = (root["end"] - root["begin"]).groupby(keys).sum()
    took = took.unstack().reindex(columns=WORKS).fillna(0)
    return took.div(took.sum(axis=1), axis=0)


@dataclasses.dataclass(frozen=True)
class StepCost:
    """The cost of a step on one rank or several, as measured."""

    ply: float  # seconds of a board's step
    meeting: float  # seconds that ranks take to begin and end together

    def seconds(self, boards: np.ndarray, ranks: int) -> np.ndarray:
        """Returns the seconds of a step of `boards` boards, shared evenly."""
        return self.meeting * (ranks > 1) + self.ply * np.ceil(boards / ranks)

    def speedup(self, boards: np.ndarray, ranks: int) -> np.ndarray:
        """Returns how many times as fast as one rank `ranks` ranks are."""
        return self.seconds(boards, 1) / self.seconds(boards, ranks)


def costs(pieces: pd.DataFrame, num_envs: int) -> pd.DataFrame:
    """Returns what each step on ranks that share memory cost: `ply` and `meeting`, in seconds.

    `ply` is one rank's time for a board; `meeting` is what a step takes beyond its boards.
    """
    rows = pieces[pieces["transport"] == "shared"]
    ranks = rows["rank"].nunique()
    took = (rows["end"] - rows["begin"]).groupby([rows["step"], rows["rank"], rows["work"]]).sum()
    took = took.unstack()
    busy = took[["check", "play"]].sum(axis=1).groupby("step").max()
    step_seconds = rows[rows["rank"] == 0].groupby("step")["end"].max()
    return pd.DataFrame({"ply": busy * ranks / num_envs, "meeting": step_seconds - busy})


def fit_cost(pieces: pd.DataFrame, num_envs: int) -> StepCost:
    """Returns the medians of `costs`, the meeting not below zero."""
    medians = costs(pieces, num_envs).median()
    return StepCost(float(medians["ply"]), max(0.0, float(medians["meeting"])))


def ring(ranks: int) -> np.ndarray:
    """Follows an all-reduce around a ring: how many ranks' numbers are in each part of the sum.

    Every rank's array is cut into as many parts as there are ranks. In each round every rank sends
    one part to the next, which adds it to its own or, once the sums are complete, stores it.
    Returns (rounds + 1, ranks, parts), after each round and before the first.
    """
    counts = np.ones((2 * ranks - 1, ranks, ranks), int)
    for turn in range(1, 2 * ranks - 1):
        counts[turn] = counts[turn - 1]
        for rank in range(ranks):
            part, then = (rank - turn + 1) % ranks, (rank + 1) % ranks
            sent = counts[turn - 1, rank, part]
            adds = turn < ranks
            counts[turn, then, part] = counts[turn - 1, then, part] + sent if adds else sent
    return counts


if __name__ == "__main__":
    main()
