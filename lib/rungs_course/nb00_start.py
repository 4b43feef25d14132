"""Where the course begins: its map, the loop of RL, a game, and many random ones."""

from typing import Any

import chess
import ipywidgets
import numpy as np
import pandas as pd
import seaborn as sns
from IPython.display import display
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

import rungs
from rungs._src.chess.actions import NUM_ACTIONS, from_uci
from rungs._src.chess.policy import random_actions
from rungs._src.chess.reason import Reason
from rungs_course import boards, plots
from rungs_course.plots import image

LADDER = {
    "01": "Python",
    "02": "Python\nprocesses",
    "03": "C++",
    "04": "OpenMP\nthreads",
    "05": "MPI\nranks",
    "06": "CUDA",
}
MEASURE = {"07": "the ladder", "08": "roofline", "09": "counters", "10": "scaling"}
USE = {
    "11": "full system",
    "12": "peers",
    "13": "CartPole",
    "14": "beyond\none node",
    "15": "training",
    "16": "search",
}
_WIDTH, _HEIGHT = 1.5, 0.9


def course_map(here: str):
    """Draws all notebooks, and marks one of them.

    Args:
        here: its number, "00" to "16".
    """
    figure, axes = plots.axes(9.0, 5.0)
    axes.axis("off")
    _stand(axes, "00", "start here", (0.0, 0.0), plots.GREY, here)
    for i, (number, name) in enumerate(LADDER.items()):
        _stand(axes, number, name, (1.7 * (i + 1), 0.62 * (i + 1)), plots.SKY, here)
    rows = {"measure it": (MEASURE, 5.1), "use it": (USE, 6.6)}
    for title, (names, height) in rows.items():
        axes.text(-0.1, height + _HEIGHT / 2, title, ha="right", va="center", fontweight="bold")
        for i, (number, name) in enumerate(names.items()):
            _stand(axes, number, name, (1.7 * i, height), plots.GREY, here)
    axes.text(-0.1, 1.3, "climb it", ha="right", va="center", fontweight="bold")
    axes.set(xlim=(-1.9, 11.9), ylim=(-0.2, 7.7))
    axes.set_title("The course, and where you are")
    return figure


def _stand(axes, number: str, name: str, corner: tuple[float, float], color: str, here: str):
    x, y = corner
    color = plots.ORANGE if number == here else color
    look: dict[str, Any] = {
        "boxstyle": "round,pad=0.02,rounding_size=0.1",
        "edgecolor": plots.BLACK,
    }
    width = 3 if number == here else 1
    axes.add_patch(
        FancyBboxPatch(corner, _WIDTH, _HEIGHT, facecolor=color, linewidth=width, **look)
    )
    axes.text(
        x + _WIDTH / 2, y + _HEIGHT / 2, f"{number} {name}", ha="center", va="center", fontsize=9
    )


def rl_loop():
    """Draws agent and environment, what goes from one to the other, and what the agent learns from.

    After figure 1 of Barua et al. (2022), with the legal-action mask that chess needs.
    """
    figure, axes = plots.axes(7.5, 3.6)
    axes.set(xlim=(0, 10), ylim=(0, 5))
    axes.axis("off")
    _box(axes, (0.2, 1.9), "agent", "a network, and what\nit learns by", plots.GREY)
    _box(axes, (7.0, 1.9), "environment", "the rules of chess,\nand many boards", plots.SKY)
    _arrow(axes, (3.0, 3.6), (7.0, 3.6), -0.25)
    axes.text(5.0, 4.25, "action", ha="center", va="bottom", fontweight="bold")
    _arrow(axes, (7.0, 2.2), (3.0, 2.2), -0.25)
    answers = "observation, legal actions,\nreward, and whether it is over"
    axes.text(5.0, 1.55, answers, ha="center", va="top", fontweight="bold")
    axes.text(5.0, 2.9, "generate: one step of all boards", ha="center", va="center")
    _arrow(axes, (0.9, 1.9), (2.3, 1.9), 1.1)
    axes.text(1.6, 0.75, "update, after\na batch", ha="center", va="top")
    axes.set_title("The loop of reinforcement learning")
    return figure


def _box(axes, corner: tuple[float, float], name: str, below: str, color: str) -> None:
    x, y = corner
    look: dict[str, Any] = {
        "boxstyle": "round,pad=0.05,rounding_size=0.2",
        "facecolor": color,
        "alpha": 0.6,
    }
    axes.add_patch(FancyBboxPatch(corner, 2.8, 2.0, edgecolor=plots.BLACK, **look))
    axes.text(x + 1.4, y + 1.45, name, ha="center", va="center", fontweight="bold", fontsize=12)
    axes.text(x + 1.4, y + 0.65, below, ha="center", va="center", fontsize=9)


def _arrow(axes, start: tuple[float, float], end: tuple[float, float], bend: float) -> None:
    look = {"arrowstyle": "-|>", "mutation_scale": 18, "linewidth": 2, "color": plots.BLUE}
    axes.add_patch(FancyArrowPatch(start, end, connectionstyle=f"arc3,rad={bend}", **look))


# Morphy against the Duke of Brunswick and Count Isouard, Paris 1858.
OPERA_GAME = (
    "e2e4 e7e5 g1f3 d7d6 d2d4 c8g4 d4e5 g4f3 d1f3 d6e5 f1c4 g8f6 f3b3 d8e7 b1c3 c7c6 c1g5 b7b5 "
    "c3b5 c6b5 c4b5 b8d7 e1c1 a8d8 d1d7 d8d7 h1d1 e7e6 b5d7 f6d7 b3b8 d7b8 d1d8"
)


