"""A network as an ONNX file, which other programs run without PyTorch."""

import copy
import importlib.util
import os
import warnings
from pathlib import Path

import torch
from torch import nn

from rungs._src.chess.actions import NUM_ACTIONS
from rungs._src.core.arguments import shown
from rungs._src.core.atomic import atomic_write
from rungs._src.train.attacks import STATES, attack_states
from rungs._src.train.layers import NUM_PIECES, DenseSquares, SparseSquares
from rungs._src.train.network import PolicyValueNetwork
from rungs.errors import ConfigurationError, UnavailableError, install_hint


def export_onnx(network: PolicyValueNetwork, path: str | os.PathLike) -> None:
    """Writes a network to an ONNX file, whole or not at all.

    The file computes in float32, for any number of positions, N. Its input is `observation`,
    (N, 72) int8, of `obs="board"`. Its outputs are `logits`, (N, 4672) float32, a score for each
    action by its id, and `value`, (N,) float32. The policy is the softmax over the logits of the
    legal actions; those of other actions mean nothing.

    Args:
        network: a network, or an agent's (`rungs.selfplay.load_agent(...).network`).
        path: of the file, in a folder that exists.

    Raises:
        ConfigurationError: the network is another one, or there is no such folder.
        StorageError: the file can't be written.
        UnavailableError: the extra `onnx` is not installed.
    """
    if type(network) is not PolicyValueNetwork or (
        type(network.squares) not in (DenseSquares, SparseSquares)
    ):
        raise ConfigurationError(
            f"network={shown(network)} is not a PolicyValueNetwork of DenseSquares or SparseSquares"
        )
    path = Path(path)
    if not path.parent.is_dir():
        raise ConfigurationError(f"path={shown(str(path))}: there is no folder {path.parent}")
    if not importlib.util.find_spec("onnx"):
        raise UnavailableError(f"there is no onnx: {install_hint('onnx')}")
    example = torch.zeros(2, 72, dtype=torch.int8)
    with torch.no_grad(), warnings.catch_warnings(), atomic_write(path) as unfinished:
        dense = _DenseNetwork(copy.deepcopy(network).cpu().float())
        dense(example)  # makes the tables of attacks, which would become a part of the graph
        # Of PyTorch's exporters this one needs no onnxscript; it warns that the other is newer.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            dense,
            (example,),
            unfinished,
            dynamo=False,
            opset_version=17,
            input_names=["observation"],
            output_names=["logits", "value"],
            dynamic_axes={name: {0: "N"} for name in ("observation", "logits", "value")},
        )


class _DenseNetwork(nn.Module):
    """A `PolicyValueNetwork` that scores all actions, by operators that ONNX has."""

    def __init__(self, network: PolicyValueNetwork):
        super().__init__()
        self._network = network
        columns, squares = network.squares.weight.t(), 64 * NUM_PIECES
        attacked = network.attacked.weight.view(64, NUM_PIECES, STATES, -1).clone()
        attacked[:, NUM_PIECES // 2, 0] = 0  # of empty squares that nothing attacks
        # Both rows that a square adds, in one.
        self._rows = attacked.flatten(0, 1) + columns[:squares, None]
        self._rest = network.squares.get_buffer("_scales")[:, None] * columns[squares:]

    def forward(self, observation: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        network = self._network
        observation = observation.long()  # ONNX Runtime doesn't compare int8
        pieces, states = observation[:, :64] + NUM_PIECES // 2, attack_states(observation)
        rows = self._rows[torch.arange(64) * NUM_PIECES + pieces, states].sum(1)
        rest = observation[:, 64:].float() @ self._rest
        features = network.norm(network.blocks(rows + rest + network.squares.bias))
        target = network._targets
        moved, taken = pieces[:, torch.arange(NUM_ACTIONS) % 64], pieces[:, target]
        capture = (moved * NUM_PIECES + taken) * STATES + states[:, target]
        query = network.query(features)
        by_capture = (query @ network.capture_key.weight.t()).gather(1, capture)
        logits = query @ network.action_key.weight.t() + by_capture
        return logits, network.value(features).squeeze(1)
