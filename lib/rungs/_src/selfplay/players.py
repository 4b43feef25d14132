"""Players of matches: random play, an engine, and a network with or without search."""

import copy
import dataclasses
from typing import Any, Final, Self

import numpy as np

from rungs._src.chess.actions import action_on
from rungs._src.chess.engine import EngineProcess, UciEngine
from rungs._src.chess.policy import random_actions
from rungs._src.core.arguments import choice
from rungs._src.core.exclusive import Uncopyable
from rungs._src.search.result import Result
from rungs._src.search.search import Evaluator, Search
from rungs._src.search.settings import Gumbel, Policy, Puct
from rungs._src.selfplay.matches import Table
from rungs._src.train.evaluate import NetworkEvaluator

# The search of agents that play to win: without noise.
NOISELESS: Final[dict[Policy, Gumbel | Puct]] = {
    "gumbel": Gumbel(scale=0.0),
    "puct": Puct(fraction=0.0, temperature=0.0),
}

RULES: Final[dict[Policy, str]] = {"gumbel": "Gumbel", "puct": "PUCT"}  # in words

# Agents search by PUCT from this number of simulations on: docs/selfplay.md has the matches.
_PUCT_FROM: Final = 1024


def stronger_rule(simulations: int) -> Policy:
    """Returns the rule by which agents are stronger with this number of simulations a move."""
    return "puct" if simulations >= _PUCT_FROM else "gumbel"


def search_in_words(policy: Policy, simulations: int) -> str:
    """Returns an agent's search in words, for names and tables of ratings."""
    if not simulations:
        return "no search"
    return f"{RULES[policy]}, {simulations} simulation{'s' * (simulations > 1)}"


class RandomPlayer:
    """A player that chooses any legal move, all equally likely."""

    name = "random"

    def __init__(self, seed: int):
        self._rng = np.random.default_rng(seed)

    def choose(self, table: Table) -> np.ndarray:
        return random_actions(table.info["action_mask"], self._rng)

    def close(self) -> None:
        """Does nothing."""

    def __copy__(self) -> Self:
        return copy.deepcopy(self)  # with a generator of its own


class EnginePlayer(Uncopyable):
    def __init__(self, engine: UciEngine, name: str):
        self.name = name
        self._process = EngineProcess(engine)

    def choose(self, table: Table) -> np.ndarray:
        actions = np.zeros(len(table.boards), np.int64)
        for game in np.flatnonzero(table.which):
            board = table.boards[game]
            actions[game] = action_on(self._process.reply(board, int(game)), board)
        return actions

    def close(self) -> None:
        self._process.close()


class NetworkPlayer:
    """A network, which always chooses what seems best.

    Args:
        name: what it is called.
        network: as `rungs.train.PolicyValueNetwork`.
        simulations: of each search, without noise; 0 for the policy's likeliest move.
        evaluate: the network as an evaluator; by default computed by PyTorch.
        policy: the search's rule, "gumbel" or "puct"; by default `stronger_rule`.

    Raises:
        ConfigurationError: there is no such rule.
    """

    def __init__(
        self,
        name: str,
        network,
        simulations: int,
        evaluate: Evaluator | None = None,
        *,
        policy: Policy | None = None,
    ):
        self.name, self.simulations = name, simulations
        rule = stronger_rule(simulations) if policy is None else policy
        self.policy: Policy = choice("policy", rule, tuple(NOISELESS))
        self._evaluate = evaluate or NetworkEvaluator(network)
        self._search: Search | None = None

    def choose(self, table: Table) -> np.ndarray:
        """See `rungs._src.selfplay.matches.Player`."""
        return self.look(table).chosen

    def close(self) -> None:
        """Ends the search's threads."""
        if self._search:
            self._search.close()
        self._search = None

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_search": None}  # a copy makes its own

    def look(self, table: Table) -> Result:
        """Returns the result of the search; without simulations only priors and values."""
        if not self.simulations:
            return self._look_once(table)
        if self._search is None or self._search.num_games != table.env.num_envs:
            self.close()
            self._search = Search(
                table.env.num_envs,
                simulations=self.simulations,
                policy=NOISELESS[self.policy],
                keep=False,
            )
        self._search.begin(table.env)
        return self._search.run(self._evaluate, which=table.which)

    def _look_once(self, table: Table) -> Result:
        actions, counts = table.info["action_mask"], table.info["action_count"]
        logits, values = self._evaluate(table.observation, actions, counts)
        listed = np.arange(actions.shape[1]) < counts[:, None]
        scores = np.full(actions.shape, -np.inf, np.float32)
        scores[:, : logits.shape[1]] = logits
        scores = np.where(listed, scores, -np.inf)
        priors = np.exp(scores - scores.max(axis=1, keepdims=True))
        priors /= priors.sum(axis=1, keepdims=True)
        chosen = np.take_along_axis(actions, priors.argmax(axis=1)[:, None], axis=1)[:, 0]
        return dataclasses.replace(
            Result.empty(len(actions)),
            actions=actions.copy(),
            counts=counts.copy(),
            policy=priors,
            priors=priors,
            value=values,
            raw_value=values,
            chosen=chosen.astype(np.int64),
        )
