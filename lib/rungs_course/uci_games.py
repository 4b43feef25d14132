"""Games of UCI engines against the clock: each opening with both colours, several at a time."""

import asyncio
import contextlib
import dataclasses
import queue
import random
import time
from collections.abc import Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Self

import chess
import chess.engine

from rungs.chess import Reason
from rungs.devel.selfplay import Match, matches
from rungs.errors import ConfigurationError, EngineError

PairsOfGames = Generator[tuple[Match, Match], None, None]

_SECONDS_TO_START = 120  # the first process of a clone may compile
MARGIN = 0.25  # seconds by which a clock may run over: machines pause, and engines go to its end
_GRACE = 10  # seconds after the end of its clock, in which an engine has to answer


@dataclasses.dataclass(frozen=True)
class Control:
    """A time control: each player's seconds for a game, and those that each move adds."""

    seconds: float
    increment: float

    @classmethod
    def parsed(cls, text: str) -> Self:
        """Reads "8+0.08"; raises ConfigurationError."""
        try:
            seconds, increment = map(float, text.split("+"))
        except ValueError:
            seconds = increment = -1.0
        if not (0 < seconds < 1e5 and 0 <= increment < 1e5):
            raise ConfigurationError(f"time control {text!r} is not seconds + increment, as 8+0.08")
        return cls(seconds, increment)

    def __str__(self) -> str:
        return f"{self.seconds:g} s + {self.increment:g} s"


@dataclasses.dataclass(frozen=True)
class Contestant:
    """An engine: its name in tables, its command, and the options that it is given."""

    name: str
    command: tuple[str, ...]
    options: Mapping[str, str | int] = dataclasses.field(default_factory=dict)


def play(
    first: Contestant, second: Contestant, control: Control, *, pairs: int, seed: int, at_once: int
) -> PairsOfGames:
    """Plays openings of random plies with both colours; yields the two games of each, in order.

    `at_once` pairs are played at the same time, each by processes of its own. Raises EngineError
    where an engine fails or makes an illegal move.
    """
    with contextlib.ExitStack() as stack:
        pool = stack.enter_context(ThreadPoolExecutor(at_once))
        stack.callback(pool.shutdown, wait=False, cancel_futures=True)
        idle: queue.SimpleQueue = queue.SimpleQueue()
        for _ in range(at_once):
            idle.put([stack.enter_context(_started(engine)) for engine in (first, second)])

        def play_pair(number: int) -> tuple[Match, Match]:
            engines = idle.get()
            try:
                sides = list(zip((first.name, second.name), engines, strict=True))
                game, other = (
                    _play(white, black, opening(seed, number), control, number)
                    for white, black in (sides, sides[::-1])
                )
                return game, other
            finally:
                idle.put(engines)

        # At an early end engines are closed first, so that nobody waits for games that go on.
        yield from pool.map(play_pair, range(pairs))


def opening(seed: int, number: int) -> chess.Board:
    """Returns a board after random plies, in which the game goes on."""
    rng = random.Random(f"{seed} {number}")
    while True:
        board = chess.Board()
        for _ in range(matches.OPENING_PLIES):
            board.push(rng.choice([*board.legal_moves]))
            if board.is_game_over():
                break
        else:
            return board


@contextlib.contextmanager
def _started(engine: Contestant) -> Iterator[chess.engine.SimpleEngine]:
    with _failing_as(engine.name):
        process = chess.engine.SimpleEngine.popen_uci([*engine.command], timeout=_SECONDS_TO_START)
    with process:
        with _failing_as(engine.name):
            process.configure(engine.options)
            process.ping()  # so that no clock runs while it loads
        yield process


@contextlib.contextmanager
def _failing_as(name: str) -> Iterator[None]:
    try:
        yield
    except (chess.engine.EngineError, OSError, TimeoutError) as error:
        raise EngineError(f"engine {name}: {error or 'no answer'}") from None


def _play(
    white: tuple[str, chess.engine.SimpleEngine],
    black: tuple[str, chess.engine.SimpleEngine],
    board: chess.Board,
    control: Control,
    number: int,
) -> Match:
    """Plays a game; whose clock runs over by more than `MARGIN` has lost. It includes a move's way
    to us.
    """
    clocks = dict.fromkeys(chess.COLORS, control.seconds)
    game = object()
    while (reason := _reason(board)) == Reason.ONGOING:
        side = board.turn
        name, engine = white if side else black
        limit = chess.engine.Limit(
            white_clock=clocks[chess.WHITE],
            black_clock=clocks[chess.BLACK],
            white_inc=control.increment,
            black_inc=control.increment,
        )
        began = time.perf_counter()
        with _failing_as(name):
            play = engine.protocol.play(board, limit, game=game)
            reply = asyncio.run_coroutine_threadsafe(play, engine.protocol.loop)
            move = reply.result(clocks[side] + _GRACE).move
        clocks[side] -= time.perf_counter() - began
        if clocks[side] < -MARGIN:
            return Match(white[0], black[0], board, None, 0.0 if side else 1.0, number)
        if not move:
            raise EngineError(f"engine {name} makes no move in {board.fen()}")
        clocks[side] = max(0, clocks[side]) + control.increment
        board.push(move)
    points = 0.5
    if reason == Reason.CHECKMATE:
        points = 0.0 if board.turn else 1.0
    elif reason == Reason.MAX_PLIES:
        points = matches.points_by_material(board)
    return Match(white[0], black[0], board, reason, points, number)


def _reason(board: chess.Board) -> Reason:
    """Returns why a game is over, by the environment's rules."""
    if outcome := board.outcome():
        return Reason[outcome.termination.name]
    if board.is_fifty_moves():
        return Reason.FIFTY_MOVES
    if board.is_repetition(3):
        return Reason.THREEFOLD_REPETITION
    if board.ply() >= matches.MAX_PLIES:
        return Reason.MAX_PLIES
    return Reason.ONGOING
