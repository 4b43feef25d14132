"""The interface of a peer: games in another project's environment, stepped as its users do."""

import abc
import dataclasses
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import chess
import numpy as np

from rungs.chess import NUM_ACTIONS, action_on, move_of, random_actions
from rungs.conformance import Environment, Outcome
from rungs.devel.envs import check_not_asked
from rungs.errors import UnsupportedError


@dataclasses.dataclass(frozen=True)
class Step:
    """The parts of one step of a peer, in words."""

    mask: str  # how legal actions are given
    observation: str  # what an agent sees, and from which side
    draws: str  # rules by which a game is drawn
    reset: str  # what begins the next game, and whether that is a step of its own


class Peer(abc.ABC):
    """A batch of environments, of which `step` alone is timed."""

    def __init__(self, num_envs: int, threads: int = 1):
        self.num_envs, self.threads = num_envs, threads

    @abc.abstractmethod
    def reset(self, seed: int) -> None:
        """Begins an episode in each environment."""

    @abc.abstractmethod
    def choose(self, rng: np.random.Generator):
        """Chooses a random legal action for each, as `step` accepts them."""

    @abc.abstractmethod
    def step(self, actions) -> tuple:
        """Plays an action in each, begins the next episode where one ended; returns all outputs."""

    def played(self) -> int:
        """Returns the number of environments in which the last step was not only a reset."""
        return self.num_envs

    def close(self) -> None:  # noqa: B027 (most have nothing to end)
        """Frees what it holds: environments, processes."""


def array_bytes(outputs: Any) -> int:
    """Returns the bytes of all arrays, NumPy's or JAX's, in what a step returned."""
    if isinstance(outputs, dict):
        return array_bytes(list(outputs.values()))
    if isinstance(outputs, list | tuple):
        return sum(map(array_bytes, outputs))
    return getattr(outputs, "nbytes", 0)


class Games(Peer):
    """A batch of chess games, each in an environment as the conformance suite plays it.

    A step plays a move in each, begins the next game where one is over, and gets the legal moves.
    """

    def __init__(self, num_envs: int, kind: Callable[[], Environment]):
        super().__init__(num_envs)
        self._games = [kind() for _ in range(num_envs)]

    def reset(self, seed: int) -> None:
        for game in self._games:
            game.begin()
        self._legal = [game.legal_moves() for game in self._games]

    def choose(self, rng: np.random.Generator) -> list[str]:
        return [legal[rng.integers(len(legal))] for legal in self._legal]

    def step(self, actions: list[str]) -> tuple:
        outcomes = []
        for i, (game, move) in enumerate(zip(self._games, actions, strict=True)):
            game.play(move)
            outcomes.append(game.outcome())
            if outcomes[-1].over:
                game.begin()
            self._legal[i] = game.legal_moves()
        return self._legal, outcomes


class ChessPeer(Peer, Environment):
    """A batch of chess games, whose actions can be translated to ours.

    The conformance suite plays a batch of one, whose games it begins by `begin`. `board` only
    translates moves; which are legal and how the game ends is the peer's own answer.
    """

    STEP: ClassVar[Step]  # the parts of a step
    MAX_PLIES: ClassVar[int | None] = None  # ply at which it ends games that the rules don't

    ended: np.ndarray  # (N,) bool, the games that the last step ended
    result: np.ndarray  # (N,) float, what White got of them: 1, 0 or -1
    board: chess.Board  # position of the game that the suite plays

    def choose(self, rng: np.random.Generator):
        """Chooses a random legal action of each game, as `step` accepts them."""
        return self.native(random_actions(self.mask(), rng))

    @abc.abstractmethod
    def mask(self) -> np.ndarray:
        """Returns (N, 4672) bool, or (N, 73) uint64: the legal actions of each game, in our ids."""

    @abc.abstractmethod
    def native(self, actions: np.ndarray):
        """Translates (N,) legal actions in our ids to what `step` accepts."""

    def begin(
        self, fen: str | None = None, chess960: bool = False, max_plies: int | None = None
    ) -> None:
        """See `Environment`; here with the initial position only."""
        check_not_asked(chess960=chess960, fen=fen, max_plies=max_plies)
        self.board = chess.Board()
        self.reset(0)

    def legal_moves(self) -> list[str]:
        """See `Environment`; here for a peer whose step begins the next game."""
        if self.outcome().over:
            raise UnsupportedError("legal moves after the end: the next game has begun")
        return self.named(np.flatnonzero(self.mask()[0]))

    def play(self, move: str) -> None:
        self.step(self.pushed(move))

    def outcome(self) -> Outcome:
        """See `Environment`; here without Black's reward."""
        return Outcome(terminated=bool(self.ended[0]), rewards=(float(self.result[0]), None))

    def named(self, actions: Iterable[int]) -> list[str]:
        """Returns actions, given by our ids, in UCI; one off the board as its number."""
        moves = ((action, move_of(int(action), self.board)) for action in actions)
        return [move.uci() if move else f"action {action}" for action, move in moves]

    def pushed(self, move: str) -> Any:
        """Plays a move on `board`; returns it as `step` accepts it."""
        action = action_on(chess.Move.from_uci(move), self.board)
        self.board.push_uci(move)
        return self.native(np.array([action]))


class ListedMoves(ChessPeer):
    """A peer with an object per game, which lists its legal moves."""

    def __init__(self, num_envs: int = 1, threads: int = 1):
        super().__init__(num_envs, threads)
        self._of_action: list[dict[int, int]] = [{}] * num_envs
        self.ended, self.result = np.zeros(num_envs, np.bool_), np.zeros(num_envs)

    @abc.abstractmethod
    def legal(self, i: int) -> dict[int, int]:
        """Returns the legal actions of game `i`, in the peer's ids, by ours."""

    def mask(self) -> np.ndarray:
        mask = np.zeros((self.num_envs, NUM_ACTIONS), np.bool_)
        for i in range(self.num_envs):
            self._of_action[i] = self.legal(i)
            mask[i, list(self._of_action[i])] = True
        return mask

    def native(self, actions: np.ndarray) -> list[int | None]:
        """See `ChessPeer`; None for an action that the last `mask` did not allow."""
        pairs = zip(self._of_action, actions.tolist(), strict=True)
        return [ids.get(action) for ids, action in pairs]
