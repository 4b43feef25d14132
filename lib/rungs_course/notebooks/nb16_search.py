"""Notebook 16, search: its speed, its tree as it grows, and ratings."""

from collections.abc import Mapping
from typing import Any

import chess
import numpy as np
import pandas as pd

import rungs
from rungs.chess import Reason, move_of
from rungs.devel.selfplay import RULES
from rungs.search import Puct, Result, Search, Tree, uniform
from rungs_course import diagrams, plots, rating, widgets
from rungs_course.measure.verify import assert_same


def positions(number: int, seed: int, plies: int = 30) -> list[str]:
    """Returns FENs of `number` games after at most `plies` random plies."""
    settings: dict[str, Any] = {"mask": "list", "seed": seed, "opening_plies": (0, plies)}
    env = rungs.make("chess", "cpp", number, **settings)
    env.reset()
    return env.fens()


def check_ways(ways: Mapping[str, Mapping[str, Any]], *, seed: int, simulations: int) -> None:
    """Raises MismatchError unless all ways find the same in two games, with the null evaluator."""
    fens = positions(2, seed)
    results: dict[str, Result] = {}
    for name, kwargs in ways.items():
        with Search(len(fens), seed=seed, simulations=simulations, **kwargs) as search:
            search.begin(fens)
            results[name] = search.run(uniform)
    (first, expected), *others = results.items()
    for name, result in others:
        for array in ("visits", "policy", "chosen"):
            label = f"{name}: {array}, from {first}'s,"
            assert_same(label, getattr(result, array), getattr(expected, array))


_QUIET = Puct(fraction=0.0, temperature=0.0)  # the same every time


def grow(fen: str, evaluate, simulations: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Searches a position by PUCT without noise, and looks at the tree as it grows.

    Returns the root's moves after each simulation that called the evaluator (one that comes to the
    game's end doesn't), and after the last: `simulation`, how many there were; `move` (SAN), `uci`,
    `prior`, `visits`, and `value`, the mean for the side to move, NaN without visits. And the nodes
    of the last tree in the order in which they were made: `parent`, a row's number, -1 of the root;
    `move` (SAN, "" of the root), `depth`, `visits`, `value` for the side to move at the root, and
    `end`, why the game is over there, or "".
    """
    snapshots: list[tuple[np.ndarray, np.ndarray]] = []
    with Search(1, simulations=simulations, policy=_QUIET) as search:
        search.begin(fen)

        def watched(observation, actions, counts):
            if len((tree := search.tree(0)).edge_action):  # the root has been evaluated
                snapshots.append(_root(tree))
            return evaluate(observation, actions, counts)

        search.run(watched)
        tree = search.tree(0)
    return _grown(tree, fen, [*snapshots, _root(tree)]), _nodes(tree, fen)


def leads_since(grown: pd.DataFrame) -> int:
    """Returns the simulation from which on the move that has most visits at the end has them."""
    visited = grown[grown["simulation"] > 0]
    leaders = visited.loc[visited.groupby("simulation")["visits"].idxmax()]
    others = leaders[leaders["move"] != leaders["move"].iloc[-1]]
    return int(others["simulation"].max()) + 1 if len(others) else 0


def _root(tree: Tree) -> tuple[np.ndarray, np.ndarray]:
    """Returns visits and the sums of what they found, of the root's moves."""
    edges = slice(tree.first[0], tree.first[0] + tree.count[0])
    return tree.edge_visits[edges], tree.edge_value_sum[edges]


def _grown(tree: Tree, fen: str, snapshots: list[tuple[np.ndarray, np.ndarray]]) -> pd.DataFrame:
    board, edges = chess.Board(fen), slice(tree.first[0], tree.first[0] + tree.count[0])
    moves = [_move(int(action), board) for action in tree.edge_action[edges]]
    visits, sums = (np.array(column) for column in zip(*snapshots, strict=True))
    with np.errstate(invalid="ignore"):
        value = sums / visits
    return pd.DataFrame(
        {
            "simulation": visits.sum(axis=1).repeat(len(moves)),
            "move": [board.san(move) for move in moves] * len(snapshots),
            "uci": [move.uci() for move in moves] * len(snapshots),
            "prior": np.tile(tree.edge_prior[edges], len(snapshots)),
            "visits": visits.ravel(),
            "value": value.ravel(),
        }
    )


