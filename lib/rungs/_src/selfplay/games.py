"""Games of a network against itself, on all ranks, and their positions, to learn from."""

import dataclasses
from collections import Counter

import numpy as np
import torch

from rungs._src.chess.vector_env import ChessVectorEnv
from rungs._src.search.result import Result
from rungs._src.search.search import Search
from rungs._src.selfplay import learning
from rungs._src.selfplay.examples import DTYPES, Examples, examples_flaw, joined
from rungs._src.train.network import LegalActionNetwork
from rungs._src.train.ranks import Ranks
from rungs._src.train.torch_file import tensor_flaw
from rungs.errors import InvalidStateError

_PLAY, _STATE, _OVER = "play", "state", "over"
_MAX_PLIES = 2**42  # times 2**20 boards fits in int64


@dataclasses.dataclass(frozen=True)
class _Waiting:
    """N positions of games that are not over yet, in the order in which they were played."""

    positions: Examples  # without outcomes
    board: np.ndarray  # (N,) int64
    ply: np.ndarray  # (N,) int64, the number of this run's steps before


class SelfPlay:
    """Self-play on all boards by a search that keeps no trees, as its state doesn't hold them."""

    ARRAYS = ("board", "ply", *DTYPES)  # the tensors that `state_dict` returns

    def __init__(self, env: ChessVectorEnv, search: Search):
        self.env, self.search = env, search
        self._plies = 0
        none = np.empty(0, np.int64)
        self._waiting = _Waiting(joined([]), none, none)
        self._observation: np.ndarray | None = None

    def play(self, evaluate, plies: int) -> tuple[Examples, dict[str, int]]:
        """Plays plies on all boards; returns positions and numbers of the games that ended."""
        observation = self.env.reset()[0] if self._observation is None else self._observation
        parts, ends, counts = [self._waiting], [], Counter(decided=0, drawn=0, cut=0)
        boards = np.arange(self.env.num_envs)
        for _ in range(plies):
            self.search.begin(self.env)
            result = self.search.run(evaluate)
            parts.append(
                _Waiting(_positions(observation, result), boards, np.full_like(boards, self._plies))
            )
            observation, reward, terminated, truncated, _ = self.env.step(result.chosen)
            over = np.flatnonzero(terminated | truncated)
            ends.append((over, np.full_like(over, self._plies), reward[over].astype(np.int64)))
            counts["cut"] += int(truncated.sum())
            counts["decided"] += int((reward != 0).sum())
            counts["drawn"] += int((terminated & (reward == 0)).sum())
            self._plies += 1
        self._observation = observation
        waiting = _Waiting(
            joined(part.positions for part in parts),
            np.concatenate([part.board for part in parts]),
            np.concatenate([part.ply for part in parts]),
        )
        outcome, over = _outcomes(waiting, *map(np.concatenate, zip(*ends, strict=True)))
        finished, unfinished = np.flatnonzero(over), np.flatnonzero(~over)
        self._waiting = _Waiting(
            waiting.positions.rows(unfinished), waiting.board[unfinished], waiting.ply[unfinished]
        )
        examples = waiting.positions.rows(finished)
        examples = dataclasses.replace(examples, outcome=outcome[finished].astype(np.int8))
        return examples, dict(counts)

    def state_dict(self) -> dict:
        """Returns all that the next plies depend on: tensors, "env" and "plies"."""
        waiting = self._waiting
        arrays = {"board": waiting.board, "ply": waiting.ply} | waiting.positions.arrays()
        tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
        return {"env": self.env.get_state(), "plies": self._plies, **tensors}

    def load_state_dict(self, state: dict) -> None:
        """Continues from another's `state_dict`, or raises InvalidStateError."""
        tensors = {name: state[name] for name in self.ARRAYS}
        flaw = tensor_flaw(tensors, "games")
        if not flaw:
            try:
                arrays = {name: tensor.numpy() for name, tensor in tensors.items()}
            except (TypeError, RuntimeError) as error:  # a dtype that NumPy lacks, or gradients
                raise InvalidStateError(f"the positions of games that go on: {error}") from None
            board, ply = arrays.pop("board"), arrays.pop("ply")
            flaw = examples_flaw(arrays) or _misplaced(
                board, ply, arrays["count"], state["plies"], self.env.num_envs
            )
        if flaw:
            raise InvalidStateError(f"the positions of games that go on: {flaw}")
        self._observation, _ = self.env.set_state(state["env"])
        self._plies = state["plies"]
        self._waiting = _Waiting(Examples(**arrays), board, ply)


