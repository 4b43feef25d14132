"""Lab 12: a peer's bug, found by lockstep."""

import random
from collections.abc import Callable

import chess

from rungs_course.labs.lab import Difference, Lab, require

_MAX_PLIES = 5000  # plies of a search
_TIMES = 4  # searches for each peer's bug, where plies are counted


class TooLongError(Exception):
    """More plies were played than a search may take."""


class Game:
    """A game from a position on, of at most `max_plies` plies in all."""

    remote_methods, remote_fields = ("reset", "step"), ("board", "legal", "result", "plies")

    def __init__(self, start: str = chess.STARTING_FEN, max_plies: int = 10**9):
        self._start, self._max_plies, self.plies = start, max_plies, 0
        self.reset()

    def reset(self) -> None:
        """Sets up the first position again."""
        self._set(chess.Board(self._start))

    def step(self, move: str) -> None:
        """Plays a legal move, "e2e4" or "e7e8q"."""
        if move not in self.legal:
            raise ValueError(f"{move} is not legal in {self.board}")
        if self.plies == self._max_plies:
            raise TooLongError
        self.plies += 1
        self._push(chess.Move.from_uci(move))
        self._set(self._position)

    def _set(self, position: chess.Board) -> None:
        self._position = position
        self.board = position.fen()
        self.result = self._result()
        legal = [] if self.result else self._moves()
        self.legal = tuple(sorted(move.uci() for move in legal))

    def _push(self, move: chess.Move) -> None:
        self._position.push(move)

    def _moves(self) -> list[chess.Move]:
        return list(self._position.legal_moves)

    def _result(self) -> str:
        ended = self._position.outcome()
        return ended.result() if ended else ""


class NoEnPassant(Game):
    """A game without en passant."""

    def _moves(self):
        return [move for move in super()._moves() if not self._position.is_en_passant(move)]


class EnPassantForAll(Game):
    """A game with en passant even where it exposes the king."""

    def _moves(self):
        taking = self._position.generate_pseudo_legal_ep()
        return list({*super()._moves(), *taking})


class CastlesThroughCheck(Game):
    """A game in which the king may castle across an attacked square."""

    def _moves(self):
        board, moves = self._position, set(super()._moves())
        king, back = (chess.E1, chess.BB_RANK_1) if board.turn else (chess.E8, chess.BB_RANK_8)
        for rook in chess.SquareSet(board.clean_castling_rights() & back):
            target = king + 2 if rook > king else king - 2
            empty = not chess.between(king, rook) & board.occupied
            safe = not board.is_check() and not board.is_attacked_by(not board.turn, target)
            if empty and safe:
                moves.add(chess.Move(king, target))
        return list(moves)


class QueensOnly(Game):
    """Pawns become queens, never anything else."""

    def _moves(self):
        return [move for move in super()._moves() if move.promotion in (None, chess.QUEEN)]


class KnightsAreBishops(Game):
    """A game in which promotion to a knight makes a bishop."""

    def _push(self, move):
        super()._push(move)
        if move.promotion == chess.KNIGHT:
            bishop = chess.Piece(chess.BISHOP, not self._position.turn)
            self._position.set_piece_at(move.to_square, bishop)


class PawnsJump(Game):
    """A game in which a pawn goes two squares even if the first of them is occupied."""

    def _moves(self):
        board, moves = self._position, super()._moves()
        step, start = (8, chess.BB_RANK_2) if board.turn else (-8, chess.BB_RANK_7)
        for pawn in board.pieces(chess.PAWN, board.turn) & start:
            move = chess.Move(pawn, pawn + 2 * step)
            free = not board.piece_at(move.to_square) and not board.is_into_check(move)
            if board.piece_at(pawn + step) and free:
                moves.append(move)
        return moves


class StalemateLoses(Game):
    """A game in which the side that can't move has lost, in check or not."""

    def _result(self):
        if not self._position.is_stalemate():
            return super()._result()
        return "0-1" if self._position.turn else "1-0"


