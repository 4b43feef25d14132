"""The batch of boards as C++ sees it: `ChessBatch` of `cpp/rungs/batch.hpp`.

NumPy owns all the memory, boards included; C++ is given the addresses and never allocates.
"""

import ctypes
from typing import Any

import numpy as np

from rungs._src.chess.buffers import Buffers
from rungs._src.chess.engine import UciEngine
from rungs._src.chess.observation import format_name
from rungs._src.chess.settings import ChessSettings
from rungs._src.core.arguments import shown
from rungs._src.core.memory import zeroed_lines
from rungs._src.native.abi import Api, Structure, described
from rungs.errors import InvalidFenError, InvalidStateError


def config(api: Api, settings: ChessSettings, num_starts: int, starts: int) -> Structure:
    """Returns the settings for C++, with seed 0; `starts` is the address of `num_starts`.

    A setting that has the same name and values in C++ needs nothing here.

    Raises:
        CompilerError: C++ has other settings; the message names the first.
    """
    values = settings.given()
    for name in ("obs", "dtype", "autoreset_mode", "opening_plies", "start", "start_fens"):
        del values[name]  # C++ has them by other names
    opponent = "ENGINE" if isinstance(settings.opponent, UciEngine) else settings.opponent or "none"
    values |= {"opponent": opponent.upper(), "mask": settings.mask.upper()}
    values["max_plies"] = settings.max_plies or 0
    return described(api).structures["ChessConfig"](
        seed=0,
        observation=format_name(settings.obs, settings.dtype),
        autoreset=settings.autoreset_mode.name,
        opening_min=settings.opening_plies[0],
        opening_max=settings.opening_plies[1],
        num_starts=num_starts,
        starts=starts,
        **values,
    )


def parse_fen(api: Api, fen: str) -> np.ndarray:
    """Returns a `rungs::chess::Position`, (8,) uint64.

    Raises:
        InvalidFenError: the FEN is malformed or its position impossible; the message says why.
    """
    if not isinstance(fen, str):
        raise InvalidFenError(f"{shown(fen)} is not a FEN")
    if not fen.isascii() or "\0" in fen:
        raise InvalidFenError(f"{shown(fen)} holds what no FEN holds")
    text = ctypes.create_string_buffer(fen.encode())
    why = ctypes.create_string_buffer(256)
    position = np.zeros(8, np.uint64)
    api.rungs_chess_parse_fen(ctypes.addressof(text), position.ctypes.data, ctypes.addressof(why))
    if why.value:
        raise InvalidFenError(f"{shown(fen)}: {why.value.decode(errors='replace')}")
    return position


def start_positions(api: Api, settings: ChessSettings) -> np.ndarray:
    """Returns (n, 8) uint64, where episodes start; raises as `parse_fen`."""
    return np.stack([parse_fen(api, fen) for fen in settings.starts])


def fen_at(api: Api, address: int) -> str:
    """Returns the FEN of a `rungs::chess::Position`."""
    text = ctypes.create_string_buffer(128)
    api.rungs_chess_fen(address, ctypes.addressof(text))
    return text.value.decode()


