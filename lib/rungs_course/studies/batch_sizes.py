"""Rungs at every number of boards: alone, and between two steps of a learner; and their bound."""

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd

import rungs
from rungs_course.measure.noise import Factor, factor_apart
from rungs_course.measure.peaks import measure_writing
from rungs_course.measure.race import output_bytes, race, steps_of

# How a step is timed: one after the other, or each behind what a learner does between two.
ALONE, IN_SITU = "alone", "in situ"
_STATE_BYTES = 1536  # of a board


def matrix_product(rows: int = 2048, width: int = 512) -> Callable[[], object]:
    """Makes a layer's product of PyTorch, on all its threads, which leaves the caches to nobody."""
    import torch  # the rungs alone don't need it

    left, right = torch.rand(rows, width), torch.rand(width, width)
    return lambda: left @ right


def race_sizes(
    groups: Iterable[Iterable[str]],
    masks: Iterable[str],
    counts: Iterable[int],
    *,
    plies: int,
    repeats: int,
    warmup: int,
    seed: int,
) -> pd.DataFrame:
    """Races rungs alone and in situ, for each mask and number of boards.

    Args:
        groups: names of rungs. Those of a group take turns; OpenMP's threads stay awake for a
            while: they are no neighbours for others, and race alone.
        masks: formats.
        counts: numbers of boards.
        plies: of a repeat, about; in situ an eighth, but no fewer than two steps.
        repeats: segments timed.
        warmup: segments played before.
        seed: of the games.

    Returns:
        A row per racer, mask, number of boards, `where` (`ALONE` or `IN_SITU`) and repeat: `plies`
        and `seconds`.

    Raises:
        SamenessError: racers differ.
        UnavailableError: a rung is not available here.
    """
    product, found = matrix_product(), []
    timing = {"seed": seed, "repeats": repeats, "warmup": warmup}
    for group, mask, num_envs in itertools.product(groups, masks, counts):
        how: dict[str, Any] = {"num_envs": num_envs, "mask": mask}
        racers = {name: rungs.make("chess", name, **how) for name in group}
        pilot = rungs.make("chess", "cpp", **how)
        for where, between, most in ((ALONE, None, plies), (IN_SITU, product, plies // 8)):
            steps = max(2, steps_of(most, num_envs))
            times = race(racers, pilot, steps=steps, between=between, **timing)
            found.append(times.assign(**how, where=where))
        for env in (*racers.values(), pilot):
            env.close()
    return pd.concat(found, ignore_index=True)


def bounds(
    masks: Iterable[str], counts: Iterable[int], threads: Iterable[int], *, repeats: int
) -> pd.DataFrame:
    """Measures how fast the outputs of a step alone could be written.

    Args:
        masks: formats.
        counts: numbers of boards.
        threads: numbers of threads that write.
        repeats: measurements of each, of which the fastest counts, as a bound's must.

    Returns:
        A row per mask, number of boards and threads: `bytes` of a ply and `plies_per_second`.
    """
    found, counts = [], list(counts)
    for mask in masks:
        ply = output_bytes(rungs.make("chess", "cpp", 1, mask=mask))
        sizes = [count * ply for count in counts]
        rates = measure_writing(sizes, threads, repeats=repeats, seconds=0.01)
        best = rates.groupby(["bytes", "threads"], as_index=False)["per_second"].max()
        found.append(
            pd.DataFrame(
                {
                    "mask": mask,
                    "num_envs": best["bytes"] // ply,
                    "threads": best["threads"],
                    "bytes": ply,
                    "plies_per_second": best["per_second"] / ply,
                }
            )
        )
    return pd.concat(found, ignore_index=True)


def most_boards(masks: Iterable[str], racers: int, memory_bytes: int) -> int:
    """Returns how many boards of so many racers, and a pilot, fit into half of a memory."""
    ply = max(output_bytes(rungs.make("chess", "cpp", 1, mask=mask)) for mask in masks)
    return memory_bytes // 2 // ((racers + 1) * (ply + _STATE_BYTES))


def summary(times: pd.DataFrame, limits: pd.DataFrame, threads: dict[str, int]) -> pd.DataFrame:
    """Sums up a race: each racer's rate and what share of its bound that is.

    Args:
        times: of `race_sizes`.
        limits: of `bounds`.
        threads: of each racer.

    Returns:
        A row per mask, number of boards, `where` and racer: `plies_per_second`, `low` and `high`
        (median and quartiles of repeats) and `share` of the bound at that number of threads.
    """
    keys = ["mask", "num_envs", "where", "racer"]
    rates = (times["plies"] / times["seconds"]).groupby([times[key] for key in keys], sort=False)
    table = rates.quantile([0.5, 0.25, 0.75]).unstack()
    table.columns = ["plies_per_second", "low", "high"]
    table = table.reset_index().assign(threads=lambda rows: rows["racer"].map(threads))
    bound = limits.set_index(["mask", "num_envs", "threads"])["plies_per_second"]
    at = pd.MultiIndex.from_frame(table[["mask", "num_envs", "threads"]])
    return table.assign(share=table["plies_per_second"] / bound.reindex(at).to_numpy())


def kept(times: pd.DataFrame, racer: str, mask: str, num_envs: int) -> Factor:
    """Returns how many times as fast a racer's step is in situ as alone, which took no turns.

    Args:
        times: of `race_sizes`.
        racer, mask, num_envs: which rows.
    """
    rows = times.query("racer == @racer and mask == @mask and num_envs == @num_envs")
    per_ply = (rows["seconds"] / rows["plies"]).groupby(rows["where"])
    return factor_apart(per_ply.get_group(ALONE), per_ply.get_group(IN_SITU))
