"""libchess (Mk-Chan), rules of chess in C++ for engines, with a batch around them.

The chess study's first version in C++ used it. Clone `Mk-Chan/libchess` and name the folder in the
environment variable `RUNGS_LIBCHESS`. Its headers are compiled here by clang++,
as g++ 12 refuses them, with `cpp/course/libchess_games.cpp`, a loop over games that end by the
library's own `GameState`; nothing of it is in this repository.
"""

import ctypes
from typing import Any, ClassVar

import chess
import numpy as np

from rungs.chess import action_of
from rungs.conformance import Outcome
from rungs.devel.envs import check_not_asked
from rungs.errors import UnavailableError
from rungs_course.peers import clones
from rungs_course.peers.peer import ListedMoves, Step

_WORDS, _MOST_MOVES = 9, 256  # as in C++
# Of each function: what it returns, and its arguments.
_POINTER = ctypes.c_void_p
_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "rungs_libchess_open": (_POINTER, ctypes.c_int, *5 * [_POINTER]),
    "rungs_libchess_reset": (None, _POINTER),
    "rungs_libchess_begin": (None, _POINTER, ctypes.c_char_p),
    "rungs_libchess_step": (None, _POINTER, _POINTER),
    "rungs_libchess_close": (None, _POINTER),
}
# The reasons by its `GameState`.
_REASONS = (None, "checkmate", "stalemate", "threefold repetition", "fifty moves")


def load() -> ctypes.CDLL:
    """Compiles and loads the games of the clone that `RUNGS_LIBCHESS` names."""
    folder = clones.folder_of("libchess")
    if not (folder / "Position.h").is_file():
        raise UnavailableError(f"libchess: {folder}: no Position.h in it")
    headers = sorted(file for file in folder.rglob("*.h") if "lib" not in file.parts)
    flags = ["-std=c++17", f"-I{folder}"]
    return clones.load("libchess_games.cpp", headers, flags, _FUNCTIONS, "clang++")


class LibchessGames(ListedMoves):
    """See `ChessPeer`; on one thread. Actions are places in a game's list of moves."""

    STEP: ClassVar = Step(
        mask="a list of moves, 256 uint16",
        observation="8 bitboards, of both sides, and who moves",
        draws="stalemate, 50 moves, threefold repetition",
        reset="in the same step",
    )

    def __init__(self, num_envs: int = 1, threads: int = 1):
        super().__init__(num_envs, threads)
        self._library = load()
        self._words = np.zeros((num_envs, _WORDS), np.uint64)
        self._moves = np.zeros((num_envs, _MOST_MOVES), np.uint16)
        self._counts = np.zeros(num_envs, np.intc)
        self._states = np.zeros(num_envs, np.uint8)
        self.result = np.zeros(num_envs, np.float32)
        arrays = (self._words, self._moves, self._counts, self._states, self.result)
        self._games = self._library.rungs_libchess_open(
            num_envs, *(array.ctypes.data for array in arrays)
        )

    def reset(self, seed: int) -> None:
        self._library.rungs_libchess_reset(self._games)

    def choose(self, rng: np.random.Generator) -> np.ndarray:
        return rng.integers(self._counts, dtype=np.intc)

    def step(self, actions: np.ndarray) -> tuple:
        self._library.rungs_libchess_step(self._games, actions.ctypes.data)
        self.ended = self._states != 0
        return self._words, self._moves, self._counts, self.result, self.ended

    def legal(self, i: int) -> dict[int, int]:
        black = bool(self._words[i, -1])
        moves = self._moves[i, : self._counts[i]].tolist()
        return {action_of(_move(code), black): place for place, code in enumerate(moves)}

    def native(self, actions: np.ndarray) -> np.ndarray:  # type: ignore[override]
        places = super().native(actions)
        if None in places:
            raise ValueError("an action that is in no list of legal moves")
        return np.array(places, np.intc)

    def begin(
        self, fen: str | None = None, chess960: bool = False, max_plies: int | None = None
    ) -> None:
        check_not_asked(chess960=chess960, max_plies=max_plies)
        self.board = chess.Board(fen or chess.STARTING_FEN)
        self.ended = np.zeros(self.num_envs, np.bool_)
        self._library.rungs_libchess_begin(self._games, (fen or chess.STARTING_FEN).encode())

    def play(self, move: str) -> None:
        self.mask()
        super().play(move)

    def outcome(self) -> Outcome:
        if not self.ended[0]:
            return Outcome(rewards=(0.0, 0.0))
        white = float(self.result[0])
        return Outcome(True, rewards=(white, 0.0 - white), reason=_REASONS[self._states[0]])

    def close(self) -> None:
        self._library.rungs_libchess_close(self._games)


def _move(code: int) -> chess.Move:
    return chess.Move(code % 64, code // 64 % 64, code // 4096 + 1 if code >= 4096 else None)
