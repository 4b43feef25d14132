"""The ladder of learners: from plain PyTorch to the library's, each one idea faster.

Importing this makes the course's learners known to the library by name.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from rungs.devel.train import (
    EVALUATIONS,
    LEARNERS,
    METRICS,
    Adam,
    LearnerKind,
    Padded,
    TorchPpo,
    scores_in_place,
)
from rungs.train import (
    Learner,
    Legal,
    LegalActionNetwork,
    Packed,
    PolicyValueNetwork,
    PpoSettings,
    SparseSquares,
    Training,
    train,
)


def reference(
    network: LegalActionNetwork | None,
    settings: PpoSettings,
    distribution: Callable[[Legal, torch.Tensor], Packed | Padded] = Padded,
    **kwargs,
) -> TorchPpo:
    """Makes the backend that all others are compared with: plain PyTorch."""
    network = network or PolicyValueNetwork()
    return TorchPpo(network, settings, distribution=distribution, optimizer=Adam, **kwargs)


def sparse(network: LegalActionNetwork | None, settings: PpoSettings, **kwargs) -> TorchPpo:
    """Makes a backend that also adds up columns of the first layer."""
    return reference(network or PolicyValueNetwork(squares=SparseSquares), settings, **kwargs)


def packed(network: LegalActionNetwork | None, settings: PpoSettings, **kwargs) -> TorchPpo:
    """Makes a backend that also leaves out the padding of rows of legal actions."""
    return sparse(network, settings, distribution=Packed, **kwargs)


def in_place(network: LegalActionNetwork | None, settings: PpoSettings, **kwargs) -> TorchPpo:
    """Makes a backend that also multiplies queries and keys in place."""
    network = network or PolicyValueNetwork(squares=SparseSquares, score=scores_in_place)
    return reference(network, settings, distribution=Packed, **kwargs)


class AutocastPpo(TorchPpo):
    """The library's PPO in PyTorch under autocast: products multiply bfloat16."""

    def __init__(self, *arguments, **kwargs):
        super().__init__(*arguments, **kwargs)
        for layer in (self.network.query, self.network.value):  # what reads these is not cast
            layer.register_forward_hook(_widen)  # type: ignore[union-attr]  # a Linear

    def values(self, observation: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            return super().values(observation)

    def _forward(self, *arguments):
        with torch.autocast("cpu", torch.bfloat16):
            return super()._forward(*arguments)


def _widen(_layer, _inputs, output: torch.Tensor) -> torch.Tensor:
    """Returns a layer's output in float32."""
    return output.float()


def _kind(implementation: str, mask: str, maker: Callable) -> LearnerKind:
    return LearnerKind(implementation, (mask,), f"{__name__}:{maker.__name__}")


OURS = {
    "torch": _kind("plain PyTorch", "bits", reference),
    "lists": _kind("legal actions listed by the environment", "list", reference),
    "sparse": _kind("columns added up, no zeros multiplied", "list", sparse),
    "packed": _kind("legal actions without padding", "list", packed),
    "in-place": _kind("keys multiplied where they are", "list", in_place),
}
LEARNERS.update(OURS, **{"flat-bfloat16": _kind("flat, products in bfloat16", "list", AutocastPpo)})
# Their names, in the order of the ladder.
LADDER = (*OURS, "flat", "flat-bfloat16", "cpp", "cpp-bfloat16")


def mask(name: str) -> str:
    """Returns the format of legal actions that a learner takes from the environment."""
    return LEARNERS[name].masks[0]


@contextlib.contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Sets PyTorch's number of threads within a block, and restores it afterwards."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def train_each(
    runs: Iterable[tuple[Mapping[str, Any], Training]], out: Path, *, say=print, **options
) -> tuple[pd.DataFrame, pd.DataFrame, Learner]:
    """Trains one run after the other, each in a folder of its own, named by the values of its
    columns; `options` are `train`'s.

    Returns all runs' `metrics.csv` and `evaluations.csv`, with the columns that name them, and the
    learner of the last.
    """
    tables: dict[str, list[pd.DataFrame]] = {METRICS: [], EVALUATIONS: []}
    for labels, training in runs:
        name = "-".join(map(str, labels.values()))

        def named(line: str, name: str = name) -> None:
            say(f"{name}: {line}")

        learner = train(training, out / name, say=named, **options)
        for file, frames in tables.items():
            frames.append(pd.read_csv(out / name / file).assign(**labels))
    metrics, evaluations = (pd.concat(frames, ignore_index=True) for frames in tables.values())
    return metrics, evaluations, learner  # type: ignore[return-value]  # no MPI