def _nodes(tree: Tree, fen: str) -> pd.DataFrame:
    boards, rows = [chess.Board(fen)], [(-1, "", 0, int(tree.visits[0]), float(tree.value[0]), "")]
    for node in range(1, len(tree.parent)):
        parent = int(tree.parent[node])
        board, depth = boards[parent].copy(), rows[parent][2] + 1
        san = board.san_and_push(_move(int(tree.action[node]), board))
        boards.append(board)
        sign = -1 if depth % 2 else 1
        reason = Reason(int(tree.reason[node]))
        end = "" if reason == Reason.ONGOING else reason.name.lower().replace("_", " ")
        value = sign * float(tree.value[node])
        rows.append((parent, san, depth, int(tree.visits[node]), value, end))
    return pd.DataFrame(rows, columns=["parent", "move", "depth", "visits", "value", "end"])


def _move(action: int, board: chess.Board) -> chess.Move:
    move = move_of(action, board)
    assert move  # of a tree
    return move


def draw_search_ladder(rows: pd.DataFrame):
    """Draws simulations per second of each way to search, medians and repeats, by evaluator."""
    ways, evaluators = list(rows["racer"].unique()), list(rows["evaluator"].unique())
    figure, axes = plots.axes(7.5, 1.2 + 0.75 * len(ways))
    groups = plots.lines(rows.groupby("evaluator", sort=False))
    for i, (name, evaluator_rows, look) in enumerate(groups):
        repeats = evaluator_rows.groupby("racer")["per_second"]
        rates, low, high = (getattr(repeats, of)()[ways] for of in ("median", "min", "max"))
        place = [k + 0.27 * (i - (len(evaluators) - 1) / 2) for k in range(len(ways))]
        style = {"linestyle": "none", "capsize": 3, "label": name} | look
        axes.errorbar(rates, place, xerr=[rates - low, high - rates], **style)
        for y, rate, end in zip(place, rates, high, strict=True):
            right = {"xytext": (8, 0), "textcoords": "offset points", "va": "center"}
            axes.annotate(plots.speed(rate), (end, y), fontsize=8, **right)
    axes.set_xscale("log")
    axes.set_xlim(right=rows["per_second"].max() * 4)
    names = [f"{way}, {rows.loc[rows['racer'] == way, 'games'].max():,} games" for way in ways]
    axes.set(yticks=range(len(ways)), yticklabels=names)
    axes.set_xlabel("simulations per second (logarithmic; lines: all repeats)")
    axes.set_title("Four ways to search many games at once")
    axes.invert_yaxis()
    figure.legend(loc="outside lower center", ncols=len(evaluators), frameon=False)
    return figure


_MAX_MOVES = 7  # of the root that are drawn, those most visited at the end
_MARKED = 3  # of these, that have a marker over the simulations
_MAX_NODES = 60  # of a tree that are drawn, those most visited


def draw_root(grown: pd.DataFrame, fen: str, simulation: int):
    """Draws the position with its moves' visits as arrows, and the moves' priors and values."""
    figure, (board, shares, values) = plots.axes(
        10.5, 3.4, ncols=3, gridspec_kw={"width_ratios": (1, 1.2, 1)}
    )
    rows = _after(grown, simulation)
    diagrams.position(board, fen)
    for row in rows.itertuples():
        if row.visits:
            _arrow(board, row.uci, row.visits / max(1, rows["visits"].max()))
    count = int(grown["simulation"][grown["simulation"] <= simulation].max())
    board.set_title(f"after {count} simulation{'' if count == 1 else 's'}", fontsize=10)
    moves = rows[rows["move"].isin(_shown(grown))].set_index("move").loc[_shown(grown)]
    place = np.arange(len(moves))
    looks = plots.fills(("prior", "share of visits"), (plots.SKY, plots.BLUE))
    both = zip(looks, (moves["prior"], moves["visits"] / max(1, count)), (-0.19, 0.19), strict=True)
    for name, values_of, shift in both:
        shares.barh(place + shift, values_of, 0.38, label=name, **looks[name])
    shares.set(yticks=place, yticklabels=moves.index, xlim=(0, 1), xlabel="share")
    shares.legend(frameon=False, fontsize=8, loc="lower right")
    values.barh(place, moves["value"].fillna(0), color=plots.ORANGE)
    values.axvline(0, color=plots.BLACK, linewidth=0.8)
    values.set(yticks=place, yticklabels=[], xlim=(-1, 1), xlabel="value, -1 lost to +1 won")
    for axes in (shares, values):
        axes.invert_yaxis()
    return figure


