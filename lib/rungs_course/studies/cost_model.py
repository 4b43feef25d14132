"""A model of what training costs on more processes than there are here.

Learners side by side play boards of their own, and average their gradients before each step of the
optimizer. An update of p of them takes

    T(p) = compute * beside(p) + all-reduce(p)

where `compute` is what one takes alone, and `beside` how many times as long it takes until the last
is done where p do so side by side and exchange nothing: on one machine they share cores, caches and
memory, on nodes of their own it is 1. All three are measured apart from what they predict. The
model knows nothing of waiting for each other at every message.
"""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy.optimize
import torch

import rungs
from rungs._src.train.ppo import Rollout
from rungs_course.measure.noise import Factor, factor
from rungs_course.measure.quartiles import quartiles
from rungs_course.studies.rank_costs import PARTS

COMPUTE = ("generate", "infer", "backward")

TOLERANCE = 0.25  # a model that is off by more fails its test


class Line(NamedTuple):
    """Seconds that grow with a number of things: some are there for none, and some for each."""

    fixed: float
    each: float

    def __call__(self, count):
        return self.fixed + self.each * count


@dataclasses.dataclass(frozen=True)
class Link:
    """What connects processes.

    Attributes:
        latency: seconds that a message takes, however short it is.
        bandwidth: bytes per second that a process sends while it receives as many.
    """

    latency: float
    bandwidth: float


# Messages that each of p processes sends one after the other in an all-reduce: around a ring to add
# up and around again to hand out; or to partners at halved and then at doubled distances, where p
# that is no power of two is taken for the next one.
ROUNDS = {
    "ring": lambda p: 2 * (p - 1),
    "halving": lambda p: 2 * math.ceil(math.log2(p)),
}


def all_reduce_seconds(
    processes: int, num_bytes: float, link: Link, *, messages: int = 1, algorithm: str = "ring"
) -> float:
    """Returns seconds until all processes have the sum of what each of them had.

    Every process sends, and receives, 2 (p - 1) / p times the bytes there are: fewer is not
    possible (Patarasuk and Yuan, 2009, J. Parallel Distrib. Comput. 69, 117). A ring does so in
    2 (p - 1) rounds, Rabenseifner's halving and doubling in 2 log2 p (Thakur, Rabenseifner and
    Gropp, 2005, Int. J. High Perform. Comput. Appl. 19, 49). Adding up is not counted.

    Args:
        processes: p.
        num_bytes: of all messages together.
        link: between any two.
        messages: all-reduces that these bytes are divided among, one after the other.
        algorithm: of `ROUNDS`. Gloo's is a ring.
    """
    moved = 2 * (processes - 1) / processes * num_bytes
    return messages * ROUNDS[algorithm](processes) * link.latency + moved / link.bandwidth


def fit(terms, seconds) -> np.ndarray:
    """Finds the coefficients, none below 0, of two terms whose sum comes closest to some times.

    Least squares of relative errors, so that a microsecond counts where there are few.

    Args:
        terms: (n, 2), each at least 0.
        seconds: (n,), above 0.

    Returns:
        (2,) float64.
    """
    scaled = np.asarray(terms, float) / np.asarray(seconds, float)[:, None]
    best, _ = scipy.optimize.nnls(scaled, np.ones(len(scaled)))
    return best


def fit_link(messages: pd.DataFrame, processes: int = 2) -> Link:
    """Finds the link that explains the all-reduces of some processes best, by their medians.

    Args:
        messages: of `rungs_course.studies.rank_costs.measure`.
        processes: how many.
    """
    chosen = messages[messages["processes"] == processes]
    seconds = chosen.groupby("bytes")["seconds"].median()
    rounds, share = ROUNDS["ring"](processes), 2 * (processes - 1) / processes
    terms = [(rounds, share * num_bytes) for num_bytes in seconds.index]
    latency, per_byte = fit(terms, seconds)
    return Link(float(latency), float(1 / per_byte))


def message_errors(messages: pd.DataFrame, link: Link) -> pd.DataFrame:
    """Returns how far the formula of a ring is from medians.

    Returns:
        A row per number of processes and size: `processes`, `bytes`, `error` (predicted / measured
        - 1).
    """
    seconds = messages.groupby(["processes", "bytes"], as_index=False)["seconds"].median()
    sizes = zip(seconds["processes"], seconds["bytes"], strict=True)
    predicted = [all_reduce_seconds(p, size, link) for p, size in sizes]
    return seconds[["processes", "bytes"]].assign(error=predicted / seconds["seconds"] - 1)


