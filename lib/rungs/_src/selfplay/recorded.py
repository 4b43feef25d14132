"""Agents by name or path: those that come with the library have names. Imports PyTorch late."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from rungs._src.core.arguments import shown
from rungs.errors import ConfigurationError

if TYPE_CHECKING:
    from rungs._src.selfplay.agent import Agent

# In the source tree a link to data/agents; the strongest is the last.
_FOLDER = Path(__file__).parents[2] / "agents"


def agent_path(agent: str | os.PathLike | None = None) -> Path:
    """Returns the folder or file of an agent; see `load_agent`."""
    if agent is not None and Path(agent).exists():
        return Path(agent)
    recorded = {_name(file.parent): file.parent for file in sorted(_FOLDER.glob("*/agent.pt"))}
    if agent is None:
        return list(recorded.values())[-1]
    if str(agent) not in recorded:
        names = " and ".join(map(repr, recorded))
        raise ConfigurationError(
            f"agent={shown(str(agent))} is neither a folder or file, such as one of a run's pool/, "
            f"nor a recorded agent; there are {names}"
        )
    return recorded[str(agent)]


def load_agent(agent: str | os.PathLike | None = None) -> "Agent":
    """Loads an agent, which has a `name`, a `network` and a `provenance`.

    Args:
        agent: its folder or file, such as one of a run's `pool/`, or the name of a recorded agent,
            which comes with the library; None is the strongest of those.

    Raises:
        ConfigurationError: there is no such agent; the message lists the recorded ones.
        InvalidStateError: the file is corrupt or incomplete.
    """
    from rungs._src.selfplay.agent import load

    return load(agent_path(agent))


def _name(folder: Path) -> str:
    """Returns an agent's name: the heading of its card, as PyTorch takes too long to import."""
    lines = (folder / "README.md").read_text(encoding="utf-8").splitlines()
    return next(line for line in lines if line.startswith("# ")).removeprefix("# ")
