"""Agents by name or file: those that come with the library have names. Imports PyTorch late."""

import os
import pickle
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from rungs._src.core.arguments import shown
from rungs.errors import ConfigurationError

if TYPE_CHECKING:
    from rungs._src.selfplay.agent import Agent

# In the source tree a link to data/agents; the strongest is the last.
_FOLDER = Path(__file__).parents[2] / "agents"


def agent_file(agent: str | os.PathLike | None = None) -> Path:
    """Returns the file of an agent; see `load_agent`."""
    recorded = sorted(_FOLDER.glob("*.pt"))
    if agent is None:
        return recorded[-1]
    path = Path(agent)
    if path.is_file():
        return path
    by_name = {_name(each): each for each in recorded}
    if str(agent) not in by_name:
        names = " and ".join(map(repr, by_name))
        raise ConfigurationError(
            f"agent={shown(str(agent))} is neither a file, such as one of a run's pool/, nor a "
            f"recorded agent; there are {names}"
        )
    return by_name[str(agent)]


def load_agent(agent: str | os.PathLike | None = None) -> "Agent":
    """Loads an agent, which has a `name`, a `network` and a `provenance`.

    Args:
        agent: its file, such as one of a run's `pool/`, or the name of a recorded agent, which
            comes with the library; None is the strongest of those.

    Raises:
        ConfigurationError: there is no such agent; the message lists the recorded ones.
        InvalidStateError: the file is corrupt or incomplete.
    """
    from rungs._src.selfplay.agent import load

    return load(agent_file(agent))


def _name(path: Path) -> str:
    with zipfile.ZipFile(path) as archive:
        (entry,) = (name for name in archive.namelist() if name.endswith("/data.pkl"))
        with archive.open(entry) as file:
            return _WithoutTensors(file).load()["name"]


class _WithoutTensors(pickle.Unpickler):
    """Reads a file of PyTorch's with None for each tensor, and so without PyTorch.

    To import that takes longer than some chess programs wait for an engine.
    """

    def find_class(self, module: str, name: str) -> object:
        return lambda *arguments: None

    def persistent_load(self, pid: object) -> None:
        return None
