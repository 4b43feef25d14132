"""Every figure is drawn: its axes are named, and it has words for those who can't see it."""

import itertools

import chess
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb

from rungs._src.train.ppo import PARTS
from rungs_course import (
    nb00_start,
    nb01_python,
    nb02_parallel,
    nb03_bitboards,
    nb04_figures,
    nb04_openmp,
    nb05_figures,
    nb06_cuda,
    nb08_roofline,
    nb09_counters,
    nb10_scaling,
    nb14_ranks,
    paths,
    plots,
)
from rungs_course import nb11_full_system as nb11
from rungs_course import nb12_peers as nb12
from rungs_course import nb13_cartpole as nb13
from rungs_course import nb14_cost_model as nb14
from rungs_course import nb15_training as nb15
from rungs_course import nb16_search as nb16
from rungs_course.boards import _MOVED, filmstrip
from rungs_course.machine.roofline import CORRECTED, PAPER
from rungs_course.measure import over_boards, peaks
from rungs_course.nb11_learners import generation_shares
from rungs_course.nb13_cartpole import draw_architectures, turning_points
from rungs_course.nb14_cost_model import Line, Link, Update

LINK = Link(1e-4, 1e9)
UPDATE = Update({part: Line(0.01, 1e-5) for part in nb14.COMPUTE}, 16, 32_000_000)
FEN = "7k/8/5K2/8/8/8/8/R7 w - - 0 1"


def every(**columns):
    """A row for every combination of some columns' values, and seconds for each."""
    frame = pd.DataFrame(itertools.product(*columns.values()), columns=list(columns))
    return frame.assign(seconds=1e-3 * (1 + np.arange(len(frame)) % 7))


def races(*racers, **columns):
    frame = every(racer=racers, num_envs=[8, 64], repeat=range(3), **columns)
    return frame.assign(plies=frame["num_envs"], call=frame["seconds"])


def scaling_times():
    times = every(threads=[1, 2, 4], num_envs=[100], repeat=range(3))
    return times.assign(seconds=1 / times["threads"].clip(upper=2) + times["repeat"] / 100)


def scaling_of_the_study():
    paper = pd.DataFrame({"threads": [1, 2, 64], "boards": 512, "speedup": [1.0, 1.9, 15.0]})
    return nb10_scaling.scaling(scaling_times(), 2, law="Amdahl", serial=0.1, paper=paper)


def messages():
    return nb14.draw_messages(every(processes=[2, 3, 4], bytes=[8, 2**20], repeat=[0]), LINK, 4)


def checked_predictions():
    updates = every(
        processes=[1, 4],
        exchange=["none", *nb14_ranks.EXCHANGES],
        repeat=[0, 1],
        part=["generate", "infer", "backward", "wait", "all-reduce"],
    ).assign(num_envs=4, positions=128)
    updates = updates[(updates["processes"] == 1) == (updates["exchange"] == "none")]
    ranks_talk = updates["processes"] > 1
    updates = updates.assign(messages=16 * ranks_talk, bytes=32_000_000 * ranks_talk)
    return nb14.check(updates, UPDATE, LINK, {1: 1.0, 4: 2.0})


def beside():
    ratios = pd.DataFrame([[1.0, 1.0], [1.2, 1.4], [2.1, 2.3]], index=[1, 2, 4])
    return nb14.draw_beside(
        ratios.rename_axis("processes").rename_axis("repeat", axis="columns"), 2
    )


def nodes():
    frames = {"slow": nb14.scale(UPDATE, LINK, [1, 4, 16], 1000)}
    return nb14.draw_nodes(frames, frames, mark=4, title="tested")


def savings():
    replaced = {"all": (1e-4, 0.0), "a third": (1e-4, 6.7e-5)}
    return nb14.draw_savings(replaced, (0.25, 0.5), {"here": 1e4})


def step_times():
    times = every(racer=["cpp"], num_envs=[1, 100, 10_000], repeat=range(3))
    times = times.assign(plies=times["num_envs"], seconds=1e-6 + 1e-9 * times["num_envs"])
    times = times.assign(call=times["seconds"])
    return nb13.draw_step_times(times, turning_points(times))


