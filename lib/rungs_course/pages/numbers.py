"""Generates what README and docs show of one machine's recorded results."""

from pathlib import Path

import pandas as pd

from rungs.devel import DEFAULT_RUNG
from rungs.devel.envs import POLICIES
from rungs.devel.selfplay import RULES, search_in_words
from rungs.train import Evaluation
from rungs_course import peers, rating
from rungs_course.machine.naming import in_words
from rungs_course.measure import results
from rungs_course.measure.noise import Factor, factor
from rungs_course.measure.quartiles import quartiles
from rungs_course.notebooks import nb07_ladder, nb15_training, nb17_versions
from rungs_course.notebooks import nb08_roofline as nb08
from rungs_course.notebooks import nb11_full_system as nb11
from rungs_course.notebooks import nb14_cost_model as nb14
from rungs_course.notebooks import nb16_search as nb16
from rungs_course.plots import duration, ratio, save_figure, speed
from rungs_course.tables import (
    IMPLEMENTATIONS,
    OWN_JOB,
    fill,
    ladder_table,
    markdown,
    with_interval,
)

# The result tables that the sections need.
LADDER, RACE, GAINS = "07_ladder.csv", "07_race.csv", "12_gains.csv"
NEEDED = (LADDER, RACE, GAINS)
_PICTURE = Path("figures") / "ladder.png"
# Tables and figures that only some machines have.
_TRAINED = "15_metrics.csv"
_STEPS, _VERSIONS, _WATERFALL = "17_waterfall.csv", "17_versions.csv", Path("figures") / "steps.png"
_CURVE = Path("figures") / "elo.png"
_LEARNERS, _WON = "11_learners_table.csv", Path("figures") / "wins.png"
_UPDATES, _WINS = "11_learners.csv", "11_curves.csv"
_GENERATION = "11_generation.csv"
_PERFT = "03_perft.csv"
_DOCS = Path("docs")
_ON_PAGES = ("numbers", "selfplay", "ablations", "training", "peers/index")
PAGES = (Path("README.md"), *(_DOCS / f"{name}.md" for name in _ON_PAGES))
_POSITIONS = 2048  # of an update on the page of models
_ROWS = 6  # of the table of self-play
# The peer that is our rung `python`: the ladder compares it.
_OURS = "python-chess"
_LEFT_OUT = (
    "No recorded run has these numbers yet. [Notebook {}]({}) measures them on your machine.\n"
)


def sections(root: Path, recorded: Path, machine: dict, usable: set[str]) -> dict[str, str]:
    """Returns the generated sections of all `PAGES`, as Markdown, by name.

    `recorded` is relative to `root`. Sections that need tables beyond `usable`, which has all of
    `NEEDED`, say that they are left out.
    """
    return _sections(root, _tables(root, recorded, usable), recorded, machine)


def _tables(root: Path, recorded: Path, usable: set[str]) -> dict[str, pd.DataFrame]:
    return {name: results.load(root / recorded / name) for name in _table_names(usable)}


def _sections(
    root: Path, tables: dict[str, pd.DataFrame], recorded: Path, machine: dict
) -> dict[str, str]:
    machine_name = in_words(machine)
    texts = {
        "ladder": _ladder(tables, machine),
        "rungs": _rungs(tables, recorded, machine),
        "headlines": _headlines(tables, recorded),
        "steps": _LEFT_OUT.format("17", "../notebooks/17_versions.ipynb"),
        "self-play": _LEFT_OUT.format("16", "../notebooks/16_search.ipynb"),
        "learners-measured": _LEFT_OUT.format("11", "../notebooks/11_full_system.ipynb"),
        "generators": _LEFT_OUT.format("03", "../../notebooks/03_cpp.ipynb"),
    }
    if _VERSIONS in tables:
        texts["steps"] = _steps(_waterfall(tables), recorded)
    if _PERFT in tables:
        texts["generators"] = _generators(tables[_PERFT], recorded, machine_name)
    if (root / rating.CURVES).exists():
        texts["self-play"] = _self_play(results.load(root / rating.CURVES))
    if (root / rating.ABLATIONS).exists():
        texts["ablations"] = _ablations(results.load(root / rating.ABLATIONS))
    if (root / rating.SEARCHES).exists():
        texts["searches"] = _searches(results.load(root / rating.SEARCHES))
    if (root / rating.STRENGTH).exists():
        texts["strength"] = _strength(results.load(root / rating.STRENGTH))
    if _WINS in tables:
        texts["learners-measured"] = _learners(
            tables[_LEARNERS], tables[_UPDATES], tables[_WINS], recorded, machine_name
        )
    return texts


