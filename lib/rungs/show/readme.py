"""What the README and other pages take from recorded results."""

import re
from pathlib import Path

import pandas as pd

from rungs.machine.describe import in_words
from rungs.measure import results
from rungs.show import elo as ratings
from rungs.show import figures, steps, tables
from rungs.show import learners as draw_learners
from rungs.show.save import save_figure
from rungs.show.style import duration, ratio, speed
from rungs.studies.learners import until

# The files that its sections are made of.
NEEDED = ("07_ladder.csv", "12_gains.csv", "12_rules.csv")
_PICTURE = Path("figures") / "ladder.png"
# What else there is of some machines.
_STEPS, _WATERFALL = "03_waterfall.csv", Path("figures") / "steps.png"
_SELF_PLAY, _CURVE = "16_evaluations.csv", Path("figures") / "elo.png"
_LEARNERS, _WON = "11_learners_table.csv", Path("figures") / "wins.png"
_UPDATES, _WINS = "11_learners.csv", "11_curves.csv"
PAGES = (Path("README.md"), Path("docs") / "selfplay.md", Path("docs") / "training.md")
_ROWS = 6  # of the table of self-play


def sections(root: Path, recorded: Path) -> dict[str, str]:
    """Returns the generated sections of all `PAGES`, as Markdown, by name.

    Args:
        root: the repository.
        recorded: a folder of `data/recorded/`, relative to `root`, holding all of `NEEDED`.
    """
    ladder, gains, rules = (results.load(root / recorded / name) for name in NEEDED)
    made = {"ladder": _ladder(ladder, recorded), "peers": _peers(gains, rules, recorded)}
    if (root / recorded / _STEPS).exists():
        made["steps"] = _steps(results.load(root / recorded / _STEPS), recorded)
    if (root / recorded / _SELF_PLAY).exists():
        made["self-play"] = _self_play(results.load(root / recorded / _SELF_PLAY), recorded)
    if (root / recorded / _WINS).exists():
        raced, updates, curves = (
            results.load(root / recorded / name) for name in (_LEARNERS, _UPDATES, _WINS)
        )
        made["learners-measured"] = _learners(raced, updates, curves, recorded)
    return made


def write(root: Path, recorded: Path) -> None:
    """Puts a machine's recorded results into `PAGES`, where they are, and their figures."""
    ladder = results.load(root / recorded / NEEDED[0])
    floor = float(ladder.attrs["provenance"]["floor_plies_per_second"])
    save_figure(figures.ladder(ladder, floor), root / _PICTURE)
    if (root / recorded / _STEPS).exists():
        table = results.load(root / recorded / _STEPS)
        bound = float(table.attrs["provenance"]["floor_nanoseconds"])
        save_figure(steps.waterfall(table, bound), root / _WATERFALL)
    if (root / recorded / _SELF_PLAY).exists():
        evaluations = results.load(root / recorded / _SELF_PLAY)
        save_figure(ratings.over_time(evaluations), root / _CURVE)
    if (root / recorded / _WINS).exists():
        curves = results.load(root / recorded / _WINS)
        save_figure(draw_learners.wins(curves, over="seconds"), root / _WON)
    made = sections(root, recorded)
    for page in (root / page for page in PAGES if (root / page).exists()):
        page.write_text(_filled(page.read_text(), made))


def _filled(text: str, made: dict[str, str]) -> str:
    for name, section in made.items():
        marked = re.compile(rf"(<!-- {name} -->\n).*(<!-- /{name} -->)", re.DOTALL)
        text = marked.sub(lambda match, section=section: match[1] + section + match[2], text)  # type: ignore[misc]
    return text


def _ladder(frame: pd.DataFrame, recorded: Path) -> str:
    facts = frame.attrs["provenance"]
    first, best = frame.iloc[0], frame.loc[frame["plies_per_second"].idxmax()]
    said = [f"{row.rung} {speed(row.plies_per_second)}" for row in frame.itertuples()]
    gain = f"{best['absolute_speedup']:,.0f} times as many moves a second"
    return (
        f"![The ladder, plies per second of each rung: {', '.join(said)}.]({_PICTURE})\n\n"
        f"On {in_words(facts)} the rung `{best['rung']}` plays "
        f"**{gain}** as `{first['rung']}`:\n\n"
        f"{tables.markdown(tables.ladder(frame))}\n\n"
        f"{facts['num_envs']} boards a step, `{facts['mask']}` masks, {facts['date'][:10]} "
        f"([data]({(recorded / NEEDED[0]).as_posix()})).\n"
    )


def _steps(frame: pd.DataFrame, recorded: Path) -> str:
    ideas = frame.iloc[2:-1]  # versions in C++
    best = ideas.loc[ideas["relative"].idxmax()]
    table = pd.DataFrame(
        {
            "One step of chess": frame["idea"],
            "Time of a ply": (frame["nanoseconds"] * 1e-9).map(duration),
            "Relative speed-up": frame["relative"].map(ratio),
            "Absolute speed-up": frame["absolute"].map(ratio),
        }
    )
    return (
        f"![The time of a ply from Python to C++, idea by idea.]({_WATERFALL})\n\n"
        f"From `python` to `cpp`, one idea at a time: {len(ideas)} versions in C++ of the same "
        f"step, of which *{best['idea']}* gains most, {ratio(best['relative'])} "
        f"([notebook 03](notebooks/03_cpp.ipynb), "
        f"[data]({(recorded / _STEPS).as_posix()})).\n\n"
        f"{tables.markdown(table)}\n"
    )


