"""The C++ rung: our own bitboards, one thread."""

import numpy as np

from rungs._src.chess.boards.boards import CopyableBoards, illegal_action
from rungs._src.chess.boards.engine import EngineBoards
from rungs._src.chess.boards.native import Memory, fen_at
from rungs._src.chess.buffers import Buffers
from rungs._src.chess.policy import draw_ranks
from rungs._src.chess.settings import ChessSettings
from rungs._src.core.arguments import shown
from rungs._src.native import loader
from rungs._src.native.abi import Api
from rungs.errors import ConfigurationError


class CppBoards(EngineBoards, CopyableBoards):
    """A loop over boards, in C++.

    Args:
        num_envs, first_board, settings: see `Boards`.
        compiler: what compiles the C++, see `rungs._src.native.loader.load`; only time may
            change.
        api: what that loads, instead of a compiler's name.

    Raises:
        UnavailableError: what `compiler` names is not here.
        CompilerError: it refuses the headers.
    """

    _load = staticmethod(loader.load)

    def __init__(
        self,
        num_envs: int,
        first_board: int,
        settings: ChessSettings,
        *,
        compiler: str | None = None,
        api: Api | None = None,
    ):
        self.api = self._load(compiler) if api is None else api
        if not hasattr(self.api, "rungs_chess_serial_step"):
            raise ConfigurationError(f"api={shown(api)} is none that rungs._src.native loads")
        super().__init__(num_envs, first_board, settings)
        self.memory = Memory(self.api, self.buffers, settings, first_board)
        if self.replies is not None:
            self.read_replies(self.replies)
        # Looked up once: a board is stepped in less time.
        self._serial_step, self._address = self.api.rungs_chess_serial_step, self.memory.address

    def write_to(self, buffers: Buffers) -> None:
        self.buffers = buffers
        self.memory.write_to(buffers)

    def read_replies(self, replies: np.ndarray) -> None:
        """Has an engine's answers read from (N,) int64 `replies`."""
        self.replies = replies
        self.memory.read_replies(replies)

    def reset(self, which: np.ndarray | None, seed: int, episode: int | None) -> None:
        self.memory.batch.config.seed = seed
        marks = 0 if which is None else which.ctypes.data
        self.reset_all(marks, -1 if episode is None else episode)

    def step(self, actions: np.ndarray) -> int:
        ended = self.step_all(actions)
        if ended < 0:
            board = -1 - ended
            raise illegal_action(self, board, int(actions[board]))
        return ended

    def reset_all(self, marks: int, episode: int) -> None:
        """Loops over the boards as `rungs::serial::reset` does."""
        self.api.rungs_chess_serial_reset(self._address, marks, episode)

    def step_all(self, actions: np.ndarray) -> int:
        """Loops over the boards as `rungs::serial::step` does, and returns what that does."""
        return self._serial_step(self._address, actions)

    def sample(self, rng: np.random.Generator) -> np.ndarray:
        counts = np.empty(self.num_envs, np.int64)
        self.api.rungs_chess_count_actions(self._address, counts.ctypes.data)
        ranks = draw_ranks(counts, rng)
        self.api.rungs_chess_rank_to_action(self._address, ranks.ctypes.data)
        return ranks

    def open(self) -> None:
        self.api.rungs_chess_serial_open(self._address)

    def fen(self, board: int) -> str:
        return fen_at(self.api, self.api.rungs_chess_position(self._address, board))

    def agent_is_black(self, board: int) -> bool:
        return bool(self.api.rungs_chess_agent_is_black(self._address, board))

    def layout(self) -> str:
        return self.memory.layout()

    def dump(self) -> bytes:
        return self.memory.dump()

    def load(self, payload: bytes, seed: int) -> None:
        self.take(self.memory.check(payload), seed)

    def save(self, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.memory.save(which)

    def put(self, saved: tuple[np.ndarray, np.ndarray], which: np.ndarray, own: bool) -> None:
        self.memory.put(*saved, which, own)

    def take(self, checked: tuple[np.ndarray, np.ndarray], seed: int) -> None:
        """Takes boards and histories that `Memory.check` made, and writes what is seen of them."""
        self.memory.batch.config.seed = seed
        self.memory.load(*checked)
