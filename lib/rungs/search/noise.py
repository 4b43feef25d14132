"""Noise at the root, drawn by counters as `cpp/search/numerics.hpp`: Gumbel's and Dirichlet's."""

import dataclasses
import math
from collections.abc import Iterator

from rungs.core import philox
from rungs.core.philox import Purpose
from rungs.search.real import exp, log


@dataclasses.dataclass(frozen=True)
class Draws:
    """Random numbers of one search, a function of where they are used.

    Attributes:
        seed: of all games.
        game: the game's number.
        episode: how many games had that number before.
        ply: how many plies the game has had.
    """

    seed: int
    game: int
    episode: int
    ply: int

    def uniform(self, purpose: Purpose, action: int, attempt: int) -> tuple[float, ...]:
        """Returns four numbers between 0 and 1, neither of them included."""
        use = int(purpose) | action << 8 | attempt << 21
        words = philox.words(self.seed, self.game, self.episode, self.ply, use)  # type: ignore[arg-type]
        return tuple((word + 0.5) / 2.0**32 for word in words)

    def gumbel(self, action: int) -> float:
        """Draws from the standard Gumbel distribution."""
        return -log(-log(self.uniform(Purpose.SEARCH_NOISE, action, 0)[0]))

    def gamma(self, action: int, alpha: float) -> float:
        """Draws from Gamma(alpha, 1) (Marsaglia and Tsang, ACM TOMS 2000)."""
        d = (alpha + 1.0 if alpha < 1 else alpha) - 1.0 / 3.0
        c = 1.0 / math.sqrt(9.0 * d)
        for a, b, accept, boost in self._attempts(action):
            x, y = 2.0 * a - 1.0, 2.0 * b - 1.0
            square = x * x + y * y
            if square >= 1:  # Marsaglia's polar method: a normal number of a point in the circle
                continue
            normal = x * math.sqrt(-2.0 * log(square) / square)
            v = 1.0 + c * normal
            if v <= 0:
                continue
            v = v * v * v
            if log(accept) < normal * normal / 2.0 + d - d * v + d * log(v):
                return d * v * (exp(log(boost) / alpha) if alpha < 1 else 1.0)
        raise AssertionError("no end of rejections")

    def choice(self) -> float:
        """Draws the number by which PUCT chooses among visits."""
        return self.uniform(Purpose.SEARCH_CHOICE, 0, 0)[0]

    def _attempts(self, action: int) -> Iterator[tuple[float, ...]]:
        for attempt in range(2048):
            yield self.uniform(Purpose.SEARCH_NOISE, action, attempt)
