"""Games as a reader sees them: diagrams of one, and how random ones go and end."""

import ipywidgets
import pandas as pd
import seaborn as sns
from IPython.display import display

from rungs._src.chess.actions import NUM_ACTIONS
from rungs_course import boards, plots
from rungs_course.plots import image


def plies_of(game: pd.DataFrame, plies: list[int], columns: int = 4):
    """Draws some positions of a game.

    Args:
        game: of `rungs_course.studies.games.play`.
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


def side_by_side(lines: pd.DataFrame, columns: int = 4):
    """Draws how several players go on from one position, a row of diagrams for each.

    Args:
        lines: of `rungs_course.nb16_search.same_opening`.
        columns: how many plies of each are drawn.
    """
    shown = lines[lines.groupby("who")["ply"].rank() <= columns]
    titles = [
        f"{row.who}\n{(row.ply + 1) // 2}.{'' if row.ply % 2 else '..'} {row.san}"
        for row in shown.itertuples()
    ]
    return boards.rows_of(shown.assign(title=titles).itertuples(), columns)


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
        positions: of `rungs_course.studies.games.play_at_random`.
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
