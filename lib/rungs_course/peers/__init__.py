"""Other projects' environments, to be measured beside our rungs and compared with their rules."""

import importlib
import importlib.metadata

import rungs
from rungs.chess.vector_env import ChessVectorEnv
from rungs.core.arguments import shown
from rungs.errors import ConfigurationError
from rungs.version import __version__
from rungs_course.peers import chessenv

# Behind our interface, to be learned from.
_ENVS = {"OpenSpiel": ("rungs_course.peers.open_spiel", "OpenSpielBoards")}

# Who plays chess: as their own users step them, and ours stepped in the same way.
CHESS = {
    "rungs": ("rungs_course.peers.ours", "OurChess"),
    "OpenSpiel": ("rungs_course.peers.open_spiel_states", "OpenSpielStates"),
    "PettingZoo": ("rungs_course.peers.pettingzoo", "PettingZooChess"),
    "Pgx": ("rungs_course.peers.pgx", "PgxChess"),
    "EnvPool": ("rungs_course.peers.envpool", "EnvPoolChess"),
    "NChess": ("rungs_course.peers.nchess", "NChessBoards"),
    "chess-env-rl": ("rungs_course.peers.chess_env_rl", "ChessEnvRlGames"),
    "chessenv": ("rungs_course.peers.chessenv", "ChessEnvGames"),
}

# What their packages are called.
DISTRIBUTIONS = {
    "OpenSpiel": "open-spiel",
    "PettingZoo": "pettingzoo",
    "Pgx": "pgx",
    "EnvPool": "envpool",
    "NChess": "nchess",
    "chess-env-rl": "chess-env-rl",
    "Gymnasium": "gymnasium",
    "Stable-Baselines3": "stable-baselines3",
}


def make(name: str, num_envs: int, **settings) -> ChessVectorEnv:
    """Makes a rung's chess environment, or a peer's, with the settings as far as it has them.

    Raises:
        ConfigurationError: a setting that it doesn't have, or neither a rung nor a peer.
        UnavailableError: the peer is not installed.
    """
    if not isinstance(name, str) or name not in _ENVS:
        return rungs.make("chess", name, num_envs, **settings)
    module, boards = _ENVS[name]
    return ChessVectorEnv(num_envs, getattr(importlib.import_module(module), boards), **settings)


def versions() -> dict[str, str | None]:
    """Returns which version of each project is installed that can be measured, None for none."""
    found: dict[str, str | None] = {"rungs": __version__}
    for name, distribution in DISTRIBUTIONS.items():
        try:
            found[name] = importlib.metadata.version(distribution)
        except importlib.metadata.PackageNotFoundError:
            found[name] = None
    return found | {"chessenv": chessenv.version()}


def peer_class(name: str) -> type:
    """Returns the class of `rungs_course.peers.peer.ChessPeer` that plays a peer's chess.

    Raises:
        ConfigurationError: there is no such peer.
    """
    if not isinstance(name, str) or name not in CHESS:
        raise ConfigurationError(f"no peer {shown(name)}; there are: {', '.join(CHESS)}")
    module, peer = CHESS[name]
    return getattr(importlib.import_module(module), peer)
