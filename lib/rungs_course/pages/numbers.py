"""Generates tables of README and docs from one machine's recorded results, and their figures."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from rungs.devel import DEFAULT_RUNG
from rungs.devel.envs import POLICIES
from rungs.devel.selfplay import RULES, search_in_words
from rungs.train import Evaluation
from rungs_course import peers, rating
from rungs_course.machine.naming import in_words
from rungs_course.measure import results
from rungs_course.measure.noise import Factor, factor, factor_apart
from rungs_course.measure.quartiles import quartiles
from rungs_course.notebooks import nb07_ladder, nb15_training, nb17_versions
from rungs_course.notebooks import nb08_roofline as nb08
from rungs_course.notebooks import nb11_full_system as nb11
from rungs_course.notebooks import nb14_cost_model as nb14
from rungs_course.notebooks import nb16_search as nb16
from rungs_course.plots import duration, ratio, save_figure, speed
from rungs_course.tables import IMPLEMENTATIONS, fill, ladder_table, markdown, with_interval

# The tables that pages can't do without, and those that only some machines have.
LADDER, RACE, GAINS = "07_ladder.csv", "07_race.csv", "12_gains.csv"
NEEDED = (LADDER, RACE, GAINS)
_TRAINED, _UPDATES, _PERFT = "15_metrics.csv", "11_updates.csv", "03_perft.csv"
_STEPS, _VERSIONS = "17_waterfall.csv", "17_versions.csv"
_LEARNERS_TABLE, _LEARNERS, _WINS = "11_learners_table.csv", "11_learners.csv", "11_curves.csv"
_CURVES, _ABLATIONS, _BY_TIME, _SEARCHES, _STRENGTH, _CORE_HOURS = (
    path.as_posix()
    for path in (
        rating.CURVES, rating.ABLATIONS, rating.BY_TIME, rating.SEARCHES, rating.STRENGTH,
        rating.CORE_HOURS,
    )
)  # fmt: skip
_ON_PAGES = ("numbers", "selfplay", "ablations", "training", "peers/index")
PAGES = (Path("README.md"), *(Path("docs") / f"{name}.md" for name in _ON_PAGES))
_POSITIONS = 2048  # of an update on the page of models
_ROWS = 6  # of a seed in the table of self-play
# The peer that is our rung `python`: the ladder compares it.
_OURS = "python-chess"


class Picture(NamedTuple):
    """A figure above a section's table."""

    file: str  # in `figures`
    shows: str
    draw: Callable[..., Any]  # of the section's tables


class Section(NamedTuple):
    """A table that a page shows."""

    make: Callable[..., pd.DataFrame]
    needs: tuple[str, ...]  # recorded tables from which it is made
    may: tuple[str, ...] = ()  # others; None where a machine lacks one
    facts: tuple[str, ...] = ()  # of the first one's provenance, shown below
    picture: Picture | None = None
    to_root: str = "../"  # from its page


def sections(root: Path, recorded: Path, usable: set[str]) -> dict[str, str]:
    """Returns the generated sections of all `PAGES`, as Markdown, by name.

    `recorded` is a machine's folder, relative to `root`, and `usable` names its tables. Sections
    that need others say that nothing is recorded.
    """
    return {
        name: _written(section, frames) if frames else "No recorded run has these numbers yet.\n"
        for name, section in _SECTIONS.items()
        for frames in [_frames(section, root, recorded, usable)]
    }


def write(root: Path, recorded: Path, usable: set[str]) -> None:
    """Writes a machine's recorded results into the `PAGES` that exist, and saves their figures;
    figures of what is left out are removed.
    """
    for section in _SECTIONS.values():
        if picture := section.picture:
            file = root / "figures" / picture.file
            file.unlink(missing_ok=True)
            if frames := _frames(section, root, recorded, usable):
                save_figure(picture.draw(*frames), file)
    texts = sections(root, recorded, usable)
    for page in (root / page for page in PAGES if (root / page).exists()):
        page.write_text(fill(page.read_text(), texts))


