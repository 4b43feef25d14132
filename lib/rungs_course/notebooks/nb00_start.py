"""The start of the course: its map, the loop of RL, a game, and many random ones."""

import re
import textwrap

import chess
import ipywidgets
import numpy as np
import pandas as pd
from matplotlib.patches import FancyArrowPatch

import rungs
from rungs.chess import NUM_ACTIONS, Reason, from_uci, random_actions
from rungs_course import diagrams, plots, widgets
from rungs_course.outline import PATH, SHORT, number_of, outline, path_minutes

_IN_A_ROW = 5  # notebooks of the map


def course_map(here: str):
    """Draws the path through the course, in order, and the other notebooks by what they need; marks
    one by its number.
    """
    about = outline()
    titles = {number_of(name): facts["title"] for name, facts in about.items()}
    minutes = path_minutes(about)
    figure, axes = plots.axes(9.0, 6.2)
    axes.axis("off")

    def draw(number: str, at: int, y: float, color: str, note: str, **font) -> None:
        color = plots.ORANGE if number == here else color
        text = textwrap.fill(f"{number} {titles[number]}", 14)
        plots.box(axes, (2 * at, y), (1.7, 0.8), text, facecolor=color, **font)
        axes.text(2 * at + 0.85, y - 0.1, note, ha="center", va="top", fontsize=8)

    for place, number in enumerate(PATH):
        row, at = divmod(place, _IN_A_ROW)
        only = f":\n{SHORT[number]}" if number in SHORT else ""
        note = f"{minutes[number]} min{only}"
        draw(number, at, 5.6 - 1.6 * row, plots.SKY, note, fontweight="bold")
        if at < _IN_A_ROW - 1:
            _arrow(axes, (2 * at + 1.72, 6.0 - 1.6 * row), (2 * at + 2.0, 6.0 - 1.6 * row), 0)
    reference: dict[str, list[tuple[str, str]]] = {}
    for name, facts in about.items():
        if (number := number_of(name)) not in PATH:
            needed = f"after {', '.join(re.findall(r'[0-9]+', facts['needs']))}"
            reference.setdefault(facts["part"], []).append((number, needed))
    rows = [("climb it", "measure it"), ("use it",)]
    for parts, y in zip(rows, (1.7, 0.2), strict=True):
        at = 0
        for part in parts:
            axes.text(2 * at, y + 0.9, part, fontstyle="italic", fontsize=9)
            for number, needed in reference[part]:
                draw(number, at, y, "white", needed)
                at += 1
    hours = sum(minutes.values()) / 60
    axes.text(0, 6.55, f"The path: {hours:.2g} hours", fontweight="bold")
    axes.text(0, 2.95, "Reference: for when you need it", fontweight="bold")
    axes.set(xlim=(-0.1, 2 * _IN_A_ROW - 0.2), ylim=(-0.2, 6.9))
    axes.set_title("The course, and where you are")
    return figure


def rl_loop():
    """Draws agent and environment, what goes from one to the other, and what the agent learns from.

    After figure 1 of Barua et al. (2022), with the legal-action mask that chess needs.
    """
    figure, axes = plots.axes(7.5, 3.6)
    axes.set(xlim=(0, 10), ylim=(0, 5))
    axes.axis("off")
    agent = "AGENT\n\na network, and what\nit learns by"
    plots.box(axes, (0.2, 1.9), (2.8, 2.0), agent, facecolor=plots.GREY, alpha=0.6)
    environment = "ENVIRONMENT\n\nthe rules of chess,\nand many boards"
    plots.box(axes, (7.0, 1.9), (2.8, 2.0), environment, facecolor=plots.SKY, alpha=0.6)
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


def _arrow(axes, start: tuple[float, float], end: tuple[float, float], bend: float) -> None:
    look = {"arrowstyle": "-|>", "mutation_scale": 18, "linewidth": 2, "color": plots.BLUE}
    axes.add_patch(FancyArrowPatch(start, end, connectionstyle=f"arc3,rad={bend}", **look))


def play(moves: str) -> pd.DataFrame:
    """Plays legal moves, in UCI with spaces between, on one board of the rung `python`.

    Returns a row per ply: `ply` from 1, `uci`, `san`, `legal` (how many actions the mask allowed),
    `fen` (of the position reached), `reward` (of the player who moved), `terminated`, `reason` (in
    words), and `title`, which names the move.
    """
    env = rungs.make("chess", "python", 1, autoreset_mode="Disabled")
    _, info = env.reset()
    rows = []
    for ply, uci in enumerate(moves.split(), 1):
        (fen,), legal = env.fens(), int(info["action_mask"].sum())
        san = chess.Board(fen).san(chess.Move.from_uci(uci))
        _, (reward,), (terminated,), _, info = env.step(np.array([from_uci(uci, fen)]))
        (fen,), reason = env.fens(), _in_words(info["reason"][0])
        title = f"{(ply + 1) // 2}.{'' if ply % 2 else '..'} {san}, "
        title += f"{reason}: {reward:+.0f}" if terminated else f"{legal} legal"
        rows.append((ply, uci, san, legal, fen, reward, bool(terminated), reason, title))
    names = ["ply", "uci", "san", "legal", "fen", "reward", "terminated", "reason", "title"]
    return pd.DataFrame(rows, columns=names)


def _in_words(reason: int) -> str:
    """Names a code of `info["reason"]`: "threefold repetition"."""
    return Reason(reason).name.lower().replace("_", " ")


def play_at_random(num_envs: int, steps: int, *, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Plays random legal actions, and notes at each position whether one drawn from all is legal.

    Returns a row per position: `ply` (how many were played before), `legal` (how many actions are)
    and `hit`, whether one drawn from all 4,672 is among them; and a row per game that ended:
    `reason` in words, `plies`.
    """
    env = rungs.make("chess", "python", num_envs, seed=seed)
    _, info = env.reset()
    rng = np.random.default_rng(seed)
    ply = np.zeros(num_envs, np.int64)
    positions, ended = [], []
    for _ in range(steps):
        mask = info["action_mask"]
        uniform_actions = rng.integers(NUM_ACTIONS, size=num_envs)
        hit = mask[np.arange(num_envs), uniform_actions]
        positions.append(pd.DataFrame({"ply": ply, "legal": mask.sum(axis=1), "hit": hit}))
        _, _, terminated, _, info = env.step(random_actions(mask, rng))
        ply = ply + 1
        ended += [(_in_words(info["reason"][i]), ply[i]) for i in np.flatnonzero(terminated)]
        ply[terminated] = 0
    games = pd.DataFrame(ended, columns=["reason", "plies"])
    return pd.concat(positions, ignore_index=True), games


def draw_plies(game: pd.DataFrame, plies: list[int]):
    """Draws the positions of a game, as `play` returns it, after some of its plies."""
    return diagrams.rows_of(game[game["ply"].isin(plies)].itertuples())


def explore_game(game: pd.DataFrame):
    """Shows a game, as `play` returns it, a ply at a time."""
    last = int(game["ply"].max())
    slider = ipywidgets.IntSlider(value=last, min=1, max=last, description="ply")
    return widgets.explore(lambda ply: draw_plies(game, [ply]), ply=slider)
