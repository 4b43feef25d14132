"""OpenSpiel's chess in one process, on a process for each core, and on one for each game."""

import functools
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from rungs._src.chess.settings import share_ends
from rungs._src.machine.cpu import usable_cores
from rungs._src.processes.workers import Workers
from rungs_course.measure.turns import timed_rounds
from rungs_course.peers.open_spiel import OpenSpielStates
from rungs_course.peers.peer import Peer


class Pool(Peer):
    """A peer's games in processes, each with its share; actions and outputs go through pipes.

    Args:
        make: makes the peer of some games, in its process; can be pickled.
        num_envs: how many games in all.
        workers: how many processes.
    """

    def __init__(self, make: Callable[[int], Peer], num_envs: int, workers: int):
        super().__init__(num_envs)
        shares = np.diff(share_ends(num_envs, workers), prepend=0).tolist()
        self._workers = Workers(make, [(share,) for share in shares])
        self._count = workers

    def reset(self, seed: int) -> None:
        self._workers.call(_reset, [(seed + i,) for i in range(self._count)])

    def choose(self, rng: np.random.Generator) -> list:
        return self._workers.call(_choose, [(own,) for own in rng.spawn(self._count)])

    def step(self, actions: list) -> tuple:
        return tuple(self._workers.call(_step, [(share,) for share in actions]))

    def close(self) -> None:
        self._workers.close()


def _reset(peer: Peer, seed: int) -> None:
    peer.reset(seed)


def _choose(peer: Peer, rng: np.random.Generator) -> Any:
    return peer.choose(rng)


def _step(peer: Peer, actions: Any) -> Any:
    return peer.step(actions)


def race_open_spiel(
    board_counts,
    *,
    plies: int,
    most_steps: int,
    most_each: int,
    seed: int,
    repeats: int,
    warmup: int,
) -> pd.DataFrame:
    """Races OpenSpiel in one process against pools of processes.

    All play at random, and as many steps as the others: games equally old, if not the same.

    Args:
        board_counts: numbers of games.
        plies: timed per segment, of all games.
        most_steps: in which no more steps are played than so many.
        most_each: the most games that get a process each.
        seed: of the games.
        repeats: segments timed.
        warmup: segments played first.

    Returns:
        A row per racer, number of games and segment: `racer` ("python" is the one process of
        Python that steps all of them), `num_envs`, `repeat`, `plies`, `seconds`.

    Raises:
        UnavailableError: OpenSpiel is not installed.
    """
    rows: list[tuple] = []
    for num_envs in board_counts:
        workers = {"queue": min(usable_cores(), num_envs)}
        if num_envs <= most_each:
            workers["a process each"] = num_envs
        peers: dict[str, Peer] = {"python": OpenSpielStates(num_envs)}
        peers |= {name: Pool(OpenSpielStates, num_envs, count) for name, count in workers.items()}
        steps = min(most_steps, max(1, plies // num_envs))
        rng = np.random.default_rng(seed)
        for peer in peers.values():
            peer.reset(seed)
        racers = {name: functools.partial(_play, peer, steps, rng) for name, peer in peers.items()}
        rows += [
            (name, num_envs, repeat, steps * num_envs, seconds)
            for name, repeat, seconds in timed_rounds(racers, repeats=repeats, warmup=warmup)
        ]
        for peer in peers.values():
            peer.close()
    return pd.DataFrame(rows, columns=["racer", "num_envs", "repeat", "plies", "seconds"])


def _play(peer: Peer, steps: int, rng: np.random.Generator) -> float:
    """Returns the seconds of so many steps; choosing the actions is not timed."""
    seconds = 0.0
    for _ in range(steps):
        actions = peer.choose(rng)
        start = time.perf_counter()
        peer.step(actions)
        seconds += time.perf_counter() - start
    return seconds
