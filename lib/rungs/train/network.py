"""A small masked policy and value network over `obs="board"`."""

import torch
from torch import nn

from rungs.chess.actions import NUM_ACTIONS

_PIECES = 13  # -6..6


class PolicyValueNetwork(nn.Module):
    """Piece embeddings per square, two hidden layers, a policy head and a value head.

    Args:
        width: units of each hidden layer.
    """

    def __init__(self, width: int = 256):
        super().__init__()
        self.squares = nn.EmbeddingBag(64 * _PIECES, width, mode="sum")
        self.state = nn.Linear(8, width)
        self.hidden = nn.Sequential(nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.policy = nn.Linear(width, NUM_ACTIONS)
        self.value = nn.Linear(width, 1)
        self.register_buffer("_offsets", torch.arange(64) * _PIECES + 6)

    def forward(self, observation: torch.Tensor, mask: torch.Tensor):
        """Scores a batch of positions.

        Args:
            observation: (N, 72) int8.
            mask: (N, 4672) bool.

        Returns:
            log-probabilities (N, 4672) float32, -inf where illegal, and values (N,) float32.
        """
        board = observation[:, :64].long() + self._offsets
        hidden = self.hidden(self.squares(board) + self.state(observation[:, 64:].float()))
        logits = self.policy(hidden).masked_fill(~mask, -torch.inf)
        return logits.log_softmax(dim=1), self.value(hidden).squeeze(1)
