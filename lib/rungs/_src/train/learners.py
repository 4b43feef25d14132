"""Learners by name: the same network, loss and optimizer, computed by PyTorch or C++."""

import dataclasses
import pkgutil
from typing import Any

from rungs._src.core.arguments import choice

DEFAULT = "flat"


@dataclasses.dataclass(frozen=True)
class LearnerKind:
    implementation: str  # a description
    masks: tuple[str, ...]  # formats of legal actions that it accepts, the best first
    maker: str  # of its backend, as "module:name"; imported when it is needed

    def make(self, network, settings, *, device, ranks) -> Any:
        """Makes a backend, as `TorchPpo`; by default of a new network, the same for all."""
        maker = pkgutil.resolve_name(self.maker)
        return maker(network, settings, device=device, ranks=ranks)


# Other packages may add learners; runs then find them by name.
LEARNERS = {
    "flat": LearnerKind(
        "PyTorch, no zeros multiplied, all weights in one vector",
        ("list", "bits"),
        "rungs._src.train.ppo:TorchPpo",
    ),
    "cpp": LearnerKind("C++, float32", ("list",), "rungs._src.train.cpp:CppPpo"),
    "cpp-bfloat16": LearnerKind(
        "C++, products in bfloat16", ("list",), "rungs._src.train.cpp:bfloat16"
    ),
}


def kind(name: str) -> LearnerKind:
    """Returns the learner of a name; raises ConfigurationError if there is none."""
    return LEARNERS[choice("learner", name, tuple(LEARNERS))]
