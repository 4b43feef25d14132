"""Matches of agents in pairs of games: ratings on a scale that others use, and tests of changes."""

import contextlib
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import pandas as pd

from rungs.base import integer
from rungs.chess import find_program
from rungs.devel import (
    Folder,
    Say,
    atomic_write,
    choice,
    line,
    locked_output_dir,
    temporary_dir,
    watched,
)
from rungs.devel.envs import MAX_SIMULATIONS, Policy, engine_name
from rungs.devel.selfplay import (
    NOISELESS,
    POOL,
    RULES,
    Agent,
    Match,
    RandomPlayer,
    frozen_in,
    learning,
    matches,
    search_in_words,
    stronger_rule,
)
from rungs.devel.selfplay import agent as files
from rungs.devel.train import EVALUATIONS
from rungs.errors import ConfigurationError, UnavailableError
from rungs.machine import usable_cores
from rungs.selfplay import NetworkPlayer, Sprt, elo
from rungs.train import interval_of_share
from rungs_course import agents, paths, uci_games
from rungs_course.machine.naming import differing, in_words
from rungs_course.measure import results
from rungs_course.uci_games import Contestant, Control, PairsOfGames

# Ratings of Stockfish by its "Skill Level", of the month after 15.1, in games of 120 s + 1 s with
# versions of Stash that CCRL has rated; others found them, to within 26 to 33.
SKILL_LEVELS: Final = {0: 1320.1, 1: 1467.6, 2: 1608.4, 3: 1742.3, 4: 1922.9}
SCALE: Final = (
    "CCRL's blitz list, by the ratings that others published of Stockfish's skill levels at "
    "120 s + 1 s (https://github.com/official-stockfish/Stockfish/pull/4341)"
)
CONTROL: Final = Control(2, 0.02)
SIMULATIONS: Final = 32  # of agents that play side by side

# Matches of a recorded agent and its opponents by both rules and several numbers of simulations.
STRENGTH: Final = Path("data") / "ablations" / "strength.csv"
# Agents' ratings on the scale of `SKILL_LEVELS` and what their training took; others' as published.
CORE_HOURS: Final = Path("data") / "ablations" / "core_hours.csv"
# Evaluations of runs of self-play with the same settings but for the seed; see `record_curves`.
CURVES: Final = Path("data") / "ablations" / "curves.csv"
# Matches between agents that differ by one change to self-play's learning.
ABLATIONS: Final = Path("data") / "ablations" / "selfplay.csv"
# The same after equal processor time, not equally many positions.
BY_TIME: Final = Path("data") / "ablations" / "by_time.csv"
# Matches between the same network's searches that differ by one change to their rules.
SEARCHES: Final = Path("data") / "ablations" / "search.csv"

_NAMES = ("matches.csv", "ratings.csv", "games.pgn")
_EVENT = "A rating by Rungs"
_QUARTER = 900  # seconds
_BATCH = 100  # games side by side, after which a match may end


