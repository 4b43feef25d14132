"""A search as a reader sees it: the root's moves as simulations go by, and the tree itself."""

import chess
import ipywidgets
import matplotlib.patches
import pandas as pd
from IPython.display import display

from rungs_course import boards, plots
from rungs_course.plots import image

_MOVES = 7  # of the root that are drawn, those most visited at the end
_MARKED = 3  # of these, that have a marker over the simulations
_NODES = 60  # of a tree that are drawn, those most visited


def root(grown: pd.DataFrame, fen: str, simulation: int):
    """Draws the position with its moves' visits as arrows, and the moves' priors and values.

    Args:
        grown: of `rungs_course.studies.tree.grow`, the first table.
        fen: the position.
        simulation: after how many; the last table at or before it is drawn.
    """
    figure, (board, shares, values) = plots.axes(
        10.5, 3.4, ncols=3, gridspec_kw={"width_ratios": (1, 1.2, 1)}
    )
    rows = _after(grown, simulation)
    boards.position(board, fen)
    for row in rows.itertuples():
        if row.visits:
            _arrow(board, row.uci, row.visits / max(1, rows["visits"].max()))
    count = int(grown["simulation"][grown["simulation"] <= simulation].max())
    board.set_title(f"after {count} simulation{'' if count == 1 else 's'}", fontsize=10)
    shown = rows[rows["move"].isin(_shown(grown))].set_index("move").loc[_shown(grown)]
    place = range(len(shown))
    half = 0.38
    shares.barh(
        [at - half / 2 for at in place], shown["prior"], half, color=plots.SKY, label="prior"
    )
    shares.barh(
        [at + half / 2 for at in place], shown["visits"] / max(1, count), half, color=plots.BLUE,
        hatch=plots.HATCHES[1], edgecolor="white", label="share of visits",
    )  # fmt: skip
    shares.set(yticks=place, yticklabels=shown.index, xlim=(0, 1), xlabel="share")
    shares.legend(frameon=False, fontsize=8, loc="lower right")
    values.barh(place, shown["value"].fillna(0), color=plots.ORANGE)
    values.axvline(0, color=plots.BLACK, linewidth=0.8)
    values.set(yticks=place, yticklabels=[], xlim=(-1, 1), xlabel="value, -1 lost to +1 won")
    for axes in (shares, values):
        axes.invert_yaxis()
    return figure


def growth(grown: pd.DataFrame):
    """Draws visits and values of the root's moves over the simulations.

    The moves most visited at the end have markers, the others are grey: many lie on one another.
    """
    figure, (visits, values) = plots.axes(9.5, 3.6, ncols=2)
    shown = _shown(grown)
    others = grown[~grown["move"].isin(shown[:_MARKED])]
    for i, (_, rows) in enumerate(others.groupby("move")):
        grey = {"color": plots.GREY, "linewidth": 0.8, "label": "another move" if i == 0 else None}
        visits.plot(rows["simulation"], rows["visits"], **grey)
        values.plot(rows["simulation"], rows["value"], **grey | {"label": None})
    moves = [(name, grown[grown["move"] == name]) for name in shown[:_MARKED]]
    for i, (move, rows, look) in enumerate(plots.lines(moves)):
        every = max(_MARKED, len(rows) // 4)
        marked = {"markevery": (i * every // _MARKED, every)} | look  # in turns
        visits.plot(rows["simulation"], rows["visits"], label=move, **marked)
        values.plot(rows["simulation"], rows["value"], **marked)
    visits.set(xlabel="simulations", ylabel="visits of the move")
    values.set(xlabel="simulations", ylabel="mean value of the move", ylim=(-1.05, 1.05))
    figure.legend(loc="outside lower center", ncols=_MOVES, frameon=False)
    return figure


def tree(nodes: pd.DataFrame):
    """Draws the most visited nodes of a tree, a row for each depth.

    Args:
        nodes: of `rungs_course.studies.tree.grow`, the second table.
    """
    kept = nodes.sort_values("visits", ascending=False, kind="stable").head(_NODES).sort_index()
    children: dict[int, list[int]] = {}
    for node, parent in kept["parent"].items():
        children.setdefault(int(parent), []).append(int(node))
    places: dict[int, float] = {}
    _place(0, children, places, [0])
    depth = int(kept["depth"].max())
    figure, axes = plots.axes(10, 1.2 + 1.05 * depth)
    most = kept["visits"].max()
    for node, row in kept.iterrows():
        x, y = places[node], -row["depth"]
        if row["parent"] >= 0:
            above = places[row["parent"]], 1 - row["depth"]
            width = 0.5 + 4 * row["visits"] / most
            axes.plot([x, above[0]], [y, above[1]], color=plots.GREY, linewidth=width, zorder=1)
        shade = {"facecolor": plots.ORANGE if row["end"] else plots.SKY, "edgecolor": plots.BLACK}
        axes.scatter(x, y, s=40 + 260 * row["visits"] / most, zorder=2, **shade)
        if row["parent"] >= 0 and row["visits"] > most / 15:
            axes.annotate(
                f"{row['move']}\n{row['visits']}, {row['value']:+.2f}", (x, y), xytext=(0, -9),
                textcoords="offset points", ha="center", va="top", fontsize=7,
            )  # fmt: skip
    axes.set(yticks=range(-depth, 1), yticklabels=range(depth, -1, -1), xticks=[], ylabel="depth")
    axes.set_ylim(-depth - 0.8, 0.5)
    axes.grid(visible=False)
    marks = {
        "a position": {"facecolor": plots.SKY},
        "the game is over": {"facecolor": plots.ORANGE},
    }
    handles = [matplotlib.patches.Patch(label=name, **look) for name, look in marks.items()]
    axes.legend(handles=handles, frameon=False, fontsize=8, loc="upper right")
    return figure


def explore_search(grown: pd.DataFrame, fen: str):
    """Shows the root's moves after as many simulations as the reader chooses."""

    def show(simulations):
        display(image(root(grown, fen, simulations)))

    steps = sorted(grown["simulation"].unique())
    slider = ipywidgets.SelectionSlider(
        options=steps, value=steps[len(steps) // 8], description="simulations",
        style={"description_width": "initial"}, continuous_update=False,
    )  # fmt: skip
    return ipywidgets.interactive(show, simulations=slider)


def _after(grown: pd.DataFrame, simulation: int) -> pd.DataFrame:
    last = grown["simulation"][grown["simulation"] <= simulation].max()
    rows = grown[grown["simulation"] == last]
    return rows.drop_duplicates("move", keep="last")


def _shown(grown: pd.DataFrame) -> list[str]:
    last = _after(grown, grown["simulation"].max())
    return last.sort_values(["visits", "prior"], ascending=False)["move"].head(_MOVES).to_list()


def _arrow(axes, uci: str, share: float) -> None:
    move = chess.Move.from_uci(uci)
    ends = [(square % 8 + 0.5, square // 8 + 0.5) for square in (move.from_square, move.to_square)]
    look = {"color": plots.BLUE, "alpha": 0.15 + 0.75 * share, "linewidth": 0.5 + 3.5 * share}
    axes.annotate("", ends[1], ends[0], arrowprops={"arrowstyle": "-|>", **look})


def _place(node: int, children: dict, places: dict[int, float], free: list[float]) -> None:
    """Gives a node the middle of its children's places, and a leaf the next free one."""
    for child in children.get(node, []):
        _place(child, children, places, free)
    below = [places[child] for child in children.get(node, [])]
    if below:
        places[node] = (below[0] + below[-1]) / 2
    else:
        places[node] = free[0]
        free[0] += 1
