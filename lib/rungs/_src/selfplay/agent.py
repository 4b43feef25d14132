"""An agent: a snapshot of a network's weights with their provenance, in a folder with a card."""

import dataclasses
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch

from rungs._src.core.atomic import atomic_write
from rungs._src.train.network import PolicyValueNetwork
from rungs._src.train.torch_file import TorchFile, tensor_flaw
from rungs.errors import ConfigurationError, InvalidStateError

WEIGHTS = "agent.pt"  # an agent's file in its folder
CARD = "README.md"  # which model hubs show, and read the first lines of
POOL = "pool"  # the folder of a run's frozen agents
MATCHES = "matches"  # the folder of their games in the evaluation that froze them, as PGN

_FORM = {"name": str, "weights": {...: torch.Tensor}, "provenance": {...: str}}
_FILE = TorchFile("agent", schema=2, form=_FORM, deflated=True)


@dataclasses.dataclass(frozen=True, eq=False)
class Agent:
    """A frozen network. Its weights are rounded to half precision: a file has 3 MB at most."""

    name: str  # for people
    network: PolicyValueNetwork  # on the CPU
    provenance: dict[str, str]  # all that its training depends on


def freeze(network: PolicyValueNetwork, name: str, provenance: dict) -> Agent:
    """Returns a snapshot as `load` would read it; refuses weights too large for half precision."""
    weights = {key: tensor.detach().cpu().half() for key, tensor in network.state_dict().items()}
    for key, tensor in weights.items():
        if not tensor.isfinite().all():
            raise ConfigurationError(f"network: a weight of {key} is not finite in half precision")
    return Agent(name, _network_of(weights), {key: str(value) for key, value in provenance.items()})


def save(agent: Agent, folder: Path, ratings: Iterable[Mapping[str, Any]] = ()) -> None:
    """Writes an agent's folder: its card, see `card`, and its file, each whole or not at all."""
    with atomic_write(folder / CARD) as unfinished:
        unfinished.write_text(card(agent, ratings), encoding="utf-8")
    weights = {key: tensor.half() for key, tensor in agent.network.state_dict().items()}
    content = {"name": agent.name, "weights": weights, "provenance": agent.provenance}
    _FILE.write(folder / WEIGHTS, content)


def card(agent: Agent, ratings: Iterable[Mapping[str, Any]] = ()) -> str:
    """Returns an agent's card: metadata as model hubs read it, its ratings and its provenance.

    A rating has the `search` that it belongs to, in words, `elo` above random play, and `low` and
    `high`, its 95 % interval.
    """
    metadata: dict[str, Any] = {"library_name": "rungs", "pipeline_tag": "reinforcement-learning"}
    metadata["tags"] = ["chess"]
    scale = "Elo above random play"
    rows = [
        (each["search"], *(round(each[key]) for key in ("elo", "low", "high"))) for each in ratings
    ]
    if rows:
        metrics = [
            {"type": "elo", "name": f"{scale}, {search}", "value": elo} for search, elo, *_ in rows
        ]
        game = {"type": "chess", "name": "chess"}
        result = {"task": {"type": "reinforcement-learning"}, "dataset": game, "metrics": metrics}
        metadata["model-index"] = [{"name": agent.name, "results": [result]}]
    lines = ["---", *(f"{name}: {json.dumps(value)}" for name, value in metadata.items()), "---"]
    lines += [f"# {agent.name}", "", "A network that plays chess: `rungs uci` with this folder."]
    if rows:
        lines += ["", f"| search | {scale} | 95 % interval |", "| --- | --- | --- |"]
        lines += [f"| {search} | {elo} | {low} to {high} |" for search, elo, low, high in rows]
    lines += ["", "| provenance | |", "| --- | --- |"]
    lines += [f"| {name} | {_cell(value)} |" for name, value in agent.provenance.items()]
    return "\n".join(lines) + "\n"


def load(path: str | os.PathLike) -> Agent:
    """Reads an agent's folder or file; ConfigurationError if there is none, InvalidStateError if it
    is corrupt.
    """
    path = Path(path)
    if path.is_dir():
        path /= WEIGHTS
    saved = _FILE.read(path)
    if flaw := tensor_flaw(saved["weights"], "weights"):
        raise InvalidStateError(f"{path}: {flaw}")
    try:
        network = _network_of(saved["weights"])
    except (KeyError, TypeError, RuntimeError) as error:
        why = str(error).partition("\n")[0]
        raise InvalidStateError(f"{path} has the weights of another network: {why}") from None
    return Agent(saved["name"], network, saved["provenance"])


def frozen_path(pool: Path, update: int) -> Path:
    """Returns the folder of the agent that a run froze after an update."""
    return pool / f"{update:06}"


def frozen_in(pool: Path) -> dict[int, Path]:
    """Returns the paths of a run's frozen agents by update, in order; ignores other files. Runs of
    Rungs 0.3 have files in place of folders.
    """
    paths = [*pool.glob("*.pt"), *(file.parent for file in pool.glob(f"*/{WEIGHTS}"))]
    agents = [(int(path.stem), path) for path in paths if path.stem.isdecimal()]
    names = {update: frozen_path(pool, update).name for update, _ in agents}
    return {n: path for n, path in sorted(agents) if path.name.removesuffix(".pt") == names[n]}


def untrained(seed: int = 0) -> Agent:
    """Returns an agent that has learnt nothing."""
    torch.manual_seed(seed)
    return freeze(PolicyValueNetwork(), "untrained", {"seed": seed})


def _cell(text: str) -> str:
    """Returns a text as a table's cell."""
    return " ".join(text.split()).replace("|", "\\|")


def _network_of(weights: dict[str, torch.Tensor]) -> PolicyValueNetwork:
    """Makes the network that has these weights, of their sizes."""
    blocks = {key.split(".")[1] for key in weights if key.startswith("blocks.")}
    width, keys = len(weights["squares.weight"]), len(weights["query.weight"])
    with torch.device("meta"):  # allocates nothing: the file's weights may be far too large
        PolicyValueNetwork(width, len(blocks), keys).load_state_dict(weights, assign=True)
    network = PolicyValueNetwork(width, len(blocks), keys)
    network.load_state_dict(weights)
    return network.requires_grad_(False).eval()