def write(root: Path, recorded: Path, machine: dict, usable: set[str]) -> None:
    """Writes a machine's recorded results into the `PAGES` that exist, and saves their figures;
    figures of what is left out are removed.
    """
    tables = _tables(root, recorded, usable)
    for picture in (_WATERFALL, _WON):
        (root / picture).unlink(missing_ok=True)
    poster = nb07_ladder.draw_poster(ladder_rates(tables), in_words(machine))
    save_figure(poster, root / _PICTURE)
    if _VERSIONS in tables:
        save_figure(nb17_versions.draw_waterfall(_waterfall(tables)), root / _WATERFALL)
    if (root / rating.CURVES).exists():
        curves = results.load(root / rating.CURVES)
        save_figure(nb16.draw_ratings_over_time(curves), root / _CURVE)
    if _WINS in tables:
        save_figure(nb11.draw_wins(tables[_WINS], over="seconds"), root / _WON)
    texts = _sections(root, tables, recorded, machine)
    for page in (root / page for page in PAGES if (root / page).exists()):
        page.write_text(fill(page.read_text(), texts))


def _table_names(usable: set[str]) -> list[str]:
    optional = [_TRAINED, _GENERATION, _PERFT]
    for together in ((_LEARNERS, _UPDATES, _WINS), (_STEPS, _VERSIONS)):
        optional += together if usable.issuperset(together) else ()
    return [*NEEDED, *(name for name in optional if name in usable)]


