"""Self-play with search: settings, training runs, players, agents and ratings. Imports PyTorch."""

from rungs._src.selfplay import elo
from rungs._src.selfplay.agent import untrained
from rungs._src.selfplay.players import NetworkPlayer
from rungs._src.selfplay.recorded import load_agent
from rungs._src.selfplay.settings import SelfPlayTraining
from rungs._src.selfplay.sprt import Sprt
from rungs._src.selfplay.training import checkpoint, train

__all__ = [
    "NetworkPlayer",
    "SelfPlayTraining",
    "Sprt",
    "checkpoint",
    "elo",
    "load_agent",
    "train",
    "untrained",
]
