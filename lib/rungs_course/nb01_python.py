"""The Python rung: where its time goes, how it ages, and repetitions counted, not searched."""

import functools
import timeit
from collections import Counter
from collections.abc import Iterable

import chess
import ipywidgets
import numpy as np
import pandas as pd
import seaborn
import seaborn as sns
from IPython.display import display

from rungs._src.chess.actions import legal_actions
from rungs._src.chess.boards.python import PythonBoards
from rungs._src.chess.env import ChessEnv
from rungs._src.chess.settings import ChessSettings
from rungs._src.chess.vector_env import ChessVectorEnv
from rungs._src.registry import make
from rungs_course import plots
from rungs_course.measure.race import race
from rungs_course.plots import image


def _bars(axes, names, values, texts, color) -> None:
    """Draws horizontal bars, first on top, each with its value written next to it."""
    seaborn.barplot(x=list(values), y=list(names), color=color, saturation=1, ax=axes)
    for i, (value, text) in enumerate(zip(values, texts, strict=True)):
        axes.annotate(text, (value, i), (4, 0), textcoords="offset points", va="center")
    axes.margins(x=0.18)


def draw_profile(frame: pd.DataFrame, title: str):
    """Draws where a rung's own time goes: `frame` has columns `part` and `share` (0 to 1)."""
    figure, axes = plots.axes(height=1.2 + 0.4 * len(frame))
    texts = [f"{share:.0%}" for share in frame["share"]]
    _bars(axes, frame["part"], frame["share"] * 100, texts, plots.ORANGE)
    axes.set_xlabel("per cent of the time of a step")
    axes.set_title(title)
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
    """Returns `games` boards of each age, of games that lasted to the greatest age."""
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


_FACTORS = np.geomspace(1, 100, 60)


def aging(times: pd.DataFrame):
    """Draws what a ply takes as the games get older: medians of three segments, and their range.

    Args:
        times: of `rungs_course.nb01_python.race_counting`, raced without a warm-up.
    """
    figure, axes = plots.axes(height=3.6)
    steps = (times["plies"] // times["num_envs"]).iloc[0]
    length = steps + -(-steps // 4)  # a race plays a quarter more, untimed
    group = times["repeat"] // 3
    shown = times.assign(
        age=(3 * group + 1.5) * length, microseconds=times["seconds"] / times["plies"] * 1e6
    )
    look = {"hue": "racer", "style": "racer", "palette": [plots.ORANGE, plots.BLUE]}
    look |= {"markers": ["o", "s"], "estimator": "median", "errorbar": ("pi", 100)}
    sns.lineplot(shown, x="age", y="microseconds", ax=axes, **look)
    axes.set_ylim(0, None)
    axes.set_xlabel("plies since the first game began")
    axes.set_ylabel("microseconds per ply")
    axes.legend(frameon=False)
    axes.grid(color="#EEEEEE")
    axes.set_title("The same games, as they get older")
    return figure


def amdahl_lines(shares: pd.DataFrame, chosen: str, times_as_fast: float):
    """Draws what the whole gains over how many times as fast a part becomes, a line for each part.

    Args:
        shares: of `rungs_course.measure.profile.share_of_step`: `part` and `share` (0 to 1).
        chosen: the part whose line is marked, and its limit.
        times_as_fast: where it is marked.
    """
    figure, axes = plots.axes(width=8.0, height=4.2)
    share = shares.set_index("part")["share"]
    ends = amdahl(share, _FACTORS[-1]).sort_values()
    gap = 0.055 * (1 / (1 - share.max()) - 1)
    above = 0.0
    for part, end in ends.items():
        above = max(end, above + gap)  # names that would lie on one another are moved up
        marked = part == chosen
        look = {"color": plots.BLUE if marked else plots.GREY, "linewidth": 2.5 if marked else 1.2}
        axes.plot(_FACTORS, amdahl(share[part], _FACTORS), label=part, zorder=2 + marked, **look)
        words = {"fontweight": "bold" if marked else "normal", "fontsize": "small"}
        axes.text(_FACTORS[-1] * 1.06, above, f"{part}, {share[part]:.0%}", va="center", **words)
    limit, gained = 1 / (1 - share[chosen]), amdahl(share[chosen], times_as_fast)
    axes.axhline(limit, color=plots.BLUE, linestyle="--", linewidth=1)
    axes.text(1.05, limit, f"if it took no time: {plots.ratio(limit)}", va="bottom")
    axes.plot(times_as_fast, gained, "o", color=plots.BLUE, markersize=9, zorder=4)
    axes.set_xscale("log")
    axes.set_xlim(1, _FACTORS[-1])
    axes.set_xticks([1, 2, 5, 10, 20, 50, 100], ["1×", "2×", "5×", "10×", "20×", "50×", "100×"])
    axes.minorticks_off()
    axes.set_ylim(1 - gap, 1 / (1 - share.max()) + 2 * gap)
    axes.set_xlabel("how many times as fast that part becomes")
    axes.set_ylabel("how many times as fast a step becomes")
    axes.set_title(f"{chosen} {times_as_fast:g} times as fast: a step {plots.ratio(gained)}")
    axes.grid(color="#EEEEEE")
    return figure


def explore_amdahl(shares: pd.DataFrame):
    """Shows what a step gains where a part of the reader's choice becomes faster.

    Args:
        shares: of `rungs_course.measure.profile.share_of_step`.
    """

    def show(part, faster):
        display(image(amdahl_lines(shares, part, faster)))

    return ipywidgets.interactive(
        show,
        part=ipywidgets.Dropdown(options=shares["part"].tolist(), description="part"),
        faster=ipywidgets.SelectionSlider(
            options=[1, 1.5, 2, 3, 5, 10, 20, 50, 100], value=10, description="faster, ×"
        ),
    )
