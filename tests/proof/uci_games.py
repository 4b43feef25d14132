"""Games of an agent with itself as a UCI engine, with clocks: `python -m tests.proof.uci_games`.

python-chess is the controller: it refuses an illegal move, and the clock runs from before it sends
a position until it has the move. A game that is not over after `MAX_PLIES` is adjourned. The table
has a row for each game: how it ended, and the least time left on either clock.
"""

import argparse
import contextlib
import csv
import dataclasses
import random
import sys
import time
from pathlib import Path

import chess
import chess.engine

OPENING_PLIES = 6
MAX_PLIES = 400
SECONDS_TO_START = 120  # the first process of a clone may compile


@dataclasses.dataclass(frozen=True)
class Game:
    """How a game ended, and the least time on each clock, in seconds."""

    result: str
    reason: str
    plies: int
    white_least: float
    black_least: float


def engine(path: Path, **options) -> chess.engine.SimpleEngine:
    """Starts an agent as a UCI engine."""
    command = [sys.executable, "-m", "rungs", "uci", str(path)]
    started = chess.engine.SimpleEngine.popen_uci(command, timeout=SECONDS_TO_START)
    try:
        started.configure(options)
        started.ping()
    except BaseException:
        started.close()
        raise
    return started


def opening(seed: int) -> chess.Board:
    """Returns a board after random plies, in which the game goes on."""
    rng = random.Random(seed)
    while True:
        board = chess.Board()
        for _ in range(OPENING_PLIES):
            board.push(rng.choice([*board.legal_moves]))
            if board.is_game_over():
                break
        else:
            return board


def play(
    engines: tuple[chess.engine.SimpleEngine, chess.engine.SimpleEngine],
    board: chess.Board,
    seconds: float,
    increment: float,
) -> Game:
    """Plays a game, White's engine first; raises chess.engine.EngineError at an illegal move."""
    clocks, least, game = [seconds, seconds], [seconds, seconds], object()
    while not (outcome := board.outcome(claim_draw=True)) and board.ply() < MAX_PLIES:
        side = int(not board.turn)
        limit = chess.engine.Limit(
            white_clock=clocks[0], black_clock=clocks[1], white_inc=increment, black_inc=increment
        )
        began = time.perf_counter()
        move = engines[side].play(board, limit, game=game).move
        clocks[side] -= time.perf_counter() - began
        least[side] = min(least[side], clocks[side])
        if clocks[side] < 0:
            return Game("0-1" if board.turn else "1-0", "time", board.ply(), *least)
        if not move:
            raise chess.engine.EngineError(f"no move in {board.fen()}")
        clocks[side] += increment
        board.push(move)
    reason = outcome.termination.name.lower() if outcome else "adjourned"
    return Game(outcome.result() if outcome else "*", reason, board.ply(), *least)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tests.proof.uci_games")
    parser.add_argument("agent", type=Path)
    parser.add_argument("--games", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--increment", type=float, default=0.01)
    parser.add_argument("--out", type=Path, default=Path("build") / "uci_games.csv")
    options = parser.parse_args()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        pair = [stack.enter_context(engine(options.agent)) for _ in range(2)]
        writer = csv.writer(stack.enter_context(options.out.open("w", newline="")))
        writer.writerow([field.name for field in dataclasses.fields(Game)])
        played = []
        for number in range(options.games):
            # Each opening is played with both colours.
            sides = (pair[0], pair[1]) if number % 2 == 0 else (pair[1], pair[0])
            played.append(play(sides, opening(number // 2), options.seconds, options.increment))
            writer.writerow(dataclasses.astuple(played[-1]))
    lost = sum(game.reason == "time" for game in played)
    least = min(min(game.white_least, game.black_least) for game in played)
    print(f"{len(played)} games, {lost} lost on time; the least time left: {least:.3f} s")
    return int(lost > 0)


if __name__ == "__main__":
    sys.exit(main())
