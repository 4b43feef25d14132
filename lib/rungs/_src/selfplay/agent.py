"""An agent: a snapshot of a network's weights, in a file that also holds their provenance."""

import dataclasses
import os
from pathlib import Path

import torch

from rungs._src.train.network import PolicyValueNetwork
from rungs._src.train.torch_file import TorchFile, tensor_flaw
from rungs.errors import ConfigurationError, InvalidStateError

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


def save(agent: Agent, path: str | os.PathLike) -> None:
    """Writes an agent, whole or not at all."""
    weights = {key: tensor.half() for key, tensor in agent.network.state_dict().items()}
    _FILE.write(
        Path(path), {"name": agent.name, "weights": weights, "provenance": agent.provenance}
    )


def load(path: str | os.PathLike) -> Agent:
    """Reads an agent; ConfigurationError if there is none, InvalidStateError if it is corrupt."""
    saved = _FILE.read(Path(path))
    if flaw := tensor_flaw(saved["weights"], "weights"):
        raise InvalidStateError(f"{path}: {flaw}")
    try:
        network = _network_of(saved["weights"])
    except (KeyError, TypeError, RuntimeError) as error:
        why = str(error).partition("\n")[0]
        raise InvalidStateError(f"{path} has the weights of another network: {why}") from None
    return Agent(saved["name"], network, saved["provenance"])


def frozen_path(pool: Path, update: int) -> Path:
    """Returns the path of the agent that a run froze after an update."""
    return pool / f"{update:06}.pt"


def frozen_in(pool: Path) -> dict[int, Path]:
    """Returns the paths of a run's frozen agents by update, in order; ignores other files."""
    agents = [(int(path.stem), path) for path in pool.glob("*.pt") if path.stem.isdecimal()]
    return {update: path for update, path in sorted(agents) if path == frozen_path(pool, update)}


def untrained(seed: int = 0) -> Agent:
    """Returns an agent that has learnt nothing."""
    torch.manual_seed(seed)
    return freeze(PolicyValueNetwork(), "untrained", {"seed": seed})


def _network_of(weights: dict[str, torch.Tensor]) -> PolicyValueNetwork:
    """Makes the network that has these weights, of their sizes."""
    blocks = {key.split(".")[1] for key in weights if key.startswith("blocks.")}
    width, keys = len(weights["squares.weight"]), len(weights["query.weight"])
    with torch.device("meta"):  # allocates nothing: the file's weights may be far too large
        PolicyValueNetwork(width, len(blocks), keys).load_state_dict(weights, assign=True)
    network = PolicyValueNetwork(width, len(blocks), keys)
    network.load_state_dict(weights)
    return network.requires_grad_(False).eval()
