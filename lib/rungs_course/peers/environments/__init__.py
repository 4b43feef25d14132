"""Other projects' chess in the conformance suite, as each project's own users begin and step it."""

import importlib.metadata

from rungs.conformance import environments
from rungs_course.peers.chessenv import version as version_of_chessenv

# Name -> class for `rungs.conformance.environments.make`, and distribution.
PEERS = {
    "OpenSpiel": ("open_spiel:OpenSpiel", "open-spiel"),
    "PettingZoo": ("pettingzoo:PettingZoo", "pettingzoo"),
    "Pgx": ("pgx:Pgx", "pgx"),
    "EnvPool": ("envpool:EnvPool", "envpool"),
    "NChess": ("nchess:NChess", "nchess"),
    "chess-env-rl": ("chess_env_rl:ChessEnvRl", "chess-env-rl"),
    "chessenv": ("chessenv:ChessEnv", "fastchessenv"),
}


def named(names: list[str]) -> dict[str, tuple[str, bool]]:
    """Returns the environments that names stand for, as `rungs.conformance.environments.named`.

    Args:
        names: as there, or one of `PEERS`; "peers" is all of these and python-chess, as far as they
            are here.
    """
    chosen: dict[str, tuple[str, bool]] = {}
    for name in names:
        several = name == "peers"
        for one in (environments.PYTHON_CHESS, *PEERS) if several else [name]:
            if one in PEERS:
                found = {one: (f"{__name__}.{PEERS[one][0]}", several)}
            else:
                found = environments.named([one])
            for label, (made, may_lack) in found.items():
                chosen[label] = made, may_lack and chosen.get(label, (made, True))[1]
    return chosen


def version(name: str) -> str:
    """Returns the version that is installed of an environment's project; "" of yours."""
    if name == "chessenv":
        return version_of_chessenv() or ""
    if name not in PEERS:
        return environments.version(name)
    try:
        return importlib.metadata.version(PEERS[name][1])
    except importlib.metadata.PackageNotFoundError:
        return ""
