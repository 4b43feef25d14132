"""CartPole's experiments: what a step takes, and of what."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

import rungs
from rungs_course.measure.noise import factor_apart
from rungs_course.measure.quartiles import quartiles
from rungs_course.measure.verify import verify_games
from rungs_course.peers.cartpole import OurCartPole
from rungs_course.studies import peer_race
from rungs_course.studies.cost_model import Line, fit
from rungs_course.studies.peer_race import Entry

_FEWEST, _MOST = 8, 2000  # steps per repeat


def check_same(racers: dict[str, dict], num_envs: int, steps: int, seed: int) -> None:
    """Plays the same actions on several rungs, and compares all that they return, bit for bit.

    Args:
        racers: by name, the arguments of `rungs.make` after "cartpole": `rung` and settings.
        num_envs: environments.
        steps: random steps.
        seed: of episodes and actions.

    Raises:
        SamenessError: one differs from the first; the message names it, the step and the output.
    """
    envs = {name: rungs.make("cartpole", num_envs=num_envs, **how) for name, how in racers.items()}
    verify_games(envs, seed=seed, steps=steps)
    for env in envs.values():
        env.close()


def step_times(
    entries: dict[str, Entry], counts: Iterable[int], *, budget: int, **timing
) -> pd.DataFrame:
    """Times steps over the number of environments.

    Args:
        entries: by name.
        counts: numbers of environments.
        budget: steps of single environments per repeat, as far as calls are not too few or many.
        **timing: of `rungs_course.studies.peer_race.race`, but for `steps`.

    Returns:
        As `rungs_course.studies.peer_race.race`, and `call`, seconds per step of all environments.
    """

    def steps(count: int) -> int:
        return min(max(budget // count, _FEWEST), _MOST)

    times = peer_race.race(entries, list(counts), steps=steps, **timing)
    return times.assign(call=times["seconds"] / times["plies"] * times["num_envs"])


def turning_points(times: pd.DataFrame, fewest: int = 3) -> pd.DataFrame:
    """Finds from how many environments on the time of a step is theirs, and not a call's own.

    A line is fitted to the time of a step over the number of environments, a + b N, with relative
    errors; where both parts are equal, at N = a / b, is the turning point.

    Args:
        times: of `step_times`.
        fewest: numbers of environments that a line needs.

    Returns:
        A row per racer: `racer`, `fixed` (a, seconds), `each` (b, seconds), `turning` (N; the
        medians of fits to single repeats), and its quartiles `low` and `high`. A part that is 0
        has no turning point: NaN.
    """
    rows = []
    for racer, group in times.groupby("racer", sort=False):
        if group["num_envs"].nunique() < fewest:
            continue
        lines = [_line(repeat) for _, repeat in group.groupby("repeat")]
        fixed, each = np.array(lines).T
        with np.errstate(divide="ignore", invalid="ignore"):
            turning = np.where((fixed > 0) & (each > 0), fixed / each, np.nan)
        spread = quartiles(pd.Series(turning))
        rows.append((racer, np.median(fixed), np.median(each), *spread))
    columns = ["racer", "fixed", "each", "low", "turning", "high"]
    return pd.DataFrame(rows, columns=columns)


def _line(rows: pd.DataFrame) -> Line:
    counts = rows["num_envs"].to_numpy()
    return Line(*fit(np.stack([np.ones(len(counts)), counts], axis=1), rows["call"]))


def with_work(
    how: dict[str, dict],
    workloads: Iterable[int],
    counts: Iterable[int],
    *,
    budget: int,
    **settings,
) -> pd.DataFrame:
    """Times steps that are taken in several steps of Euler's method.

    Args:
        how: by name, arguments of `rungs_course.peers.cartpole.OurCartPole`.
        workloads: in how many.
        counts: numbers of environments.
        budget: as of `step_times`, where a step is one, and less where it is more.
        **settings: of `step_times`.

    Returns:
        As `step_times`, and `workload`.
    """
    frames = []
    for workload in workloads:
        entries = {
            name: Entry(OurCartPole, each | {"workload": workload}) for name, each in how.items()
        }
        times = step_times(entries, counts, budget=budget // workload, **settings)
        frames.append(times.assign(workload=workload))
    return pd.concat(frames, ignore_index=True)


def exactness(workloads: Iterable[int], *, seed: int, steps: int = 10) -> pd.DataFrame:
    """Compares where poles have come to with where finer steps of Euler's method bring them.

    Args:
        workloads: substeps of a step.
        seed: of the poles' start.
        steps: that they are pushed for, to the left and the right in turns.

    Returns:
        A row per workload: `workload`, and `error`, the median distance in radians from what a
        hundred times the finest gives.
    """
    workloads, num_envs = list(workloads), 64

    def angles(workload: int) -> np.ndarray:
        env = rungs.make("cartpole", "cpp", num_envs, workload=workload)
        env.reset(seed=seed)
        for step in range(steps):
            env.step(np.full(num_envs, step % 2))
        env.close()
        return env.carts.dump()["state"][2]

    truth = angles(100 * max(workloads))
    errors = [np.median(np.abs(angles(workload) - truth)) for workload in workloads]
    return pd.DataFrame({"workload": workloads, "error": errors})


def growth(work: pd.DataFrame) -> pd.DataFrame:
    """Says how the time of a step grows with its work.

    Args:
        work: of `with_work`.

    Returns:
        A row per racer, number of environments and repeat: `racer`, `num_envs`, `repeat`, and
        `exponent`: the time is as the work to this power, between the least and the most of it. 1
        is linear, less is sublinear.
    """
    calls = work.pivot_table(
        index=["racer", "num_envs", "repeat"], columns="workload", values="call", sort=False
    )
    least, most = calls.columns.min(), calls.columns.max()
    exponent = np.log(calls[most] / calls[least]) / np.log(most / least)
    return exponent.rename("exponent").reset_index()


def operations(num_envs: int, **settings) -> Counter[str]:
    """Counts the tensor operations of a step of the rung "torch", by name.

    Args:
        num_envs: environments; the operations do not depend on it, unless an episode ends.
        **settings: of `rungs.make`.
    """
    from torch.utils._python_dispatch import TorchDispatchMode

    class Count(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            counted[function.overloadpacket.__name__] += 1
            return function(*args, **(kwargs or {}))

    counted: Counter[str] = Counter()
    env = rungs.make("cartpole", "torch", num_envs, **settings)
    env.reset(seed=0)
    actions = np.zeros(num_envs, np.int64)
    with Count():
        env.step(actions)
    env.close()
    return counted


def fusing(
    how: dict[str, dict],
    bandwidth: dict[str, float],
    *,
    num_envs: int,
    at_once: int,
    steps: int,
    **timing,
) -> pd.DataFrame:
    """Times steps one by one, and many in a call, with random actions that the rung draws itself.

    Args:
        how: by name, arguments of `rungs_course.peers.cartpole.OurCartPole`.
        bandwidth: by the same names, bytes per second of copying memory.
        num_envs: environments.
        at_once: steps in a call.
        steps: timed one by one per repeat, beside two calls of many.
        **timing: of `rungs_course.studies.peer_race.race`.

    Returns:
        A row per name: `racer`, `alone` and `fused`, steps per second of all environments, medians;
        their quartiles `alone_low`, `alone_high`, `fused_low`, `fused_high`; `bytes` of
        `step_bytes`; `bound`, steps per second whose bytes memory can move; `of_bound`, the share
        that `alone` reaches; and `gain`, fused / alone, which took no turns, with `gain_low`,
        `gain_high` and `repeats`, as of `rungs_course.measure.noise.Factor`.
    """
    rates = {}
    for kind, extra, calls in (("alone", {}, steps), ("fused", {"at_once": at_once}, 2)):
        entries = {name: Entry(OurCartPole, each | extra) for name, each in how.items()}
        times = peer_race.race(entries, [num_envs], steps=calls, **timing)
        rates[kind] = (times["plies"] / times["seconds"]).groupby(times["racer"])
    rows = []
    for name, each in how.items():
        row: dict[str, Any] = {"racer": name}
        for kind, groups in rates.items():
            spread = quartiles(groups.get_group(name), kind)
            row |= {kind: spread[kind]}
            row |= {f"{kind}_{end}": spread[end] for end in ("low", "high")}
        dtype = each.get("dtype", "float64")
        row["bytes"] = sum(step_bytes(dtype).values())
        row["bound"] = bandwidth[name] / row["bytes"]
        row["of_bound"] = row["alone"] / row["bound"]
        gain = factor_apart(*(rates[kind].get_group(name) for kind in ("fused", "alone")))
        row |= {"gain": gain.middle, "gain_low": gain.low, "gain_high": gain.high}
        row["repeats"] = gain.repeats
        rows.append(row)
    return pd.DataFrame(rows)


def step_bytes(dtype: str = "float64") -> dict[str, int]:
    """Returns what a step has to move of one environment: bytes by name, read or written.

    No rung can do with less, where nothing stays in a cache until the next step.

    Args:
        dtype: of the state.
    """
    number = np.dtype(dtype).itemsize
    return {
        "action, read": 8,
        "state, read": 4 * number,
        "state, written": 4 * number,
        "steps, read": 4,
        "steps, written": 4,
        "observation, written": 16,
        "reward, written": 4,
        "terminated, truncated, ended, written": 3,
    }