def _frames(section: Section, root: Path, recorded: Path, usable: set[str]) -> list:
    """Reads a section's tables, each with its path in `attrs`; none where one that it needs is
    missing.
    """
    frames: list[Any] = []
    for name in (*section.needs, *section.may):
        path = Path(name) if "/" in name else recorded / name
        if (root / path).exists() and ("/" in name or name in usable):
            frames.append(results.load(root / path))
            frames[-1].attrs["path"] = path.as_posix()
        elif name in section.needs:
            return []
        else:
            frames.append(None)
    return frames


def _written(section: Section, frames: list) -> str:
    """Writes a section: its picture, its table, and where and of what its numbers are."""
    parts, facts = [markdown(section.make(*frames))], frames[0].attrs["provenance"]
    if picture := section.picture:
        parts.insert(0, f"![{picture.shows}]({section.to_root}figures/{picture.file})")
    there = [frame.attrs for frame in frames if frame is not None]
    links = ", ".join(
        f"[{Path(attrs['path']).name}]({section.to_root}{attrs['path']})" for attrs in there
    )
    dates = dict.fromkeys(_date(attrs["provenance"]) for attrs in there)
    machine = f" on {in_words(facts)}" if "cores" in facts else ""
    settings = "".join(f"; {name.replace('_', ' ')}: {facts[name]}" for name in section.facts)
    return "\n\n".join([*parts, f"Recorded{machine}, {' and '.join(dates)}: {links}{settings}.\n"])


def _date(facts: dict[str, str]) -> str:
    return facts.get("measured") or f"{facts['date'][:10]}, commit `{facts['commit']}`"


def ladder_rates(ladder: pd.DataFrame, race: pd.DataFrame) -> pd.DataFrame:
    """Returns the ladder's table for the boards and the mask that notebook 07 chose."""
    facts = ladder.attrs["provenance"]
    boards = int(facts["num_envs"])
    alike = (race["num_envs"] == boards) & (race["mask"] == facts["mask"])
    return ladder_table(race[alike], num_envs=boards)


def _factor(measured: Factor) -> str:
    return with_interval(measured.middle, measured.low, measured.high)


def _gains_of_training(metrics: pd.DataFrame) -> dict[str, Factor]:
    """Returns the speed-up of training on each rung over the first."""
    return nb15_training.gains(metrics, metrics["rung"].iloc[0])


def _ladder(ladder, race, gains, trained, systems, learners) -> pd.DataFrame:
    table = ladder_rates(ladder, race).set_index("rung")
    default = table.loc[DEFAULT_RUNG]
    speedup = with_interval(*default[["absolute_speedup", "speedup_low", "speedup_high"]])
    rate = speed(default["plies_per_second"]).removesuffix("/s")
    rows = [
        (f"Plies (moves of one player) a second, by the default rung, `{DEFAULT_RUNG}`", rate),
        (f"The same, over `{table.index[0]}`", speedup),
    ]
    if trained is not None:
        learner = trained.attrs["provenance"]["learner"]
        times = _factor(_gains_of_training(trained)[DEFAULT_RUNG])
        rows.append((f"Training with the learner `{learner}`, over `{table.index[0]}`", times))
    if systems is not None and learners is not None:
        bound = _factor(_bounds_of_training(systems, learners)["torch"])
        rows.append(("Training with the learner `torch`", f"at most {bound}"))
    least = smallest_gains(gains)
    fastest = least.loc[least["its rate"].idxmax()]
    name, outputs = fastest["peer"].partition(",")[0], fastest["ours"].removeprefix("rungs, ")
    tuned = f" ({peers.PROJECTS[name].tuned})" if name in peers.PROJECTS else ""
    what = f"On one core, *{outputs}*, over the fastest other that was raced, {name}{tuned}"
    rows.append((what, with_interval(*_interval_of(fastest))))
    return pd.DataFrame(rows, columns=["Measured", "Rungs"])


def _interval_of(row: pd.Series) -> list[float]:
    return row[["gain", "from", "to"]].tolist()


def _poster(ladder, race, *_):
    return nb07_ladder.draw_poster(ladder_rates(ladder, race), in_words(ladder.attrs["provenance"]))


