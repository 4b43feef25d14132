"""The Python rung: where its time goes, how it ages, and repetitions counted, not searched."""

import functools
import time
from collections import Counter
from collections.abc import Iterable

import chess
import ipywidgets
import numpy as np
import pandas as pd
import seaborn as sns

from rungs.chess import ChessSettings, ChessVectorEnv, legal_actions
from rungs.devel.envs import ChessEnv, PythonBoards
from rungs_course import plots, widgets


def draw_profile(shares: pd.DataFrame, title: str):
    """Draws where a rung's own time goes: `shares` has columns `part` and `share` (0 to 1)."""
    figure, axes = plots.axes(height=1.2 + 0.4 * len(shares))
    sns.barplot(x=shares["share"] * 100, y=shares["part"], color=plots.ORANGE, ax=axes)
    axes.bar_label(axes.containers[0], fmt="{:.0f} %", padding=3)
    axes.margins(x=0.1)
    axes.set(xlabel="per cent of the time of a step", ylabel="", title=title)
    return figure


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
    """The Python rung's boards, each a `CountingEnv`."""

    def __init__(self, num_envs: int, first_board: int, settings: ChessSettings):
        super().__init__(num_envs, first_board, settings)
        self._envs = [CountingEnv(env.number, settings) for env in self._envs]


def counting_env(num_envs: int) -> ChessVectorEnv:
    """Makes the Python rung's environment with a counter of positions."""
    return ChessVectorEnv(num_envs, CountingBoards)


def search_seconds(ages: Iterable[int], *, games: int, seed: int) -> pd.DataFrame:
    """Times `is_repetition` by itself, without a profiler, in random games of some ages in plies.

    The same calls in two orders, which take turns: nine on one board before the next, and on all
    boards in turn, as a step does. Returns a row per age, way and round: `age`, `how` ("again and
    again", "boards in turn"), `repeat`, `seconds` of a call, the mean over all boards.
    """
    rows = []
    for age, boards in _random_games(sorted(ages), games, np.random.default_rng(seed)).items():
        for repeat in range(9):
            rows.append((age, "again and again", repeat, _seconds_of_search(boards, calls=9)))
            rows.append((age, "boards in turn", repeat, _seconds_of_search(boards, calls=1)))
    return pd.DataFrame(rows, columns=["age", "how", "repeat", "seconds"])


def _random_games(ages: list[int], games: int, rng) -> dict[int, list[chess.Board]]:
    """Returns `games` boards of each age, of games that lasted to the greatest age."""
    boards_of_age: dict[int, list[chess.Board]] = {age: [] for age in ages}
    while len(boards_of_age[ages[-1]]) < games:
        board, stages = chess.Board(), {}
        while board.ply() < ages[-1] and (moves := list(board.legal_moves)):
            board.push(moves[rng.integers(len(moves))])
            if board.ply() in boards_of_age:
                stages[board.ply()] = board.copy()
        if len(stages) == len(ages):
            for age, stage in stages.items():
                boards_of_age[age].append(stage)
    return boards_of_age


def _seconds_of_search(boards: list[chess.Board], calls: int) -> float:
    """Returns the mean seconds of a call, of `calls` on each board before the next."""
    start = time.perf_counter()
    for board in boards:
        for _ in range(calls):
            board.is_repetition(2)
    return (time.perf_counter() - start) / (calls * len(boards))


def amdahl(share, times_as_fast):
    """Returns how many times as fast the whole is when a part, `share` of its time (0 to 1), is:
    numbers, or arrays.
    """
    return 1 / (1 - share + share / times_as_fast)


def draw_aging(times: pd.DataFrame):
    """Draws what a ply takes as the games get older: medians of three segments, and their range."""
    figure, axes = plots.axes(height=3.6)
    steps = (times["plies"] // times["num_envs"]).iloc[0]
    length = steps + -(-steps // 4)  # a race plays a quarter more, untimed
    age = (times["repeat"] // 3 * 3 + 1.5) * length
    per_ply = times.assign(age=age, microseconds=times["seconds"] / times["plies"] * 1e6)
    look = {"hue": "racer", "style": "racer", "palette": [plots.ORANGE, plots.BLUE]}
    look |= {"markers": ["o", "s"], "estimator": "median", "errorbar": ("pi", 100)}
    sns.lineplot(per_ply, x="age", y="microseconds", ax=axes, **look)
    axes.set(xlabel="plies since the first game began", ylabel="microseconds per ply")
    axes.set_ylim(0, None)
    axes.legend(frameon=False)
    axes.set_title("The same games, as they get older")
    return figure


def draw_amdahl(shares: pd.DataFrame, chosen: str, faster: float):
    """Draws what the whole gains over how many times as fast a part becomes, a line for each part;
    marks one part at `faster`.
    """
    figure, axes = plots.axes(width=8.0, height=4.2)
    factors = np.geomspace(1, 100, 61)
    for part, rows, look in plots.lines(shares.groupby("part", sort=False)):
        share = rows["share"].iloc[0]
        look |= {"markevery": 10, "linewidth": 3 if part == chosen else 1}
        axes.plot(factors, amdahl(share, factors), label=f"{part}, {share:.0%}", **look)
    share = shares.set_index("part")["share"][chosen]
    limit, gained = amdahl(share, np.inf), amdahl(share, faster)
    axes.axhline(limit, color=plots.BLACK, linestyle="--", linewidth=1)
    axes.text(1.05, limit, f"if it took no time: {plots.ratio(limit)}", va="bottom")
    axes.plot(faster, gained, "*", color=plots.BLACK, markersize=14, zorder=4)
    axes.set_xscale("log")
    axes.set_xticks([1, 2, 5, 10, 20, 50, 100], ["1×", "2×", "5×", "10×", "20×", "50×", "100×"])
    axes.minorticks_off()
    axes.set_xlabel("how many times as fast that part becomes")
    axes.set_ylabel("how many times as fast a step becomes")
    axes.set_title(f"{chosen} {faster:g} times as fast: a step {plots.ratio(gained)}")
    plots.legend_beside(axes)
    return figure


def explore_amdahl(shares: pd.DataFrame):
    """Shows what a step gains where a part of the reader's choice becomes faster."""
    part = ipywidgets.Dropdown(options=shares["part"].tolist(), description="part")
    faster = widgets.slider([1, 1.5, 2, 3, 5, 10, 20, 50, 100], 10, "faster, ×")
    return widgets.explore(functools.partial(draw_amdahl, shares), chosen=part, faster=faster)
