"""Agents, players and matches, for tools: see `rungs.devel`. Imports PyTorch."""

from rungs._src.selfplay import agent, learning, matches, training
from rungs._src.selfplay.agent import MATCHES, POOL, Agent, frozen_in
from rungs._src.selfplay.matches import MASK, Match, Player, Table
from rungs._src.selfplay.players import (
    NOISELESS,
    RULES,
    EnginePlayer,
    RandomPlayer,
    search_in_words,
    stronger_rule,
)
from rungs._src.selfplay.training import METRICS