def _bounds_of_training(systems: pd.DataFrame, learners: pd.DataFrame) -> dict[str, Factor]:
    """Returns, by learner, the speed-up of training if no time went into Python's environment: 1,
    and Python's time to generate a position over the time of everything else.
    """
    python = systems[(systems["racer"] == "python") & (systems["part"] == "generate")]
    python = python[python["num_envs"] == python["num_envs"].max()]
    rest = learners[learners["part"] != "generate"].groupby(["racer", "repeat"], sort=False)
    rest = rest["seconds"].sum() / rest["positions"].first()
    bounds = {}
    for learner, seconds in rest.groupby("racer", sort=False):
        part = factor_apart(python["seconds"] / python["positions"], seconds)
        bounds[learner] = Factor(1 + part.middle, 1 + part.low, 1 + part.high, part.repeats)
    return bounds


def _rungs(ladder, race) -> pd.DataFrame:
    table = ladder_rates(ladder, race)
    speedups = table[["absolute_speedup", "speedup_low", "speedup_high"]].itertuples(index=False)
    first = table["rung"].iloc[0]
    return pd.DataFrame(
        {
            "Rung": table["rung"].map("`{}`".format),
            "Implementation": table["rung"].map(IMPLEMENTATIONS),
            "Plies a second": table["plies_per_second"].map(speed),
            f"Times as fast as `{first}`": ["1×", *(with_interval(*s) for s in [*speedups][1:])],
        }
    )


def _stepping(ladder, race, gains, steps) -> pd.DataFrame:
    """Lists how many times as fast a step of each other rung is as the first rung's."""
    rates, facts = ladder_rates(ladder, race), ladder.attrs["provenance"]
    alike = f"{facts['num_envs']} each", f"board + {facts['mask']}", "all", "07"
    rows = [
        (f"`{r.rung}`", with_interval(r.absolute_speedup, r.speedup_low, r.speedup_high), *alike)
        for r in rates.iloc[1:].itertuples()
    ]
    for _, row in gains[gains["peer"] == _OURS].iterrows():
        times, outputs = with_interval(*_interval_of(row)), row["ours"].removeprefix("rungs, ")
        rows.append(("`cpp`", times, "the best for each", outputs, "one", "12"))
    if steps is not None:
        boards, times = steps.attrs["provenance"]["num_envs"], ratio(steps["absolute"].iloc[-1])
        rows.append(("`cpp`", times, f"{boards} each", "board + bool", "one", "17"))
    columns = ["Rung", "Times as fast", "Boards", "Outputs", "Cores", "Notebook"]
    return pd.DataFrame(rows, columns=columns)


def _training(metrics) -> pd.DataFrame:
    _, *others = _gains_of_training(metrics).items()
    rows = [(f"`{rung}`", _factor(gain)) for rung, gain in others]
    return pd.DataFrame(rows, columns=["Rung", "Times as fast"])


def _bounds(systems, learners, table) -> pd.DataFrame:
    bounds = _bounds_of_training(systems, learners)
    gains = table.set_index("learner")["gain"]
    return pd.DataFrame(
        {
            "Learner": [f"`{learner}`" for learner in bounds],
            f"An update on `threads`, over `{gains.index[0]}`": [
                ratio(gains[learner]) if learner in gains else "" for learner in bounds
            ],
            "Training on any rung over `python`": [
                f"at most {_factor(bound)}" for bound in bounds.values()
            ],
        }
    )


def _waterfall(versions, steps) -> pd.DataFrame:
    """Returns the rows of notebook 17's ladder, from its race."""
    bound = (steps["share"] * steps["nanoseconds"])[0] * 1e-9
    return nb17_versions.waterfall(versions, bound)


def _steps(versions, steps) -> pd.DataFrame:
    frame = _waterfall(versions, steps)
    gains = frame["relative"].map(ratio)
    return pd.DataFrame(
        {"One step of chess": frame["idea"], "Times as fast as the row above": gains}
    )


def smallest_gains(gains: pd.DataFrame) -> pd.DataFrame:
    """Returns for each peer the row of the smallest gain, as several of our outputs compare."""
    others = gains[gains["peer"] != _OURS]
    return others.loc[others.groupby("peer", sort=False)["gain"].idxmin()]