@dataclasses.dataclass(frozen=True)
class Update:
    """What an update takes.

    Attributes:
        parts: seconds of a process that has a core to itself, by part of `COMPUTE`, for the
            positions that it plays and learns from.
        messages: all-reduces.
        num_bytes: of gradients, in all of them.
    """

    parts: dict[str, Line]
    messages: int
    num_bytes: int

    def compute(self, positions):
        """Returns seconds of all parts, without any exchange."""
        return sum(line(positions) for line in self.parts.values())

    def seconds(
        self,
        processes: int,
        positions,
        link: Link,
        *,
        beside: float = 1.0,
        algorithm: str = "ring",
        speed: float = 1.0,
    ):
        """Returns what the model says of an update.

        Args:
            processes: p.
            positions: of each process, a number or an array.
            link: between any two.
            beside: how many times as long computing takes beside the others as alone; by default
                they share nothing.
            algorithm: of `ROUNDS`.
            speed: how many times as fast each of them computes.
        """
        exchange = all_reduce_seconds(
            processes, self.num_bytes, link, messages=self.messages, algorithm=algorithm
        )
        return self.compute(positions) / speed * beside + exchange


def fit_update(updates: pd.DataFrame) -> Update:
    """Finds the costs that explain the updates of one process best, by medians over repeats.

    Args:
        updates: of `rungs_course.studies.rank_costs.measure`, one process's at two numbers of
            boards or more.
    """
    alone = updates[updates["processes"] == 1]
    medians = alone.groupby(["part", "positions"])["seconds"].median()
    lines = {}
    for part in COMPUTE:
        positions = medians[part].index.to_numpy()
        terms = np.stack([np.ones(len(positions)), positions], axis=1)
        lines[part] = Line(*map(float, fit(terms, medians[part])))
    return Update(lines, int(updates["messages"].max()), int(updates["bytes"].max()))


def beside(updates: pd.DataFrame) -> pd.DataFrame:
    """Returns how many times as long as alone it takes until all have computed side by side.

    Args:
        updates: of `rungs_course.studies.rank_costs.measure`.

    Returns:
        A row per number of processes, and a column per repeat: each round's own ratio.
    """
    boards = updates["num_envs"] == _boards_together(updates)
    apart = updates[boards & (updates["exchange"] == "none")]
    seconds = apart.groupby(["processes", "repeat"])["seconds"].sum().unstack()
    return seconds / seconds.loc[1]


def check(
    updates: pd.DataFrame, update: Update, link: Link, slowdown: Mapping[int, float]
) -> pd.DataFrame:
    """Compares what the model says with what was measured, for every number of processes.

    Args:
        updates: of `rungs_course.studies.rank_costs.measure`.
        update: fitted to one process's.
        link: fitted to messages.
        slowdown: by number of processes, how many times as long computing takes beside the others:
            of `beside`.

    Returns:
        A row per number of processes, in seconds: `processes`; `measured`, where parts come one
        after the other, and its quartiles `low` and `high`; `overlapped`, as in training;
        `predicted`; `error` (predicted / measured - 1); each part's as "measured generate" and so
        on for `PARTS`, and "predicted generate" and so on for those that the model has; and by
        which it took longer than predicted, "more computing" until the last process was done,
        "more all-reduce" from then on.
    """
    rows = []
    together = updates[updates["num_envs"] == _boards_together(updates)]
    for processes, group in together.groupby("processes"):
        ways = dict(list(group.groupby("exchange")))
        clocked = ways["in turn" if processes > 1 else "none"]
        as_in_training = ways["overlapped" if processes > 1 else "none"]
        positions = group["positions"].iloc[0]
        spread = quartiles(clocked.groupby("repeat")["seconds"].sum(), "measured")
        measured = clocked.groupby("part")["seconds"].median()
        share = slowdown[processes]
        predicted = {part: line(positions) * share for part, line in update.parts.items()}
        total = update.seconds(processes, positions, link, beside=share)
        predicted["all-reduce"] = total - sum(predicted.values())
        rows.append(
            {
                "processes": processes,
                **spread,
                "overlapped": as_in_training.groupby("repeat")["seconds"].sum().median(),
                "predicted": total,
                "error": total / spread["measured"] - 1,
            }
            | {f"measured {part}": measured[part] for part in PARTS}
            | {f"predicted {part}": seconds for part, seconds in predicted.items()}
            | {
                "more computing": measured[[*COMPUTE, "wait"]].sum()
                - sum(predicted[part] for part in COMPUTE),
                "more all-reduce": measured["all-reduce"] - predicted["all-reduce"],
            }
        )
    return pd.DataFrame(rows)


