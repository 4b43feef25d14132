"""The first rung: python-chess, one board after the other."""

import json
import operator

import numpy as np

from rungs._src.chess.boards.boards import CopyableBoards, illegal_action
from rungs._src.chess.boards.engine import EngineBoards
from rungs._src.chess.env import ChessEnv
from rungs._src.chess.policy import draw_ranks
from rungs._src.chess.settings import ChessSettings
from rungs._src.core.arguments import Seed, seed_and_number
from rungs._src.core.state import from_json
from rungs.errors import InvalidStateError

LAYOUT = "Python, seeds and moves"


class PythonBoards(EngineBoards, CopyableBoards):
    """A loop over boards, in Python."""

    def __init__(self, num_envs: int, first_board: int, settings: ChessSettings):
        super().__init__(num_envs, first_board, settings)
        numbers = range(first_board, first_board + num_envs)
        self._envs = [ChessEnv(number, settings) for number in numbers]

    def reset(self, which: np.ndarray | None, seed: Seed, episode: int | None) -> None:
        for i, env in enumerate(self._envs):
            env.set_seed(*seed_and_number(seed, i, self.first_board))
            if which is None or which[i]:
                env.begin(episode)
                env.write(self.buffers, i)

    def step(self, actions: np.ndarray) -> int:
        chosen = actions.tolist()  # read once: another thread may write there
        for i, (env, action) in enumerate(zip(self._envs, chosen, strict=True)):
            if not env.accepts(action):
                raise illegal_action(self, i, action)
        return self.step_legal(chosen)

    def step_legal(self, actions: list[int]) -> int:
        """Plays actions that are all legal, as `step`."""
        replies = [None] * self.num_envs if self.replies is None else self.replies.tolist()
        played = zip(self._envs, actions, replies, strict=True)
        return sum(
            env.step(action, reply, self.buffers, i)
            for i, (env, action, reply) in enumerate(played)
        )

    def sample(self, rng: np.random.Generator) -> np.ndarray:
        # From the rules, as the reader of the masks may have written to them.
        taken = [env.taken() for env in self._envs]
        ranks = draw_ranks(np.array([*map(len, taken)]), rng)
        return np.array([*map(operator.getitem, taken, ranks)])

    def open(self) -> None:
        assert self.replies is not None  # an engine plays
        for i, (env, reply) in enumerate(zip(self._envs, self.replies.tolist(), strict=True)):
            if reply >= 0:
                env.begin_with(reply)
                env.write(self.buffers, i)

    def fen(self, board: int) -> str:
        return self._envs[board].board.fen()

    def agent_is_black(self, board: int) -> bool:
        return self._envs[board].agent_is_black()

    def layout(self) -> str:
        return LAYOUT

    def dump(self) -> bytes:
        return json.dumps([env.dump() for env in self._envs]).encode()

    def load(self, payload: bytes, seed: Seed) -> None:
        self._envs = load_envs(payload, self.num_envs, self.first_board, self.settings)
        for i, env in enumerate(self._envs):
            env.set_seed(*seed_and_number(seed, i, self.first_board))
            self.buffers.ended[i] = env.ended
            env.write(self.buffers, i)

    def save(self, which: np.ndarray) -> list[ChessEnv]:
        return [self._envs[i].copy() for i in which.tolist()]

    def put(self, saved: list[ChessEnv], which: np.ndarray, own_randomness: bool) -> None:
        out = self.buffers
        for i, copied in zip(which.tolist(), saved, strict=True):
            env = self._envs[i] = copied.copy_for(self._envs[i], own_randomness)
            out.reward[i] = out.terminated[i] = out.truncated[i] = out.reason[i] = 0
            out.ended[i] = env.ended
            env.write(out, i)


def load_envs(
    payload: bytes, num_envs: int, first_board: int, settings: ChessSettings
) -> list[ChessEnv]:
    """Makes environments of what `PythonBoards.dump` returned; errors name the board."""
    boards = from_json(payload)
    if type(boards) is not list or len(boards) != num_envs:
        raise InvalidStateError(f"the state is not a list of {num_envs} boards")
    envs = []
    for number, saved in enumerate(boards, first_board):
        envs.append(ChessEnv(number, settings))
        envs[-1].load(saved)
    return envs