def _generators(perft) -> pd.DataFrame:
    """Lists millions of leaves a second, and how many times as fast ours is."""
    leaves = perft["leaves"] / perft["seconds"] / 1e6
    rates = leaves.groupby([perft["racer"], perft["position"]], sort=False).median().unstack()
    rates = rates.sort_values("start", ascending=False)
    seconds = perft.pivot(index=["position", "repeat"], columns="racer", values="seconds")
    columns = {"Move generator": rates.index}
    for position, depth in perft.groupby("position", sort=False)["depth"].first().items():
        by_racer = seconds.loc[position]
        columns[f"{position}, depth {depth}"] = rates[position].map("{:,.0f}".format)
        columns[f"rungs over it, {position}"] = [
            "" if name == "rungs" else _factor(factor(by_racer[name] / by_racer["rungs"]))
            for name in rates.index
        ]
    return pd.DataFrame(columns)


def _self_play(curves) -> pd.DataFrame:
    chosen = []
    for _, run in curves.groupby("seed"):
        # From the last row back, each at half the time of the next.
        wanted = [run["seconds"].iloc[-1] / 2**k for k in range(_ROWS - 1)]
        chosen += sorted({run.index[0], *((run["seconds"] - w).abs().idxmin() for w in wanted)})
    rows = curves.loc[chosen]
    opponents = {"random": "Random play", "stockfish": "Stockfish, weakest"}
    points = {
        opponents[name]: rows[name].map("{:.2f}".format) for name in opponents if name in rows
    }
    return pd.DataFrame(
        {
            "Seed": rows["seed"],
            "After": (rows["seconds"] / 60).map("{:.1f} min".format),
            "Positions": rows["positions"].map("{:,.0f}".format),
            "Elo": _elos(rows),
            **points,
            "Search adds": rows["search_gain"].map("{:+.0f}".format),
        }
    )


def _elos(rows: pd.DataFrame, form: str = "{} ({} to {})") -> list[str]:
    rounded = rows[["elo", "low", "high"]].round().astype(int)
    return [form.format(*row) for row in rounded.itertuples(index=False)]


def _points(score: float, low: float, high: float) -> str:
    """Writes points a game with their interval: "0.66 (0.59 to 0.72)"."""
    return f"{score:.2f} ({low:.2f} to {high:.2f})"


def _counts(match) -> str:
    """Writes the wins, draws and losses of a match: "121, 22, 57"."""
    return f"{match.wins}, {match.draws}, {match.losses}"


def _quarters(curves) -> pd.DataFrame:
    """Lists runs' points against Stockfish by quarters of an hour."""
    games = int(curves.attrs["provenance"]["games"])
    points = {
        seed: {
            f"{row.begin:.0f} to {row.end:.0f} min": _points(row.score, row.low, row.high)
            for row in rating.by_quarter(run, games).itertuples()
        }
        for seed, run in curves.groupby("seed")
        if "stockfish" in run
    }
    table = pd.DataFrame.from_dict(points, orient="index").rename_axis("Seed")
    return table.reset_index().fillna("")


def _ablations(frame) -> pd.DataFrame:
    table = rating.of_ablations(frame)
    for seed, matches in frame.groupby("seed", sort=False):
        games = matches.set_index(["change", "against"])
        counts = games[["wins", "draws", "losses"]].astype(str).agg(", ".join, axis=1)
        keys = table[["change", "against"]].itertuples(index=False)
        table[f"Seed {seed}"] = [counts.get(tuple(key), "not run") for key in keys]
    table["Elo"] = _elos(table, "{:+} ({:+} to {:+})")
    table = table.rename(columns={"change": "Change", "against": "Against", "kept": "Kept"})
    seeds = [name for name in table if name.startswith("Seed ")]
    return table[["Change", "Against", *seeds, "Elo", "Kept"]]


def _searches(frame) -> pd.DataFrame:
    """Lists the matches of one network's searches that differ by a change to their rules."""
    rows = []
    for match in frame.itertuples():
        played = Evaluation(match.wins, match.draws, match.losses)
        points = _points(played.score, *played.interval())
        rows.append(
            (match.change, match.against, match.simulations, _counts(match), points, match.kept)
        )
    columns = ["Change", "Against", "Simulations", "Wins, draws, losses", "Points a game", "Kept"]
    return pd.DataFrame(rows, columns=columns)