def ladder_rates(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Returns the ladder's table for the boards and the mask that notebook 07 chose."""
    race, facts = tables[RACE], tables[LADDER].attrs["provenance"]
    boards = int(facts["num_envs"])
    alike = (race["num_envs"] == boards) & (race["mask"] == facts["mask"])
    return ladder_table(race[alike], num_envs=boards)


def _trained(metrics: pd.DataFrame) -> dict[str, Factor]:
    """Returns the speed-up of training on each rung over the first."""
    return nb15_training.gains(metrics, metrics["rung"].iloc[0])


def _waterfall(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Returns the rows of notebook 17's ladder, from its race."""
    bound = (tables[_STEPS]["share"] * tables[_STEPS]["nanoseconds"])[0] * 1e-9
    return nb17_versions.waterfall(tables[_VERSIONS], bound)


def _ladder(tables: dict[str, pd.DataFrame], machine: dict) -> str:
    table = ladder_rates(tables)
    first, default = table.iloc[0], table.set_index("rung").loc[DEFAULT_RUNG]
    speedups = [
        f"{row.rung} {ratio(row.absolute_speedup)}"
        for row in table.itertuples()
        if row.rung in nb07_ladder.POSTER
    ]
    gain = _factor_in_prose(*default[["absolute_speedup", "speedup_low", "speedup_high"]])
    training = ""
    if _TRAINED in tables:
        learner = tables[_TRAINED].attrs["provenance"]["learner"]
        times = _trained(tables[_TRAINED])[DEFAULT_RUNG]
        times_in_prose = _factor_in_prose(times.middle, times.low, times.high)
        training = f" Training with the learner `{learner}` becomes {times_in_prose} as fast"
        if _GENERATION in tables:
            bound = _bounds_of_training(tables[_GENERATION])["torch"]
            training += f"; with the learner `torch` it becomes at most {bound:.1f} times as fast"
        training += "."
    least = smallest_gains(tables[GAINS])
    fastest = least.loc[least["its rate"].idxmax()]
    project = fastest["peer"].partition(",")[0]
    description = f" ({peers.PROJECTS[project].tuned})" if project in peers.PROJECTS else ""
    return (
        f"![The ladder, each rung's code and how many times as fast as {first['rung']} it is: "
        f"{', '.join(speedups)}.]({_PICTURE})\n\n"
        f"On {in_words(machine)}, the default rung, `{DEFAULT_RUNG}`, plays "
        f"{speed(default['plies_per_second']).removesuffix('/s')} plies (moves of one player) a "
        f"second, {gain} as many as `{first['rung']}`.{training} On one core, Rungs "
        f"with the outputs *{fastest['ours'].removeprefix('rungs, ')}* plays "
        f"{_factor_in_prose(*fastest[['gain', 'from', 'to']])} as many as the fastest other "
        f"environment that was raced, {project}{description}; [the benchmark](docs/bench.md) lists "
        "the factors of all outputs. [All our numbers](docs/numbers.md) says what the other "
        "factors compare.\n"
    )


def _factor_in_prose(middle: float, low: float, high: float) -> str:
    """Writes a factor in a sentence, with its interval: "**922 times** (569 to 1,407)"."""
    factor, noise = with_interval(middle, low, high).split("×")
    return f"**{factor} times**{noise}"


def _bounds_of_training(generation: pd.DataFrame) -> pd.Series:
    """Returns, by learner, the speed-up of training if no time went into Python's environment."""
    python = generation[generation["system"] == "python"].set_index("learner")
    return 1 / (1 - python["share"])


def _rungs(tables: dict[str, pd.DataFrame], recorded: Path, machine: dict) -> str:
    facts, table = tables[LADDER].attrs["provenance"], ladder_rates(tables)
    first = table.iloc[0]
    alone = ", ".join(f"`{rung}`" for rung in table["rung"] if rung in OWN_JOB)
    medians = f"; {alone} raced in a job of its own and is compared by medians" if alone else ""
    columns = {
        "Rung": table["rung"].map("`{}`".format),
        "Implementation": table["rung"].map(IMPLEMENTATIONS),
        "Plies a second": table["plies_per_second"].map(speed),
        f"Times as fast as `{first['rung']}`": [
            "1×"
            if row.rung == first["rung"]
            else with_interval(row.absolute_speedup, row.speedup_low, row.speedup_high)
            for row in table.itertuples()
        ],
    }
    training = ""
    if _TRAINED in tables:
        trained = _trained(tables[_TRAINED])
        learnt = tables[_TRAINED].attrs["provenance"]
        columns["Training, measured"] = [
            "1×"
            if rung == first["rung"]
            else with_interval(trained[rung].middle, trained[rung].low, trained[rung].high)
            if rung in trained
            else "not run"
            for rung in table["rung"]
        ]
        training = (
            f" *Training* is an update of PPO with the learner `{learnt['learner']}` and "
            f"{learnt['num_envs']} boards ([notebook 15](../notebooks/15_training.ipynb), "
            f"[data](../{(recorded / _TRAINED).as_posix()})). Updates of the same number are "
            "compared; the rungs trained one after the other."
        )
    flops = machine.get("flops_per_cycle")
    per_cycle = f", which does {flops:g} float32 operations per cycle" if flops else ""
    return (
        f"The tables of this page are of one machine, {in_words(machine)}{per_cycle} "
        f"([record](../{(recorded / 'record.json').as_posix()})).\n\n"
        f"{markdown(pd.DataFrame(columns))}\n\n"
        f"{facts['num_envs']} boards a step, `{facts['mask']}` masks, {facts['date'][:10]} "
        f"([data](../{(recorded / RACE).as_posix()})). Each factor is the median of the "
        f"ratios of {tables[RACE]['repeat'].nunique()} repeats in turns, with its "
        f"interval{medians}.{training}\n"
    )


def _headlines(tables: dict[str, pd.DataFrame], recorded: Path) -> str:
    """Writes the ratios that pages print, a table for each question, with what they depend on."""
    parts = [_stepping(tables, recorded)]
    if _TRAINED in tables:
        facts = tables[_TRAINED].attrs["provenance"]
        first, *others = _trained(tables[_TRAINED]).items()
        rows = [(f"`{rung}`", with_interval(f.middle, f.low, f.high)) for rung, f in others]
        table = pd.DataFrame(rows, columns=["Rung", "Times as fast"])
        parts.append(
            f"**Training, compared with `{first[0]}`**\n\n{markdown(table)}\n\n"
            f"An update of PPO, {facts['num_envs']} boards, learner `{facts['learner']}` "
            f"({_source(tables, _TRAINED, recorded)})."
        )
    if _GENERATION in tables:
        bounds = _bounds_of_training(tables[_GENERATION])
        columns = {"Learner": bounds.index.map("`{}`".format)}
        source = _source(tables, _GENERATION, recorded)
        if _WINS in tables:
            gains = tables[_LEARNERS].set_index("learner")["gain"]
            columns[f"An update on `threads`, over `{gains.index[0]}`"] = [
                ratio(gains[learner]) if learner in gains else "" for learner in bounds.index
            ]
        columns["Training on any rung over `python`"] = [f"at most {ratio(b)}" for b in bounds]
        parts.append(
            f"**Learners**\n\n{markdown(pd.DataFrame(columns))}\n\n"
            f"The last column is 1 / (1 - the share of `python`'s generation) ({source})."
        )
    return "\n\n".join(parts) + "\n"


def _stepping(tables: dict[str, pd.DataFrame], recorded: Path) -> str:
    """Writes how many times as fast a step of each other rung is as the first rung's."""
    ladder, facts = ladder_rates(tables), tables[LADDER].attrs["provenance"]
    first, sources = ladder["rung"].iloc[0], [_source(tables, RACE, recorded)]
    alike = f"{facts['num_envs']} each", f"board + {facts['mask']}", "all", "07"
    rows = [
        (f"`{r.rung}`", with_interval(r.absolute_speedup, r.speedup_low, r.speedup_high), *alike)
        for r in ladder.iloc[1:].itertuples()
    ]
    for row in tables[GAINS][tables[GAINS]["peer"] == _OURS].to_dict("records"):
        outputs = row["ours"].removeprefix("rungs, ")
        times = with_interval(row["gain"], row["from"], row["to"])
        rows.append(("`cpp`", times, "the best for each", outputs, "one", "12"))
        sources.append(_source(tables, GAINS, recorded))
    if _STEPS in tables:
        steps = tables[_STEPS]
        boards, times = steps.attrs["provenance"]["num_envs"], ratio(steps["absolute"].iloc[-1])
        rows.append(("`cpp`", times, f"{boards} each", "board + bool", "one", "17"))
        sources.append(_source(tables, _STEPS, recorded))
    columns = ["Rung", "Times as fast", "Boards", "Outputs", "Cores", "Notebook"]
    table = markdown(pd.DataFrame(rows, columns=columns))
    return f"**One step, compared with `{first}`**\n\n{table}\n\nRecorded: {'; '.join(sources)}."


def _source(tables: dict[str, pd.DataFrame], name: str, recorded: Path) -> str:
    """Writes where a recorded table is and when it was measured, as pages in `docs` link to it."""
    facts = tables[name].attrs["provenance"]
    return (
        f"[{name}](../{(recorded / name).as_posix()}), {facts['date'][:10]}, "
        f"commit `{facts['commit']}`"
    )


def _steps(frame: pd.DataFrame, recorded: Path) -> str:
    ideas = frame[frame["racer"].isin(nb17_versions.VERSIONS)]
    best = ideas.loc[ideas["relative"].idxmax()]
    table = pd.DataFrame(
        {
            "One step of chess": frame["idea"],
            "Times as fast as the row above": frame["relative"].map(ratio),
        }
    )
    return (
        f"![The time of a ply from Python to C++, idea by idea.](../{_WATERFALL})\n\n"
        f"From `python` to `cpp`, one idea at a time: {len(ideas)} versions in C++ of the same "
        f"step. The largest single gain is {ratio(best['relative'])}, by *{best['idea']}* "
        f"([notebook 17](../notebooks/17_versions.ipynb), "
        f"[data](../{(recorded / _VERSIONS).as_posix()})). This race plays other games than the "
        "ladder's.\n\n"
        f"{markdown(table)}\n"
    )


def smallest_gains(gains: pd.DataFrame) -> pd.DataFrame:
    """Returns for each peer the row of the smallest gain, as several of our outputs compare."""
    others = gains[gains["peer"] != _OURS]
    return others.loc[others.groupby("peer", sort=False)["gain"].idxmin()]


def _generators(perft: pd.DataFrame, recorded: Path, machine_name: str) -> str:
    facts = perft.attrs["provenance"]
    leaves = perft["leaves"] / perft["seconds"] / 1e6
    rates = leaves.groupby([perft["racer"], perft["position"]], sort=False).median().unstack()
    rates = rates.sort_values("start", ascending=False)
    seconds = perft.pivot(index=["position", "repeat"], columns="racer", values="seconds")
    depths = perft.groupby("position", sort=False)["depth"].first()
    columns = {"Move generator": rates.index}
    for position, depth in depths.items():
        by_racer = seconds.loc[position]
        columns[f"{position}, depth {depth}"] = rates[position].map("{:,.0f}".format)
        gains = {name: factor(by_racer[name] / by_racer["rungs"]) for name in rates.index}
        columns[f"rungs over it, {position}"] = [
            "" if name == "rungs" else with_interval(gain.middle, gain.low, gain.high)
            for name, gain in gains.items()
        ]
    return (
        f"{markdown(pd.DataFrame(columns))}\n\n"
        f"Million leaves a second on one core of {machine_name}, {facts['date'][:10]}, "
        f"{facts['clock_mhz']} MHz: medians of {perft['repeat'].nunique()} turns "
        f"([notebook 03](../../notebooks/03_cpp.ipynb), "
        f"[data](../../{(recorded / _PERFT).as_posix()})).\n"
    )


def _self_play(frame: pd.DataFrame) -> str:
    facts, chosen = frame.attrs["provenance"], []
    machines = frame.groupby("machine")["seed"].unique()
    seeds_on_machines = "; ".join(
        f"seed{'s' if len(seeds) > 1 else ''} {', '.join(map(str, seeds))} on {machine}"
        for machine, seeds in machines.items()
    )
    for _, run in frame.groupby("seed"):
        # From the last row back, each at half the time of the next.
        wanted = [run["seconds"].iloc[-1] / 2**k for k in range(_ROWS - 1)]
        chosen += sorted({run.index[0], *((run["seconds"] - w).abs().idxmin() for w in wanted)})
    rows = frame.loc[chosen]
    opponents = {"random": "Random play", "stockfish": "Stockfish, weakest"}
    table = pd.DataFrame(
        {
            "Seed": rows["seed"],
            "After": (rows["seconds"] / 60).map("{:.1f} min".format),
            "Positions": rows["positions"].map("{:,.0f}".format),
            "Elo": [
                f"{elo:.0f} ({low:.0f} to {high:.0f})"
                for elo, low, high in rows[["elo", "low", "high"]].to_numpy()
            ],
        }
        | {
            title: rows[name].map("{:.2f}".format)
            for name, title in opponents.items()
            if name in rows
        }
        | {"Search adds": rows["search_gain"].map("{:+.0f}".format)}
    )
    return (
        "![Elo of self-play over time with its interval, and points per game against random play "
        f"and Stockfish.](../{_CURVE})\n\n"
        f"From the rules alone, {seeds_on_machines}; by "
        f"{search_in_words(facts['match_policy'], int(facts['simulations']))} a move, "
        f"{facts['date'][:10]}; the time does not include evaluations. Elo is relative to random "
        "play, with a 95 % interval. The next columns are points per game, in matches of "
        f"{facts['games']} games; a game that is not over after {facts['match_plies']} plies is "
        "adjudicated by material. *Search adds* is the Elo above the same network without search "
        f"([data](../{rating.CURVES.as_posix()})).\n\n"
        f"{markdown(table)}\n" + _quarters(frame, int(facts["games"]))
    )


def _points(score: float, low: float, high: float) -> str:
    """Writes points a game with their interval: "0.66 (0.59 to 0.72)"."""
    return f"{score:.2f} ({low:.2f} to {high:.2f})"


def _counts(match) -> str:
    """Writes the wins, draws and losses of a match: "121, 22, 57"."""
    return f"{match.wins}, {match.draws}, {match.losses}"


def _quarters(frame: pd.DataFrame, games: int) -> str:
    """Writes runs' points against Stockfish by quarters of an hour; "" if it was not played."""
    if "stockfish" not in frame:
        return ""
    points = {
        seed: {
            f"{row.begin:.0f} to {row.end:.0f} min": _points(row.score, row.low, row.high)
            for row in rating.by_quarter(run, games).itertuples()
        }
        for seed, run in frame.groupby("seed")
    }
    table = pd.DataFrame.from_dict(points, orient="index").rename_axis("Seed").reset_index()
    return (
        "\nPoints per game against Stockfish at its weakest, all matches of a quarter of an hour "
        f"together, with a 95 % interval:\n\n{markdown(table.fillna(''))}\n"
    )


def _ablations(frame: pd.DataFrame) -> str:
    facts, seeds = frame.attrs["provenance"], frame["seed"].unique()
    table = rating.of_ablations(frame)
    for seed in seeds:
        matches = frame[frame["seed"] == seed].set_index(["change", "against"])
        results_in_games = matches[["wins", "draws", "losses"]].astype(str).agg(", ".join, axis=1)
        table[f"Seed {seed}"] = [
            results_in_games.get((row.change, row.against), "not run") for row in table.itertuples()
        ]
    table["Elo"] = [
        "{:+d} ({:+d} to {:+d})".format(*map(round, (row.elo, row.low, row.high)))
        for row in table.itertuples()
    ]
    table = table.rename(columns={"change": "Change", "against": "Against", "kept": "Kept"})
    table = table[["Change", "Against", *(f"Seed {seed}" for seed in seeds), "Elo", "Kept"]]
    return (
        f"Wins, draws and losses in {facts['games']} games by "
        f"{search_in_words(facts['policy'], int(facts['simulations']))} a move, by agents of "
        f"{int(facts['positions']):,} positions each, with the same seed and, but for the change, "
        f"the same settings; Elo of a row's seeds together, with a 95 % interval, "
        f"{facts['measured']} ([data](../{rating.ABLATIONS.as_posix()})).\n\n{markdown(table)}\n"
    )


def _searches(frame: pd.DataFrame) -> str:
    """Writes the matches of one network's searches that differ by a change to their rules."""
    facts, rows = frame.attrs["provenance"], []
    for match in frame.itertuples():
        played = Evaluation(match.wins, match.draws, match.losses)
        points = _points(played.score, *played.interval())
        rows.append(
            (match.change, match.against, match.simulations, _counts(match), points, match.kept)
        )
    columns = ["Change", "Against", "Simulations", "Wins, draws, losses", "Points a game", "Kept"]
    return (
        "Matches of one network's search with a change to its rules, against its search without "
        f"the change or against Stockfish, with 95 % intervals, {facts['measured']} "
        f"([data](../{rating.SEARCHES.as_posix()})).\n\n"
        f"{markdown(pd.DataFrame(rows, columns=columns))}\n"
    )


def _strength(frame: pd.DataFrame) -> str:
    """Writes an agent's strength by each rule and number of simulations."""
    facts, rows = frame.attrs["provenance"], []
    ratings = rating.of_matches(frame, facts["against"]).set_index("player")
    # `groupby` leaves out matches between opponents, which have no number of simulations.
    for simulations, group in frame.groupby("simulations"):
        cells = [f"{simulations:.0f}"]
        for policy in POLICIES:
            against = group[group["policy"] == policy].set_index("opponent")
            low, middle, high = ratings.loc[against["player"].iloc[0], ["low", "elo", "high"]]
            match = against.loc[facts["against"]]
            cells.append(_points(match["score"], match["low"], match["high"]))
            cells.append(f"{middle:.0f} ({low:.0f} to {high:.0f})")
        between = group[group["opponent"].isin(group["player"])]
        if between.empty:
            cells += ["not played", ""]
        for both in between.itertuples():
            better = "Gumbel" if both.low > 0.5 else "PUCT" if both.high < 0.5 else "within noise"
            cells += [_counts(both), better]
        rows.append(cells)
    columns = [f"{name}: {quantity}" for name in RULES.values() for quantity in ("points", "Elo")]
    columns = ["Simulations", *columns, "Gumbel against PUCT", "Better"]
    return (
        f"The recorded agent *{facts['agent']}*: points a game against {facts['against']} "
        f"({facts['engine']}), Elo above it from all matches together, and wins, draws "
        f"and losses of Gumbel against PUCT at equal simulations; matches of {facts['games']} "
        f"games, 95 % intervals, {facts['date'][:10]} "
        f"([data](../{rating.STRENGTH.as_posix()})).\n\n"
        f"{markdown(pd.DataFrame(rows, columns=columns))}\n{_stronger(frame)}"
    )


def _stronger(frame: pd.DataFrame) -> str:
    """Writes an agent's matches with Stockfish's stronger settings; "" if there are none."""
    weakest = frame.attrs["provenance"]["against"]
    table: dict[str, dict[str, str]] = {}
    against = frame["opponent"].isin({*rating.ENGINES} - {weakest})
    for row in frame[against].dropna(subset="simulations").itertuples():
        cells = table.setdefault(search_in_words(row.policy, int(row.simulations)), {})
        cells[row.opponent] = f"{_points(row.score, row.low, row.high)}: {_counts(row)}"
    if not table:
        return ""
    rows = pd.DataFrame.from_dict(table, orient="index").rename_axis("Search").reset_index()
    return (
        "\nThe same agent against stronger settings of Stockfish: points a game, and wins, draws "
        f"and losses.\n\n{markdown(rows.fillna('not played'))}\n"
    )


def _learners(
    frame: pd.DataFrame,
    updates: pd.DataFrame,
    curves: pd.DataFrame,
    recorded: Path,
    machine_name: str,
) -> str:
    facts, ended = frame.attrs["provenance"], list(nb11.time_to_wins(curves, 0.9).itertuples())
    won = {row.learner: f"{row.wins:.1%} ({row.low:.1%} to {row.high:.1%})" for row in ended}
    until_90 = {
        row.learner: f"{row.seconds:.0f} s, {row.reached} of {row.seeds} seeds"
        for row in ended
        if row.reached
    }
    parts = frame[["generate", "infer", "backward"]].map(duration).agg(", ".join, axis=1)
    in_float32 = ~frame["learner"].str.contains("bfloat16")
    table = pd.DataFrame(
        {
            "Learner": frame["learner"].map("`{}`".format),
            "Times the reference": frame["gain"].map(ratio),
            "Share of float32's peak": frame["share"].map("{:.1%}".format).where(in_float32, "n/a"),
            "Generating, inferring, learning": parts,
            "90 % of games won after": frame["learner"].map(until_90).fillna(""),
            "Won in the end": frame["learner"].map(won).fillna(""),
        }
    )
    return (
        "![Games won against random play over seconds, a line per seed and learner.]"
        f"(../{_WON})\n\n"
        f"Measured on {machine_name}, {facts['date'][:10]}: medians of updates of "
        f"{updates['positions'].iloc[0]:,} steps, all learners in turns. The reference, "
        f"`{frame['learner'].iloc[0]}`, learns from {frame['steps_per_second'].iloc[0]:,.0f} steps "
        f"a second. Curves are {curves['steps'].max():,} steps long; the last two columns are the "
        f"seeds' median time and mean share, with a 95 % interval "
        f"([notebook 11](../notebooks/11_full_system.ipynb), "
        f"[data](../{(recorded / _LEARNERS).as_posix()})). The peak of bfloat16 is another one, so "
        f"its share is not given.\n\n"
        f"{markdown(table)}\n"
    )


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


def modelled(root: Path, machine: str) -> dict:
    """Returns what the page of models begins with, as recorded on a machine, by its folder's name.

    `machine` in words; `shares` of a ply by part; `roofs` by cores, with `peak` (operations a
    second), `bandwidths` (bytes a second, by level) and `programs`; and `update`, its seconds of
    computing, messages, bytes, and the latency and bandwidth of its link.
    """
    folder = root / "data" / "recorded" / machine
    names = ("01_profile", "08_compute", "08_bandwidth", "08_rungs", "14_updates", "14_messages")
    profile, compute, bandwidth, programs, updates, messages = (
        results.load(folder / f"{name}.csv") for name in names
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