def _peers(gains: pd.DataFrame, rules: pd.DataFrame, recorded: Path) -> str:
    facts = gains.attrs["provenance"]
    least = gains.loc[gains.groupby("peer", sort=False)["gain"].idxmin()]
    project = least["peer"].str.split(",").str[0]
    wrong = rules[rules["disagreements"] > 0].groupby("peer")["rule"].agg(", ".join)
    table = pd.DataFrame(
        {
            "Chess environment": least["peer"],
            "Its plies per second": least["its rate"].map(speed),
            "Rungs, the same outputs": least["our rate"].map(speed),
            "Times as fast": least["gain"].map(ratio),
            "Rules it reads otherwise": project.map(wrong).fillna("none seen"),
        }
    )
    return (
        f"{tables.markdown(table)}\n\n"
        f"One core each, of {in_words(facts)}, {facts['date'][:10]}, each with the number of "
        "boards that suits it best. Where several of our outputs can be compared, the row is of "
        "those that gain least. *Rules*: where python-chess says otherwise; `python-chess` itself "
        "is our rung `python`. "
        f"[Notebook 12](notebooks/12_peers.ipynb) says what each step includes "
        f"([data]({(recorded / NEEDED[1]).as_posix()})).\n"
    )


def _self_play(frame: pd.DataFrame, recorded: Path) -> str:
    facts = frame.attrs["provenance"]
    # Twice as long from row to row, back from the last.
    wanted = [frame["seconds"].iloc[-1] / 2**k for k in range(_ROWS - 1)]
    rows = frame.loc[sorted({0, *((frame["seconds"] - each).abs().idxmin() for each in wanted)})]
    beside = {"random": "Random play", "stockfish": "Stockfish, weakest"}
    table = pd.DataFrame(
        {
            "After": (rows["seconds"] / 60).map("{:.1f} min".format),
            "Positions": rows["positions"].map("{:,.0f}".format),
            "Elo": [
                f"{elo:.0f} ({low:.0f} to {high:.0f})"
                for elo, low, high in rows[["elo", "low", "high"]].to_numpy()
            ],
        }
        | {told: rows[name].map("{:.2f}".format) for name, told in beside.items() if name in rows}
        | {"Search adds": rows["search_gain"].map("{:+.0f}".format)}
    )
    return (
        "![Elo of self-play over time with its interval, and points per game against random play "
        f"and Stockfish.](../{_CURVE})\n\n"
        f"From the rules alone, on {in_words(facts)}, {facts['simulations']} simulations a move, "
        f"{facts['date'][:10]}; evaluations took no part of the time. Elo is above random play, "
        "with a 95 % interval; the next columns are points per game (a game that is cut short "
        "counts as a draw); *search adds* is Elo above the same network without search "
        f"([notebook 16](../notebooks/16_search.ipynb), "
        f"[data](../{(recorded / _SELF_PLAY).as_posix()})).\n\n"
        f"{tables.markdown(table)}\n"
    )


def _learners(
    frame: pd.DataFrame, updates: pd.DataFrame, curves: pd.DataFrame, recorded: Path
) -> str:
    facts, ended = frame.attrs["provenance"], list(until(curves, 0.9).itertuples())
    won = {row.learner: f"{row.wins:.1%} ({row.low:.1%} to {row.high:.1%})" for row in ended}
    until_90 = {
        row.learner: f"{row.seconds:.0f} s, {row.reached} of {row.seeds} seeds"
        for row in ended
        if row.reached
    }
    parts = frame[["generate", "infer", "backward"]].map(duration).agg(", ".join, axis=1)
    table = pd.DataFrame(
        {
            "Learner": frame["learner"].map("`{}`".format),
            "Steps a second": frame["steps_per_second"].map("{:,.0f}".format),
            "Times the reference": frame["gain"].map(ratio),
            "Of the peak": frame["share"].map("{:.1%}".format),
            "Generating, inferring, learning": parts,
            "90 % of games won after": frame["learner"].map(until_90).fillna(""),
            "Won in the end": frame["learner"].map(won).fillna(""),
        }
    )
    return (
        "![Games won against random play over seconds, a line per seed and learner.]"
        f"(../{_WON})\n\n"
        f"On {in_words(facts)}, {facts['date'][:10]}, updates of "
        f"{updates['positions'].iloc[0]:,} steps, all learners in turns, medians; curves of "
        f"{curves['steps'].max():,} steps, of seeds the median time and the mean share with a 95 % "
        f"interval ([notebook 11](../notebooks/11_full_system.ipynb), "
        f"[data](../{(recorded / _LEARNERS).as_posix()})).\n\n"
        f"{tables.markdown(table)}\n"
    )