def _strength(frame) -> pd.DataFrame:
    """Lists an agent's strength by each rule and number of simulations."""
    facts, rows = frame.attrs["provenance"], []
    ratings = rating.of_matches(frame, facts["against"]).set_index("player")
    # `groupby` leaves out matches between opponents, which have no number of simulations.
    for simulations, group in frame.groupby("simulations"):
        cells = [f"{simulations:.0f}"]
        for policy in POLICIES:
            against = group[group["policy"] == policy].set_index("opponent")
            match = against.loc[facts["against"]]
            cells.append(_points(match["score"], match["low"], match["high"]))
            cells += _elos(ratings.loc[[against["player"].iloc[0]]])
        between = group[group["opponent"].isin(group["player"])]
        if between.empty:
            cells += ["not played", ""]
        for both in between.itertuples():
            better = "Gumbel" if both.low > 0.5 else "PUCT" if both.high < 0.5 else "within noise"
            cells += [_counts(both), better]
        rows.append(cells)
    columns = [f"{name}: {quantity}" for name in RULES.values() for quantity in ("points", "Elo")]
    columns = ["Simulations", *columns, "Gumbel against PUCT", "Better"]
    return pd.DataFrame(rows, columns=columns)


def _core_hours(frame) -> pd.DataFrame:
    """Lists ratings, ours with intervals, and what training took."""
    ours = frame["low"].notna()
    elo = frame["elo"].round().astype(int).astype(str)
    elo[ours] = _elos(frame[ours])
    return pd.DataFrame(
        {
            "Agent": frame["project"] + ", " + frame["agent"],
            "Search": frame["search"],
            "Time control": frame["control"],
            "Core-hours": frame["core_hours"].map(
                lambda hours: f"{hours:,.0f}" if hours > 10 else f"{hours:.2f}"
            ),
            "Elo": elo,
            "Games": frame["games"].map("{:.0f}".format).where(ours, "not said"),
        }
    )


def _stronger(frame) -> pd.DataFrame:
    """Lists an agent's matches with Stockfish's stronger settings."""
    weakest = frame.attrs["provenance"]["against"]
    table: dict[str, dict[str, str]] = {}
    others = frame["opponent"].str.startswith("Stockfish") & (frame["opponent"] != weakest)
    for row in frame[others].dropna(subset="simulations").itertuples():
        cells = table.setdefault(search_in_words(row.policy, int(row.simulations)), {})
        cells[row.opponent] = f"{_points(row.score, row.low, row.high)}: {_counts(row)}"
    rows = pd.DataFrame.from_dict(table, orient="index").rename_axis("Search").reset_index()
    return rows.fillna("not played")


def _learners(frame, updates, curves) -> pd.DataFrame:
    ended = list(nb11.time_to_wins(curves, 0.9).itertuples())
    won = {row.learner: f"{row.wins:.1%} ({row.low:.1%} to {row.high:.1%})" for row in ended}
    until_90 = {
        row.learner: f"{row.seconds:.0f} s, {row.reached} of {row.seeds} seeds"
        for row in ended
        if row.reached
    }
    parts = frame[["generate", "infer", "backward"]].map(duration).agg(", ".join, axis=1)
    in_float32 = ~frame["learner"].str.contains("bfloat16")
    return pd.DataFrame(
        {
            "Learner": frame["learner"].map("`{}`".format),
            "Steps a second": frame["steps_per_second"].map("{:,.0f}".format),
            "Times the reference": frame["gain"].map(ratio),
            "Share of float32's peak": frame["share"].map("{:.1%}".format).where(in_float32, "n/a"),
            "Generating, inferring, learning": parts,
            "90 % of games won after": frame["learner"].map(until_90).fillna(""),
            "Won in the end": frame["learner"].map(won).fillna(""),
        }
    )