def play(moves: str) -> pd.DataFrame:
    """Plays moves in the environment, on one board of the Python rung, from the initial position.

    Args:
        moves: as UCI writes them, with spaces between, all legal.

    Returns:
        A row per ply: `ply` from 1, `uci`, `san` (the move as chess players write it), `action`,
        `legal` (how many actions the mask allowed), `fen` (of the position reached), `reward` (of
        who moved), `terminated`, `reason` (in words).
    """
    env = rungs.make("chess", "python", 1, autoreset_mode="Disabled")
    _, info = env.reset()
    rows = []
    for ply, uci in enumerate(moves.split(), 1):
        (fen,), legal = env.fens(), int(info["action_mask"].sum())
        action = from_uci(uci, fen)
        san = chess.Board(fen).san(chess.Move.from_uci(uci))
        _, reward, terminated, _, info = env.step(np.array([action]))
        (fen,), reason = env.fens(), reason_in_words(info["reason"][0])
        rows.append((ply, uci, san, action, legal, fen, reward[0], bool(terminated[0]), reason))
    names = ["ply", "uci", "san", "action", "legal", "fen", "reward", "terminated", "reason"]
    return pd.DataFrame(rows, columns=names)


def reason_in_words(reason: int) -> str:
    """Names a code of `info["reason"]`: "threefold repetition"."""
    return Reason(reason).name.lower().replace("_", " ")


def play_at_random(num_envs: int, steps: int, *, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Plays random legal actions, and asks at each position what a random action would have been.

    Args:
        num_envs: number of boards of the Python rung.
        steps: of all boards; where a game ends, the next begins.
        seed: of the games and of all actions.

    Returns:
        A row per position: `ply` (how many were played before), `legal` (how many actions are) and
        `hit`, whether one drawn from all 4,672 is among them. A row per game that ended: `reason`
        in words, `plies`.
    """
    env = rungs.make("chess", "python", num_envs, seed=seed)
    _, info = env.reset()
    rng = np.random.default_rng(seed)
    ply = np.zeros(num_envs, np.int64)
    positions, ended = [], []
    for _ in range(steps):
        mask = info["action_mask"]
        drawn = rng.integers(NUM_ACTIONS, size=num_envs)
        hit = mask[np.arange(num_envs), drawn]
        positions.append(pd.DataFrame({"ply": ply, "legal": mask.sum(axis=1), "hit": hit}))
        _, _, terminated, _, info = env.step(random_actions(mask, rng))
        ply = ply + 1
        ended += [(reason_in_words(info["reason"][i]), ply[i]) for i in np.flatnonzero(terminated)]
        ply[terminated] = 0
    games = pd.DataFrame(ended, columns=["reason", "plies"])
    return pd.concat(positions, ignore_index=True), games


def plies_of(game: pd.DataFrame, plies: list[int], columns: int = 4):
    """Draws some positions of a game.

    Args:
        game: of `rungs_course.nb00_start.play`.
        plies: after which plies.
        columns: diagrams in a row, at the most.
    """
    return boards.rows_of(_titled(game[game["ply"].isin(plies)]), columns)


def _titled(rows: pd.DataFrame):
    """Yields rows with a title: the move, and the end where it is one."""
    for row in rows.itertuples(index=False):
        number = f"{(row.ply + 1) // 2}." + ("" if row.ply % 2 else "..")
        title = f"{number} {row.san}, {row.legal} legal"
        if row.terminated:
            title = f"{number} {row.san}, {row.reason}: {row.reward:+.0f}"
        yield pd.Series({"fen": row.fen, "uci": row.uci, "title": title})


def explore_game(game: pd.DataFrame):
    """Shows a game, a ply at a time; arguments as of `plies_of`."""

    def show(ply):
        display(image(plies_of(game, [ply])))

    last = int(game["ply"].max())
    slider = ipywidgets.IntSlider(value=last, min=1, max=last, description="ply")
    return ipywidgets.interactive(show, ply=slider)


def at_random(positions: pd.DataFrame, games: pd.DataFrame):
    """Draws how many actions are legal as random games go on, and how those ended that did.

    Args:
        positions: of `rungs_course.nb00_start.play_at_random`.
        games: of the same.
    """
    figure, (left, right) = plots.axes(9.5, 3.6, ncols=2)
    shown = positions.assign(ply=positions["ply"] // 10 * 10)
    sns.lineplot(
        shown, x="ply", y="legal", ax=left, color=plots.BLUE, estimator="median",
        errorbar=("pi", 50),
    )  # fmt: skip
    left.set_ylim(0, None)
    left.set_xlabel("plies played, in bins of ten")
    left.set_ylabel(f"legal actions, of {NUM_ACTIONS:,}")
    left.set_title("How many actions are legal", fontsize=10)
    left.grid(color="#EEEEEE")
    order = games["reason"].value_counts().index
    sns.countplot(games, y="reason", order=order, ax=right, color=plots.ORANGE)
    for bars in right.containers:  # none where no game has ended
        right.bar_label(bars, padding=3)
    right.set_xlabel("games that ended")
    right.set_ylabel("")
    right.set_title(f"How {len(games)} random games ended", fontsize=10)
    return figure