def draw_growth(grown: pd.DataFrame):
    """Draws visits and values of the root's moves over the simulations.

    The moves most visited at the end have markers, the others are grey: many overlap.
    """
    figure, (visits, values) = plots.axes(9.5, 3.6, ncols=2)
    ranked = _shown(grown)
    others = grown[~grown["move"].isin(ranked[:_MARKED])]
    for i, (_, rows) in enumerate(others.groupby("move")):
        grey = {"color": plots.GREY, "linewidth": 0.8, "label": "another move" if i == 0 else None}
        visits.plot(rows["simulation"], rows["visits"], **grey)
        values.plot(rows["simulation"], rows["value"], **grey | {"label": None})
    moves = [(name, grown[grown["move"] == name]) for name in ranked[:_MARKED]]
    for i, (move, rows, look) in enumerate(plots.lines(moves)):
        every = max(_MARKED, len(rows) // 4)
        marked = {"markevery": (i * every // _MARKED, every)} | look  # in turns
        visits.plot(rows["simulation"], rows["visits"], label=move, **marked)
        values.plot(rows["simulation"], rows["value"], **marked)
    visits.set(xlabel="simulations", ylabel="visits of the move", title="Visits follow values")
    values.set(xlabel="simulations", ylabel="mean value of the move", ylim=(-1.05, 1.05))
    values.set_title("A mate raises a value to one")
    figure.legend(loc="outside lower center", ncols=_MAX_MOVES, frameon=False)
    return figure


def draw_trees(trees: Mapping[int, pd.DataFrame]):
    """Draws a tree after several numbers of simulations, a panel each with a row for each depth:
    those nodes that are most visited in the last.
    """
    *_, last = trees.values()
    shown = last.sort_values("visits", ascending=False, kind="stable").head(_MAX_NODES).sort_index()
    children: dict[int, list[int]] = {}
    for node, parent in shown["parent"].items():
        children.setdefault(int(parent), []).append(int(node))
    places: dict[int, float] = {}
    _place(0, children, places, [0])
    depth, rows = int(shown["depth"].max()), -(-len(trees) // 2)
    figure, panels = plots.axes(
        11, (0.9 + 0.7 * depth) * rows, nrows=rows, ncols=2, sharex=True, sharey=True
    )
    for axes, (simulations, nodes) in zip(panels.flat, trees.items(), strict=False):
        _draw_tree(axes, nodes[nodes.index.isin(shown.index)], places)
        axes.set_title(f"{simulations:,} simulations, {len(nodes):,} positions")
        axes.set(yticks=range(-depth, 1), yticklabels=range(depth, -1, -1), xticks=[])
        axes.set_ylim(-depth - 0.9, 0.5)
        axes.grid(visible=False)
    figure.supylabel("plies from the position")
    plots.legend_below(
        figure,
        {"a position": {"facecolor": plots.SKY}, "the game is over": {"facecolor": plots.ORANGE}},
        2,
    )
    return figure


def _draw_tree(axes, nodes: pd.DataFrame, places: dict[int, float]) -> None:
    most = nodes["visits"].max()
    below: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "va": "top"}
    below |= {"fontsize": 7, "bbox": {"facecolor": "white", "linewidth": 0, "pad": 0.5}}
    for row in nodes.itertuples():
        x, y, share = places[row.Index], -row.depth, row.visits / most
        if row.parent >= 0:
            line = {"color": plots.GREY, "linewidth": 0.5 + 4 * share, "zorder": 1}
            axes.plot([x, places[row.parent]], [y, y + 1], **line)
            if share > 1 / 8:
                text = f"{row.move}\n{row.visits}, {row.value:+.2f}"
                axes.annotate(text, (x, y), (0, -9), **below)
        shade = {"facecolor": plots.ORANGE if row.end else plots.SKY, "edgecolor": plots.BLACK}
        axes.scatter(x, y, s=20 + 160 * share, zorder=2, **shade)


def explore_search(grown: pd.DataFrame, fen: str):
    """Shows the root's moves after as many simulations as the reader chooses."""
    steps = sorted(grown["simulation"].unique())
    slider = widgets.slider(steps, steps[len(steps) // 8], "simulations")
    slider.continuous_update = False
    return widgets.explore(
        lambda simulations: draw_root(grown, fen, simulations), simulations=slider
    )


def _after(grown: pd.DataFrame, simulation: int) -> pd.DataFrame:
    last = grown["simulation"][grown["simulation"] <= simulation].max()
    rows = grown[grown["simulation"] == last]
    return rows.drop_duplicates("move", keep="last")


def _shown(grown: pd.DataFrame) -> list[str]:
    last = _after(grown, grown["simulation"].max())
    return last.sort_values(["visits", "prior"], ascending=False)["move"].head(_MAX_MOVES).to_list()


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


def draw_strength(matches: pd.DataFrame, anchor: str):
    """Draws an agent's rating over its simulations, a line per rule, with 95 % intervals.

    The player `anchor` is at 0; if it has lost all its games, all intervals are wide.
    """
    table = _strength(matches, anchor)
    figure, axes = plots.axes(7, 3.6)
    for policy, name, look in plots.lines(RULES.items()):
        rows = table[table["policy"] == policy]
        style = {"yerr": _elo_errors(rows), "label": name, "capsize": 3} | look
        axes.errorbar(rows["simulations"], rows["elo"], **style)
    axes.set_xscale("log", base=2)
    counts = sorted(table["simulations"].unique())
    axes.set_xticks(counts, [f"{count:.0f}" for count in counts])
    axes.set(xlabel="simulations of a move", ylabel=f"Elo above\n{anchor}")
    axes.set_title("One agent, more simulations a move")
    axes.legend(frameon=False)
    return figure


def _strength(matches: pd.DataFrame, anchor: str) -> pd.DataFrame:
    """Returns a row for each rule and number of simulations, sorted, with its rating."""
    ratings = rating.of_matches(matches, anchor)
    ways = matches.dropna(subset="policy").drop_duplicates("player")
    merged = ways[["player", "policy", "simulations"]].merge(ratings, on="player")
    return merged.sort_values(["policy", "simulations"])


def _elo_errors(rated: pd.DataFrame) -> list[pd.Series]:
    """Returns the lengths of error bars below and above Elo, 0 where there is no interval."""
    lengths = [rated["elo"] - rated["low"], rated["high"] - rated["elo"]]
    return [length.fillna(0) for length in lengths]


def draw_core_hours(rated: pd.DataFrame):
    """Draws ratings over the core-hours of training, ours with 95 % intervals, others' without."""
    figure, axes = plots.axes(7, 3.6)
    ours = rated["project"] == "Rungs"
    labels = rated["project"].where(~ours, "Rungs, " + rated["search"] + ", " + rated["control"])
    for label, rows, look in plots.lines(rated.groupby(labels, sort=False)):
        style = {"linestyle": "none", "capsize": 3, "label": label} | look
        axes.errorbar(rows["core_hours"], rows["elo"], yerr=_elo_errors(rows), **style)
    axes.set_xscale("log")
    axes.set(xlabel="core-hours of training (logarithmic)", ylabel="Elo on CCRL's blitz scale")
    axes.set_title("What training from the rules costs")
    axes.legend(frameon=False, fontsize=8)
    return figure


def draw_ablations(ablations: pd.DataFrame):
    """Draws each change's gain in learning, in the order of the table; those kept are filled."""
    figure, axes = plots.axes(9, 1.2 + 0.45 * len(ablations))
    names = [
        f"{row.change.partition(' (`')[0]}\nagainst {row.against.partition(' (`')[0]}"
        for row in ablations.itertuples()
    ]
    used = ablations["kept"] == "yes"
    for mask, label, fill in ((used, "kept", plots.BLUE), (~used, "not the default", "white")):
        rows, places = ablations[mask], [i for i, flag in enumerate(mask) if flag]
        look = {"fmt": "o", "color": plots.BLUE, "markerfacecolor": fill, "capsize": 3}
        axes.errorbar(rows["elo"], places, xerr=_elo_errors(rows), label=label, **look)
    axes.set_yticks(range(len(names)), names, fontsize=9)
    axes.invert_yaxis()
    axes.axvline(0, color=plots.BLACK, linewidth=0.8, linestyle=":")
    axes.set_xlabel("Elo gained at equal positions")
    axes.set_title("What helps learning most")
    axes.legend(frameon=False)
    return figure


def draw_ratings(ratings: pd.DataFrame):
    """Draws all players of a run, the strongest on top, with 95 % intervals."""
    figure, axes = plots.axes(7.5, 1.2 + 0.32 * len(ratings))
    rated = ratings.sort_values("elo")
    look = {"fmt": "o", "color": plots.BLUE, "capsize": 3}
    axes.errorbar(rated["elo"], rated["player"], xerr=_elo_errors(rated), **look)
    axes.axvline(0, color=plots.BLACK, linewidth=0.8, linestyle=":")
    axes.set(xlabel="Elo above random play", title="One fit of all matches")
    return figure


def draw_ratings_over_time(evaluations: pd.DataFrame):
    """Draws a run's rating above random play, and its scores, as it went on; or several runs', a
    colour for each.
    """
    figure, (elo, scores) = plots.axes(9.5, 4.2, ncols=2)
    against = {"random": "random play", "stockfish": "Stockfish at its weakest"}
    runs = evaluations.assign(seed=evaluations.get("seed", 0)).sort_values("seconds")
    dotted, dashed = {"linestyle": ":"}, {"linestyle": "--"}
    for seed, rows, look in plots.lines(runs.groupby("seed")):
        run = f"seed {seed}, " if "seed" in evaluations else ""
        minutes = rows.assign(minutes=rows["seconds"] / 60)
        plots.band_line(elo, minutes, "minutes", "elo", f"{run}with search", look)
        alone = rows["elo"] - rows["search_gain"]
        elo.plot(minutes["minutes"], alone, label=f"{run}policy alone", **look | dashed)
        for opponent, style in (("random", dotted), ("stockfish", {})):
            if opponent in rows:
                label = f"{run}against {against[opponent]}"
                scores.plot("minutes", opponent, data=minutes, label=label, **look | style)
    elo.axhline(0, color=plots.BLACK, linewidth=0.8, linestyle=":")
    elo.set(ylabel="Elo above random play", title="Rating")
    scores.set(ylim=(-0.02, 1.02), ylabel="points per game", title="Points")
    for axes in (elo, scores):
        axes.set_xlim(0, None)
        axes.set_xlabel("minutes of playing and learning")
        axes.legend(frameon=False, fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.18))
    return figure


def price(
    rates: Mapping[str, float], learnt: float, *, simulations: float, positions: float
) -> pd.DataFrame:
    """Returns what AlphaZero's work takes: a row per rate of simulations, and one for learning.

    `rates` are simulations a second, by the network; `learnt` is positions a second. Columns:
    `part`, `what`, `work`, `per_second`, `hours` and `years`.
    """
    rows = [("self-play", f"simulations, {name}", simulations, rates[name]) for name in rates]
    rows.append(("learning", "positions, this network", positions, learnt))
    bill = pd.DataFrame(rows, columns=["part", "what", "work", "per_second"])
    hours = bill["work"] / bill["per_second"] / 3600
    return bill.assign(hours=hours, years=hours / (365.25 * 24))