_SECTIONS = {
    "ladder": Section(
        _ladder,
        NEEDED,
        (_TRAINED, _UPDATES, _LEARNERS),
        picture=Picture(
            "ladder.png", "The ladder, each rung's code and how many times as fast it is.", _poster
        ),
        to_root="",
    ),
    "rungs": Section(_rungs, (LADDER, RACE), facts=("num_envs", "mask")),
    "stepping": Section(_stepping, NEEDED, (_STEPS,)),
    "training": Section(_training, (_TRAINED,), facts=("learner", "num_envs")),
    "bounds": Section(_bounds, (_UPDATES, _LEARNERS, _LEARNERS_TABLE)),
    "steps": Section(
        _steps,
        (_VERSIONS, _STEPS),
        picture=Picture(
            "steps.png",
            "The time of a ply from Python to C++, idea by idea.",
            lambda *frames: nb17_versions.draw_waterfall(_waterfall(*frames)),
        ),
    ),
    "generators": Section(_generators, (_PERFT,), facts=("clock_mhz",), to_root="../../"),
    "self-play": Section(
        _self_play,
        (_CURVES,),
        facts=("match_policy", "simulations", "games", "match_plies"),
        picture=Picture(
            "elo.png",
            "Elo of self-play over time with its interval, and points per game against random play "
            "and Stockfish.",
            nb16.draw_ratings_over_time,
        ),
    ),
    "quarters": Section(_quarters, (_CURVES,)),
    "ablations": Section(
        _ablations, (_ABLATIONS,), facts=("policy", "simulations", "games", "positions")
    ),
    "by-time": Section(_ablations, (_BY_TIME,), facts=("policy", "simulations", "games")),
    "searches": Section(_searches, (_SEARCHES,)),
    "strength": Section(_strength, (_STRENGTH,), facts=("agent", "against", "engine", "games")),
    "core-hours": Section(_core_hours, (_CORE_HOURS,)),
    "stronger": Section(_stronger, (_STRENGTH,)),
    "learners-measured": Section(
        _learners,
        (_LEARNERS_TABLE, _LEARNERS, _WINS),
        picture=Picture(
            "wins.png",
            "Games won against random play over seconds, a line per seed and learner.",
            lambda learners, updates, curves: nb11.draw_wins(curves, over="seconds"),
        ),
    ),
}


def raced(root: Path) -> list[dict]:
    """Returns the rungs' rates on the recorded machines, for the page that races in a browser.

    For each machine that has a race: `machine`, in words; `date`; `commit`; and `rows` with `rung`,
    `boards`, `mask` and quartiles of plies a second, `low`, `middle` and `high`.
    """
    machines = []
    for path in sorted((root / "data" / "recorded").glob(f"*/{RACE}")):
        race = results.load(path)
        facts, rates = race.attrs["provenance"], race["plies"] / race["seconds"]
        groups = rates.groupby([race[name] for name in ("racer", "num_envs", "mask")], sort=False)
        rows = [
            dict(zip(("rung", "boards", "mask"), key, strict=True))
            | quartiles(rates_of_rung, "middle").to_dict()
            for key, rates_of_rung in groups
        ]
        about = {"machine": in_words(facts), "date": facts["date"][:10], "commit": facts["commit"]}
        machines.append(about | {"rows": rows})
    return machines


def modelled(root: Path) -> dict:
    """Returns what the page of models begins with, as recorded last, on a machine with all of it.

    `machine` in words; `shares` of a ply by part; `roofs` by cores, with `peak` (operations a
    second), `bandwidths` (bytes a second, by level) and `programs`; and `update`, its seconds of
    computing, messages, bytes, and the latency and bandwidth of its link.
    """
    names = ("01_profile", "08_compute", "08_bandwidth", "08_rungs", "14_updates", "14_messages")
    files = [
        [folder / f"{name}.csv" for name in names] for folder in (root / "data/recorded").glob("*/")
    ]
    profile, compute, bandwidth, programs, updates, messages = max(
        ([*map(results.load, each)] for each in files if all(map(Path.exists, each))),
        key=lambda tables: tables[1].attrs["provenance"]["date"],
    )
    roofs = {}
    for threads in sorted(set(compute["threads"].to_list())):
        peaks, bandwidths = nb08.roofs(compute, bandwidth, threads)
        roofs["1 core" if threads == 1 else f"{threads} cores"] = {
            "peak": max(peaks.values()),
            "bandwidths": bandwidths,
            "programs": nb08.below(programs, threads).to_dict("records"),
        }
    update, link = nb14.fit_update(updates), nb14.fit_link(messages)
    exchange = {"messages": update.messages, "bytes": update.num_bytes, **link._asdict()}
    return {
        "machine": in_words(compute.attrs["provenance"]),
        "shares": dict(zip(profile["part"], profile["share"], strict=True)),
        "roofs": roofs,
        "update": {"seconds": update.compute(_POSITIONS), **exchange},
    }
