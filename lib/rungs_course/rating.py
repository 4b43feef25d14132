"""An agent's rating on an outside scale: matches with opponents that stay the same."""

import contextlib
import itertools
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pandas as pd

from rungs.base import integer
from rungs.chess import UciEngine, find_program
from rungs.devel import Folder, Say, atomic_write, choice, line, locked_output_dir
from rungs.devel.envs import MAX_SIMULATIONS, Policy, engine_name
from rungs.devel.selfplay import (
    NOISELESS,
    POOL,
    Agent,
    EnginePlayer,
    Match,
    Player,
    RandomPlayer,
    frozen_in,
    learning,
    matches,
    search_in_words,
    stronger_rule,
)
from rungs.devel.train import ENGINE_TIMEOUT, EVALUATIONS
from rungs.errors import ConfigurationError
from rungs.selfplay import NetworkPlayer, elo
from rungs.train import Evaluation, interval_of_share
from rungs_course import agents, paths
from rungs_course.machine.naming import differing, in_words
from rungs_course.measure import results

# Stockfish's settings, the weakest first: none depends on the machine's speed. `UCI_Elo` is for
# other conditions, and not the rating here.
ENGINES: Final[dict[str, dict[str, Any]]] = {
    "Stockfish, Skill Level 0, depth 1": {"skill": 0, "depth": 1},
    "Stockfish, UCI_Elo 1350, 2,000 nodes": {"elo": 1350, "nodes": 2000},
    "Stockfish, Skill Level 3, depth 4": {"skill": 3, "depth": 4},
}
# The search of recorded agents as opponents, whatever the rated one's is.
POLICY: Final[Policy] = "gumbel"
SIMULATIONS: Final = 32

# Matches of a recorded agent and its opponents by both rules and several numbers of simulations,
# as `python -m rungs_course rate` plays them.
STRENGTH: Final = Path("data") / "ablations" / "strength.csv"
# Evaluations of runs of self-play with the same settings but for the seed; see `record_curves`.
CURVES: Final = Path("data") / "ablations" / "curves.csv"
# Matches between agents that differ by one change to self-play's learning.
ABLATIONS: Final = Path("data") / "ablations" / "selfplay.csv"
# Matches between the same network's searches that differ by one change to their rules.
SEARCHES: Final = Path("data") / "ablations" / "search.csv"

_NAMES = ("matches.csv", "ratings.csv", "games.pgn")
_EVENT = "A rating by Rungs"
_QUARTER = 900  # seconds


def rate(
    path: Path,
    out: Path,
    say: Say = line,
    *,
    simulations: Sequence[int] = (SIMULATIONS,),
    policies: Sequence[Policy] | None = None,
    games: int = 200,
    seed: int = 0,
    root: Path = paths.ROOT,
) -> pd.DataFrame:
    """Rates an agent as it searches by each rule with each number of simulations.

    It plays random play, the recorded agents other than itself, and Stockfish where it is
    installed. Each of these also plays the next, so that all results together give one rating.
    Where there are two rules, they also play each other at equal simulations.

    `simulations` of 0 play by the network's policy alone; `policies` are by default the rule that
    is stronger with each number. `games` of each match are an even number. `out` receives
    `matches.csv`, `ratings.csv` and `games.pgn`, which are complete after every match, and replace
    those of a rating before. Returns the table of `rungs.selfplay.elo.rate`, in Elo above
    random play.
    """
    agent = agents.load(path)
    searches = _searches(policies, simulations)
    matches.half_of(games)
    facts: dict[str, Any] = {"agent": agent.name, "trained at": agent.provenance.get("commit")}
    facts |= {"games": games, "seed": seed, "rule": matches.rule_in_words(matches.MAX_PLIES)}
    with contextlib.ExitStack() as stack:
        available = _opponents(agent, seed, root)
        opponents = [stack.enter_context(contextlib.closing(player)) for player in available]
        if engine := find_program("stockfish"):
            facts["engine"] = engine_name(engine)
        else:
            say(
                "Stockfish is not installed (apt-get install stockfish): the scale is "
                f"{' and '.join(player.name for player in opponents)}"
            )
        out_folder = stack.enter_context(locked_output_dir(out, "rating", _NAMES))
        record = _MatchRecord(out_folder, facts, say)
        options: dict[str, Any] = {"games": games, "seed": seed}
        for first, second in itertools.pairwise(opponents):
            record.add(matches.play(second, first, **options), second)
        for _, group in itertools.groupby(searches, key=lambda search: search[1]):
            with contextlib.ExitStack() as group_stack:
                players = [
                    group_stack.enter_context(contextlib.closing(_player(agent, *search)))
                    for search in group
                ]
                for player, opponent in itertools.product(players, opponents):
                    record.add(matches.play(player, opponent, **options), player, rated=True)
                for first, second in itertools.combinations(players, 2):
                    record.add(matches.play(first, second, **options), first, rated=True)
        return record.ratings()