class RankGames:
    """The games of all ranks, by rank 0's weights; the others `serve` its requests.

    `learner` is the name by which `learning.evaluator` makes the network's evaluator.
    """

    def __init__(
        self, ranks: Ranks, network: LegalActionNetwork, learner: str, games: SelfPlay, plies: int
    ):
        self.ranks, self._games, self._plies = ranks, games, plies
        self._network, self._learner = network, learner
        self.positions = games.env.num_envs * plies * ranks.size

    def play(self) -> tuple[Examples, dict[str, int]]:
        """Plays on all ranks; returns the results of `SelfPlay.play`, joined in order of rank."""
        return self._do(_PLAY)

    def state_dicts(self) -> list[dict]:
        return self._do(_STATE)

    def load_state_dicts(self, states: list[dict]) -> None:
        if len(states) != self.ranks.size:
            raise InvalidStateError(f"the run had {len(states)} ranks, not {self.ranks.size}")
        self._games.load_state_dict(states[self.ranks.rank])

    def serve(self) -> None:
        """Carries out rank 0's requests until it calls `end`."""
        while (task := self.ranks.agree(lambda: None)) != _OVER:
            self._tasks()[task]()

    def end(self) -> None:
        self.ranks.agree(lambda: _OVER)

    def _do(self, task: str):
        self.ranks.agree(lambda: task)
        return self._tasks()[task]()

    def _tasks(self) -> dict:
        return {_PLAY: self._play, _STATE: lambda: self.ranks.gather(self._games.state_dict())}

    def _play(self) -> tuple[Examples, dict[str, int]]:
        network = self._network
        if self.ranks.size > 1:
            network.load_state_dict(self.ranks.agree(network.state_dict))
        evaluate = learning.evaluator(self._learner, network)
        played = self.ranks.gather(self._games.play(evaluate, self._plies))
        ended: Counter[str] = Counter()
        for _, counts in played:
            ended.update(counts)
        return joined(positions for positions, _ in played), dict(ended)


def _misplaced(
    board: np.ndarray, ply: np.ndarray, count: np.ndarray, plies: int, boards: int
) -> str:
    """Returns why these can't be positions of unfinished games; "" if they can."""
    if not 0 <= plies <= _MAX_PLIES:
        return f"plies: {plies}, not 0 to {_MAX_PLIES}"
    for name, array, most in (("board", board, boards), ("ply", ply, plies)):
        if array.dtype != np.int64 or array.shape != count.shape:
            return f"{name}: {array.dtype} of shape {array.shape}"
        if ((array < 0) | (array >= most)).any():
            return f"{name}: not 0 to {most - 1}"
    return ""


def _positions(observation: np.ndarray, result: Result) -> Examples:
    """Returns copies of the observations and of search's results as positions to learn from."""
    listed = np.arange(result.actions.shape[1]) < result.counts[:, None]
    return Examples(
        observation.copy(),
        result.counts.copy(),
        result.actions[listed],
        result.policy[listed].astype(np.float16),
        np.zeros(len(observation), np.int8),
        _value(result).astype(np.float16),
    )


def _value(result: Result) -> np.ndarray:
    """Returns the mean of visited actions' values, weighted by search's policy, (N,) float32."""
    # `result.value` weights all visits alike, also those of actions that halving has rejected.
    weights = np.where(result.visits > 0, result.policy, 0)
    total = weights.sum(axis=1)
    weighted = (weights * result.action_values).sum(axis=1)
    return np.divide(weighted, total, out=result.value.copy(), where=total > 0)


def _outcomes(
    waiting: _Waiting, board: np.ndarray, ply: np.ndarray, reward: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Returns positions' outcomes for the side to move, 0 if the game goes on, and if it is over.

    `board`, `ply` and `reward`, (games,) int64, are of the games that ended: the board, the last
    ply, and the reward of that ply's player.
    """
    if not len(board):
        return np.zeros(len(waiting.board), np.int64), np.zeros(len(waiting.board), bool)
    # A position's game is the first on its board that ends with its ply or later.
    far = int(max(waiting.ply.max(initial=0), ply.max())) + 1
    order = np.argsort(board * far + ply)
    keys = (board * far + ply)[order]
    index = np.searchsorted(keys, waiting.board * far + waiting.ply)
    last = order[np.minimum(index, len(order) - 1)]
    over = (index < len(order)) & (board[last] == waiting.board)
    same_side = (ply[last] - waiting.ply) % 2 == 0
    return np.where(over, np.where(same_side, reward[last], -reward[last]), 0), over
