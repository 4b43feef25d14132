"""Other projects' environments, to be raced against our rungs and compared with their rules.

`PROJECTS` is the one place where a project is registered: what doctor looks for, what notebooks
race and what the conformance suite tests follow from it.
"""

import dataclasses
import importlib
import importlib.metadata
import os
import sys
from pathlib import Path
from typing import Any

import rungs
from rungs.chess import ChessVectorEnv
from rungs.devel import commit_of, shown
from rungs.devel.envs import environments
from rungs.errors import ConfigurationError, UnavailableError, install_hint
from rungs.version import __version__


@dataclasses.dataclass(frozen=True)
class Project:
    """Another project: its package, its chess, and its installation."""

    distribution: str  # its package
    extra: str  # our extra that installs it, or what it needs; "" for none
    chess: str = ""  # MODULE:CLASS of its `ChessPeer`; "" where its chess is not here
    besides: str = ""  # what else to do after installing the extra
    folder: str = ""  # environment variable that names a clone of it
    tuned: str = ""  # what its chess is written in, since when, and what it was made fast for


PROJECTS = {
    "OpenSpiel": Project(
        "open-spiel",
        "peers",
        f"{__name__}.open_spiel:OpenSpielStates",
        tuned="C++ since 2019, for many games; a state at a time",
    ),
    "PettingZoo": Project(
        "pettingzoo",
        "peers",
        f"{__name__}.pettingzoo:PettingZooChess",
        tuned="python-chess behind an interface; not for speed",
    ),
    "Pgx": Project(
        "pgx", "peers", f"{__name__}.pgx:PgxChess", tuned="JAX since 2023, for accelerators"
    ),
    "EnvPool": Project(
        "envpool",
        "peers",
        f"{__name__}.envpool:EnvPoolChess",
        # With all of its dependencies it would take 0.6 GB more.
        besides=", and pip install --no-deps envpool",
        tuned="C++ since May 2026, after Pgx's code line by line; not yet",
    ),
    "NChess": Project(
        "nchess", "peers", f"{__name__}.nchess:NChessBoards", tuned="C, a board at a time"
    ),
    "chess-env-rl": Project(
        "chess-env-rl",
        "peers",
        f"{__name__}.chess_env_rl:ChessEnvRlGames",
        tuned="C++, a game at a time; lists of ints",
    ),
    "Gymnasium": Project("gymnasium", "peers"),
    "Stable-Baselines3": Project("stable-baselines3", "sb3"),
    "chessenv": Project(
        "fastchessenv",
        "",
        f"{__name__}.chessenv:ChessEnvGames",
        folder="RUNGS_CHESSENV",
        tuned="C of 2022 around MisterQueen's of 2014, with OpenMP",
    ),
    "pgx1": Project(
        "pgx1",
        "",
        f"{__name__}.pgx1:Pgx1Chess",
        folder="RUNGS_PGX1",
        tuned="JAX since August 2026, for TPUs",
    ),
    "PufferLib": Project(
        "pufferlib",
        "",
        f"{__name__}.pufferlib:PufferLibChess",
        folder="RUNGS_PUFFERLIB",
        tuned="C of 2026, for speed on processors: magic bitboards, OpenMP",
    ),
    "libchess": Project(
        "libchess",
        "",
        f"{__name__}.libchess:LibchessGames",
        folder="RUNGS_LIBCHESS",
        tuned="C++ of 2018 to 2025, rules for engines; the chess study's first C++",
    ),
}

# The classes by which a race and the conformance suite play each project's chess, and ours.
CHESS = {"rungs": f"{__name__}.ours:OurChess"} | {
    name: project.chess for name, project in PROJECTS.items() if project.chess
}


def make(name: Any, num_envs: int, **settings) -> ChessVectorEnv:
    """Makes a rung's chess environment, or OpenSpiel's behind our interface."""
    if not isinstance(name, str) or name != "OpenSpiel":
        return rungs.make("chess", name, num_envs, **settings)
    from rungs_course.peers.open_spiel_boards import OpenSpielBoards

    return ChessVectorEnv(num_envs, OpenSpielBoards, **settings)


def versions() -> dict[str, str | None]:
    """Returns the installed version of each project that can be measured, None for none."""
    return {"rungs": __version__} | {name: _installed(PROJECTS[name]) for name in PROJECTS}


def how_to_get(name: str) -> str:
    """Returns how to install one of `PROJECTS` that has an extra."""
    return install_hint(PROJECTS[name].extra) + PROJECTS[name].besides


def imported(name: str, *modules: str) -> Any:
    """Imports modules of one of `PROJECTS`, from its clone where it has one; returns the last."""
    variable = PROJECTS[name].folder
    folder = os.environ.get(variable)
    if folder and folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        return [importlib.import_module(module) for module in modules][-1]
    except (ImportError, OSError) as error:
        if variable:
            place = f"{variable}={folder}" if folder else f"{variable} names no folder"
            raise UnavailableError(f"{name}: {place}: {error}") from None
        raise UnavailableError(f"{name} is not installed: {how_to_get(name)}") from None


def peer_class(name: str) -> type:
    """Returns the class of `rungs_course.peers.peer.ChessPeer` that plays a peer's chess."""
    if not isinstance(name, str) or name not in CHESS:
        raise ConfigurationError(f"no peer {shown(name)}; there are: {', '.join(CHESS)}")
    module, _, peer = CHESS[name].partition(":")
    return getattr(importlib.import_module(module), peer)


def to_be_asked(names: list[str]) -> dict[str, tuple[str, bool]]:
    """Returns the environments that names stand for, as `conformance.environments.named`; also
    projects with chess, and "peers" for all of these and python-chess that are installed.
    """
    projects = {name: environment for name, environment in CHESS.items() if name in PROJECTS}
    chosen: dict[str, tuple[str, bool]] = {}
    for name in names:
        several = name == "peers"
        for one in (environments.PYTHON_CHESS, *projects) if several else [name]:
            project = {one: (projects[one], several)} if one in projects else None
            for label, (environment, may_lack) in (project or environments.named([one])).items():
                chosen[label] = environment, may_lack and chosen.get(label, (environment, True))[1]
    return chosen


def version(name: str) -> str:
    """Returns the installed version of an environment's project; "" for a user's class."""
    if name in PROJECTS:
        return _installed(PROJECTS[name]) or ""
    return environments.version(name)


def _installed(project: Project) -> str | None:
    if clone := os.environ.get(project.folder):
        return f"commit {commit_of(Path(clone)) or 'unknown'}"
    try:
        return importlib.metadata.version(project.distribution)
    except importlib.metadata.PackageNotFoundError:
        return None
