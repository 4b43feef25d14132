"""A small residual network over `obs="board"`: values, and scores of legal actions alone."""

import functools
from collections.abc import Callable

import torch
from torch import nn

from rungs._src.chess.actions import NUM_ACTIONS, target_of
from rungs._src.train.attacks import STATES, attack_states
from rungs._src.train.layers import NUM_PIECES, DenseSquares, products, sums
from rungs._src.train.legal_actions import Legal, Padded, from_bits
from rungs.errors import ConfigurationError


class LegalActionNetwork(nn.Module):
    """A network that scores legal actions and nothing else: a subclass writes `scores`."""

    def scores(self, observation: torch.Tensor, legal: Legal) -> tuple[torch.Tensor, torch.Tensor]:
        """Scores a batch of positions.

        Args:
            observation: (N, 72) int8.
            legal: their legal actions, M in all.

        Returns:
            A logit per legal action, (M,), and a value per position, (N,); float32.
        """
        raise NotImplementedError

    def values(self, observation: torch.Tensor) -> torch.Tensor:
        """Returns the values alone, (N,) float32, of (N, 72) int8."""
        nothing = observation.new_zeros(len(observation), dtype=torch.int64)
        return self.scores(observation, Legal(nothing[:0], nothing[:0], nothing))[1]

    def forward(self, observation: torch.Tensor, mask: torch.Tensor):
        """Scores a batch of positions as the environment gives them.

        Args:
            observation: (N, 72) int8.
            mask: (N, 73) int64, the bits of `mask="bits"`.

        Returns:
            Each position's legal actions in order, (N, K) int64; K is the most that one has.
            Log-probabilities (N, K) float32, -inf beyond a position's last. Values (N,)
            float32.
        """
        legal = from_bits(mask)
        scores, values = self.scores(observation, legal)
        rows = Padded(legal, scores)
        return rows.actions, rows.log_probabilities, values


def check_learns(network: nn.Module) -> None:
    """Rejects a network with frozen parameters, and inference mode, in which none learns."""
    if torch.is_inference_mode_enabled():
        raise ConfigurationError("torch.inference_mode() is on, in which no network learns")
    for name, parameter in network.named_parameters():
        if not parameter.requires_grad:
            raise ConfigurationError(
                f"network: its {name} is frozen (requires_grad=False), and learners move all "
                "parameters; network.requires_grad_() lets all of them learn"
            )


def gathered_scores(
    query: torch.Tensor, legal: Legal, *keys: tuple[torch.Tensor, torch.Tensor]
) -> torch.Tensor:
    """Returns (N, k) queries times the sums of actions' keys, (M,), from copies of both."""
    first, *more = (nn.functional.embedding(rows, table) for table, rows in keys)
    # By an embedding, whose gradient is summed in a fixed order; that of indexing is not.
    queries = nn.functional.embedding(legal.board, query)
    return (queries * sum(more, first)).sum(1)


def scores_in_place(
    query: torch.Tensor, legal: Legal, *keys: tuple[torch.Tensor, torch.Tensor]
) -> torch.Tensor:
    """As `gathered_scores`, without copies of queries and keys."""
    return functools.reduce(
        torch.add, (products(query, *key, legal.board, legal.count) for key in keys)
    )


class PolicyValueNetwork(LegalActionNetwork):
    """Squares' pieces as one-hot vectors, residual blocks, a policy head and a value head.

    Each square that has a piece or is attacked also adds a row of its own, for its piece and how
    often each side attacks it (`attack_states`). A legal move's score is the position's query times
    the move's key; the key is learnt for the action, and for which piece moves, which it takes, and
    the attacks on the square where it goes.

    Args:
        width: units of the residual stream.
        blocks: residual blocks.
        keys: units of queries and keys.
        squares: makes the first layer, of a width: `DenseSquares` or `SparseSquares`.
        score: multiplies queries by keys: `gathered_scores` or `scores_in_place`.
    """

    # A buffer, declared as a tensor here: by `nn.Module` it might be a module, too.
    _targets: torch.Tensor

    def __init__(
        self,
        width: int = 128,
        blocks: int = 2,
        keys: int = 64,
        squares: Callable[[int], nn.Linear] = DenseSquares,
        score: Callable[..., torch.Tensor] = gathered_scores,
    ):
        super().__init__()
        self._score = score
        self.squares = squares(width)
        self.blocks = nn.Sequential(*(_Block(width) for _ in range(blocks)))
        self.norm = nn.LayerNorm(width)
        self.query = nn.Linear(width, keys)
        self.action_key = _small(nn.Embedding(NUM_ACTIONS, keys))
        self.capture_key = _small(nn.Embedding(NUM_PIECES * NUM_PIECES * STATES, keys))
        self.attacked = nn.Embedding(64 * NUM_PIECES * STATES, width)
        nn.init.zeros_(self.attacked.weight)
        self.value = nn.Linear(width, 1)
        targets = [target_of(action) or 0 for action in range(NUM_ACTIONS)]
        self.register_buffer("_targets", torch.tensor(targets), persistent=False)

    def scores(self, observation: torch.Tensor, legal: Legal) -> tuple[torch.Tensor, torch.Tensor]:
        """See `LegalActionNetwork.scores`."""
        board, action, _ = legal
        states = attack_states(observation)
        features = self._features(observation, states)
        target = self._targets[action]
        moved, taken = (observation[board, square].long() + 6 for square in (action % 64, target))
        capture = (moved * NUM_PIECES + taken) * STATES + states[board, target]
        keys = (self.action_key.weight, action), (self.capture_key.weight, capture)
        return self._score(self.query(features), legal, *keys), self.value(features).squeeze(1)

    def values(self, observation: torch.Tensor) -> torch.Tensor:
        """See `LegalActionNetwork.values`."""
        return self.value(self._features(observation, attack_states(observation))).squeeze(1)

    def _features(self, observation: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
        pieces = observation[:, :64].long()
        relevant = (pieces != 0) | (states != 0)
        _, square = relevant.nonzero(as_tuple=True)
        rows = (square * NUM_PIECES + pieces[relevant] + 6) * STATES + states[relevant]
        attacked = sums(self.attacked.weight, rows, relevant.sum(1))
        return self.norm(self.blocks(self.squares(observation) + attacked))


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
