"""A tournament: the fastest step, and agents that play each other, with a page to watch."""

import csv
import html
import itertools
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from rungs.devel import Say, atomic_write, line, locked_output_dir, now
from rungs.devel.envs import Policy
from rungs.devel.selfplay import (
    Match,
    Player,
    RandomPlayer,
    agent,
    learning,
    matches,
    search_in_words,
)
from rungs.errors import ConfigurationError, RungsError
from rungs.machine import describe
from rungs.selfplay import NetworkPlayer, elo
from rungs_course.labs.grading import cell
from rungs_course.labs.judging import assess, one_line, plain
from rungs_course.labs.sandbox import choose_launcher
from rungs_course.machine.naming import in_words

MAX_SECONDS, MAX_CORES = 600, 2  # of an agent's training
POLICY: Policy = "gumbel"  # of all searches
SIMULATIONS = 32  # a move
MAX_PLIES = 200  # of a game
_MAX_CODE = 1 << 20  # bytes
_LAB = "open"
_EVENT = "A tournament of Rungs"
_NAMES = ("steps.csv", "agents.csv", "games.pgn", "index.html")
_COLUMNS = ("entry", "state", "gain", "gain_low", "gain_high", "share", "why")


class Step(NamedTuple):
    """The result of an entry to the race of steps; for the fields see `labs.grading.Row`."""

    entry: str
    state: str
    gain: float | None = None
    gain_low: float | None = None
    gain_high: float | None = None
    share: float | None = None
    why: str = ""


def hold(
    folder: Path, out: Path, say: Say = line, *, games: int = 20, seed: int = 0, trust: bool = False
) -> Path:
    """Holds a tournament by the rules of `docs/tournament.md`; returns its page, `out/index.html`.

    Entries are `steps/*.hpp`, answers to the open lab, and `agents/*.pt`. Each pair of agents plays
    `games`, an even number; `seed` is that of openings and random play. `out` receives `steps.csv`,
    `agents.csv`, `games.pgn` and the page, which replace those of a tournament before.
    """
    codes = sorted((folder / "steps").glob("*.hpp"))
    weights = sorted((folder / "agents").glob("*.pt"))
    if not codes and not weights:
        raise ConfigurationError(f"{folder} has neither steps/*.hpp nor agents/*.pt")
    matches.half_of(games)
    with locked_output_dir(out, "tournament", _NAMES) as out_folder:
        steps = race(codes, say, trust=trust) if codes else []
        players, refused = _load_players(weights)
        played: list[Match] = []
        try:
            if players:
                played = _round_robin([*players, RandomPlayer(seed)], games, seed, say)
        finally:
            for player in players:
                player.close()
        ratings = elo.rate(matches.pairs_of(played), anchor="random") if played else None
        rows = [] if ratings is None else ratings.itertuples(index=False)
        rows = [(*row, "") for row in rows] + [(name, *[""] * 5, why) for name, why in refused]
        columns = ("player", "elo", "low", "high", "games", "score", "why")
        out_folder.note(out / name for name in _NAMES)
        _write_csv(out / "steps.csv", _COLUMNS, steps)
        _write_csv(out / "agents.csv", columns, rows)
        with atomic_write(out / "games.pgn") as file:
            file.write_text("\n\n".join(game.pgn(_EVENT) for game in played) + "\n")
        with atomic_write(out / "index.html") as file:
            file.write_text(_page(steps, ratings, refused, played), encoding="utf-8")
    return out / "index.html"


def race(codes: Iterable[Path], say: Say, *, trust: bool) -> list[Step]:
    """Judges steps as `python -m rungs_course grade` does; the one that gains most comes first."""
    launcher = choose_launcher(trust)
    steps = []
    for file in codes:
        steps.append(_judge_step(file, launcher))
        say(f"step {steps[-1].entry}: {steps[-1].state}")
    return sorted(steps, key=lambda step: -(step.gain or 0))


def _judge_step(file: Path, launcher) -> Step:
    name = one_line(file.stem)
    try:
        if not file.is_file() or file.stat().st_size > _MAX_CODE:
            return Step(name, "refused", why=f"it is not a file of at most {_MAX_CODE >> 20} MB")
        code = file.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        return Step(name, "refused", why=plain(str(error)))
    verdict = assess(_LAB, code, launcher)
    if not verdict.right:
        return Step(name, "wrong", why=str(verdict))
    gain = verdict.gain
    return Step(name, "right", gain.middle, gain.low, gain.high, verdict.share.middle)


def _load_players(files: Iterable[Path]) -> tuple[list[NetworkPlayer], list[tuple[str, str]]]:
    """Returns the players, and the names of the refused agents, each with the reason."""
    players, refused = [], []
    for file in files:
        name = one_line(file.stem)
        try:
            entry = agent.load(file)
            if why := _breach(name, entry.provenance):
                raise ConfigurationError(why)
            network = entry.network
            evaluate = learning.cpp_or_torch_evaluator(network)
            players.append(NetworkPlayer(name, network, SIMULATIONS, evaluate, policy=POLICY))
        except (RungsError, OSError) as error:
            refused.append((name, plain(str(error))))
    return players, refused


def _breach(name: str, facts: dict[str, str]) -> str:
    """Returns which rule an agent breaks, by the facts in its file; "" where it breaks none."""
    if name == "random":
        return "random play has that name"
    for fact, limit in (("seconds", MAX_SECONDS), ("cores", MAX_CORES)):
        try:
            fits = 0 <= float(facts[fact]) <= limit
        except (KeyError, ValueError):
            return f"it does not say its {fact}"
        if not fits:
            return f"it was trained with {fact}={facts[fact]}, more than {limit}"
    return ""


