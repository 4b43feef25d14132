"""Games of several processes, started by torchrun, that play for one learner."""

from collections import Counter

from rungs._src.selfplay.games import SelfPlay
from rungs._src.selfplay.learning import Learner
from rungs._src.selfplay.positions import Positions, joined
from rungs._src.train.ranks import Ranks
from rungs.errors import InvalidStateError

_PLAY, _SAVE, _OVER = "play", "save", "over"


class Games:
    """The games of all ranks. Rank 0 asks for plies; the others `serve` it, and nobody else learns.

    Args:
        ranks: who there is; alone, this process plays.
        learner: whose network plays: rank 0's, which the others are given before they play.
        own: this rank's games.
        plies: of each `play`, on every board.
    """

    def __init__(self, ranks: Ranks, learner: Learner, own: SelfPlay, plies: int):
        self.ranks, self._learner, self._own, self._plies = ranks, learner, own, plies
        self.positions = own.env.num_envs * plies * ranks.size

    def play(self) -> tuple[Positions, dict[str, int]]:
        """Has all ranks play; returns what `SelfPlay.play` does, of all, rank by rank."""
        return self._do(_PLAY)

    def save(self) -> list[dict]:
        """Returns what `SelfPlay.save` does, of each rank."""
        return self._do(_SAVE)

    def load(self, saved: list[dict]) -> None:
        """Goes on from what `save` returned, on every rank.

        Raises:
            InvalidStateError: it is of another number of ranks, or of other environments.
        """
        if len(saved) != self.ranks.size:
            raise InvalidStateError(f"the run had {len(saved)} ranks, not {self.ranks.size}")
        self._own.load(saved[self.ranks.rank])

    def serve(self) -> None:
        """Does what rank 0 asks for, until it ends."""
        while (task := self.ranks.agree(lambda: None)) != _OVER:
            self._tasks()[task]()

    def end(self) -> None:
        """Lets the other ranks go."""
        self.ranks.agree(lambda: _OVER)

    def _do(self, task: str):
        self.ranks.agree(lambda: task)
        return self._tasks()[task]()

    def _tasks(self) -> dict:
        return {_PLAY: self._play, _SAVE: lambda: self.ranks.gather(self._own.save())}

    def _play(self) -> tuple[Positions, dict[str, int]]:
        network = self._learner.network
        if self.ranks.size > 1:
            network.load_state_dict(self.ranks.agree(network.state_dict))
        played = self.ranks.gather(self._own.play(self._learner.evaluate, self._plies))
        ended: Counter[str] = Counter()
        for _, counts in played:
            ended.update(counts)
        return joined(positions for positions, _ in played), dict(ended)