def fused():
    return nb13.draw_fused(
        pd.DataFrame({"racer": ["cpp"], "alone": [1e8], "fused": [3e8], "bound": [2e8]})
    )


def cartpole_means():
    return pd.DataFrame(
        {"system": "a", "steps": [0, 9], "seconds": [0, 2.0], "reward": [9.0, 400.0]}
        | {"low": [8.0, 300.0], "high": [10.0, 520.0]}
    )


def generation():
    shares = generation_shares(pd.Series({"python": 1e-4, "cpp": 1e-7}), [1e3, 1e4, 1e5])
    point = {"system": ["cpp"], "learner": ["torch"], "speed": [1e4], "share": [0.001]}
    return nb11.draw_generation(shares, pd.DataFrame(point), (0.6, 2e4))


def wins():
    table = every(learner=["torch", "fast"], seed=[0, 1], steps=[0, 100])
    return nb11.draw_wins(table.assign(wins=table["steps"] * 0.09, games=10), over="steps")


def learners_ladder():
    rows = [("torch", 10.0, 9.0, 11.0, 1.0, 0.1), ("fast", 50.0, 40.0, 60.0, 5.0, np.nan)]
    names = ["learner", "steps_per_second", "low", "high", "gain", "share"]
    return nb11.draw_ladder(pd.DataFrame(rows, columns=names))


def points(*rows):
    return pd.DataFrame(rows, columns=["name", "intensity", "performance"])


def rooflines():
    compute = every(peak=peaks.COMPUTE, threads=[1, 2], repeat=[0, 1])
    bandwidth = every(level=["L1"], stream=["read"], threads=[1, 2], repeat=[0, 1])
    drawn = points(("cpp, bits mask", 0.3, 1e9), ("openmp, bits mask", 0.3, 2e9))
    tables = [each.assign(per_second=1e11 * each["threads"]) for each in (compute, bandwidth)]
    return nb08_roofline.rooflines(*tables, drawn, 2)


def study_rooflines():
    rows = every(name=["sequential", "OpenMP"], per=["access", "byte missing in L1"])
    rows = rows.assign(intensity=0.5, performance=17e9)
    return nb08_roofline.study_rooflines(list(zip(PAPER, CORRECTED, strict=True)), rows)


def lost_by_mask():
    return nb10_scaling.draw_lost(
        every(num_envs=[8, 64], mask=["bits", "bool"], repeat=[0, 1]).rename(
            columns={"seconds": "lost"}
        )
    )


def gains():
    race = races("cpp", "x")
    return plots.gains(over_boards.gains(race, "cpp"), "cpp", ideal=2, oversubscribed=["x"])


def lost_by_part():
    shares = every(num_envs=[64], repeat=range(3), part=["side by side", "calls"])
    return nb04_figures.draw_lost(shares.assign(share=0.1 * shares["repeat"]))


def a_step_of_ranks():
    pieces = [
        ("shared", rank, step, work, step * at * 1e-6, step * (at + 1) * 1e-6)
        for step, rank in itertools.product((1, 2, 3), (0, 1))
        for at, work in enumerate(("order", "check", "agree", "play", "agree"))
    ]
    names = ["transport", "rank", "step", "work", "begin", "end"]
    return pd.DataFrame(pieces, columns=names)


def loops_of_boards():
    boards = every(ply=range(3), board=range(64))
    return boards.assign(keys=boards["board"] % 7, planes=1 + boards["board"] % 5, ended=0)


def shares_of_parts():
    return pd.DataFrame({"part": ["moves", "mask", "rest"], "share": [0.5, 0.1, 0.4]})


def pool_parts():
    table = every(turn=[0, 1], part=nb02_parallel.PARTS)
    return nb02_parallel.draw_parts({"8 boards": table})


def updates():
    table = every(racer=["python", "openmp", "null"], repeat=range(3), num_envs=[8, 64], part=PARTS)
    return table.assign(positions=table["num_envs"], width=table["num_envs"])