class Memory:
    """The state of `num_envs` boards and the struct that C++ reads.

    Args:
        api: the compiled functions of `cpp/bindings`, of `rungs._src.native`.
        buffers: where the outputs go.
        settings: the environment's.
        first_board: the number of the first board among all.

    Raises:
        CompilerError: C++ has other settings or outputs; the message names the first.
    """

    def __init__(self, api: Api, buffers: Buffers, settings: ChessSettings, first_board: int):
        num_envs = len(buffers.reward)
        memory = zeroed_lines(num_envs * api.rungs_chess_env_bytes())
        self._env = memory.view(np.uint64).reshape(num_envs, -1)
        shown = num_envs if settings.obs != "board" else 0
        self._history = np.zeros((shown, api.rungs_chess_history_bytes() // 8), np.uint64)
        self._chosen = zeroed_lines(2 * num_envs).view(np.int16)
        self._starts = start_positions(api, settings)
        self.batch: Any = described(api).structures["ChessBatch"](
            config=config(api, settings, len(self._starts), self._starts.ctypes.data),
            num_envs=num_envs,
            first_board=first_board,
            history=self._history if shown else None,
            replies=None,
            **vars(buffers),
            env=self._env,
            chosen=self._chosen,
        )
        self._api, self._buffers = api, buffers
        self.address = ctypes.addressof(self.batch)

    def write_to(self, buffers: Buffers) -> None:
        """Has outputs written to `buffers`, which are kept alive here."""
        self._buffers = buffers
        for name, array in vars(buffers).items():
            setattr(self.batch, name, array.ctypes.data)

    def read_replies(self, replies: np.ndarray) -> None:
        """Has an engine's answers read from (N,) int64 `replies`, kept alive here."""
        self._replies = replies
        self.batch.replies = replies.ctypes.data

    def memory_bytes(self) -> int:
        """Returns the state of all boards."""
        return self._env.nbytes + self._history.nbytes

    def layout(self) -> str:
        """Returns what `dump` writes."""
        env, history = self._env.strides[0], self._history.strides[0] if self._history.size else 0
        return f"C++, {env} bytes a board, {history} of history"

    def dump(self) -> bytes:
        """Returns the state of all boards."""
        return self._env.tobytes() + self._history.tobytes()

    def check(self, payload: bytes) -> tuple[np.ndarray, np.ndarray]:
        """Makes boards and histories of what `dump` gave, for `load`; nothing here changes.

        Raises:
            InvalidStateError: it can't be what `dump` gave; the message names the board.
        """
        check_size(payload, self.memory_bytes())
        words = np.frombuffer(payload, np.uint64).copy()
        saved, past = words[: self._env.size], words[self._env.size :]
        why = ctypes.create_string_buffer(256)
        board = self._api.rungs_chess_serial_restore(
            self.address, *_addresses(saved, past), ctypes.addressof(why)
        )
        if board < len(self._env):
            raise bad_board(self.batch.first_board + board, why)
        return saved, past

    def load(self, saved: np.ndarray, past: np.ndarray) -> None:
        """Takes what `check` made, and writes what is seen of it."""
        self._api.rungs_chess_serial_load(self.address, *_addresses(saved, past))

    def save(self, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Copies boards, (n,) int64 indices, and their histories, for `put`."""
        count = len(which)
        # Not zeroed: what is not in use of the keys of past positions is neither written nor read.
        saved = np.empty((count, self._env.shape[1]), np.uint64)
        past = np.empty((count if self._history.size else 0, self._history.shape[1]), np.uint64)
        addresses = _addresses(saved, past)
        self._api.rungs_chess_save(self.address, which.ctypes.data, count, *addresses)
        return saved, past

    def put(self, saved: np.ndarray, past: np.ndarray, which: np.ndarray, own: bool) -> None:
        """Makes boards what `save` copied, as `Boards.put`."""
        addresses = _addresses(saved, past)
        self._api.rungs_chess_put(self.address, which.ctypes.data, len(which), *addresses, own)


def check_size(payload: bytes, size: int) -> None:
    """Makes sure that a state holds `size` bytes of boards.

    Raises:
        InvalidStateError: it doesn't.
    """
    if len(payload) != size:
        raise InvalidStateError(f"the state holds {len(payload)} bytes of boards, not {size}")


def bad_board(board: int, why: ctypes.Array) -> InvalidStateError:
    """Makes the error that names a board whose saved state can't be one."""
    return InvalidStateError(f"board {board} of the state: {why.value.decode(errors='replace')}")


def _addresses(saved: np.ndarray, past: np.ndarray) -> tuple[int, int]:
    return saved.ctypes.data, past.ctypes.data if len(past) else 0
