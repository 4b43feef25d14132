"""The ladder of learners: the same network, loss and optimizer, computed in other ways."""

import dataclasses
import importlib
from typing import TYPE_CHECKING

from rungs._src.core.arguments import choice

if TYPE_CHECKING:  # PyTorch is imported when it is needed
    import torch

    from rungs._src.train.learners.agent import Agent
    from rungs._src.train.network import LegalActionNetwork
    from rungs._src.train.ranks import Ranks
    from rungs._src.train.settings import PpoSettings


@dataclasses.dataclass(frozen=True)
class LearnerRung:
    """One way to learn.

    Attributes:
        name: what `make` and `--learner` call it.
        implementation: what it is, in words.
        mask: the format of legal actions that it takes from the environment.
        makes: what makes its agent, as "module:name" of this package.
    """

    name: str
    implementation: str
    mask: str
    makes: str


LEARNERS = (
    LearnerRung("torch", "PyTorch, as one writes it", "bits", "torch:reference"),
    LearnerRung("lists", "legal actions listed by the environment", "list", "torch:lists"),
    LearnerRung("sparse", "columns added up, no zeros multiplied", "list", "torch:sparse"),
    LearnerRung("packed", "legal actions without padding", "list", "torch:packed"),
    LearnerRung("in-place", "keys multiplied where they are", "list", "torch:in_place"),
    LearnerRung("flat", "all weights in one vector", "list", "torch:flat"),
    LearnerRung("cpp", "C++, float32", "list", "cpp:CppAgent"),
    LearnerRung("cpp-bfloat16", "C++, products in bfloat16", "list", "cpp:bfloat16"),
)


def names() -> tuple[str, ...]:
    """Returns what learners are called, in the order of the ladder."""
    return tuple(each.name for each in LEARNERS)


def rung(name: str) -> LearnerRung:
    """Returns a rung of the ladder.

    Raises:
        ConfigurationError: there is none of that name.
    """
    return LEARNERS[names().index(choice("learner", name, names()))]


def make(
    name: str,
    network: "LegalActionNetwork | None",
    settings: "PpoSettings",
    *,
    device: "torch.device",
    ranks: "Ranks",
) -> "Agent":
    """Makes the agent of a learner.

    Args:
        name: which.
        network: what learns; None for a `PolicyValueNetwork` with weights of PyTorch's own
            generator, the same for all learners.
        settings: how to learn.
        device: where.
        ranks: the learners that this one learns together with.

    Raises:
        ConfigurationError: there is no such learner, or it can't take the network, the device or
            the ranks.
        UnavailableError: this machine lacks what it needs.
    """
    module, maker = rung(name).makes.split(":")
    makes = getattr(importlib.import_module(f"rungs._src.train.learners.{module}"), maker)
    return makes(network, settings, device=device, ranks=ranks)
