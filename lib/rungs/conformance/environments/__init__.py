"""Who can be asked: our rungs, python-chess, other projects' environments, and a file of yours."""

import importlib
import importlib.metadata
import importlib.util
from pathlib import Path

import rungs
from rungs.conformance.environment import Environment
from rungs.core.arguments import shown
from rungs.errors import ConfigurationError, UnavailableError
from rungs.peers.chessenv import version as version_of_chessenv
from rungs.version import __version__

# Name -> module, class and distribution. As each project's own users begin and step it.
PEERS = {
    "python-chess": ("python_chess", "PythonChess", "chess"),
    "OpenSpiel": ("open_spiel", "OpenSpiel", "open-spiel"),
    "PettingZoo": ("pettingzoo", "PettingZoo", "pettingzoo"),
    "Pgx": ("pgx", "Pgx", "pgx"),
    "EnvPool": ("envpool", "EnvPool", "envpool"),
    "NChess": ("nchess", "NChess", "nchess"),
    "chess-env-rl": ("chess_env_rl", "ChessEnvRl", "chess-env-rl"),
    "chessenv": ("chessenv", "ChessEnv", "fastchessenv"),
}


def ours() -> list[str]:
    """Returns the names of our rungs of chess."""
    return [rung.name for rung in rungs.rungs_of("chess")]


def check(name: str) -> None:
    """Refuses a name that `make` doesn't know.

    Raises:
        ConfigurationError: it is none of ours, of `PEERS`, or FILE.py:CLASS.
    """
    if name not in ours() and name not in PEERS and ".py:" not in name:
        known = ", ".join([*ours(), *PEERS])
        raise ConfigurationError(
            f"no environment {shown(name)}; there are: {known}, or FILE.py:CLASS of yours"
        )


def named(names: list[str]) -> dict[str, bool]:
    """Returns the environments that names stand for, and whether each may be missing here.

    Args:
        names: as of `make`; "rungs" is all of ours and "peers" all others, as far as they are here.

    Raises:
        ConfigurationError: there is none of such a name.
    """
    chosen: dict[str, bool] = {}
    for name in names:
        several = {"rungs": ours(), "peers": list(PEERS)}.get(name)
        for one in several or [name]:
            check(one)
            chosen[one] = several is not None and chosen.get(one, True)
    return chosen


def make(name: str) -> Environment:
    """Makes an environment to be asked.

    Args:
        name: a rung, one of `PEERS`, or FILE.py:CLASS: a class derived from `Environment`, which
            takes no arguments.

    Raises:
        ConfigurationError: there is none of this name, or the file holds no such class.
        UnavailableError: it is not installed.
    """
    check(name)
    if name in ours():
        from rungs.conformance.environments.rung import RungEnvironment

        return RungEnvironment(name)
    if name not in PEERS:
        return _of_file(*name.rsplit(":", 1))
    module, kind, distribution = PEERS[name]
    try:
        return getattr(importlib.import_module(f"{__name__}.{module}"), kind)()
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "rungs":
            raise
        raise UnavailableError(f"{name} is not installed: pip install {distribution}") from None


def version(name: str) -> str:
    """Returns the version that is installed of an environment's project; "" of a file's."""
    if name == "chessenv":
        return version_of_chessenv() or ""
    if name in ours():
        return __version__
    distribution = PEERS.get(name, ("", "", ""))[2]
    try:
        return importlib.metadata.version(distribution) if distribution else ""
    except importlib.metadata.PackageNotFoundError:
        return ""


def _of_file(file: str, kind: str) -> Environment:
    if not Path(file).is_file():
        raise ConfigurationError(f"there is no file {file}")
    spec = importlib.util.spec_from_file_location(Path(file).stem, file)
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]  # a file has a spec
    spec.loader.exec_module(module)  # type: ignore[union-attr]  # and that a loader
    made = getattr(module, kind, None)
    if not isinstance(made, type) or not issubclass(made, Environment):
        raise ConfigurationError(f"{file} has no class {kind} derived from Environment")
    return made()