class _MatchRecord:
    """The matches played so far, and their files."""

    def __init__(self, folder: Folder, facts: dict, say: Say):
        self._folder, self._out, self._facts, self._say = folder, folder.path, facts, say
        self._points: dict[tuple[str, str], tuple[float, float]] = {}
        self._rows: list[dict] = []
        self._games: list[str] = []

    def add(self, played: list[Match], player: Player, *, rated: bool = False) -> None:
        """Adds a match of `player`, an opponent or the rated agent; rewrites all files."""
        ((names, points),) = matches.points_of(played).items()
        self._points[names] = points
        mine = Counter(
            game.points if game.white == player.name else 1 - game.points for game in played
        )
        outcome = Evaluation(*(mine[points] for points in (1, 0.5, 0)))
        (opponent,) = set(names) - {player.name}
        row: dict[str, Any] = {"player": player.name, "opponent": opponent}
        row |= {name: getattr(player, name) if rated else "" for name in _SEARCH_COLUMNS}
        row |= outcome.row() | {"adjudicated": sum(game.adjudicated for game in played)}
        if not self._rows:
            self._folder.clear()
            self._folder.note(self._out / name for name in _NAMES)
        self._rows.append(row)
        self._games += [game.pgn(_EVENT) for game in played]
        self._say(
            f"{player.name}, against {opponent}: {outcome.wins} wins, {outcome.draws} draws and "
            f"{outcome.losses} losses, {outcome.score:.3f} of a point a game ({row['low']:.3f} to "
            f"{row['high']:.3f}), {row['adjudicated']} adjudicated"
        )
        results.save(pd.DataFrame(self._rows), self._out / "matches.csv", self._facts)
        with atomic_write(self._out / "games.pgn") as unfinished:
            unfinished.write_text("\n\n".join(self._games) + "\n")

    def ratings(self) -> pd.DataFrame:
        """Rates all players, and writes the table."""
        table = elo.rate(self._points, anchor=RandomPlayer.name)
        results.save(table, self._out / "ratings.csv", self._facts)
        for row in table.itertuples():
            self._say(
                f"{row.player}: Elo {row.elo:.0f} ({row.low:.0f} to {row.high:.0f}) above random "
                f"play, {row.games} games"
            )
        return table


_SEARCH_COLUMNS = ("policy", "simulations")


def of_matches(matches: pd.DataFrame, anchor: str = RandomPlayer.name) -> pd.DataFrame:
    """Returns Elo above a player, from all of a table's matches together, as `rate` does."""
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


def recorded(name: str, root: Path = paths.ROOT) -> list[dict]:
    """Returns an agent's ratings in `STRENGTH`, the best first; [] if it has none.

    Each has `search`, the rule and the simulations in words, `elo` above random play, and `low` and
    `high`, its interval.
    """
    table = of_matches(results.load(root / STRENGTH))
    known = table[table["player"].str.removeprefix("recorded ").str.startswith(f"{name}, ")]
    return [
        {
            "search": row["player"].rpartition(f"{name}, ")[2],
            **{key: round(row[key]) for key in ("elo", "low", "high")},
        }
        for row in known.to_dict("records")
    ]


def _searches(
    policies: Sequence[Policy] | None, simulations: Sequence[int]
) -> list[tuple[Policy, int]]:
    """Returns all ways to search, by simulations; with 0 of them all rules are the same."""
    counts = sorted({integer("simulations", value, 0, MAX_SIMULATIONS) for value in simulations})
    if not counts or (policies is not None and not policies):
        raise ConfigurationError("a rating needs at least one policy and one number of simulations")
    if policies is None:
        return [(stronger_rule(count), count) for count in counts]
    chosen_rules = {choice("policy", value, (*NOISELESS,)) for value in policies}
    rules = [rule for rule in NOISELESS if rule in chosen_rules]  # tables name the first
    return [(rule, count) for count in counts for rule in (rules if count else rules[:1])]


def _player(agent: Agent, policy: Policy, simulations: int, name: str = "") -> NetworkPlayer:
    name = f"{name or agent.name}, {search_in_words(policy, simulations)}"
    evaluate = learning.cpp_or_torch_evaluator(agent.network)
    return NetworkPlayer(name, agent.network, simulations, evaluate, policy=policy)


def _opponents(agent: Agent, seed: int, root: Path) -> list[Player]:
    """Returns the available opponents, roughly the weakest first."""
    opponents: list[Player] = [RandomPlayer(seed)]
    for path in sorted(agents.recorded_in(root).glob("*.pt")):
        recorded = agents.load(path)
        if not _same(recorded, agent):
            opponents.append(_player(recorded, POLICY, SIMULATIONS, f"recorded {recorded.name}"))
    if program := find_program("stockfish"):
        for name, limits in ENGINES.items():
            engine = UciEngine(program, timeout=ENGINE_TIMEOUT, options={"Hash": 1}, **limits)
            opponents.append(EnginePlayer(engine, name))
    return opponents


def _same(one: Agent, other: Agent) -> bool:
    """Returns whether two agents have the same weights."""
    first, second = one.network.state_dict(), other.network.state_dict()
    return first.keys() == second.keys() and all(first[key].equal(second[key]) for key in first)
