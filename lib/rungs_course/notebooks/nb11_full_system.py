"""Notebook 11, the full system: updates of learners behind environments, and faster learners."""

import dataclasses
import functools
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import matplotlib.ticker
import numpy as np
import pandas as pd
import scipy.special
import torch

from rungs.chess import Buffers, ChessVectorEnv, random_actions
from rungs.devel.envs import POSITION, CppBoards
from rungs.devel.train import PARTS, Ranks, kind
from rungs.errors import CompilerError, UnavailableError
from rungs.train import Learner, PolicyValueNetwork, PpoSettings, Training
from rungs_course import peers, plots, widgets
from rungs_course.learners import LADDER, train_each
from rungs_course.learners import mask as learner_mask
from rungs_course.measure.cost import ONE_STEP, operations
from rungs_course.measure.quartiles import quartiles
from rungs_course.measure.turns import timed_rounds
from rungs_course.notebook import live

GAMES: dict[str, Any] = {"opponent": "random", "mask": "bits", "max_plies": 200}


class NullEnv(ChessVectorEnv):
    """An environment that costs nothing: however it is stepped, it stays where it is.

    Its outputs have the shapes and dtypes of a real environment's, and the values that one has
    after `in_play`, or had when passed to `stay_at`. The first step that writes to some buffers
    copies them there; later ones find them there.
    """

    def __init__(self, num_envs: int, **settings):
        super().__init__(num_envs, CppBoards, **settings)

    def reset(
        self,
        *,
        seed: Any = None,
        options: dict | None = None,
        out: Buffers | None = None,
    ):
        """See `ChessVectorEnv.reset`; outputs are its own, and not written to `out`."""
        _, info = in_play(super(), seed)  # type: ignore[arg-type]  # as the env that it is
        for flag in ("reward", "terminated", "truncated", "ended", "reason"):
            getattr(self.boards.buffers, flag).fill(0)
        self._written: dict[int, Buffers] = {}
        return self.boards.buffers.observation, info

    def stay_at(self, env: ChessVectorEnv):
        """Copies the current positions of a real environment; returns as `reset` does."""
        for name in POSITION:
            getattr(self.boards.buffers, name)[:] = getattr(env.boards.buffers, name)
        for out in self._written.values():
            out.restore(vars(self.boards.buffers))
        return self.boards.buffers.observation, self._info()

    def step(self, actions, out: Buffers | None = None):
        """Does nothing; see `ChessVectorEnv.step`."""
        out = out or self.boards.buffers
        if id(out) not in self._written:
            out.restore(vars(self.boards.buffers))
            self._written[id(out)] = out
        info = {"action_mask": out.mask}
        return out.observation, out.reward, out.terminated, out.truncated, info


def in_play(env: ChessVectorEnv, seed: int | None):
    """Resets an environment and plays some steps at random; returns observation and info then."""
    observation, info = env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    for _ in range(12):
        observation, *_, info = env.step(random_actions(info["action_mask"], rng))
    return observation, info


def make(name: str, num_envs: int, **settings) -> ChessVectorEnv:
    """Makes an environment to learn from: a rung, a peer, or "null", which costs nothing."""
    if name == "null":
        return NullEnv(num_envs, **GAMES | settings)
    return peers.make(name, num_envs, **GAMES | settings)


def make_learner(
    name: str,
    num_envs: int,
    seed: int,
    *,
    rung: Mapping[str, Any] | None = None,
    learner: str = "torch",
    **learner_kwargs,
) -> Learner:
    """Makes a learner in the middle of games: all systems begin with the same positions."""
    env = make(name, num_envs, **(rung or {}), mask=learner_mask(learner))
    new_learner = Learner(env, seed=seed, learner=learner, **learner_kwargs)
    new_learner.begin(*(env.reset(seed=seed) if name == "null" else in_play(env, seed)))
    return new_learner