def _round_robin(players: Sequence[Player], games: int, seed: int, say: Say) -> list[Match]:
    played = []
    for first, second in itertools.combinations(players, 2):
        played += matches.play(first, second, games, seed=seed, max_plies=MAX_PLIES, say=say)
    return played


def _write_csv(path: Path, columns: Sequence[str], rows: Iterable[Sequence]) -> None:
    with atomic_write(path) as unfinished, open(unfinished, "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(columns)
        table.writerows(map(cell, row) for row in rows)


_HEAD = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>A tournament of Rungs</title>
<style>
body { font: 15px/1.4 sans-serif; margin: 2em; }
table { border-collapse: collapse; margin: 1em 0; }
th, td { border: 1px solid #999; padding: 0.2em 0.6em; text-align: left; }
#board td { width: 1.4em; height: 1.4em; font-size: 2em; text-align: center; padding: 0; }
#board tr:nth-child(odd) td:nth-child(even), #board tr:nth-child(even) td:nth-child(odd)
{ background: #b9c4cc; }
</style>
"""
_WATCH = """
<h2>Watch</h2>
<p><label>game <select id="game"></select></label>
<label>ply <input id="ply" type="range" min="0" value="0"></label>
<button id="run">play</button> <span id="said" role="status"></span></p>
<table id="board" aria-label="the position"></table>
<script>
const games = JSON.parse(document.getElementById("games").textContent);
const get = (id) => document.getElementById(id), pick = get("game"), ply = get("ply");
const men = {k: "♚", q: "♛", r: "♜", b: "♝", n: "♞", p: "♟",
             K: "♔", Q: "♕", R: "♖", B: "♗", N: "♘", P: "♙"};
games.forEach((game, i) => pick.add(new Option(game.title, i)));
function show() {
  const game = games[pick.value];
  ply.max = game.fens.length - 1;
  get("board").replaceChildren(...game.fens[ply.value].split("/").map((rank) => {
    const row = document.createElement("tr");
    for (const sign of rank.replace(/\\d/g, (n) => " ".repeat(n)))
      row.insertCell().textContent = men[sign] || "";
    return row;
  }));
  get("said").textContent = `${ply.value} of ${ply.max}` +
    (ply.value === ply.max ? `: ${game.end}` : "");
}
pick.oninput = () => { ply.value = 0; show(); };
ply.oninput = show;
let timer = 0;
get("run").onclick = () => {
  clearInterval(timer);
  timer = setInterval(() => {
    if (ply.value === ply.max) return clearInterval(timer);
    ply.value = +ply.value + 1;
    show();
  }, 400);
};
show();
</script>
"""


def _page(
    steps: Sequence[Step],
    ratings: pd.DataFrame | None,
    refused: Sequence[tuple[str, str]],
    played: Sequence[Match],
) -> str:
    """Returns a page of HTML, which needs no other file."""
    parts = [_HEAD, "<h1>A tournament of Rungs</h1>"]
    parts.append(f"<p>{html.escape(f'{now()}, on {in_words(describe())}.')}</p>")
    if steps:
        titles = ("entry", "state", "gain over the baseline", "share of the bound")
        parts += ["<h2>The fastest step</h2>", _table(titles, map(_step_cells, steps))]
    if ratings is not None:
        rows = [
            (row.player, f"{row.elo:.0f}", f"{row.low:.0f} to {row.high:.0f}", row.games, row.score)
            for row in ratings.itertuples()
        ]
        columns = ("player", "Elo above random play", "95 % interval", "games", "points a game")
        search = search_in_words(POLICY, SIMULATIONS)
        parts += ["<h2>The best agent</h2>", f"<p>By {search} a move.</p>", _table(columns, rows)]
        parts += ["<h3>Points of the row against the column</h3>", _crosstable(ratings, played)]
    if refused:
        parts += ["<h3>Refused</h3>", _table(("agent", "why"), refused)]
    if played:
        games_json = json.dumps([_replay(game) for game in played]).replace("<", "\\u003c")
        parts += [f'<script type="application/json" id="games">{games_json}</script>', _WATCH]
    return "\n".join([*parts, "</html>\n"])


def _step_cells(step: Step) -> tuple[str, str, str, str]:
    if step.gain is None:
        return step.entry, step.state, step.why[:300], ""
    gain = f"{step.gain:.3g}× ({step.gain_low:.3g} to {step.gain_high:.3g})"
    return step.entry, step.state, gain, f"{step.share:.0%}"


def _crosstable(ratings: pd.DataFrame, played: Sequence[Match]) -> str:
    points: dict[tuple[str, str], float] = {}
    for (first, second), pairs in matches.pairs_of(played).items():
        points |= {(first, second): pairs.points, (second, first): pairs.games - pairs.points}
    names = ratings["player"].tolist()
    rows = [(a, *(f"{points[a, b]:g}" if a != b else "" for b in names)) for a in names]
    return _table(("", *names), rows)


def _replay(game: Match) -> dict:
    """Returns a game's title, its end and its positions' pieces."""
    board = game.board.root()
    fens = [board.board_fen()]
    for move in game.board.move_stack:
        board.push(move)
        fens.append(board.board_fen())
    end = f"{game.points:g} points for White, {game.termination}"
    return {"title": f"{game.white} against {game.black}", "end": end, "fens": fens}


def _table(titles: Sequence[str], rows: Iterable[Sequence]) -> str:
    table = pd.DataFrame(rows, columns=titles)
    with pd.option_context("display.max_colwidth", None):
        return table.to_html(index=False, border=0, float_format="{:.2f}".format)
