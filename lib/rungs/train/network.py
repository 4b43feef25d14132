"""A small residual network with a masked policy and a value, over `obs="board"` and `mask="bits"`.

Of 4672 actions some thirty are legal. Only they are scored: the mask is a list of what to compute,
and never 4672 numbers of which almost all are thrown away.
"""

import torch
from torch import nn

from rungs.chess.actions import NUM_ACTIONS, target_of

_PIECES = 13  # -6..6
# What follows the squares in an observation, each at most about 1: castling rights, the file of an
# en-passant capture, halfmove clock, repetitions, side to move.
_SCALES = (1.0, 1.0, 1.0, 1.0, 1 / 8, 1 / 100, 1 / 2, 1.0)


class PolicyValueNetwork(nn.Module):
    """Squares' pieces as one-hot vectors, residual blocks, a policy head and a value head.

    A legal move's score is the position's query times the move's key; the key is learnt for the
    action, and for which piece moves and which it takes.

    Args:
        width: units of the residual stream.
        blocks: residual blocks.
        keys: units of queries and keys.
    """

    # Buffers, in which `nn.Module` might hold modules, too.
    _offsets: torch.Tensor
    _scales: torch.Tensor
    _targets: torch.Tensor

    def __init__(self, width: int = 128, blocks: int = 2, keys: int = 64):
        super().__init__()
        self.squares = nn.Linear(64 * _PIECES + len(_SCALES), width)
        self.blocks = nn.Sequential(*(_Block(width) for _ in range(blocks)))
        self.norm = nn.LayerNorm(width)
        self.query = nn.Linear(width, keys)
        self.action_key = _small(nn.Embedding(NUM_ACTIONS, keys))
        self.capture_key = _small(nn.Embedding(_PIECES * _PIECES, keys))
        self.value = nn.Linear(width, 1)
        self.register_buffer("_offsets", torch.arange(64) * _PIECES + 6, persistent=False)
        self.register_buffer("_scales", torch.tensor(_SCALES), persistent=False)
        targets = [target_of(action) or 0 for action in range(NUM_ACTIONS)]
        self.register_buffer("_targets", torch.tensor(targets), persistent=False)

    def forward(self, observation: torch.Tensor, mask: torch.Tensor):
        """Scores a batch of positions.

        Args:
            observation: (N, 72) int8.
            mask: (N, 73) int64, the bits of `mask="bits"`.

        Returns:
            actions (N, K) int64: each position's legal actions, in order; K is the most that one
            has. Log-probabilities (N, K) float32, -inf beyond a position's last. Values (N,)
            float32.
        """
        features = self._features(observation)
        board, action = legal_actions(mask)
        moved, taken = (
            observation[board, square].long() + 6 for square in (action % 64, self._targets[action])
        )
        key = self.action_key(action) + self.capture_key(moved * _PIECES + taken)
        # Looked up as an embedding, whose gradient is added up in one order; an index's is not.
        query = nn.functional.embedding(board, self.query(features))
        score = (query * key).sum(1)
        actions, scores = _rows(board, action, score, len(observation))
        return actions, scores.log_softmax(1), self.value(features).squeeze(1)

    def values(self, observation: torch.Tensor) -> torch.Tensor:
        """Returns the values alone, (N,) float32, of (N, 72) int8."""
        return self.value(self._features(observation)).squeeze(1)

    def _features(self, observation: torch.Tensor) -> torch.Tensor:
        pieces = observation.new_zeros((len(observation), 64 * _PIECES), dtype=torch.float32)
        pieces.scatter_(1, observation[:, :64] + self._offsets, 1.0)
        squares = self.squares(torch.cat([pieces, observation[:, 64:] * self._scales], 1))
        return self.norm(self.blocks(squares))


def legal_actions(mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the boards and the ids of all legal actions, two int64 vectors, in order of both.

    Args:
        mask: (N, 73) int64 or uint64, the bits of `mask="bits"`.
    """
    octets = mask.contiguous().view(torch.uint8)
    # Most bytes are zero: only the bits of the others are looked at.
    board, byte = octets.nonzero(as_tuple=True)
    shifts = torch.arange(8, dtype=torch.uint8, device=mask.device)
    row, bit = (octets[board, byte, None] >> shifts & 1).nonzero(as_tuple=True)
    return board[row], byte[row] * 8 + bit


def _rows(board: torch.Tensor, action: torch.Tensor, score: torch.Tensor, boards: int):
    """Lists of all boards' legal actions and scores as a row per board."""
    count = board.bincount(minlength=boards)
    place = torch.arange(len(board), device=board.device) - (count.cumsum(0) - count)[board]
    shape = (boards, int(count.max()))
    actions = action.new_zeros(shape).index_put((board, place), action)
    scores = score.new_full(shape, -torch.inf).index_put((board, place), score)
    return actions, scores


class _Block(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        hidden = (nn.LayerNorm(width), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))
        self.change = nn.Sequential(*hidden)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.change(x)


def _small(embedding: nn.Embedding) -> nn.Embedding:
    """Makes small keys: at first all legal moves are about equally likely."""
    nn.init.normal_(embedding.weight, std=0.05)
    return embedding
