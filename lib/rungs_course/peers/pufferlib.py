"""PufferLib's chess (`ocean/chess`, version 5), C that its users compile into their trainer.

A ply takes two of its steps: one picks a piece, the next places it. Clone `PufferAI/PufferLib`,
build its chess as it says, which brings raylib's headers, and name the folder in the environment
variable `RUNGS_PUFFERLIB`. Its one header is compiled here with `cpp/course/puffer_chess.c`, which
makes and steps a batch as its own `binding.c` and `vecenv.h` do; nothing of it is in this
repository.
"""

import contextlib
import ctypes
import functools
from typing import Any, ClassVar

import chess
import numpy as np

from rungs.chess import NUM_ACTIONS, action_of
from rungs.conformance import Outcome
from rungs.devel import openmp
from rungs.devel.envs import check_not_asked
from rungs.errors import ConfigurationError, UnavailableError, UnsupportedError
from rungs_course.peers import clones
from rungs_course.peers.peer import ChessPeer, Step

# Its `OBS_SIZE`, `NUM_ACTIONS`, `PASS_ACTION`, `O_SIDE`, and the moves that it has room for.
_OBSERVATION, _ACTIONS, _PASS, _SIDE, _MOST_MOVES = 167, 97, 96, 64, 256
# Of each function: what it returns, and its arguments.
_POINTER, _INT = ctypes.c_void_p, ctypes.c_int
_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "rungs_puffer_open": (_POINTER, _INT, *5 * [_POINTER]),
    "rungs_puffer_reset": (None, _POINTER, _INT),
    "rungs_puffer_begin": (None, _POINTER, ctypes.c_char_p),
    "rungs_puffer_step": (None, _POINTER, _INT, _INT, _POINTER, _POINTER),
    "rungs_puffer_legal": (None, _POINTER, _INT, _POINTER, _POINTER),
    "rungs_puffer_close": (None, _POINTER),
}


def load() -> ctypes.CDLL:
    """Compiles and loads the chess of the clone that `RUNGS_PUFFERLIB` names."""
    folder = clones.folder_of("PufferLib")
    header = folder / "ocean" / "chess" / "chess.h"
    raylib = sorted(folder.glob("raylib*/include/raylib.h"))
    for needed, there in (("ocean/chess/chess.h", header.is_file()), ("raylib.h", bool(raylib))):
        if not there:
            raise UnavailableError(f"PufferLib: {folder}: no {needed} in it")
    # Its own build has -O2 and no -march.
    flags = ["-x", "c", "-fopenmp", f"-I{header.parent}", f"-I{raylib[-1].parent}"]
    openmp.load(openmp.GCC)
    return clones.load("puffer_chess.c", [header], flags, _FUNCTIONS)


