"""An experiment on the Python rung: repetitions counted, instead of looked for at every ply."""

import functools
import timeit
from collections import Counter
from collections.abc import Iterable

import chess
import numpy as np
import pandas as pd

from rungs._src.chess.actions import legal_actions
from rungs._src.chess.boards.python import PythonBoards
from rungs._src.chess.env import ChessEnv
from rungs._src.chess.settings import ChessSettings
from rungs._src.chess.vector_env import ChessVectorEnv
from rungs._src.registry import make
from rungs_course.measure.race import race


class CountingEnv(ChessEnv):
    """The Python rung's board with a counter of positions; for games from the initial position.

    python-chess's `is_repetition` goes back over all positions of the game, at each ply. Here every
    position is counted as it is reached, by all that makes two positions the same.
    """

    _seen: Counter

    def _set_up(self, fen: str) -> None:
        self._seen = Counter()
        super()._set_up(fen)

    def _examine(self) -> None:
        board = self.board
        self.legal = legal_actions(board)
        if board.halfmove_clock == 0:  # a pawn has moved or a piece is gone: nothing comes back
            self._seen.clear()
        position = board._transposition_key()
        self._seen[position] += 1
        self.repetitions = min(self._seen[position] - 1, 2)
        self.reason = self._reason()


class CountingBoards(PythonBoards):
    """The Python rung with such boards."""

    def __init__(self, num_envs: int, first_board: int, settings: ChessSettings):
        super().__init__(num_envs, first_board, settings)
        self._envs = [CountingEnv(env.number, settings) for env in self._envs]


def counting_env(num_envs: int) -> ChessVectorEnv:
    """Makes the Python rung's environment with a counter of positions."""
    return ChessVectorEnv(num_envs, CountingBoards)


def race_counting(num_envs: int, **settings) -> pd.DataFrame:
    """Races the Python rung against the same with a counter, over the same games.

    Args:
        num_envs: number of boards.
        **settings: of `rungs_course.measure.race.race`.

    Returns:
        The rows of `race`, of the racers "is_repetition" and "counter", with `num_envs` beside.
    """
    racers = {"is_repetition": make("chess", "python", num_envs), "counter": counting_env(num_envs)}
    times = race(racers, make("chess", "cpp", num_envs), **settings)
    return times.assign(num_envs=num_envs)


def search_seconds(ages: Iterable[int], *, games: int, seed: int) -> pd.DataFrame:
    """Times `is_repetition` by itself, without a profiler, in random games of some ages.

    The same calls in two orders: again and again on one board before the next, and on all boards in
    turn, as a step does.

    Args:
        ages: in plies.
        games: how many boards there are of each age.
        seed: of the games.

    Returns:
        A row per age, way and round: `age`, `how` ("again and again", "boards in turn"), `repeat`,
        `seconds` of a call, the mean over all boards. The two ways take turns.
    """
    boards = _random_games(sorted(ages), games, np.random.default_rng(seed))
    rows = []
    for age, each in boards.items():
        for repeat in range(9):
            again = [
                timeit.timeit(functools.partial(board.is_repetition, 2), number=9) for board in each
            ]
            rows.append((age, "again and again", repeat, sum(again) / (9 * games)))
            turn = timeit.timeit(functools.partial(_search_each, each), number=1)
            rows.append((age, "boards in turn", repeat, turn / games))
    return pd.DataFrame(rows, columns=["age", "how", "repeat", "seconds"])


def _random_games(ages: list[int], games: int, rng) -> dict[int, list[chess.Board]]:
    """Returns so many boards of each age, of games that went on to the last."""
    found: dict[int, list[chess.Board]] = {age: [] for age in ages}
    while len(found[ages[-1]]) < games:
        board, stages = chess.Board(), {}
        while board.ply() < ages[-1] and (moves := list(board.legal_moves)):
            board.push(moves[rng.integers(len(moves))])
            if board.ply() in found:
                stages[board.ply()] = board.copy()
        if len(stages) == len(ages):
            for age, stage in stages.items():
                found[age].append(stage)
    return found


def amdahl(share, times_as_fast):
    """Returns how many times as fast the whole is when a part of it is: numbers, or arrays.

    Args:
        share: what the part takes of the time, 0 to 1.
        times_as_fast: how many times as fast as before the part becomes.
    """
    return 1 / (1 - share + share / times_as_fast)


def _search_each(boards: list[chess.Board]) -> None:
    for board in boards:
        board.is_repetition(2)
