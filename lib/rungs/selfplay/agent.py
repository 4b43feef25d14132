"""An agent: a network's weights as they were once, in a file that says where they come from."""

import dataclasses
from pathlib import Path

import torch

from rungs.errors import InvalidStateError
from rungs.train.network import PolicyValueNetwork
from rungs.train.saved import Saved

_FORM = {"name": str, "weights": {...: torch.Tensor}, "provenance": {...: str}}
_FILE = Saved("agent", schema=1, form=_FORM)


@dataclasses.dataclass(frozen=True, eq=False)
class Agent:
    """A network that learns no more. Its weights are rounded to half precision: 1 MB.

    Attributes:
        name: what a person calls it.
        network: the network, on the CPU.
        provenance: how it was trained, and all that this depends on, as text.
    """

    name: str
    network: PolicyValueNetwork
    provenance: dict[str, str]


def freeze(network: PolicyValueNetwork, name: str, provenance: dict) -> Agent:
    """Returns a network as it is now, the same as it will be read from a file."""
    weights = {key: each.detach().cpu().half() for key, each in network.state_dict().items()}
    return Agent(name, _made(weights), {key: str(value) for key, value in provenance.items()})


def save(agent: Agent, path: Path) -> None:
    """Writes an agent, whole or not at all.

    Raises:
        StorageError: it can't be written.
    """
    weights = {key: each.half() for key, each in agent.network.state_dict().items()}
    _FILE.save(path, {"name": agent.name, "weights": weights, "provenance": agent.provenance})


def load(path: Path) -> Agent:
    """Reads an agent.

    Raises:
        ConfigurationError: there is no such file, or it holds something else.
        InvalidStateError: it is corrupt or incomplete.
    """
    saved = _FILE.load(path)
    try:
        network = _made(saved["weights"])
    except (KeyError, RuntimeError) as error:
        why = str(error).partition("\n")[0]
        raise InvalidStateError(f"{path} has the weights of another network: {why}") from None
    return Agent(saved["name"], network, saved["provenance"])


def _made(weights: dict[str, torch.Tensor]) -> PolicyValueNetwork:
    """Makes the network that weights are of; its sizes are theirs."""
    blocks = {key.split(".")[1] for key in weights if key.startswith("blocks.")}
    network = PolicyValueNetwork(
        width=len(weights["squares.weight"]), blocks=len(blocks), keys=len(weights["query.weight"])
    )
    network.load_state_dict(weights)
    return network.requires_grad_(False).eval()