def evaluations():
    """Two rungs that learn the same, of which the second comes further and is twice as slow."""
    table = every(rung=["a", "b"], i=range(3)).query("rung == 'b' or i < 2")
    table = table.assign(steps=10 * table["i"], score=0.5 + table["i"] / 10)
    return table.assign(
        seconds=table["i"] * table["rung"].map({"a": 1, "b": 2}),
        low=table["score"] - 0.1,
        high=table["score"] + 0.1,
    )


def overlap():
    table = every(network_threads=[1, 2], num_envs=[8, 64], repeat=range(3))
    return nb11.draw_overlap(table.assign(halving=1.1, at_once=0.5, both=0.55, bound=1.3))


def products_ladder():
    table = every(n=[64, 128], version=["naive", "threads"])
    table = table.assign(idea=table["version"], per_second=1e9, share=0.1)
    table = table.assign(threads=table["version"].map({"naive": 1, "threads": 2}))
    return nb08_roofline.draw_products(table, {1: 1e11, 2: 2e11})


def film():
    board, rows = chess.Board(), []
    rows.append(("me", 0, None, board.fen(), "1-0"))
    for ply, move in enumerate(["e4", "e5", "Qh5", "Ke7", "Qxe5#"], 1):
        board.push_san(move)
        rows.append(("me", ply, move, board.fen(), "1-0"))
    return pd.DataFrame(rows, columns=["who", "ply", "move", "fen", "result"])


