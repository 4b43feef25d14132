"""One chess environment in Python, on python-chess: the oracle for every faster rung."""

import collections
import copy
from collections.abc import Sequence

import chess
import numpy as np
from gymnasium.vector import AutoresetMode

from rungs._src.chess.actions import NUM_ACTIONS, NUM_PLANES, legal_actions
from rungs._src.chess.observation import HISTORY
from rungs._src.chess.reason import Reason
from rungs._src.chess.settings import ChessSettings
from rungs._src.chess.unpack import unpack_planes
from rungs._src.core.arguments import MAX_SEED
from rungs._src.core.buffers import Buffers
from rungs._src.core.philox import Purpose, below, philox
from rungs.errors import InvalidStateError


class ChessEnv:
    """A board of the Python rung, as `rungs::env::ChessEnvs` of `cpp/env/chess_env.hpp` in C++."""

    board: chess.Board
    legal: dict[int, chess.Move]
    reason: Reason

    def __init__(self, number: int, settings: ChessSettings):
        # `seed` and `number` select the random numbers; a copy may have its source's.
        self.number = self._own_number = self._place = number
        self.seed = self._own_seed = self.episode = 0
        self.settings = settings
        self._past: collections.deque[tuple[dict, int]] = collections.deque(maxlen=HISTORY)
        self._start()

    def set_seed(self, seed: int, number: int) -> None:
        """Sets the seed and number by which it draws, from its next `begin` on."""
        self._own_seed, self._own_number = seed, number

    def begin(self, episode: int | None) -> None:
        """Begins an episode, or the next one where `episode` is None."""
        self.seed, self.number = self._own_seed, self._own_number
        self.episode = self.episode + 1 if episode is None else episode
        self._start()

    def accepts(self, action: int) -> bool:
        """Returns whether `step` accepts an action: a legal one, or any that it will ignore."""
        if self.ended:
            return 0 <= action < NUM_ACTIONS
        return action in self.legal

    def taken(self) -> Sequence[int]:
        """Returns the actions that `step` accepts next, as the mask shows them, in order of id."""
        if not self.ended:
            return sorted(self.legal)
        # An ended board accepts any action, and ignores it; a list names only the first.
        every = 1 if self.settings.mask == "list" else NUM_ACTIONS
        return range(every * (self.settings.autoreset_mode == AutoresetMode.NEXT_STEP))

    def step(self, action: int, reply: int | None, out: Buffers, i: int) -> bool:
        """Plays an action and the reply, and writes row `i`; returns if the episode ended."""
        out.reward[i] = out.terminated[i] = out.truncated[i] = out.ended[i] = out.reason[i] = 0
        ends = False
        if self.ended:
            self.episode += 1
            self._start()
        else:
            ends = self._play_turn(action, reply, out, i)
        self.write(out, i)
        return ends

    def begin_with(self, action: int) -> bool:
        """Plays a ply before the agent's first unless it would end the game; returns if played."""
        self._push(self.legal[action])
        if not self.reason:
            self._remember()
            return True
        self.board.pop()
        self.ply -= 1
        self._examine()
        return False

    def write(self, out: Buffers, i: int) -> None:
        """Writes observation, mask, its count and player of the position to row `i`."""
        self._observe(out.observation, i)
        self._write_mask(out, i)
        out.player[i] = not self.board.turn

    def agent_is_black(self) -> bool:
        # Colours alternate by episode, and neighbouring boards have opposite ones.
        return (self.number + self.episode) % 2 == 1

    def copy(self) -> "ChessEnv":
        other = copy.copy(self)
        other.board, other._past = self.board.copy(), self._past.copy()
        return other

    def copy_for(self, other: "ChessEnv", own_randomness: bool) -> "ChessEnv":
        """Returns a copy to replace another environment; see `Boards.put`."""
        new = self.copy()
        new._own_seed, new._own_number = other._own_seed, other._own_number
        new._place = other._place
        if own_randomness:
            new.seed, new.number = other._own_seed, other._own_number
            new.episode = other.episode
        return new

    def dump(self) -> list:
        """Returns the whole state, in types that JSON has."""
        moves = [move.uci() for move in self.board.move_stack]
        start = self.board.root().fen()
        return [self.seed, self.number, self.episode, self.ply, self.ended, start, moves]

    def load(self, saved: list) -> None:
        """Restores what `dump` returned; an InvalidStateError leaves this environment unusable."""
        kinds = (int, int, int, int, bool, str, list)
        if type(saved) is not list or [*map(type, saved)] != [*kinds]:
            names = "seed, number, episode, ply, ended, start, moves"
            raise self._unsaved(f"it is not a list of {names}")
        self.seed, self.number, self.episode, ply, ended, fen, moves = saved
        if fen not in self.settings.starts:
            raise self._unsaved(f"no game starts from {fen!r}")
        if not 0 <= self.seed <= MAX_SEED:
            raise self._unsaved(f"there is no seed {self.seed}")
        if not 0 <= self.number < 2**32:
            raise self._unsaved(f"there is no board {self.number} to draw numbers for")
        if not (0 <= self.episode < 2**32 and 0 <= ply <= len(moves)):
            raise self._unsaved(f"episode {self.episode} has {ply} plies of {len(moves)}")
        self._set_up(fen)
        moved = {move.uci(): move for move in self.legal.values()}
        for uci in moves:
            if self.reason or uci not in moved:
                raise self._unsaved(f"{uci!r} can't be played in {self.board.fen()}")
            self._play(moved[uci])
            moved = {move.uci(): move for move in self.legal.values()}
        limit = self.settings.max_plies
        over = bool(self.reason) or (limit is not None and ply >= limit)
        if ended != over:
            raise self._unsaved(
                "its episode is over, but not marked as ended"
                if over
                else "its episode is marked as ended, but not over"
            )
        if ended and self.settings.autoreset_mode == AutoresetMode.SAME_STEP:
            raise self._unsaved("its episode has ended, although autoreset starts the next at once")
        self.ply, self.ended = ply, ended

    def _unsaved(self, why: str) -> InvalidStateError:
        return InvalidStateError(f"board {self._place} of the state: {why}")

    def _play_turn(self, action: int, reply: int | None, out: Buffers, i: int) -> bool:
        self._play(self.legal[action])
        sign = 1.0  # the side that mates has just moved
        if self.settings.opponent is not None and not self.reason:
            random = self.settings.opponent == "random"
            answer = self._random_action(Purpose.OPPONENT) if random else reply
            self._play(self.legal[answer])  # type: ignore[index]  # an engine's is there
            sign = -1.0
        limit = self.settings.max_plies
        truncated = not self.reason and limit is not None and self.ply >= limit
        if not self.reason and not truncated:
            return False
        out.reward[i] = sign if self.reason == Reason.CHECKMATE else 0.0
        out.terminated[i] = not truncated
        out.truncated[i] = truncated
        out.ended[i] = True
        out.reason[i] = Reason.MAX_PLIES if truncated else self.reason
        if self.settings.autoreset_mode == AutoresetMode.SAME_STEP:
            self._observe(out.final_observation, i)
            self.episode += 1
            self._start()
        else:
            self.ended = True
        return True

    def _set_up(self, fen: str) -> None:
        self.ply, self.ended = 0, False
        self.board = chess.Board(fen, chess960=self.settings.chess960)
        self._past.clear()
        self._examine()
        self._remember()

    def _start(self) -> None:
        settings = self.settings
        self.ply = 0
        starts = settings.starts
        self._set_up(starts[self._draw(Purpose.START, len(starts))])
        low, high = settings.opening_plies
        opening = low + self._draw(Purpose.OPENING_LENGTH, high - low + 1)
        while self.ply < opening and self.begin_with(self._random_action(Purpose.OPENING)):
            pass
        self.ply = 0
        if settings.opponent == "random" and self.board.turn == self.agent_is_black():
            self.begin_with(self._random_action(Purpose.OPPONENT))

    def _play(self, move: chess.Move) -> None:
        self._push(move)
        self._remember()

    def _push(self, move: chess.Move) -> None:
        self.board.push(move)
        self.ply += 1
        self._examine()

    def _remember(self) -> None:
        """Keeps the pieces for observations that show history."""
        if self.settings.obs == "board":
            return
        kinds, mask = chess.PIECE_TYPES, self.board.pieces_mask
        pieces = {side: [mask(kind, side) for kind in kinds] for side in chess.COLORS}
        self._past.append((pieces, self.repetitions))

    def _draw(self, purpose: Purpose, n: int) -> int:
        return below(philox(self.seed, self.number, self.episode, self.ply, purpose), n)

    def _random_action(self, purpose: Purpose) -> int:
        return sorted(self.legal)[self._draw(purpose, len(self.legal))]

    def _examine(self) -> None:
        board = self.board
        self.legal = legal_actions(board)
        self.repetitions = 0
        if board.is_repetition(2):
            self.repetitions = 2 if board.is_repetition(3) else 1
        self.reason = self._reason()

    def _reason(self) -> Reason:
        if not self.legal and self.board.is_check():
            return Reason.CHECKMATE
        if self.board.is_insufficient_material():
            return Reason.INSUFFICIENT_MATERIAL
        if not self.legal:
            return Reason.STALEMATE
        if self.board.halfmove_clock >= 100:
            return Reason.FIFTY_MOVES
        if self.repetitions == 2:
            return Reason.THREEFOLD_REPETITION
        return Reason.ONGOING

    def _observe(self, out: np.ndarray, i: int) -> None:
        if self.settings.obs == "board":
            self._write_board(out[i])
        elif self.settings.obs == "bitplanes":
            out[i] = self._bitplanes()
        else:
            out[i] = unpack_planes(np.array(self._bitplanes(), np.uint64), self.settings.dtype)

    def _bitplanes(self) -> list[int]:
        board, us = self.board, self.board.turn
        words: list[int] = []
        for pieces, repetitions in reversed(self._past):
            for side in (us, not us):
                words += pieces[side] if us else map(chess.flip_vertical, pieces[side])
            words += [chess.BB_ALL * (repetitions >= 1), chess.BB_ALL * (repetitions >= 2)]
        words += [0] * (14 * (HISTORY - len(self._past)))
        words += [chess.BB_ALL * (not us), board.fullmove_number]
        for side in (us, not us):
            words += [
                chess.BB_ALL * board.has_kingside_castling_rights(side),
                chess.BB_ALL * board.has_queenside_castling_rights(side),
            ]
        return [*words, board.halfmove_clock]

    def _write_board(self, out: np.ndarray) -> None:
        board, us = self.board, self.board.turn
        view = 0 if us else 56
        out.fill(0)
        for square, piece in board.piece_map().items():
            out[square ^ view] = piece.piece_type if piece.color == us else -piece.piece_type
        out[64] = board.has_kingside_castling_rights(us)
        out[65] = board.has_queenside_castling_rights(us)
        out[66] = board.has_kingside_castling_rights(not us)
        out[67] = board.has_queenside_castling_rights(not us)
        out[68] = board.ep_square % 8 if board.has_legal_en_passant() else -1  # type: ignore[operator]
        out[69] = min(board.halfmove_clock, 127)
        out[70] = self.repetitions
        out[71] = not us

    def _write_mask(self, buffers: Buffers, i: int) -> None:
        out, taken = buffers.mask[i], self.taken()
        if self.settings.mask == "list":
            out[: len(taken)] = taken
            out[len(taken) :] = -1
            buffers.action_count[i] = len(taken)
        elif self.settings.mask == "bool":
            out.fill(False)
            out[list(taken)] = True
        else:
            words = [0] * NUM_PLANES
            for action in taken:
                words[action >> 6] |= 1 << (action & 63)
            out[:] = words