def race_learners(learners: Mapping[Any, Learner], *, repeats: int, warmup: int) -> pd.DataFrame:
    """Times updates of several learners, which take turns.

    The time of a network depends on how many actions are legal. So a `NullEnv` copies the positions
    of the first real environment before each update of its learner, untimed. Returns a row per
    repeat, learner (in the order given) and part: `racer`, `repeat`, `positions` (that an update
    learns from), `part` (of `rungs_course.measure.cost.PARTS`), `seconds`.
    """
    first = next(learner for learner in learners.values() if not isinstance(learner.env, NullEnv))

    def learn(learner: Learner) -> dict[str, float]:
        if isinstance(learner.env, NullEnv):
            learner.begin(*learner.env.stay_at(first.env))
        return learner.learn()

    racers = {name: functools.partial(learn, learner) for name, learner in learners.items()}
    rows = []
    for name, repeat, times in timed_rounds(racers, repeats=repeats, warmup=warmup):
        positions = learners[name].env.num_envs * learners[name].settings.num_steps
        rows += [(name, repeat, positions, part, times[part]) for part in PARTS]
    return pd.DataFrame(rows, columns=["racer", "repeat", "positions", "part", "seconds"])


def race_cases(
    cases: Mapping[Any, tuple[str, Mapping[str, Any]]],
    num_envs: int,
    *,
    seed: int,
    repeats: int,
    warmup: int,
    settings: PpoSettings = ONE_STEP,
    device: str = "cpu",
) -> pd.DataFrame:
    """Times updates of systems, which take turns; returns as `race_learners`.

    A case is an environment's name for `make`, and other arguments of `make_learner`.
    """
    shared_kwargs: dict[str, Any] = {"settings": settings, "device": device}
    learners = {
        case: make_learner(name, num_envs, seed, **shared_kwargs, **more)
        for case, (name, more) in cases.items()
    }
    times = race_learners(learners, repeats=repeats, warmup=warmup)
    for learner in learners.values():
        learner.env.close()
    return times


def race_updates(
    max_boards: Mapping[str, int],
    shapes: Iterable[tuple[int, int]],
    *,
    learner: str = "torch",
    **timing,
) -> pd.DataFrame:
    """Times updates that go once through the positions of some boards and steps, up to each
    environment's maximum.

    Returns as `race_learners`, with `num_envs` and `length`.
    """
    frames = []
    for num_envs, length in shapes:
        able = [name for name in max_boards if num_envs <= max_boards[name]]
        settings = dataclasses.replace(ONE_STEP, num_steps=length)
        cases = {name: (name, {"learner": learner}) for name in able}
        times = race_cases(cases, num_envs, settings=settings, **timing)
        frames.append(times.assign(num_envs=num_envs, length=length))
    return pd.concat(frames, ignore_index=True)


