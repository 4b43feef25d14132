"""How fast a search is: from Python to C++, threads, and an evaluator that is waited for or not."""

import functools
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

import rungs
from rungs._src.search.result import Result
from rungs._src.search.search import Evaluator, Search, uniform
from rungs._src.search.trees import Leaves
from rungs_course.measure.turns import timed_rounds
from rungs_course.measure.verify import assert_same

# The ladder, by what is new on each rung; settings of `Search`.
WAYS: dict[str, dict[str, Any]] = {
    "Python": {"rung": "python", "batches": 1},
    "C++": {"threads": 1, "batches": 1},
    "threads": {"batches": 1},
    "two batches": {"batches": 2},
}


def race(
    ways: Mapping[str, Mapping[str, Any]],
    evaluators: Mapping[str, Evaluator],
    game_counts: Iterable[int],
    *,
    seed: int,
    simulations: int,
    repeats: int,
    warmup: int,
    policy: str = "gumbel",
) -> pd.DataFrame:
    """Times the same searches in several ways, in turns, from positions of random games.

    Args:
        ways: settings of `Search` by name, like `WAYS`.
        evaluators: by name.
        game_counts: numbers of games.
        seed: of games and noise.
        simulations: of a search, in each game.
        repeats: how often each is timed.
        warmup: rounds played first.
        policy: of the search.

    Returns:
        A row per way, evaluator, number of games and repeat: `racer`, `evaluator`, `games`,
        `repeat`, `seconds` of a search of all games, and simulations `per_second`.

    Raises:
        MismatchError: with the null evaluator, one way finds something else than another. (A
            network may answer a little otherwise in a batch of another size.)
    """
    _check_ways(ways, seed=seed, simulations=simulations, policy=policy)
    rows: list[tuple] = []
    for num_games in game_counts:
        fens = positions(num_games, seed)
        for evaluator, evaluate in evaluators.items():
            searches = {
                name: Search(num_games, simulations=simulations, policy=policy, seed=seed, **how)
                for name, how in ways.items()
            }
            racers = {
                name: functools.partial(_searched, search, evaluate, fens)
                for name, search in searches.items()
            }
            for name, repeat, (seconds, _) in timed_rounds(racers, repeats=repeats, warmup=warmup):
                per_second = num_games * simulations / seconds
                rows.append((name, evaluator, num_games, repeat, seconds, per_second))
            for search in searches.values():
                search.close()
    columns = ["racer", "evaluator", "games", "repeat", "seconds", "per_second"]
    return pd.DataFrame(rows, columns=columns)


def race_network(
    evaluate: Evaluator,
    game_counts: Iterable[int],
    *,
    seed: int,
    simulations: int,
    repeats: int,
    warmup: int,
) -> pd.DataFrame:
    """Times searches beside their evaluator alone, which is given the leaves of one of them again.

    Args:
        evaluate: a network's.
        game_counts: numbers of games.
        seed: of games and noise.
        simulations: of a search, in each game.
        repeats: how often each is timed, in turns.
        warmup: rounds played first.

    Returns:
        A row per racer, number of games and repeat: `racer` ("one batch", "two batches", "the
        evaluator alone"), `games`, `repeat`, and leaves evaluated `per_second`.
    """
    rows: list[tuple] = []
    for num_games in game_counts:
        fens = positions(num_games, seed)
        one, two = (
            Search(num_games, simulations=simulations, seed=seed, batches=batches)
            for batches in (1, 2)
        )
        batches = _leaves_of(one, evaluate, fens)
        leaves = sum(len(counts) for *_, counts in batches)
        racers: dict[str, Callable[[], Any]] = {
            "one batch": functools.partial(_searched, one, evaluate, fens),
            "two batches": functools.partial(_searched, two, evaluate, fens),
            "the evaluator alone": functools.partial(_evaluated, evaluate, batches),
        }
        for name, repeat, (seconds, _) in timed_rounds(racers, repeats=repeats, warmup=warmup):
            rows.append((name, num_games, repeat, leaves / seconds))
        for search in (one, two):
            search.close()
    return pd.DataFrame(rows, columns=["racer", "games", "repeat", "per_second"])


def positions(number: int, seed: int, plies: int = 30) -> list[str]:
    """Returns FENs of so many games after at most so many random plies."""
    settings = {"mask": "list", "seed": seed, "opening_plies": (0, plies)}
    env = rungs.make("chess", "cpp", number, **settings)
    env.reset()
    return env.fens()


def _searched(search: Search, evaluate: Evaluator, fens: list[str]) -> tuple[float, Result]:
    """Searches games anew; returns the seconds that it took, and what was found."""
    search.begin(fens)
    start = time.perf_counter()
    result = search.run(evaluate)
    return time.perf_counter() - start, result


def _evaluated(evaluate: Evaluator, batches: list[Leaves]) -> tuple[float, None]:
    start = time.perf_counter()
    for leaves in batches:
        evaluate(*leaves)
    return time.perf_counter() - start, None


def _leaves_of(search: Search, evaluate: Evaluator, fens: list[str]) -> list[Leaves]:
    """Returns copies of all batches of a search."""
    batches: list[Leaves] = []

    def noted(observation: np.ndarray, actions: np.ndarray, counts: np.ndarray):
        batches.append((observation.copy(), actions.copy(), counts.copy()))
        return evaluate(observation, actions, counts)

    _searched(search, noted, fens)
    return batches


def _check_ways(ways: Mapping[str, Mapping[str, Any]], **settings: Any) -> None:
    """Raises MismatchError unless all ways find the same in two games, with the null evaluator."""
    fens = positions(2, settings["seed"])
    found: dict[str, Result] = {}
    for name, how in ways.items():
        with Search(len(fens), **settings, **how) as search:
            _, found[name] = _searched(search, uniform, fens)
    (first, expected), *others = found.items()
    for name, result in others:
        for array in ("visits", "policy", "chosen"):
            what = f"{name}: {array}, from {first}'s,"
            assert_same(what, getattr(result, array), getattr(expected, array))
