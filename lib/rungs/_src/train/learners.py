"""Learners by name: the same network, loss and optimizer, computed by PyTorch or C++."""

import dataclasses
import importlib
from typing import Any

from rungs._src.core.arguments import choice

DEFAULT = "flat"


@dataclasses.dataclass(frozen=True)
class LearnerKind:
    """One way to learn.

    Attributes:
        implementation: what it is, in words.
        masks: the formats of legal actions that it accepts from the environment, the best first.
        maker: what makes its backend, as "module:name"; imported when it is needed.
    """

    implementation: str
    masks: tuple[str, ...]
    maker: str

    def make(self, network, settings, *, device, ranks) -> Any:
        """Makes the backend, with the methods of `rungs._src.train.ppo.TorchBackend`.

        Args:
            network: to train; None for a `PolicyValueNetwork` with weights of PyTorch's own
                generator, the same for all learners.
            settings: how to learn, `PpoSettings`.
            device: where.
            ranks: the learners that this one learns together with.

        Raises:
            ConfigurationError: it can't learn with the network, the device or the ranks.
            UnavailableError: this machine lacks what it needs.
        """
        module, name = self.maker.split(":")
        maker = getattr(importlib.import_module(module), name)
        return maker(network, settings, device=device, ranks=ranks)


# Others may add theirs; runs then find them by name.
LEARNERS = {
    "flat": LearnerKind(
        "PyTorch, no zeros multiplied, all weights in one vector",
        ("list", "bits"),
        "rungs._src.train.ppo:TorchBackend",
    ),
    "cpp": LearnerKind("C++, float32", ("list",), "rungs._src.train.cpp:CppBackend"),
    "cpp-bfloat16": LearnerKind(
        "C++, products in bfloat16", ("list",), "rungs._src.train.cpp:bfloat16"
    ),
}


def kind(name: str) -> LearnerKind:
    """Returns a learner's kind.

    Raises:
        ConfigurationError: there is none of that name.
    """
    return LEARNERS[choice("learner", name, tuple(LEARNERS))]