def network(width: int, seed: int) -> PolicyValueNetwork:
    """Makes a network of this many units, with half as many keys."""
    torch.manual_seed(seed)
    return PolicyValueNetwork(width=width, keys=width // 2)


def available_learners() -> tuple[list[str], dict[str, str]]:
    """Returns the learners that this machine can run, and why it can't run the others."""
    able, missing = [], {}
    for name in LADDER:
        try:
            kind(name).make(None, PpoSettings(), device=torch.device("cpu"), ranks=Ranks())
            able.append(name)
        except (CompilerError, UnavailableError) as error:
            missing[name] = str(error)
    return able, missing


def learners_table(
    times: pd.DataFrame, settings: PpoSettings, peaks: Mapping[str, float]
) -> pd.DataFrame:
    """Returns a row per learner of `race_cases`.

    Columns: `learner`; `steps_per_second`, the median, with quartiles `low` and `high`; `gain` over
    the first learner, the median over repeats; `generate`, `infer` and `backward`, median seconds
    of an update (a transfer counts as inferring); `peak`, the format ("float32", "bfloat16") whose
    peak bounds it; and shares of that, NaN where it is not known: `infer_share`, `learn_share` and,
    of the whole update, `share`. Operations are those of `rungs_course.measure.cost`, peaks
    operations a second.
    """
    work = operations(PolicyValueNetwork())
    parts = times.pivot_table(
        index=["racer", "repeat"], columns="part", values="seconds", sort=False
    )
    parts["infer"] += parts.pop("transfer")
    positions = times.groupby("racer", sort=False)["positions"].first()
    update_seconds = parts.sum(axis=1).unstack("repeat")
    rates = (1 / update_seconds).mul(positions, axis=0).loc[positions.index]
    table = quartiles(
        rates.stack().rename("steps_per_second").groupby("racer", sort=False), "steps_per_second"
    )
    table["gain"] = (rates / rates.iloc[0]).median(axis=1)
    medians = parts.groupby("racer", sort=False).median()
    table = table.join(medians[["generate", "infer", "backward"]])
    table["peak"] = np.where(table.index.str.contains("bfloat16"), "bfloat16", "float32")
    bounds = table["peak"].map(peaks)
    table["infer_share"] = positions * work.infer / table["infer"] / bounds
    learnt = settings.update_epochs * work.learn
    table["learn_share"] = positions * learnt / table["backward"] / bounds
    table["share"] = table["steps_per_second"] * work.update(settings) / bounds
    return table.rename_axis("learner").reset_index()


def train_learners(
    names: Iterable[str], seeds: Iterable[int], out: Path, **training
) -> pd.DataFrame:
    """Trains learners with seeds, in folders of their own below `out`; returns all evaluations,
    with `learner` and `seed`.

    `training` are settings of `rungs.train.Training`, the same for all.
    """
    runs = [
        (
            {"learner": name, "seed": seed},
            Training(**training, checkpoint_every=0, learner=name, seed=seed),
        )
        for seed in seeds
        for name in names
    ]
    _, evaluations, _ = train_each(runs, out, say=live())
    return evaluations


def time_to_wins(evaluations: pd.DataFrame, wins: float) -> pd.DataFrame:
    """Returns when each learner had won a share of an evaluation's games, and how it ended.

    A row per learner: `learner`, `seeds`, `reached` (seeds that came so far), of those the medians
    of `steps` and `seconds` until then, and `wins`, the share won in the last evaluation, its mean
    over seeds, with a 95 % interval of Student's t, `low` and `high`, clipped to what a share can
    be; with one seed the interval is NaN.
    """
    rows = []
    for learner, group in evaluations.groupby("learner", sort=False):
        share = group["wins"] / group["games"]
        firsts = group[share >= wins].groupby("seed").first()
        last = share.groupby(group["seed"]).last()
        spread = float(scipy.special.stdtrit(len(last) - 1, 0.975) * last.sem())
        mean = last.mean()
        reached = firsts[["steps", "seconds"]].median()
        low, high = np.clip([mean - spread, mean + spread], 0, 1)
        rows.append((learner, len(last), len(firsts), *reached, mean, low, high))
    names = ["learner", "seeds", "reached", "steps", "seconds", "wins", "low", "high"]
    return pd.DataFrame(rows, columns=names)


def draw_throughput(updates: pd.DataFrame):
    """Draws updates per second over the number of boards, and those with a free environment."""
    figure, axes = plots.axes(height=4.4)
    total = updates.groupby(["racer", "num_envs", "repeat"], sort=False)["seconds"].sum()
    rates = (1 / total).rename("rate").reset_index()
    null = rates[rates["racer"] == "null"].groupby("num_envs")["rate"].median()
    label = "null environment"
    axes.plot(null.index, null, color=plots.BLACK, linestyle="--", label=label, zorder=3)
    plots.median_lines(axes, rates[rates["racer"] != "null"], "racer", "num_envs", "rate")
    axes.set_yscale("log")
    axes.set_ylabel("updates per second")
    plots.numbers_below(axes, "boards")
    figure.legend(loc="outside lower center", ncols=4, frameon=False)
    axes.set_title("Training: one update per step of all boards")
    return figure


def draw_generation(generation: pd.DataFrame, study_share: float):
    """Draws which share of training is generating, over the speed of the learner: a line for each
    system, a marker for each learner, and the study's learner at its share with OpenSpiel.
    """
    odds = generation["share"] / (1 - generation["share"])
    seconds = (odds / generation["speed"]).groupby(generation["system"], sort=False).median()
    study_speed = study_share / (1 - study_share) / seconds.get("OpenSpiel", np.nan)
    top = np.fmax(100 * generation["speed"].max(), 10 * study_speed)
    line_speeds = np.geomspace(generation["speed"].min() / 3, top, 60)
    figure, axes = plots.axes(width=8.0, height=4.8)
    for system, rows, look in plots.lines(generation.groupby("system", sort=False)):
        line = {"color": look["color"]}
        share = 1 / (1 + 1 / (seconds[system] * line_speeds))
        axes.plot(line_speeds, share, label=system, **line)
        axes.plot(rows["speed"], rows["share"], look["marker"], **line, markersize=7)
    speeds = generation.groupby("learner", sort=False)["speed"].first()
    for learner in dict.fromkeys([speeds.index[0], speeds.idxmax()]):
        speed = speeds[learner]
        axes.axvline(speed, color=plots.GREY, linewidth=0.8, linestyle=":", zorder=0)
        at = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
        # Between the lines, whose points are high or low.
        axes.annotate(learner, (speed, 0.47), (-3, 0), rotation=90, ha="right", va="top", **at)
    if "OpenSpiel" in seconds:
        label = f"the study's learner (A100) with OpenSpiel: at least {study_share:.0%}"
        star = {"color": plots.BLACK, "markersize": 14, "zorder": 4, "linestyle": "none"}
        axes.plot(study_speed, study_share, marker="*", label=label, **star)
    axes.axhline(0.5, color=plots.BLACK, linestyle="--", linewidth=0.8, zorder=0)
    axes.set_xscale("log")
    axes.set_ylim(0, 1)
    axes.yaxis.set_major_formatter(matplotlib.ticker.PercentFormatter(1))
    axes.set_xlabel("positions per second of the learner alone")
    axes.set_ylabel("share of generating in training")
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    axes.set_title("How much does a step of the environment matter?")
    return figure


def draw_wins(evaluations: pd.DataFrame, over: str = "steps"):
    """Draws the share of games won as it grows: a line per seed, the learners by colour."""
    figure, axes = plots.axes(height=4.4)
    shares = evaluations.assign(won=evaluations["wins"] / evaluations["games"])
    names = shares["learner"].unique().tolist()
    look = {"hue": "learner", "style": "learner", "palette": plots.COLORS[: len(names)]}
    plots.seaborn.lineplot(
        shares, x=over, y="won", units="seed", estimator=None, alpha=0.7, ax=axes, **look
    )
    axes.get_legend().remove()
    axes.axhline(0.9, color=plots.BLACK, linestyle=":", linewidth=1)
    axes.set_ylim(0, 1)
    axes.yaxis.set_major_formatter(matplotlib.ticker.PercentFormatter(1))
    axes.set_ylabel("games won against random play")
    plots.training_below(figure, axes, over)
    axes.set_title(f"Games won over {over}, one line per seed")
    return figure


def draw_ladder(table: pd.DataFrame):
    """Draws how fast the learners are, medians and quartiles, and how much each gains."""
    figure, axes = plots.axes(height=1.4 + 0.5 * len(table))
    rates = table["steps_per_second"]
    spread = [rates - table["low"], table["high"] - rates]
    look = {"color": plots.BLUE, "error_kw": {"ecolor": plots.BLACK, "capsize": 3}}
    bars = axes.barh(table["learner"], rates, xerr=spread, **look)
    texts = rates.map("{:,.0f} steps/s, ".format) + table["gain"].map(plots.ratio)
    axes.bar_label(bars, texts, padding=6)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.8 * table["high"].max())  # room for the text next to the bars
    axes.xaxis.set_major_formatter(matplotlib.ticker.EngFormatter())
    axes.set_xlabel("steps per second of a whole update")
    axes.set_title("The ladder of learners")
    return figure


def explore_updates(updates: pd.DataFrame, mark: str = ""):
    """Shows what an update's time is made of, for a number of boards of the reader's choice; `mark`
    stands behind the title.
    """

    def draw(num_envs):
        chosen = updates[updates["num_envs"] == num_envs]
        return plots.parts(chosen, "racer", f"One update from {num_envs:,} boards{mark}")

    return widgets.explore(draw, num_envs=widgets.counts_of(updates))