def misses(updates: pd.DataFrame, checked: pd.DataFrame) -> dict[int, Factor]:
    """Returns how many times as long as measured the model predicts, by number of processes.

    The noise is that of the measured updates; that of what the model was fitted to is not in it.

    Args:
        updates: of `rungs_course.studies.rank_costs.measure`.
        checked: of `check`.
    """
    found = {}
    for row in checked.itertuples():
        clocked = updates[
            (updates["processes"] == row.processes)
            & (updates["exchange"] == ("in turn" if row.processes > 1 else "none"))
            & (updates["num_envs"] == _boards_together(updates))
        ]
        found[row.processes] = factor(row.predicted / clocked.groupby("repeat")["seconds"].sum())
    return found


def _boards_together(updates: pd.DataFrame) -> int:
    """Returns the boards of each process where there are more than one."""
    return updates.loc[updates["processes"] > 1, "num_envs"].iloc[0]


def scale(update: Update, link: Link, nodes: Sequence[int], positions, **settings) -> pd.DataFrame:
    """Predicts updates on many nodes, each a process with a core of its own.

    Args:
        update: costs of a node.
        link: between any two.
        nodes: how many, from 1 on.
        positions: of each node in an update, a number or one for each of `nodes`.
        **settings: of `Update.seconds`.

    Returns:
        A row per number of nodes: `nodes`, `positions` (of each), `seconds` per update,
        `throughput` in positions per second of all, and `efficiency`, throughput over what so many
        nodes would have if each had the first one's.
    """
    frame = pd.DataFrame({"nodes": nodes, "positions": positions})
    seconds = [update.seconds(p, n, link, **settings) for p, n in frame.itertuples(index=False)]
    frame["seconds"] = seconds
    frame["throughput"] = frame["nodes"] * frame["positions"] / frame["seconds"]
    frame["efficiency"] = frame["throughput"] / frame["nodes"] / frame["throughput"].iloc[0]
    return frame


def predict(
    update: Update,
    links: dict[str, tuple[Link, str]],
    nodes: Sequence[int],
    *,
    length: int,
    boards: int,
    boards_in_all: int,
    speed: float = 1.0,
) -> tuple[dict[str, pd.DataFrame], dict[str, pd.DataFrame]]:
    """Predicts weak and strong scaling by links: what `scale` says of each.

    Args:
        update: of one process.
        links: with the algorithm of `ROUNDS` to use them by, by name.
        nodes: their numbers.
        length: steps of each board in an update.
        boards: of each node, for weak scaling.
        boards_in_all: shared among the nodes, for strong scaling.
        speed: how many times as fast each node computes.
    """
    shared = [boards_in_all * length / count for count in nodes]
    weak, strong = {}, {}
    for name, (link, algorithm) in links.items():
        how = {"algorithm": algorithm, "speed": speed}
        weak[name] = scale(update, link, nodes, boards * length, **how)
        strong[name] = scale(update, link, nodes, shared, **how)
    return weak, strong


def position_bytes() -> dict[str, int]:
    """Returns the bytes a learner is sent of a position, by name of the array it learns from."""
    env = rungs.make("chess", "cpp", 1, mask="bits")
    rollout = Rollout(env, 1, torch.device("cpu"))
    names = ("observation", "mask", "reward", "ended", "choice", "log_probability", "value")
    return {name: getattr(rollout, name)[0].nbytes for name in names}


def saving(before: float, after: float, inferring):
    """Returns the part of its time that a worker saves whose steps become faster.

    A worker steps and infers in turns, so this is Amdahl's law: where steps become free, it is the
    share of time that they had.

    Args:
        before, after: seconds per step.
        inferring: seconds of inference per step, a number or an array.
    """
    return (before - after) / (before + inferring)


def inferring_at(share: float, before: float, after: float) -> float:
    """Returns the seconds of inference per step that make `saving` `share`; <= 0 if none do."""
    return (before - after) / share - before