class NeverTooFew(Game):
    """A game that goes on where neither side has enough material left to mate."""

    def _result(self):
        return "" if self._position.is_insufficient_material() else super()._result()


ADVANCED = "rnbqkbnr/1pp1ppp1/8/P2p3P/p2P3p/8/1PP1PPP1/RNBQKBNR w KQkq - 0 1"
MANY_PAWNS = "4k3/pppp4/8/8/8/8/4PPPP/4K3 w - - 0 1"
OPEN = "r3k2r/pbp2pbp/1pn1pnp1/8/8/1PN1PNP1/PBP2PBP/R3K2R w KQkq - 0 1"
# Peers, and the positions from which they are played.
PEERS: list[tuple[Callable[..., Game], str]] = [
    (NoEnPassant, ADVANCED),
    (PawnsJump, chess.STARTING_FEN),
    (CastlesThroughCheck, OPEN),
    (QueensOnly, MANY_PAWNS),
    (KnightsAreBishops, MANY_PAWNS),
    (EnPassantForAll, "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1"),
    (StalemateLoses, "7k/8/8/8/8/8/8/KQ4Q1 w - - 0 1"),
    (NeverTooFew, "4k3/1p4p1/8/8/8/8/8/2B1K3 w - - 0 1"),
]


def _judge(submission, _):
    for number, (peer, start) in enumerate(PEERS):
        yield from _differences(submission, number, peer(start, _MAX_PLIES), seed=0)


def _differences(submission, number: int, peer: Game, seed: int):
    """Calls the submission to find a peer's bug, and yields what is wrong with its result."""
    kind, start = PEERS[number]
    try:
        moves = submission.find(Game(start, _MAX_PLIES), peer, random.Random(seed))
    except TooLongError:
        output = f"plies until a bug of peer {number} was found"
        yield Difference(output, f"at most {_MAX_PLIES:,}", "more", start)
    yield from _replay_differences(number, Game(start), kind(start), moves)


def _replay_differences(number: int, reference: Game, peer: Game, moves):
    """Yields what is wrong with moves that are to lead to the first difference of two games."""
    if not isinstance(moves, list) or not all(isinstance(move, str) for move in moves):
        yield Difference(f"what find returns of peer {number}", "moves", f"{moves!r:.200}")
    for ply, move in enumerate(moves):
        if differing := _game_difference(reference, peer):
            output = f"the ply after which our game and that of peer {number} first differ"
            yield Difference(output, f"{ply}, in {differing}", f"{len(moves)}", reference.board)
        if move not in reference.legal:
            output = f"move {ply} of those returned for peer {number}"
            yield Difference(output, "a legal one", repr(move), reference.board)
        reference.step(move)
        peer.step(move)
    if not _game_difference(reference, peer):
        ending = f"peer {number}, {' '.join(moves[-4:])} at the end of {len(moves)} moves"
        yield Difference(
            f"what differs after the moves returned ({ending})",
            "the board, the legal moves or the result",
            "nothing: all three are the same",
            reference.board,
        )


def _game_difference(reference: Game, peer: Game) -> str:
    """Returns what differs, in words; "" where nothing does."""
    if reference.board != peer.board:
        return "the board"
    if reference.result != peer.result:
        return f"the result ({reference.result or 'none'} and {peer.result or 'none'})"
    only = set(reference.legal) ^ set(peer.legal)
    return f"the legal moves ({', '.join(sorted(only))})" if only else ""


def _count(functions, seed: int) -> float:
    count = 0
    for number, (kind, start) in enumerate(PEERS):
        for more in range(_TIMES):
            peer = kind(start, _MAX_PLIES)
            require(_differences(functions, number, peer, seed + more))
            count += peer.plies
    return float(count)


LAB = Lab(
    "12",
    ("find",),
    _judge,
    target=0.5,
    cause="exercise",
    language="python",
    unit="plies",
    count=_count,
)
