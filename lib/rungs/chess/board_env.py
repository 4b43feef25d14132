"""One chess environment in Python, on python-chess: the oracle every faster rung is held to.

Written as a careful practitioner would, on the library's own rules: the legal moves are generated
once a ply and serve the end-of-game test, the mask and the check of the next action.
"""

import chess
import numpy as np

from rungs.chess.actions import NUM_PLANES, action_of, move_of
from rungs.chess.buffers import Buffers
from rungs.chess.random import Stream, below, philox
from rungs.chess.reason import Reason
from rungs.chess.settings import ChessSettings


class ChessBoardEnv:
    """The counterpart of `rungs::env::ChessEnv` in `cpp/env/chess_env.hpp`.

    Args:
        number: this board's number among all.
        settings: the environment's.
    """

    def __init__(self, number: int, settings: ChessSettings):
        self.number, self.settings = number, settings
        self.seed = self.episode = 0
        self._start()

    def begin(self, seed: int, episode: int | None) -> None:
        """Begins an episode of `seed`, or the next one where `episode` is None."""
        self.seed = seed
        self.episode = self.episode + 1 if episode is None else episode
        self._start()

    def is_legal(self, action: int) -> bool:
        """Whether an action may be played."""
        return action in self.legal

    def step(self, action: int, out: Buffers, i: int) -> None:
        """Plays a legal action and the opponent's reply; writes row `i` of every output."""
        self._advance(self.legal[action])
        sign = 1.0  # whoever mates has just moved
        if self.settings.opponent == "random" and not self.reason:
            self._random_ply(Stream.OPPONENT)
            sign = -1.0
        out.reward[i] = sign if self.reason == Reason.CHECKMATE else 0.0
        over = self.reason != Reason.ONGOING
        most = self.settings.max_plies
        truncated = not over and most is not None and self.ply >= most
        out.terminated[i] = over
        out.truncated[i] = truncated
        out.reason[i] = Reason.MAX_PLIES if truncated else self.reason
        if over or truncated:
            self._observe(out.final_observation[i])
            self.episode += 1
            self._start()
        self.write(out, i)

    def write(self, out: Buffers, i: int) -> None:
        """Writes observation, mask and player of the position at hand to row `i`."""
        self._observe(out.observation[i])
        self._write_mask(out.mask[i])
        out.player[i] = not self.board.turn

    def move_of(self, action: int) -> chess.Move | None:
        """The move an action means here, legal or not."""
        return move_of(action, self.board)

    def _start(self) -> None:
        settings = self.settings
        self.ply = 0
        starts = settings.start_fens
        self.board = chess.Board(starts[self._draw(Stream.START, len(starts))])
        self._examine()
        least, most = settings.opening_plies
        opening = least + self._draw(Stream.OPENING_LENGTH, most - least + 1)
        while self.ply < opening and self._begin_with_random_ply(Stream.OPENING):
            pass
        self.ply = 0
        # Colours alternate by episode, and neighbouring boards have opposite ones.
        agent_is_white = (self.number + self.episode) % 2 == 0
        if settings.opponent == "random" and self.board.turn != agent_is_white:
            self._begin_with_random_ply(Stream.OPPONENT)

    def _advance(self, move: chess.Move) -> None:
        self.board.push(move)
        self.ply += 1
        self._examine()

    def _draw(self, stream: Stream, n: int) -> int:
        return below(philox(self.seed, self.number, self.episode, self.ply, stream), n)

    def _random_ply(self, stream: Stream) -> None:
        actions = sorted(self.legal)
        self._advance(self.legal[actions[self._draw(stream, len(actions))]])

    def _begin_with_random_ply(self, stream: Stream) -> bool:
        """Plays a random ply unless it would end the game; says whether it did."""
        self._random_ply(stream)
        if not self.reason:
            return True
        self.board.pop()
        self.ply -= 1
        self._examine()
        return False

    def _examine(self) -> None:
        board = self.board
        black = not board.turn
        self.legal = {action_of(move, black): move for move in board.legal_moves}
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

    def _observe(self, out: np.ndarray) -> None:
        board, us = self.board, self.board.turn
        view = 0 if us else 56
        out.fill(0)
        for square, piece in board.piece_map().items():
            out[square ^ view] = piece.piece_type if piece.color == us else -piece.piece_type
        out[64] = board.has_kingside_castling_rights(us)
        out[65] = board.has_queenside_castling_rights(us)
        out[66] = board.has_kingside_castling_rights(not us)
        out[67] = board.has_queenside_castling_rights(not us)
        out[68] = board.ep_square % 8 if board.has_legal_en_passant() else -1
        out[69] = min(board.halfmove_clock, 127)
        out[70] = self.repetitions
        out[71] = not us

    def _write_mask(self, out: np.ndarray) -> None:
        if self.settings.mask == "bool":
            out.fill(False)
            out[list(self.legal)] = True
        else:
            words = [0] * NUM_PLANES
            for action in self.legal:
                words[action >> 6] |= 1 << (action & 63)
            out[:] = words