@functools.cache
def to_ours() -> np.ndarray:
    """Returns our action for each of its move codes, (2, 2**15): White's, Black's; -1 for none.

    A code is the origin square, plus 64 times the target square, plus 4,096 times the piece that a
    pawn becomes.
    """
    actions = np.full((2, 2**15), -1)
    for code in range(6 * 4096):
        move = chess.Move(code % 64, code // 64 % 64, code // 4096 or None)
        for side in (0, 1):
            with contextlib.suppress(ConfigurationError):  # no piece makes it
                actions[side, code] = action_of(move, black=bool(side))
    return actions


class PufferLibChess(ChessPeer):
    """See `ChessPeer`; in self-play, with the initial position only."""

    STEP: ClassVar = Step(
        mask="97 bytes of squares and promotions, of both sides, twice a ply",
        observation="167 bytes, of both sides, twice a ply",
        draws="stalemate, insufficient material, 50 moves, threefold repetition",
        reset="in the same step",
    )
    MAX_PLIES = 2046

    def __init__(self, num_envs: int = 1, threads: int = 1):
        super().__init__(num_envs, threads)
        self._library = load()
        agents = 2 * num_envs
        self._observations = np.zeros((agents, _OBSERVATION), np.uint8)
        self._masks = np.zeros((agents, _ACTIONS), np.uint8)
        self._actions, self._rewards, self._terminals = np.zeros((3, agents), np.float32)
        self._counts = np.zeros(num_envs, np.intc)
        self._moves = np.zeros((num_envs, _MOST_MOVES), np.uint16)
        arrays = (self._observations, self._masks, self._actions, self._rewards, self._terminals)
        self._games = self._library.rungs_puffer_open(
            num_envs, *(array.ctypes.data for array in arrays)
        )
        if not self._games:
            raise MemoryError(f"{num_envs} games of PufferLib's chess")
        # Rows of White's agent, and of Black's.
        white = 2 * np.arange(num_envs) + np.arange(num_envs) % 2
        self._agents = np.array([white, white ^ 1])

    def reset(self, seed: int) -> None:
        self._library.rungs_puffer_reset(self._games, self.num_envs)

    def step(self, actions: np.ndarray) -> tuple:
        """See `ChessPeer`; actions (2, 2N) float32: of all agents, to pick and to place."""
        for chosen in actions:
            self._actions[:] = chosen
            self._library.rungs_puffer_step(
                self._games,
                self.num_envs,
                self.threads,
                self._rewards.ctypes.data,
                self._terminals.ctypes.data,
            )
        return 2 * (self._observations, self._masks, self._rewards, self._terminals)

    @property
    def ended(self) -> np.ndarray:  # type: ignore[override]
        return self._terminals[self._agents[0]] != 0

    @property
    def result(self) -> np.ndarray:  # type: ignore[override]
        return self._rewards[self._agents[0]]

    def choose(self, rng: np.random.Generator) -> np.ndarray:
        self._list()
        return self._picked_and_placed(
            self._moves[np.arange(self.num_envs), rng.integers(self._counts)]
        )

    def mask(self) -> np.ndarray:
        boards, _, actions = self._listed()
        mask = np.zeros((self.num_envs, NUM_ACTIONS), np.bool_)
        mask[boards, actions] = True
        return mask

    def native(self, actions: np.ndarray) -> np.ndarray:
        # The legal move that is our action; where there is none, 0, which is no move.
        boards, moves, translated = self._listed()
        same = translated == actions[boards]
        chosen = np.zeros(self.num_envs, np.uint16)
        chosen[boards[same]] = moves[same]
        return self._picked_and_placed(chosen)

    def begin(
        self, fen: str | None = None, chess960: bool = False, max_plies: int | None = None
    ) -> None:
        """See `Environment`; positions by its `pos_set`, which leaves the clock out."""
        check_not_asked(chess960=chess960, max_plies=max_plies)
        if fen and int(fen.split()[4]):
            raise UnsupportedError("a halfmove clock to begin with")
        self.board = chess.Board(fen or chess.STARTING_FEN)
        self._rewards[:] = self._terminals[:] = 0
        self._library.rungs_puffer_begin(self._games, fen.encode() if fen else None)

    def outcome(self) -> Outcome:
        white, black = (float(self._rewards[agent]) for agent in self._agents[:, 0])
        return Outcome(terminated=bool(self.ended[0]), rewards=(white, black))

    def close(self) -> None:
        self._library.rungs_puffer_close(self._games)

    def _list(self) -> None:
        self._library.rungs_puffer_legal(
            self._games, self.num_envs, self._counts.ctypes.data, self._moves.ctypes.data
        )

    def _listed(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Returns the legal moves of all games: each one's board, its code, and our action."""
        self._list()
        boards, places = np.nonzero(np.arange(_MOST_MOVES) < self._counts[:, None])
        moves = self._moves[boards, places]
        return boards, moves, to_ours()[self._movers()[boards], moves]

    def _movers(self) -> np.ndarray:
        """Returns (N,) who moves: 0 White, 1 Black."""
        return 1 - self._observations[self._agents[0], _SIDE].astype(np.intp)

    def _picked_and_placed(self, moves: np.ndarray) -> np.ndarray:
        """Returns (2, 2N) actions of all agents; in each game one moves and the other passes."""
        movers = self._movers()
        flip = 56 * movers
        origin, target, piece = moves % 64, moves // 64 % 64, moves // 4096
        promotes = 64 + 8 * (chess.QUEEN - piece.astype(np.intp)) + target % 8
        actions = np.full((2, 2 * self.num_envs), _PASS, np.float32)
        agents = self._agents[movers, np.arange(self.num_envs)]
        actions[0, agents] = origin ^ flip
        actions[1, agents] = np.where(piece > 0, promotes, target ^ flip)
        return actions
