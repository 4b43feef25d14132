"""The legal actions of many positions as one list, read from either format of the environment."""

from typing import NamedTuple

import torch


class Positions(NamedTuple):
    """What an environment says of N positions.

    Attributes:
        observation: (N, 72) int8, of `obs="board"`.
        mask: (N, 73) int64 of `mask="bits"`, or (N, 218) int16 of `mask="list"`.
        action_count: (N,) int16, how many actions a list has; with bits (N, 0).
    """

    observation: torch.Tensor
    mask: torch.Tensor
    action_count: torch.Tensor

    def at(self, rows: torch.Tensor) -> "Positions":
        """Returns the positions of (B,) int64 rows."""
        return Positions(*(array[rows] for array in self))


class Legal(NamedTuple):
    """All legal actions of N positions, M in all, in order of position and id.

    Attributes:
        board: (M,) int64, whose position each is legal in.
        action: (M,) int64, its id.
        count: (N,) int64, how many each position has.
    """

    board: torch.Tensor
    action: torch.Tensor
    count: torch.Tensor  # type: ignore[assignment]  # not what a tuple counts

    def first(self) -> torch.Tensor:
        """Returns where each position's actions begin, (N,) int64."""
        return self.count.cumsum(0) - self.count

    def place(self) -> torch.Tensor:
        """Returns each action's place among its position's, (M,) int64."""
        return torch.arange(len(self.board), device=self.board.device) - self.first()[self.board]


def from_bits(mask: torch.Tensor) -> Legal:
    """Finds the bits that are set.

    Args:
        mask: (N, 73) int64 or uint64, of `mask="bits"`.
    """
    octets = mask.contiguous().view(torch.uint8)
    # Most bytes are zero: only the bits of the others are looked at.
    board, byte = octets.nonzero(as_tuple=True)
    shifts = torch.arange(8, dtype=torch.uint8, device=mask.device)
    row, bit = (octets[board, byte, None] >> shifts & 1).nonzero(as_tuple=True)
    board, action = board[row], byte[row] * 8 + bit
    return Legal(board, action, board.bincount(minlength=len(mask)))


def from_lists(lists: torch.Tensor, action_count: torch.Tensor) -> Legal:
    """Puts lists one after the other: there is nothing to be found.

    Args:
        lists: (N, K) int16, of `mask="list"`.
        action_count: (N,) integers, how many actions each has.
    """
    count = action_count.long()
    boards = torch.arange(len(lists), device=lists.device)
    board = boards.repeat_interleave(count)
    # A list's place in memory, less its place among those that are packed.
    ahead = boards * lists.shape[1] - (count.cumsum(0) - count)
    place = torch.arange(len(board), device=lists.device) + ahead[board]
    return Legal(board, lists.reshape(-1)[place].long(), count)