def grown():
    table = every(simulation=[1, 2, 9], move=["Kg6", "Ra2"])
    table["uci"] = table["move"].map({"Kg6": "f6g6", "Ra2": "a1a2"})
    return table.assign(prior=0.5, visits=table["simulation"] // 2, value=0.5)


def tree():
    rows = [(-1, "", 0, 9, 0.1, ""), (0, "Kg6", 1, 5, 0.6, ""), (1, "Kg8", 2, 4, 1, "checkmate")]
    columns = ["parent", "move", "depth", "visits", "value", "end"]
    return nb16.draw_tree(pd.DataFrame(rows, columns=columns))


def ratings():
    rows = [("a", 100, 50, 150), ("random", 0, 0, 0)]
    return nb16.draw_ratings(pd.DataFrame(rows, columns=["player", "elo", "low", "high"]))


def ratings_over_time():
    rows = [(0, 0, 10, -5, 25, 0.5, 5), (9, 8, 200, 150, 250, 0.9, 150)]
    names = ["positions", "seconds", "elo", "low", "high", "random", "search_gain"]
    return nb16.draw_ratings_over_time(pd.DataFrame(rows, columns=names))


def raced():
    table = every(
        racer=["Python", "C++"], evaluator=["nothing", "net"], games=[1, 8], repeat=range(3)
    )
    return table.assign(per_second=table["games"] / table["seconds"])


PLOTS = {
    "messages": messages,
    "predictions": lambda: nb14.draw_check(checked_predictions(), 2),
    "processes beside": beside,
    "nodes": nodes,
    "feeding": lambda: nb14.draw_feeding({"fast": 1e3}, {"its update": 5e4}, 64),
    "savings": savings,
    "CartPole's steps": step_times,
    "CartPole's work": lambda: nb13.draw_workloads(races("torch", "cpp", workload=[1, 10])),
    "CartPole's growth": lambda: nb13.draw_growth(races("a", "b").assign(exponent=0.5)),
    "fused": fused,
    "CartPole over steps": lambda: nb13.draw_learning(cartpole_means(), "steps"),
    "CartPole over seconds": lambda: nb13.draw_learning(cartpole_means(), "seconds"),
    "generation": generation,
    "wins": wins,
    "learners": learners_ladder,
    "scaling": scaling_of_the_study,
    "gains": gains,
    "roofline": lambda: nb08_roofline.roofline(
        {"integers": 1e10}, {"L1": 1e11, "memory": 1e10}, points(("ours", 0.5, 1e9)), title="t"
    ),
    "rooflines": rooflines,
    "lost by mask": lost_by_mask,
    "the study's rooflines": study_rooflines,
    "the study's shares": lambda: nb09_counters.shares(
        pd.DataFrame({"count": ["loads"], "study": [1000.0], "ours": [250.0]})
    ),
    "lost by part": lost_by_part,
    "a step of ranks": lambda: nb05_figures.draw_step(a_step_of_ranks()),
    "a warp": lambda: nb06_cuda.draw_warp(loops_of_boards(), 0),
    "Amdahl": lambda: nb01_python.draw_amdahl(shares_of_parts(), "moves", 2),
    "aging": lambda: nb01_python.draw_aging(
        races("is_repetition", "counter").query("num_envs == 8")
    ),
    "a pool": lambda: nb02_parallel.draw_timeline(
        nb02_parallel.promised(5, 3.0, 0.1), "s", same_scale=True
    ),
    "a pool's parts": pool_parts,
    "throughput": lambda: nb11.draw_throughput(updates()),
    "parts": lambda: plots.parts(updates().query("num_envs == 8"), "racer", "An update"),
    "models": lambda: nb11.draw_models(updates()),
    "learning over steps": lambda: nb15.draw_learning(evaluations(), "steps"),
    "learning over seconds": lambda: nb15.draw_learning(evaluations(), "seconds"),
    "overlap": overlap,
    "peers' rates": lambda: nb12.draw_rates(races("rungs", "other"), "boards", "One thread"),
    "peers' steps": lambda: nb12.draw_step_times(races("rungs", "other")),
    "peers": lambda: nb12.draw_bars(races("rungs", "other").query("num_envs == 8"), "rungs", "t"),
    "products": products_ladder,
    "the growth of a tree": lambda: nb16.draw_growth(grown()),
    "ratings": ratings,
    "ratings over time": ratings_over_time,
    "searches": lambda: nb16.draw_search_ladder(raced(), 8),
    "batches": lambda: nb16.draw_batches(raced(), "net"),
}

PICTURES = {
    "architectures": lambda: draw_architectures({"mul": 20, "sin": 1, "rand": 1}),
    "the course": lambda: nb00_start.course_map("07"),
    "the loop": nb00_start.rl_loop,
    "plies": lambda: nb00_start.draw_plies(nb00_start.play(nb00_start.OPERA_GAME), [1, 2, 33]),
    "a film": lambda: filmstrip(film(), columns=2),
    "doublings": lambda: nb03_bitboards.draw_doublings(chess.Board(FEN), chess.A1),
    "bitboards": lambda: nb03_bitboards.draw_generator(chess.Board(FEN), chess.A1),
    "the root": lambda: nb16.draw_root(grown(), FEN, 5),
    "a tree": tree,
    "cache lines": lambda: nb04_figures.draw_cache_lines(nb04_openmp.writes(32, 2)),
    "a ring": lambda: nb05_figures.draw_ring(3),
    "layouts": lambda: nb06_cuda.draw_layouts(nb06_cuda.fetched()),
}


@pytest.mark.parametrize("draw", (PLOTS | PICTURES).values(), ids=PLOTS | PICTURES)
def test_a_figure_is_drawn_and_said_in_words(draw):
    figure = draw()
    figure.draw_without_rendering()
    assert len(plots.alternative(figure)) > 10


@pytest.mark.parametrize("draw", PLOTS.values(), ids=PLOTS)
def test_an_axis_of_numbers_says_of_what(draw):
    figure = draw()
    figure.draw_without_rendering()
    for axes in figure.axes:
        for which in ("x", "y"):
            if of_numbers(axes, which):
                assert label(axes, which), (axes, which)


def of_numbers(axes, which):
    texts = [text.get_text() for text in getattr(axes, f"get_{which}ticklabels")()]
    return any(text[:1] in {*"0123456789$"} and " " not in text for text in texts if text)


def label(axes, which):
    """Returns the label of an axis, which panels one above another or side by side may share."""
    where = "colspan" if which == "x" else "rowspan"
    place = getattr(axes.get_subplotspec(), where, None)
    sides = [e for e in axes.figure.axes if getattr(e.get_subplotspec(), where, None) == place]
    own = [getattr(each, f"get_{which}label")() for each in sides]
    return "".join(own) or getattr(axes.figure, f"get_sup{which}label")()


def hollow(axes):
    drawn = [line for line in axes.lines if len(line.get_xdata())]
    return [line for line in drawn if line.get_markerfacecolor() == "white"]


def test_what_has_more_threads_or_processes_than_cores_is_hollow():
    (axes,) = nb10_scaling.scaling(scaling_times(), 2, law="Amdahl", serial=0.1).axes
    assert [line.get_xdata().tolist() for line in hollow(axes)] == [[4]]
    (axes,) = nb10_scaling.scaling(scaling_times(), 4, law="Amdahl", serial=0.1).axes
    assert not hollow(axes)
    times = every(processes=[2, 3], bytes=[8, 2**20], repeat=[0])
    assert len(hollow(nb14.draw_messages(times, LINK, 2).axes[0])) == 1


def test_predictions_say_how_far_off_they_are():
    checked = checked_predictions()
    said = plots.alternative(nb14.draw_check(checked, 2))
    assert all(f"{error:+.0%}" in said for error in checked["error"])


def test_wins_are_drawn_for_every_seed():
    (axes,) = wins().axes
    assert [list(line.get_ydata()) for line in axes.lines].count([0.0, 0.9]) == 4


def test_a_promise_and_what_came_of_it_have_one_scale():
    promised = nb02_parallel.promised(5, 3.0, 0.1)
    above, below = nb02_parallel.draw_timeline(promised, "s", same_scale=True).axes
    assert above.get_xlim() == below.get_xlim()


def test_points_stand_under_the_roofs_of_as_many_cores_as_they_use():
    for axes, name, other in zip(
        rooflines().axes, ("cpp", "openmp"), ("openmp", "cpp"), strict=True
    ):
        legend = " ".join(text.get_text() for text in axes.get_legend().get_texts())
        assert name in legend
        assert other not in legend


def test_games_age_by_all_plies_played_and_not_only_those_timed():
    rows = [(racer, i, 80, 1e-3) for racer in ("is_repetition", "counter") for i in range(6)]
    times = pd.DataFrame(rows, columns=["racer", "repeat", "plies", "seconds"]).assign(num_envs=2)
    (axes,) = nb01_python.draw_aging(times).axes
    assert axes.lines[0].get_xdata().tolist() == [75, 225]  # 40 steps timed, 10 before


@pytest.mark.parametrize("law", ["Amdahl", "Gustafson"])
def test_the_law_that_made_a_papers_curve_is_found(law):
    threads = pd.Series([1, 2, 8, 64])
    boards = 100 * (threads if law == "Gustafson" else 1)
    speedup = nb10_scaling.predicted(law, 0.05, threads)
    paper = pd.DataFrame({"threads": threads, "boards": boards, "speedup": speedup})
    assert nb10_scaling.paper_fraction(paper, law) == pytest.approx(0.05)


def test_parts_of_a_pool_are_added_up_by_kind():
    seconds = dict(zip(nb02_parallel.PARTS, (1.0, 2.0, 10.0, 1.0, 2.0, 3.0, 1.0), strict=True))
    rows = [(turn, part, value) for turn in (0, 1) for part, value in seconds.items()]
    kinds = nb02_parallel.kinds(pd.DataFrame(rows, columns=["turn", "part", "seconds"]))
    assert sorted(kinds) == [1, 2, 3, 4, 10]
    assert kinds["step the boards"] == 10


def test_the_map_has_every_notebook():
    said = [text.get_text()[:2] for text in nb00_start.course_map("07").axes[0].texts]
    notebooks = (paths.ROOT / "notebooks").glob("[0-9]*.ipynb")
    assert sorted(text for text in said if text.isdigit()) == sorted(n.stem[:2] for n in notebooks)


def test_diagrams_show_the_pieces_and_what_a_move_has_changed():
    (*_, axes) = filmstrip(film(), columns=1).axes
    glyphs = [text.get_text() for text in axes.texts]
    assert (len(glyphs), glyphs.count("♛"), glyphs.count("♚")) == (31, 2, 2)
    changed = {
        (patch.get_x(), patch.get_y())
        for patch in axes.patches
        if patch.get_facecolor()[:3] == to_rgb(_MOVED)
    }
    assert changed == {(7, 4), (4, 4)}  # h5 and e5
