"""An evaluation of a run: matches against earlier selves and others, and ratings."""

import contextlib
import dataclasses
from pathlib import Path

import numpy as np
import pandas as pd

from rungs._src.core.atomic import atomic_write
from rungs._src.core.progress import Say, silent
from rungs._src.programs import find_program
from rungs._src.selfplay import agent as files
from rungs._src.selfplay import elo
from rungs._src.selfplay.agent import CARD, MATCHES, POOL, WEIGHTS, Agent, frozen_in, frozen_path
from rungs._src.selfplay.elo import Pairs
from rungs._src.selfplay.learning import evaluator
from rungs._src.selfplay.matches import Match, Player, pairs_of, play, rule_in_words
from rungs._src.selfplay.players import EnginePlayer, NetworkPlayer, RandomPlayer, search_in_words
from rungs._src.selfplay.settings import SelfPlayTraining
from rungs._src.train.training import weakest
from rungs.errors import ConfigurationError, InvalidStateError, UnavailableError

RESULTS = "results.csv"
RATINGS = "ratings.csv"
STOCKFISH = "Stockfish, weakest"


def named(update: int) -> str:
    return f"update {update}"


@dataclasses.dataclass
class Evaluator:
    """The evaluations of a run: each freezes the network as an agent, which plays matches."""

    training: SelfPlayTraining
    out: Path
    # Matches and numbers of adjudicated games so far, by players.
    results: dict[tuple[str, str], Pairs] = dataclasses.field(default_factory=dict)
    adjudicated: dict[tuple[str, str], int] = dataclasses.field(default_factory=dict)

    def files(self, update: int) -> list[Path]:
        """Returns the paths of the files that the evaluation after `update` updates writes."""
        frozen, pgn = frozen_path(self.out / POOL, update), self.out / MATCHES / f"{update:06}.pgn"
        return [frozen / CARD, frozen / WEIGHTS, pgn, self.out / RATINGS, self.out / RESULTS]

    def evaluate(
        self, network, update: int, provenance: dict, say: Say = silent
    ) -> dict[str, float]:
        """Freezes a network, plays its matches, rates all, and saves it with its rating; returns a
        row of the results.
        """
        *_, pgn, rated, results = self.files(update)
        agent = files.freeze(network, named(update), provenance)
        seed = (self.training.seed + 1 + update) % 2**64
        played = []
        for rival in self._rivals(agent, update, seed):
            matches = self._match(agent, rival, seed, say)
            ((players, pairs),) = pairs_of(matches).items()
            self.results[players] = pairs
            self.adjudicated[players] = sum(match.adjudicated for match in matches)
            played += matches
        ratings = self.ratings()
        _write(pgn, "\n\n".join(match.pgn(f"evaluation after update {update}") for match in played))
        _write(rated, ratings.to_csv(index=False))
        _write(results, self._results().to_csv(index=False))
        row = self._row(agent.name, ratings.set_index("player"))
        search = search_in_words(self.training.match_policy, self.training.simulations)
        files.save(agent, frozen_path(self.out / POOL, update), [row | {"search": search}])
        adjudicated = sum(match.adjudicated for match in played)
        return row | {"games": len(played), "adjudicated": adjudicated}

    def rule(self) -> str:
        """Returns the rule of the agents' search, and of the begin and end of matches, in words."""
        search = search_in_words(self.training.match_policy, self.training.simulations)
        return f"{search}; {rule_in_words(self.training.match_plies)}"

    def state(self) -> dict:
        """Returns the rule, and rows: player, opponent, `Pairs.counts`, adjudicated games."""
        rows = [
            [*players, *pairs.counts, self.adjudicated[players]]
            for players, pairs in self.results.items()
        ]
        return {"rule": self.rule(), "rows": rows}

    def load_state(self, results: dict) -> None:
        """Continues from a `state`; raises InvalidStateError if it isn't of this run."""
        if results["rule"] != self.rule():
            raise InvalidStateError(
                f"results: matches were played by {results['rule']!r}, not by {self.rule()!r}"
            )
        games = self.training.games
        for row in results["rows"]:
            if list(map(type, row)) != [str] * 2 + [int] * 6:
                raise InvalidStateError(
                    f"results: {row} is not two players, counts of pairs, and adjudicated games"
                )
            if min(row[2:7]) < 0 or 2 * sum(row[2:7]) != games:
                raise InvalidStateError(f"results: {row} is not of {games} games")
            if not 0 <= row[7] <= games:
                raise InvalidStateError(f"results: {row} has {row[7]} adjudicated of {games} games")
        self.results = {(a, b): Pairs((*counts,)) for a, b, *counts, _ in results["rows"]}
        self.adjudicated = {(a, b): count for a, b, *_, count in results["rows"]}
        try:
            self.ratings()
        except ConfigurationError as error:
            raise InvalidStateError(f"results: {error}") from None

    def ratings(self) -> pd.DataFrame:
        """Returns all players' ratings above random play (`rungs._src.selfplay.elo.rate`)."""
        return elo.rate(self.results, anchor=RandomPlayer.name)

    def _rivals(self, agent: Agent, update: int, seed: int) -> list[Player]:
        """Returns the opponents of the newest agent, always in the same order."""
        rivals: list[Player] = [RandomPlayer(seed)]
        rivals.append(self._player(f"{agent.name}, no search", agent.network, 0))
        frozen = frozen_in(self.out / POOL)
        earlier = [number for number in frozen if number < update]
        # The last one, and others evenly spaced back to the first.
        places = np.linspace(len(earlier) - 1, 0, min(self.training.rivals, len(earlier)))
        for number in dict.fromkeys(earlier[round(place)] for place in places):
            rival = files.load(frozen[number])
            rivals.append(self._player(named(number), rival.network, self.training.simulations))
        if self.training.stockfish:
            rivals.append(EnginePlayer(weakest(stockfish()), STOCKFISH))
        return rivals

    def _match(self, agent: Agent, rival: Player, seed: int, say: Say) -> list[Match]:
        player = self._player(agent.name, agent.network, self.training.simulations)
        games, plies = self.training.games, self.training.match_plies
        with contextlib.closing(player), contextlib.closing(rival):
            return play(player, rival, games, seed=seed, max_plies=plies, say=say)

    def _player(self, name: str, network, simulations: int) -> NetworkPlayer:
        evaluate = evaluator(self.training.learner, network)
        policy = self.training.match_policy
        return NetworkPlayer(name, network, simulations, evaluate, policy=policy)

    def _row(self, name: str, ratings: pd.DataFrame) -> dict[str, float]:
        row = ratings.loc[name, ["elo", "low", "high"]].to_dict()
        row["random"] = self._score(name, RandomPlayer.name)
        if self.training.stockfish:
            row["stockfish"] = self._score(name, STOCKFISH)
        alone = ratings.loc[f"{name}, no search", "elo"]
        return row | {"search_gain": row["elo"] - alone}

    def _score(self, name: str, other: str) -> float:
        if (name, other) in self.results:
            pairs = self.results[name, other]
            return pairs.points / pairs.games
        pairs = self.results[other, name]
        return 1 - pairs.points / pairs.games

    def _results(self) -> pd.DataFrame:
        rows = [
            (*players, pairs.points, pairs.games - pairs.points, self.adjudicated[players])
            for players, pairs in self.results.items()
        ]
        columns = ["player", "opponent", "points", "opponent_points", "adjudicated"]
        return pd.DataFrame(rows, columns=columns)


def stockfish() -> str:
    """Returns the path of Stockfish; raises UnavailableError if it is not installed."""
    path = find_program("stockfish")
    if not path:
        raise UnavailableError("there is no Stockfish: apt-get install stockfish")
    return path


def _write(path: Path, text: str) -> None:
    with atomic_write(path) as unfinished:
        unfinished.write_text(text)
