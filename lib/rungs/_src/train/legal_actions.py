"""The legal actions of many positions as one list, and their probabilities."""

from typing import NamedTuple

import torch

from rungs.errors import DivergedError


class Positions(NamedTuple):
    """An environment's outputs for N positions."""

    observation: torch.Tensor  # (N, 72) int8, of `obs="board"`
    mask: torch.Tensor  # (N, 73) int64 of `mask="bits"`, or (N, 218) int16 of `mask="list"`
    action_count: torch.Tensor  # (N,) int16, the length of each list; with bits (N, 0)

    def at(self, rows: torch.Tensor) -> "Positions":
        return Positions(*(array[rows] for array in self))

    def legal(self) -> "Legal":
        if self.mask.dtype == torch.int64:
            return from_bits(self.mask)
        return from_lists(self.mask, self.action_count)


class Legal(NamedTuple):
    """All legal actions of N positions, M in all, in order of position and id.

    Attributes:
        board: (M,) int64, the index of the position in which each is legal.
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
        """Returns each action's index among those of its position, (M,) int64."""
        return torch.arange(len(self.board), device=self.board.device) - self.first()[self.board]


def from_bits(mask: torch.Tensor) -> Legal:
    """Lists the bits that are set in (N, 73) int64 or uint64 of `mask="bits"`."""
    octets = mask.contiguous().view(torch.uint8)
    # Most bytes are zero: only the bits of the others are looked at.
    board, byte = octets.nonzero(as_tuple=True)
    shifts = torch.arange(8, dtype=torch.uint8, device=mask.device)
    row, bit = (octets[board, byte, None] >> shifts & 1).nonzero(as_tuple=True)
    board, action = board[row], byte[row] * 8 + bit
    return Legal(board, action, board.bincount(minlength=len(mask)))


def from_lists(lists: torch.Tensor, action_count: torch.Tensor) -> Legal:
    """Concatenates (N, K) int16 lists of `mask="list"`, of which each has `action_count`, (N,)."""
    count = action_count.long()
    boards = torch.arange(len(lists), device=lists.device)
    board = boards.repeat_interleave(count)
    # The start of each list in `lists`, less its start in the result.
    ahead = boards * lists.shape[1] - (count.cumsum(0) - count)
    place = torch.arange(len(board), device=lists.device) + ahead[board]
    return Legal(board, lists.reshape(-1)[place].long(), count)


class Packed:
    """The probabilities of N positions' legal actions, all in one row, without padding.

    Args:
        legal: the legal actions, M in all.
        scores: (M,), a logit for each.

    Attributes:
        log_probabilities: (M,), in the order of the legal actions.
    """

    def __init__(self, legal: Legal, scores: torch.Tensor):
        self._legal, self._first = legal, legal.first()
        self.log_probabilities = _LogSoftmax.apply(scores, legal.board, legal.count)

    def sample(self, generator: torch.Generator | None) -> torch.Tensor:
        """Samples an action in each position; returns its index there, (N,) int64.

        By the inverse of the cumulative distribution; `None` is PyTorch's own generator.
        """
        count = self._legal.count
        # In double precision: one cumulative sum runs over all positions.
        upto = self.log_probabilities.double().exp_().cumsum(0)
        last = upto[self._first + count - 1]
        begin = torch.cat([last.new_zeros(1), last[:-1]])
        uniform = torch.rand(
            len(count), generator=generator, dtype=torch.float64, device=count.device
        )
        chosen = torch.searchsorted(upto, begin + uniform * (last - begin), right=True)
        return (chosen - self._first).clamp_(min=0).minimum(count - 1)

    def likeliest(self) -> torch.Tensor:
        """Returns the index of the likeliest action in each position (the first), (N,) int64."""
        board, _, count = self._legal
        most = self.log_probabilities.new_full((len(count),), -torch.inf)
        most.scatter_reduce_(0, board, self.log_probabilities, "amax")
        place = self._legal.place().where(self.log_probabilities == most[board], count[board])
        return count.scatter_reduce(0, board, place, "amin").minimum(count - 1)

    def action(self, choice: torch.Tensor) -> torch.Tensor:
        """Returns the ids, (N,) int64, of actions by their indices."""
        return self._legal.action[self._first + choice]

    def log_probability(self, choice: torch.Tensor) -> torch.Tensor:
        """Returns the log-probabilities, (N,), of actions by their indices."""
        return self.log_probabilities.gather(0, self._first + choice)

    def entropy(self) -> torch.Tensor:
        """Returns the entropy of each position's policy, (N,), in nats."""
        likely = self.log_probabilities.exp()
        return -_sums(likely * self.log_probabilities, self._legal.board, len(self._first))


class Padded:
    """As `Packed`, but with a row of K per position: K is the most actions of one position."""

    def __init__(self, legal: Legal, scores: torch.Tensor):
        board, action, count = legal
        place = legal.place()
        shape = (len(count), int(count.max()))
        # (N, K) int64 and float32; beyond a position's last action 0 and -inf.
        self.actions = action.new_zeros(shape).index_put((board, place), action)
        rows = scores.new_full(shape, -torch.inf).index_put((board, place), scores)
        self.log_probabilities = rows.log_softmax(1)

    def sample(self, generator: torch.Generator | None) -> torch.Tensor:
        return sampled(self.log_probabilities, generator)

    def action(self, choice: torch.Tensor) -> torch.Tensor:
        return self.actions.gather(1, choice[:, None]).squeeze(1)

    def log_probability(self, choice: torch.Tensor) -> torch.Tensor:
        return self.log_probabilities.gather(1, choice[:, None]).squeeze(1)

    def entropy(self) -> torch.Tensor:
        # 0 instead of -inf beyond the legal actions: they add nothing, nor do their gradients.
        finite = self.log_probabilities.masked_fill(self.log_probabilities.isinf(), 0.0)
        return -(finite.exp() * finite).sum(1)


def sampled(
    log_probabilities: torch.Tensor, generator: torch.Generator | None = None
) -> torch.Tensor:
    """Samples an index per row of (N, K) log-probabilities, (N,) int64; may raise DivergedError."""
    likely = log_probabilities.exp()
    try:
        return torch.multinomial(likely, 1, generator=generator).squeeze(1)
    except RuntimeError:
        if likely.isfinite().all():
            raise
        raise DivergedError("the network gives probabilities that are not finite") from None


def _sums(numbers: torch.Tensor, board: torch.Tensor, boards: int) -> torch.Tensor:
    """Returns the sums of each position's numbers, in their order: of (M,), (boards,)."""
    return numbers.new_zeros(boards).index_add(0, board, numbers)


class _LogSoftmax(torch.autograd.Function):
    """The logarithm of softmax over each position's scores."""

    @staticmethod
    def forward(ctx, scores, board, count):
        most = scores.new_full((len(count),), -torch.inf).scatter_reduce(0, board, scores, "amax")
        shifted = scores - most[board]
        result = shifted - _sums(shifted.exp(), board, len(count)).log_()[board]
        ctx.save_for_backward(result, board, count)
        return result

    @staticmethod
    def backward(ctx, gradient):  # type: ignore[override]  # one output
        result, board, count = ctx.saved_tensors
        total = _sums(gradient, board, len(count))
        return gradient - result.exp() * total[board], None, None
