"""Whether a network and its boards should work in turns, or at the same time."""

import functools
import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch

import rungs
from rungs._src.chess.vector_env import ChessVectorEnv
from rungs._src.train.evaluate import NetworkPolicy
from rungs._src.train.network import PolicyValueNetwork
from rungs_course.measure.turns import timed_rounds
from rungs_course.studies.full_system import GAMES

WAYS = ("all in turns", "halves in turns", "halves at once")


def race_ways(
    board_counts: Iterable[int],
    network_threads: int,
    *,
    seed: int,
    steps: int,
    repeats: int,
    warmup: int,
) -> pd.DataFrame:
    """Times playing a network's actions; one thread steps, and another asks the network.

    "all in turns" steps all boards and then asks for all actions; "halves at once" asks for one
    half's actions while the other half is stepped. "halves in turns" is between the two: it differs
    from the first in the size of the network's batches alone, from the last in nothing but that
    nothing happens at once.

    Args:
        board_counts: numbers of boards, even.
        network_threads: of PyTorch.
        seed: of games, weights and actions.
        steps: steps of all boards per repeat.
        repeats: how often each is timed, in turns.
        warmup: repeats made first.

    Returns:
        A row per way and repeat: `racer` (of `WAYS`), `network_threads`, `num_envs`, `repeat`,
        `seconds` per step of all boards, and `waiting`, those in which the network had no boards.
    """
    torch.manual_seed(seed)
    network, rows = PolicyValueNetwork(), []
    before = torch.get_num_threads()
    torch.set_num_threads(network_threads)
    try:
        for num_envs in board_counts:
            ways = _ways(num_envs)
            for way in ways.values():
                way.reset(seed=seed)
            racers = {
                name: functools.partial(
                    _play,
                    way,
                    NetworkPolicy(network, seed=seed),
                    steps if name == WAYS[0] else 2 * steps,
                )
                for name, way in ways.items()
            }
            rows += [
                (name, network_threads, num_envs, repeat, *(each / steps for each in seconds))
                for name, repeat, seconds in timed_rounds(racers, repeats=repeats, warmup=warmup)
            ]
            for way in ways.values():
                way.close()
    finally:
        torch.set_num_threads(before)
    columns = ["racer", "network_threads", "num_envs", "repeat", "seconds", "waiting"]
    return pd.DataFrame(rows, columns=columns)


def gains(times: pd.DataFrame) -> pd.DataFrame:
    """Takes the gain of halves at once apart, repeat by repeat.

    Args:
        times: of `race_ways`.

    Returns:
        A row per `network_threads`, `num_envs` and `repeat`: what `halving` the network's batches
        gains, what working `at_once` does, the product `both`, and `bound`, what hiding the shorter
        of stepping and inferring behind the longer could do for halves in turns.
    """
    index = ["network_threads", "num_envs", "repeat"]
    wide = times.pivot(index=index, columns="racer", values=["seconds", "waiting"])
    whole, turns, once = (wide["seconds"][way] for way in WAYS)
    stepping = wide["waiting"][WAYS[1]]
    longer = np.maximum(stepping, turns - stepping)
    ratios = {"halving": whole / turns, "at_once": turns / once, "both": whole / once}
    return pd.DataFrame(ratios | {"bound": turns / longer}).reset_index()


def _ways(num_envs: int) -> dict[str, Any]:
    """Makes what plays, by way; each has the same games."""
    make = functools.partial(rungs.make, "chess", "threads", threads=1, **GAMES)
    half = num_envs // 2
    halves = rungs.make_async("chess", num_envs, threads=1, **GAMES)
    turns = _InTurns([make(half), make(half, first_board=half)])
    return dict(zip(WAYS, (_InTurns([make(num_envs)]), turns, halves), strict=True))


def _play(way, policy: NetworkPolicy, turns: int) -> tuple[float, float]:
    """Plays the policy's actions so often, in so many seconds, of which it waited so many."""
    start = time.perf_counter()
    inferring = 0.0
    for _ in range(turns):
        observation, *_, info = way.recv()
        asked = time.perf_counter()
        actions = policy(observation, info["action_mask"])
        inferring += time.perf_counter() - asked
        way.send(actions)
    way.wait()
    seconds = time.perf_counter() - start
    return seconds, seconds - inferring


class _InTurns:
    """`recv`, `send` and `wait` of environments that take turns, each stepped while one waits."""

    def __init__(self, envs: Sequence[ChessVectorEnv]):
        self._envs = list(envs)

    def reset(self, seed: int) -> None:
        self._outcomes: list[tuple] = [env.reset(seed=seed) for env in self._envs]
        self._turn = 0

    def recv(self):
        return self._outcomes[self._turn]

    def send(self, actions: np.ndarray) -> None:
        self._outcomes[self._turn] = self._envs[self._turn].step(actions)
        self._turn = (self._turn + 1) % len(self._envs)

    def wait(self) -> None:
        """Has nothing to wait for."""

    def close(self) -> None:
        for env in self._envs:
            env.close()
