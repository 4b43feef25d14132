"""How likely each legal action is: rows filled up to the longest, or one after the other."""

from typing import Protocol

import torch

from rungs._src.train.legal_actions import Legal
from rungs.errors import DivergedError


class Distribution(Protocol):
    """The probabilities of N positions' legal actions."""

    def __init__(self, legal: Legal, scores: torch.Tensor):
        """Normalizes (M,) scores, a logit per legal action."""

    def sample(self, generator: torch.Generator | None) -> torch.Tensor:
        """Chooses an action in each position; returns its place there, (N,) int64.

        Args:
            generator: the randomness; None for PyTorch's own.
        """

    def action(self, choice: torch.Tensor) -> torch.Tensor:
        """Returns the ids, (N,) int64, of actions by their places."""

    def log_probability(self, choice: torch.Tensor) -> torch.Tensor:
        """Returns those of actions by their places, (N,)."""

    def entropy(self) -> torch.Tensor:
        """Returns each position's, (N,), in nats."""


class Padded:
    """A row per position, as long as the longest list: what is beyond a position's last is waste.

    Attributes:
        actions: (N, K) int64; K is the most actions that one position has.
        log_probabilities: (N, K), -inf beyond a position's last action.
    """

    def __init__(self, legal: Legal, scores: torch.Tensor):
        board, action, count = legal
        place = legal.place()
        shape = (len(count), int(count.max()))
        self.actions = action.new_zeros(shape).index_put((board, place), action)
        rows = scores.new_full(shape, -torch.inf).index_put((board, place), scores)
        self.log_probabilities = rows.log_softmax(1)

    def sample(self, generator: torch.Generator | None) -> torch.Tensor:
        """See `Distribution.sample`."""
        return sampled(self.log_probabilities, generator)

    def action(self, choice: torch.Tensor) -> torch.Tensor:
        """See `Distribution.action`."""
        return self.actions.gather(1, choice[:, None]).squeeze(1)

    def log_probability(self, choice: torch.Tensor) -> torch.Tensor:
        """See `Distribution.log_probability`."""
        return self.log_probabilities.gather(1, choice[:, None]).squeeze(1)

    def entropy(self) -> torch.Tensor:
        """See `Distribution.entropy`."""
        # 0 instead of -inf beyond the legal actions: they add nothing, nor do their gradients.
        finite = self.log_probabilities.masked_fill(self.log_probabilities.isinf(), 0.0)
        return -(finite.exp() * finite).sum(1)


def sampled(
    log_probabilities: torch.Tensor, generator: torch.Generator | None = None
) -> torch.Tensor:
    """Chooses one of each row, (N,) int64, as likely as (N, K) log-probabilities say.

    Raises:
        DivergedError: a probability is not finite.
    """
    likely = log_probabilities.exp()
    try:
        return torch.multinomial(likely, 1, generator=generator).squeeze(1)
    except RuntimeError:
        if likely.isfinite().all():
            raise
        raise DivergedError("the network gives probabilities that are not finite") from None


class Packed:
    """All positions' actions in one row: nothing is computed that is not of a legal action.

    Attributes:
        log_probabilities: (M,), in the order of the legal actions.
    """

    def __init__(self, legal: Legal, scores: torch.Tensor):
        self._legal, self._first = legal, legal.first()
        self.log_probabilities = _LogSoftmax.apply(scores, legal.board, legal.count)

    def sample(self, generator: torch.Generator | None) -> torch.Tensor:
        """See `Distribution.sample`. By the inverse of the cumulative distribution."""
        count = self._legal.count
        # In double precision: the sums of all positions follow one another.
        upto = self.log_probabilities.double().exp_().cumsum(0)
        last = upto[self._first + count - 1]
        begin = torch.cat([last.new_zeros(1), last[:-1]])
        drawn = torch.rand(
            len(count), generator=generator, dtype=torch.float64, device=count.device
        )
        chosen = torch.searchsorted(upto, begin + drawn * (last - begin), right=True)
        return (chosen - self._first).clamp_(min=0).minimum(count - 1)

    def likeliest(self) -> torch.Tensor:
        """Returns the place of the likeliest action in each position, (N,) int64: the first."""
        board, _, count = self._legal
        most = self.log_probabilities.new_full((len(count),), -torch.inf)
        most.scatter_reduce_(0, board, self.log_probabilities, "amax")
        place = self._legal.place().where(self.log_probabilities == most[board], count[board])
        return count.scatter_reduce(0, board, place, "amin").minimum(count - 1)

    def action(self, choice: torch.Tensor) -> torch.Tensor:
        """See `Distribution.action`."""
        return self._legal.action[self._first + choice]

    def log_probability(self, choice: torch.Tensor) -> torch.Tensor:
        """See `Distribution.log_probability`."""
        return self.log_probabilities.gather(0, self._first + choice)

    def entropy(self) -> torch.Tensor:
        """See `Distribution.entropy`."""
        likely = self.log_probabilities.exp()
        return -_sums(likely * self.log_probabilities, self._legal.board, len(self._first))


def _sums(numbers: torch.Tensor, board: torch.Tensor, boards: int) -> torch.Tensor:
    """Returns the sums of each position's numbers, in their order."""
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