def rate(
    path: Path,
    out: Path,
    say: Say = line,
    *,
    against: Path | None = None,
    control: Control | None = None,
    simulations: int | None = None,
    policy: Policy | None = None,
    games: int = 100,
    sprt: Sprt | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Rates an agent by games with Stockfish at its skill levels, or with another agent.

    Games are played by UCI against the clock, as many at a time as there are cores. `control` is by
    default `CONTROL`, except between two agents, which then play side by side with equal
    `simulations` of a move. With a clock these are the most that it makes. `policy` is by default
    the stronger rule with so many, and PUCT where a clock alone limits it.

    `games` of each match are an even number; by `sprt` a match of two agents ends when it is
    decided. `out` receives `matches.csv`, `ratings.csv` and `games.pgn`, which are complete after
    every match, and replace those of a rating before. Returns the table of
    `rungs.selfplay.elo.rate`, in Elo on the scale of `SKILL_LEVELS`, or above the other agent.
    """
    half = matches.half_of(games)
    if against is None:
        control = control or CONTROL
        if sprt:
            raise ConfigurationError("sprt needs `against`: only a match of two agents ends early")
    elif control is None and simulations is None:
        simulations = SIMULATIONS
    rule, search = _search(policy, simulations, control)
    agent = agents.load(path)
    players = {f"{agent.name}, {search}": agent}
    if against is not None:
        other = agents.load(against)
        name = other.name if other.name != agent.name else str(against)
        players[f"{name}, {search}"] = other
    levels = _levels_of_stockfish() if against is None else []
    facts: dict[str, Any] = {"agent": agent.name, "trained at": agent.provenance.get("commit")}
    facts |= {f"trained {of}": agent.provenance.get(of) for of in ("seconds", "cores")}
    facts |= {"search": search, "games": games, "seed": seed, "sprt": sprt or "none"}
    facts["rule"] = matches.rule_in_words(matches.MAX_PLIES)
    with contextlib.ExitStack() as stack:
        played: dict[str, PairsOfGames] = {}
        if control is None:
            first, second = (
                stack.enter_context(contextlib.closing(_player(*player, rule, simulations or 0)))
                for player in players.items()
            )
            played[second.name] = _side_by_side(first, second, games, seed)
        else:
            cores, folder = usable_cores(), Path(stack.enter_context(temporary_dir()))
            options = {"Rule": rule, "Simulations": simulations or 0}
            ours = [_contestant(*player, options, folder) for player in players.items()]
            for opponent in [*ours[1:], *levels]:
                played[opponent.name] = uci_games.play(
                    ours[0], opponent, control, pairs=half, seed=seed, at_once=cores
                )
            facts |= {"control": control, "margin": uci_games.MARGIN, "games at once": cores}
        out_folder = stack.enter_context(locked_output_dir(out, "rating", _NAMES))
        record = _MatchRecord(out_folder, facts, say)
        name = next(iter(players))
        for opponent_name, pairs in played.items():
            task = f"{name} against {opponent_name}"
            with contextlib.closing(pairs):
                record.add(name, opponent_name, watched(pairs, task, half, say), sprt)
        ratings = SKILL_LEVELS.values() if levels else (0.0,)
        return record.ratings(name, dict(zip(played, ratings, strict=True)))


class _MatchRecord:
    """The matches played so far, and their files."""

    def __init__(self, folder: Folder, facts: dict, say: Say):
        self._folder, self._out, self._facts, self._say = folder, folder.path, facts, say
        self._results: dict[tuple[str, str], elo.Pairs] = {}
        self._rows: list[dict] = []
        self._games: list[str] = []

    def add(
        self, player: str, opponent: str, pairs: Iterable[tuple[Match, Match]], sprt: Sprt | None
    ) -> None:
        """Adds a match, which `sprt` may end; rewrites all files."""
        games: list[Match] = []
        points: list[float] = []
        for pair in pairs:
            games += pair
            points.append(sum(_points(game, player) for game in pair))
            result = elo.Pairs.of(points)
            if sprt and sprt.accepted(result) is not None:
                break
        self._results[player, opponent] = result
        scores = [_points(game, player) for game in games]
        lead = elo.rate({(player, opponent): result}, anchor=opponent).set_index("player")
        row: dict[str, Any] = {"player": player, "opponent": opponent}
        row |= {"wins": scores.count(1), "draws": scores.count(0.5), "losses": scores.count(0)}
        row |= {"games": len(games), "pairs": " ".join(map(str, result.counts))}
        row |= {"score": result.points / len(games)}
        row |= lead.loc[player, ["elo", "low", "high"]].to_dict()
        row |= {"adjudicated": sum(game.adjudicated for game in games)}
        out_of_time = [score for game, score in zip(games, scores, strict=True) if not game.reason]
        row |= {"lost on time": out_of_time.count(0), "won on time": out_of_time.count(1)}
        text = (
            f"{player}, against {opponent}: {row['score']:.3f} of a point in {len(games)} games, "
            f"Elo {row['elo']:+.0f} ({row['low']:+.0f} to {row['high']:+.0f}, 95 %); "
            f"{row['adjudicated']} adjudicated, {len(out_of_time)} decided by the clock"
        )
        if sprt:
            row |= {"log ratio": sprt.log_ratio(result), "accepted": sprt.accepted(result)}
            decision = "not decided" if row["accepted"] is None else f"Elo {row['accepted']:+g}"
            text += f"; {sprt.elo0:+g} or {sprt.elo1:+g}: {decision}"
        if not self._rows:
            self._folder.clear()
            self._folder.note(self._out / name for name in _NAMES)
        self._rows.append(row)
        self._games += [game.pgn(_EVENT) for game in games]
        self._say(text)
        results.save(pd.DataFrame(self._rows), self._out / "matches.csv", self._facts)
        with atomic_write(self._out / "games.pgn") as unfinished:
            unfinished.write_text("\n\n".join(self._games) + "\n")

    def ratings(self, player: str, anchors: dict[str, float]) -> pd.DataFrame:
        """Rates a player from all matches with opponents whose ratings are given; writes the
        table.
        """
        table = elo.rate(self._results, anchor=anchors)
        scale = SCALE if len(anchors) > 1 else f"above {next(iter(anchors))}"
        control = self._facts.get("control", "none")
        facts = self._facts | {"control": control, "scale": scale}
        results.save(table, self._out / "ratings.csv", facts)
        rated = table.set_index("player").loc[player]
        self._say(
            f"{player}: Elo {rated['elo']:.0f} ({rated['low']:.0f} to {rated['high']:.0f}, 95 %), "
            f"{rated['games']:.0f} games; time control: {control}; scale: {scale}; "
            f"opponents: {', '.join(anchors)}"
        )
        return table


def _points(game: Match, player: str) -> float:
    return game.points if game.white == player else 1 - game.points


def of_matches(matches: pd.DataFrame, anchor: str = RandomPlayer.name) -> pd.DataFrame:
    """Returns Elo above a player, from all of a table's matches together."""
    points = {
        (row.player, row.opponent): (row.score * row.games, (1 - row.score) * row.games)
        for row in matches.itertuples()
    }
    return elo.rate(points, anchor=anchor)  # type: ignore[arg-type]  # numbers


def of_ablations(matches: pd.DataFrame) -> pd.DataFrame:
    """Returns each change's gain in Elo over the agent without it, from all seeds of `ABLATIONS`.

    A row has a `change` and its opponent `against`, `elo` with its 95 % interval, `low` and `high`,
    and whether the change was `kept`.
    """
    rows = []
    for (change, against), played in matches.groupby(["change", "against"], sort=False):
        won, lost = (float((played[n] + played["draws"] / 2).sum()) for n in ("wins", "losses"))
        ratings = elo.rate({(change, against): (won, lost)}, anchor=against).set_index("player")
        gain = ratings.loc[change, ["elo", "low", "high"]].to_dict()
        names = {"change": change, "against": against}
        rows.append(names | gain | {"kept": played["kept"].iloc[0]})
    return pd.DataFrame(rows)


def by_quarter(evaluations: pd.DataFrame, games: int) -> pd.DataFrame:
    """Returns a run's points against Stockfish, all matches of a quarter of an hour together.

    A row has `begin` and `end` in minutes, `games`, `score`, and `low` and `high`, its 95 %
    interval. `games` are those of one match.
    """
    later = evaluations[evaluations["seconds"] > 0]
    last = max(0, round(later["seconds"].max() / _QUARTER) - 1)  # which may end a little later
    number = (later["seconds"] // _QUARTER).clip(upper=last)
    rows = []
    for quarter, scores in later["stockfish"].groupby(number):
        played, score = games * len(scores), float(scores.mean())
        low, high = interval_of_share(score, played)
        rows.append((15 * quarter, 15 * quarter + 15, played, score, low, high))
    return pd.DataFrame(rows, columns=["begin", "end", "games", "score", "low", "high"])


def record_curves(runs: Sequence[Path], root: Path = paths.ROOT) -> Path:
    """Records the evaluations of runs of self-play, next to those of other seeds.

    The runs may differ by the seed, and the machine, alone. The table has `seed`, `machine` and the
    columns of `evaluations.csv`; a seed that was recorded before is replaced. Its provenance is
    that of the first run's last agent. After an error nothing has changed.
    """
    path = root / CURVES
    settings: dict[str, str] = {}
    facts: dict[str, str] = {}
    curves: dict[int, pd.DataFrame] = {}
    for run in runs:
        last = [*frozen_in(run / POOL).values()][-1:]
        if not last or not (run / EVALUATIONS).is_file():
            raise ConfigurationError(f"{run} holds no evaluations of self-play")
        provenance = agents.load(last[0]).provenance
        run_settings = {
            name: provenance[name] for name in provenance if name.startswith("setting ")
        }
        seed = int(run_settings.pop("setting seed"))
        if seed in curves:
            raise ConfigurationError(f"{run} has seed {seed}, as another run has")
        settings, facts = settings or run_settings, facts or provenance
        if difference := differing(run_settings, settings, (*sorted({*run_settings, *settings}),)):
            raise ConfigurationError(
                f"{run} and {runs[0]} differ by more than their seed: {difference}"
            )
        curves[seed] = pd.read_csv(run / EVALUATIONS).assign(machine=in_words(provenance))
    facts = {name.removeprefix("setting "): value for name, value in facts.items()}
    if path.exists():
        recorded_table = results.load(path)
        names = [name.removeprefix("setting ") for name in settings]
        if difference := differing(facts, recorded_table.attrs["provenance"], (*sorted(names),)):
            raise ConfigurationError(
                f"{runs[0]} and the runs in {path} differ by more than their seed: {difference}; "
                "remove that file to begin anew"
            )
        recorded_runs = recorded_table.groupby("seed")
        curves = {int(seed): rows.drop(columns="seed") for seed, rows in recorded_runs} | curves
    table = pd.concat(dict(sorted(curves.items())), names=["seed"]).reset_index("seed")
    table.insert(1, "machine", table.pop("machine"))
    results.write(table, path, facts | {"seed": ", ".join(map(str, sorted(curves)))})
    return path


def recorded(agent: Agent, root: Path = paths.ROOT) -> list[dict]:
    """Returns a recorded agent's ratings in `STRENGTH`, the best first; [] if it has none.

    Each has `search`, the rule and the simulations in words, `elo` above random play, and `low` and
    `high`, its interval.
    """
    played, name = results.load(root / STRENGTH), agent.name
    if played.attrs["provenance"]["trained at"] != agent.provenance.get("commit"):
        return []
    table = of_matches(played)
    known = table[table["player"].str.removeprefix("recorded ").str.startswith(f"{name}, ")]
    return [
        {
            "search": row["player"].rpartition(f"{name}, ")[2],
            **{key: round(row[key]) for key in ("elo", "low", "high")},
        }
        for row in known.to_dict("records")
    ]


def _search(
    policy: Policy | None, simulations: int | None, control: Control | None
) -> tuple[Policy, str]:
    """Returns the rule of a search, and the search in words."""
    if policy is not None:
        choice("policy", policy, (*NOISELESS,))
    if simulations is None:
        if policy == "gumbel":
            raise ConfigurationError(
                "policy=gumbel needs a number of simulations, not a clock alone"
            )
        return "puct", RULES["puct"]
    integer("simulations", simulations, 1 if control else 0, MAX_SIMULATIONS)
    rule = policy or stronger_rule(simulations)
    return rule, search_in_words(rule, simulations) + (" at most" if control else "")


def _player(name: str, agent: Agent, policy: Policy, simulations: int) -> NetworkPlayer:
    evaluate = learning.cpp_or_torch_evaluator(agent.network)
    return NetworkPlayer(name, agent.network, simulations, evaluate, policy=policy)


def _side_by_side(
    first: NetworkPlayer, second: NetworkPlayer, games: int, seed: int
) -> PairsOfGames:
    """Plays a match in batches of games that are searched together; yields its pairs."""
    for begin in range(0, games, _BATCH):
        count = min(_BATCH, games - begin)
        played = matches.play(first, second, count, seed=seed + begin)
        yield from zip(played[: count // 2], played[count // 2 :], strict=True)


def _contestant(name: str, agent: Agent, options: dict, folder: Path) -> Contestant:
    """Returns an agent as an engine, which reads it from a folder of its own."""
    path = folder / str(len([*folder.iterdir()]))
    files.save(agent, path)
    return Contestant(name, (sys.executable, "-P", "-m", "rungs", "uci", str(path)), options)


def _levels_of_stockfish() -> list[Contestant]:
    """Returns Stockfish at each of `SKILL_LEVELS`, with its version as the name."""
    program = find_program("stockfish")
    if not program:
        raise UnavailableError("there is no Stockfish: apt-get install stockfish")
    version = engine_name(program)
    options = {"Move Overhead": 20}  # milliseconds, as agents have; its own 10 lose on time sooner
    return [
        Contestant(f"{version}, Skill Level {level}", (program,), options | {"Skill Level": level})
        for level in SKILL_LEVELS
    ]
