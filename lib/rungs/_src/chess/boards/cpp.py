"""The C++ rung: our own bitboards, one thread."""

import ctypes
from typing import Any

import numpy as np

from rungs._src.chess.boards.boards import CopyableBoards, illegal_action
from rungs._src.chess.boards.engine import EngineBoards
from rungs._src.chess.boards.native import (
    block_bytes,
    check_size,
    config,
    fens_at,
    restored,
    start_positions,
)
from rungs._src.chess.policy import draw_ranks
from rungs._src.chess.settings import ChessSettings
from rungs._src.core.arguments import Seed, seed_fields, shown
from rungs._src.core.buffers import Buffers
from rungs._src.core.memory import zeroed_lines
from rungs._src.native import loader
from rungs._src.native.abi import Api, as_argument, described
from rungs.errors import ConfigurationError

# The states of boards, and their histories where observations show any.
States = tuple[np.ndarray, np.ndarray]


class CppBoards(EngineBoards, CopyableBoards):
    """A loop over boards, in C++, which gets addresses of NumPy's memory and never allocates."""

    _load = staticmethod(loader.load)

    def __init__(
        self,
        num_envs: int,
        first_board: int,
        settings: ChessSettings,
        *,
        compiler: str | None = None,  # see `rungs._src.native.loader.load`; it changes only time
        api: Api | None = None,  # what `load` returns, instead of a compiler's name
    ):
        self.api = self._load(compiler) if api is None else api
        if not hasattr(self.api, "rungs_chess_serial_step"):
            raise ConfigurationError(f"api={shown(api)} is not an API that rungs._src.native loads")
        super().__init__(num_envs, first_board, settings)
        constants = described(self.api).constants
        self._blocks = zeroed_lines(block_bytes(constants, num_envs))
        self._saved_words = constants["saved_board_bytes"] // 8
        num_histories = num_envs if settings.obs != "board" else 0
        self._history = np.zeros((num_histories, constants["history_bytes"] // 8), np.uint64)
        self._chosen = zeroed_lines(2 * num_envs).view(np.int16)
        self.actions = np.zeros(num_envs, np.int64)  # those that `step_all` plays
        self._starts = start_positions(self.api, settings)
        self.batch: Any = described(self.api).structures["ChessBatch"](
            config=config(self.api, settings, len(self._starts), self._starts.ctypes.data),
            num_envs=num_envs,
            first_board=first_board,
            seeds=None,
            history=self._history if num_histories else None,
            replies=self.replies,
            **vars(self.buffers),
            blocks=self._blocks,
            chosen=self._chosen,
        )
        self.address = ctypes.addressof(self.batch)
        # Looked up and converted once, which takes longer than to step a board.
        self._address = as_argument(self.api, self.address)
        self._serial_step = self.api.rungs_chess_serial_step
        self._actions_address = as_argument(self.api, self.actions.ctypes.data)

    def write_to(self, buffers: Buffers) -> None:
        before, self.buffers = self.buffers, buffers
        for name, array in vars(buffers).items():
            if array is not getattr(before, name):
                setattr(self.batch, name, array.ctypes.data)

    def read_replies(self, replies: np.ndarray) -> None:
        """Reads an engine's answers from (N,) int64 `replies` from now on."""
        self.replies = replies
        self.batch.replies = replies.ctypes.data

    def set_seed(self, seed: Seed) -> None:
        """Sets the seed by which boards draw, from their next reset on; it is as for `reset`."""
        # Our own copy: C++ keeps its address, and with MPI the argument is a slice.
        self._seed = np.array(seed) if isinstance(seed, np.ndarray) else seed
        self.batch.config.seed, self.batch.seeds = seed_fields(self._seed)

    def reset(self, which: np.ndarray | None, seed: Seed, episode: int | None) -> None:
        self.set_seed(seed)
        marks = 0 if which is None else which.ctypes.data
        self.reset_all(marks, -1 if episode is None else episode)

    def step(self, actions: np.ndarray) -> int:
        self.actions[...] = actions  # read once: another thread may write there
        ended = self.step_all()
        if ended < 0:
            board = -1 - ended
            raise illegal_action(self, board, int(self.actions[board]))
        return ended

    def reset_all(self, marks: int, episode: int) -> None:
        """Loops over the boards as `rungs::serial::reset` does."""
        self.api.rungs_chess_serial_reset(self._address, marks, episode)

    def step_all(self) -> int:
        """Plays `actions` as `rungs::serial::step` does, and returns what that does."""
        return self._serial_step(self._address, self._actions_address)

    def sample(self, rng: np.random.Generator) -> np.ndarray:
        counts = np.empty(self.num_envs, np.int64)
        self.api.rungs_chess_count_actions(self._address, counts.ctypes.data)
        ranks = draw_ranks(counts, rng)
        self.api.rungs_chess_rank_to_action(self._address, ranks.ctypes.data)
        return ranks

    def open(self) -> None:
        self.api.rungs_chess_serial_open(self._address)

    def fen(self, board: int) -> str:
        return self._fens(np.array([board]))[0]

    def fens(self) -> list[str]:
        return self._fens(np.arange(self.num_envs))

    def _fens(self, which: np.ndarray) -> list[str]:
        saved, _ = self.save(which)  # each begins with the position
        return fens_at(self.api, saved.ctypes.data, self._saved_words, len(which))

    def agent_is_black(self, board: int) -> bool:
        saved, _ = self.save(np.array([board]))
        return bool(self.api.rungs_chess_agent_is_black(saved.ctypes.data))

    def layout(self) -> str:
        history = self._history.strides[0] if self._history.size else 0
        return f"C++, {8 * self._saved_words} bytes a board, {history} of history"

    def state_bytes(self) -> int:
        return 8 * self._saved_words * self.num_envs + self._history.nbytes

    def dump(self) -> bytes:
        saved, past = self.save(np.arange(self.num_envs))
        return saved.tobytes() + past.tobytes()

    def load(self, payload: bytes, seed: Seed) -> None:
        self.take(self.checked(payload), seed)

    def checked(self, payload: bytes) -> States:
        """Makes states of what `dump` returned, for `take`; an InvalidStateError names a board."""
        check_size(payload, self.state_bytes())
        return restored(self.api, self.address, payload, self.first_board, self._history.shape)

    def take(self, states: States, seed: Seed) -> None:
        """Restores what `checked` made, and writes its outputs."""
        self.set_seed(seed)
        self.put(states, np.arange(self.num_envs), False)

    def save(self, which: np.ndarray) -> States:
        count = len(which)
        # Zeroed, as only the keys in use of past positions are written.
        saved = np.zeros((count, self._saved_words), np.uint64)
        past = np.zeros((count if self._history.size else 0, self._history.shape[1]), np.uint64)
        addresses = _addresses((saved, past))
        self.api.rungs_chess_save(self.address, which.ctypes.data, count, *addresses)
        return saved, past

    def put(self, saved: States, which: np.ndarray, own_randomness: bool) -> None:
        addresses = _addresses(saved)
        at = self.address, which.ctypes.data, len(which)
        self.api.rungs_chess_put(*at, *addresses, own_randomness)


def _addresses(states: States) -> tuple[int, int]:
    boards, histories = states
    return boards.ctypes.data, histories.ctypes.data if len(histories) else 0
