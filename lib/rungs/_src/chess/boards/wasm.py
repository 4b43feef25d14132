"""The rung of WebAssembly: the C API in a sandbox, on one thread; arrays are copied in and out."""

import re
from typing import Any

import numpy as np

from rungs._src.chess.boards.boards import Boards, illegal_action
from rungs._src.chess.boards.native import check_size
from rungs._src.chess.buffers import MASKS, OUTPUTS, POSITION
from rungs._src.chess.engine import UciEngine
from rungs._src.chess.observation import OBSERVATIONS
from rungs._src.chess.policy import draw_ranks
from rungs._src.chess.settings import ChessSettings
from rungs._src.core.arguments import AUTORESET_MODES, Seed
from rungs._src.native import wasm
from rungs.errors import ConfigurationError, InvalidStateError


class WasmBoards(Boards):
    """The boards of a `rungs_chess` in the memory of WebAssembly.

    Each environment has a memory of its own, of 4 GiB at most. A step copies all outputs.

    Args:
        num_envs, first_board, settings: see `Boards`.

    Raises:
        UnavailableError: wasmtime is not installed, or the C API is not compiled.
        ConfigurationError: the opponent is an engine.
        MemoryError: there is too little memory for this many boards.
    """

    def __init__(self, num_envs: int, first_board: int, settings: ChessSettings):
        if isinstance(settings.opponent, UciEngine):
            raise ConfigurationError("opponent: an engine can't play on the rung wasm")
        self._library = library = wasm.Library()
        super().__init__(num_envs, first_board, settings)
        config = self._config()
        starts = [library.put(fen.encode() + b"\0") for fen in settings.starts]
        config["start_fens"] = library.put(np.array(starts, np.uint32))
        config["num_start_fens"] = len(starts)
        given, out = library.put(config), library.room(4)
        library.checked("rungs_chess_create", given, out)
        self._handle = int(library.view(out, 1, np.uint32)[0])
        layout = library.layouts["rungs_chess_outputs"]
        self._outputs = np.zeros(1, layout)
        self._outputs["size"] = layout.itemsize
        where = library.put(self._outputs)
        self._checked("get_outputs", where)
        self._outputs = library.view(where, 1, layout).copy()
        for address in (*starts, int(config["start_fens"][0]), given, out, where):
            library.call("free", address)
        self._numbers = library.room(8 * num_envs)  # an int64 for each board
        self._ended = library.room(8)

    def reset(self, which: np.ndarray | None, seed: Seed, episode: int | None) -> None:
        if episode is None:
            self._with(None if which is None else which.view(np.uint8), "reset_some")
        elif isinstance(seed, np.ndarray):
            self._with(seed, "reset_seeds")
        else:
            self._checked("reset", seed - 2**64 * (seed >= 2**63))  # as an i64
        self._read(*POSITION)

    def step(self, actions: np.ndarray) -> int:
        given = self._library.view(self._numbers, self.num_envs, np.int64)
        given[:] = actions
        try:
            self._checked("step", self._numbers, self._ended)
        except wasm.StatusError as error:
            found = re.match(r"environment (\d+): ", str(error))
            if error.status != wasm.ILLEGAL_ACTION or not found:
                raise
            board = int(found[1])
            given = self._library.view(self._numbers, self.num_envs, np.int64)
            raise illegal_action(self, board, int(given[board])) from None
        ended = int(self._library.view(self._ended, 1, np.int64)[0])
        self._read(*(name for name in OUTPUTS if ended or name != "final_observation"))
        return ended

    def sample(self, rng: np.random.Generator) -> np.ndarray:
        self._checked("count_actions", self._numbers)
        counts = self._library.view(self._numbers, self.num_envs, np.int64).copy()
        ranks = draw_ranks(counts, rng)
        self._library.view(self._numbers, self.num_envs, np.int64)[:] = ranks
        self._checked("choose_actions", self._numbers, self._numbers)
        return self._library.view(self._numbers, self.num_envs, np.int64).copy()

    def fen(self, board: int) -> str:
        return self._library.fen("rungs_chess_get_fen", self._handle, board)

    def layout(self) -> str:
        history = "with" if self.settings.obs != "board" else "without"
        return f"C API in WebAssembly, {history} history"

    def dump(self) -> bytes:
        size = self._library.call("rungs_chess_state_bytes", self._handle)
        state = self._library.room(size)
        try:
            self._checked("save", state)
            return self._library.view(state, size).tobytes()
        finally:
            self._library.call("free", state)

    def load(self, payload: bytes, seed: Seed) -> None:
        size = self._library.call("rungs_chess_state_bytes", self._handle)
        check_size(payload, size)
        try:
            self._with(np.frombuffer(payload, np.uint8), "restore", size)
        except InvalidStateError as error:
            raise InvalidStateError(
                re.sub(r"^environment (\d+)", self._named, str(error))
            ) from None
        self._read(*OUTPUTS)

    def close(self) -> None:
        if self._handle:
            self._library.call("rungs_chess_destroy", self._handle)
        self._handle = 0

    def _config(self) -> np.ndarray:
        """Returns the settings as a `rungs_chess_config`, without the starts."""
        settings, layout = self.settings, self._library.layouts["rungs_chess_config"]
        config = np.zeros(1, layout)
        values: dict[str, Any] = {
            "size": layout.itemsize,
            "num_envs": self.num_envs,
            "first_env": self.first_board,
            "opponent": settings.opponent == "random",
            "observation": [*OBSERVATIONS].index((settings.obs, str(settings.dtype))),
            "mask": [*MASKS].index(settings.mask),
            "autoreset": AUTORESET_MODES.index(settings.autoreset_mode),
            "max_plies": settings.max_plies or 0,
            "opening_min": settings.opening_plies[0],
            "opening_max": settings.opening_plies[1],
            "num_threads": 1,
        }
        for name, value in values.items():
            config[name] = value
        return config

    def _checked(self, name: str, *arguments: int) -> None:
        self._library.checked(f"rungs_chess_{name}", self._handle, *arguments)

    def _with(self, array: np.ndarray | None, name: str, *arguments: int) -> None:
        """Calls a function with the address of a copy of an array, 0 for None."""
        address = 0 if array is None else self._library.put(np.ascontiguousarray(array))
        try:
            self._checked(name, address, *arguments)
        finally:
            self._library.call("free", address)

    def _read(self, *names: str) -> None:
        """Copies outputs to the buffers."""
        for name in names:
            array = getattr(self.buffers, name)
            if array.size:
                address = int(self._outputs[name][0])
                array.reshape(-1)[:] = self._library.view(address, array.size, array.dtype)

    def _named(self, found: re.Match) -> str:
        return f"board {self.first_board + int(found[1])}"
