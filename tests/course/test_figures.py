"""Every figure is drawn from small data and said in words; widgets draw what is chosen."""

import itertools
import re
from pathlib import Path

import chess
import ipywidgets
import matplotlib
import numpy as np
import pandas as pd
import pytest

from rungs._src.train.ppo import PARTS
from rungs_course import (
    nb00_start,
    nb01_python,
    nb02_parallel,
    nb03_bitboards,
    nb03_perft,
    nb04_figures,
    nb04_openmp,
    nb05_figures,
    nb06_cuda,
    nb07_ladder,
    nb08_roofline,
    nb09_counters,
    nb10_scaling,
    nb14_ranks,
    nb17_versions,
    plots,
    widgets,
)
from rungs_course import nb11_full_system as nb11
from rungs_course import nb12_peers as nb12
from rungs_course import nb13_cartpole as nb13
from rungs_course import nb14_cost_model as nb14
from rungs_course import nb15_training as nb15
from rungs_course import nb16_search as nb16
from rungs_course.boards import filmstrip
from rungs_course.machine.roofline import CORRECTED, PAPER
from rungs_course.machine.topology import Cache
from rungs_course.measure import over_boards, peaks
from rungs_course.nb14_cost_model import Line, Link, Update
from rungs_course.paths import ROOT
from rungs_course.tables import ladder_table
from rungs_course.widgets import predict_first

LINK = Link(1e-4, 1e9)
UPDATE = Update({part: Line(0.01, 1e-5) for part in nb14.COMPUTE}, 16, 32_000_000)
COST = nb04_openmp.StepCost(ply=1e-7, call=2e-6, meeting=3e-6)
MEASURED = pd.DataFrame({"num_envs": [512], "threads": [2], "speedup": [1.7]})
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
    return nb10_scaling.draw_scaling(scaling_times(), 2, law="Amdahl", serial=0.1, paper=paper)


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


def slowdowns():
    ratios = pd.DataFrame([[1.0, 1.0], [1.2, 1.4], [2.1, 2.3]], index=[1, 2, 4])
    return nb14.draw_slowdowns(
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
    return nb13.draw_step_times(times, nb13.turning_points(times))


def fused():
    return nb13.draw_fused(
        pd.DataFrame({"racer": ["cpp"], "alone": [1e8], "fused": [3e8], "bound": [2e8]})
    )


def cartpole_learnt():
    frame = every(system=["a", "b"], seed=[0, 1], evaluation=[0, 1])
    return frame.assign(
        steps=100 * frame["evaluation"],
        seconds=2.0 * frame["evaluation"] + frame["seed"],
        reward=9.0 + 200 * frame["evaluation"] + 50 * frame["seed"],
    )


def generation():
    shares = nb11.generation_shares(pd.Series({"python": 1e-4, "cpp": 1e-7}), [1e3, 1e4, 1e5])
    point = {"system": ["cpp"], "learner": ["torch"], "speed": [1e4], "share": [0.001]}
    return nb11.draw_generation(shares, pd.DataFrame(point), (0.6, 2e4))


def wins():
    table = every(learner=["torch", "fast"], seed=[0, 1], steps=[0, 100])
    return nb11.draw_wins(table.assign(wins=table["steps"] * 0.09, games=10), over="steps")


def learners_ladder():
    rows = [
        ("torch", 10.0, 9.0, 11.0, 1.0, "float32", 0.1),
        ("fast", 50.0, 40.0, 60.0, 5.0, "bfloat16", np.nan),
    ]
    names = ["learner", "steps_per_second", "low", "high", "gain", "peak", "share"]
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


def messages_of_ranks():
    sizes = [2**power for power in range(0, 20, 2)]
    times = every(what=["trip", "send"], bytes=sizes, repeat=range(3))
    return times.assign(seconds=np.where(times["bytes"] > 4096, 2e-3, 1e-6))


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


def ratings_over_time():
    rows = [(0, 0, 10, -5, 25, 0.5, 5), (9, 8, 200, 150, 250, 0.9, 150)]
    names = ["positions", "seconds", "elo", "low", "high", "random", "search_gain"]
    return nb16.draw_ratings_over_time(pd.DataFrame(rows, columns=names))


def ablations():
    rows = [("half (`--value-mix 0.5`)", "none", 80, 60, 100, "yes")]
    rows += [("wide", "half", -20, -60, 20, "no")]
    names = ["change", "against", "elo", "low", "high", "kept"]
    return nb16.draw_ablations(pd.DataFrame(rows, columns=names))


def strength():
    rows = [("g2", "gumbel", 2, "random", 0.7, 200), ("g8", "gumbel", 8, "p2", 0.8, 200)]
    rows += [("p2", "puct", 2, "random", 0.6, 200)]
    names = ["player", "policy", "simulations", "opponent", "score", "games"]
    return nb16.draw_strength(pd.DataFrame(rows, columns=names), "random")


def raced():
    table = every(
        racer=["Python", "C++"], evaluator=["nothing", "net"], games=[1, 8], repeat=range(3)
    )
    return table.assign(per_second=table["games"] / table["seconds"])


def waterfall():
    times = races("python", "first", "king").query("num_envs == 8")
    return nb17_versions.draw_waterfall(nb17_versions.waterfall(times, 1e-7), 100.0)


def perft():
    return nb03_perft.draw_perft(races("ours", "theirs", position=["start"]).assign(leaves=20))


def timelines():
    rows = [("in turn", "infer", half, half, half + 0.5) for half in (0, 1)]
    columns = ["mode", "work", "half", "start", "end"]
    return nb04_figures.draw_timelines(pd.DataFrame(rows, columns=columns))


def sizes():
    table = every(mask=["bits"], num_envs=[8, 64], where=["alone", "in situ"], racer=["cpp", "mpi"])
    table = table.assign(plies_per_second=1e6, low=9e5, high=2e6)
    limits = every(mask=["bits"], num_envs=[8, 64], threads=[1, 2]).assign(plies_per_second=1e8)
    return nb07_ladder.draw_sizes(table, limits, "bits")


PLOTS = {
    "a profile": lambda: nb01_python.draw_profile(shares_of_parts(), "t"),
    "versions": waterfall,
    "repeats": lambda: plots.repeats(
        pd.DataFrame({"racer": "g++", "name": "g++, bits", "rate": [1.0, 2.0]}), "plies", "t"
    ),
    "perft": perft,
    "timelines": timelines,
    "counters": lambda: nb04_figures.draw_counters(
        every(way=["one thread", "free"], stride=[8, 64], repeat=range(3))
    ),
    "barriers": lambda: nb04_figures.draw_barriers(
        every(place=["free"], num_envs=[64], repeat=range(3), way=["one barrier", "two barriers"])
    ),
    "schedules": lambda: nb04_figures.draw_schedules(
        every(loop=["even"], schedule=["static"], repeat=range(3)).assign(share=0.5)
    ),
    "speed-ups": lambda: nb04_figures.draw_speedups(COST, 512, 2, MEASURED),
    "the ladder": lambda: nb07_ladder.draw_ladder(
        ladder_table(races("python", "cpp").query("num_envs == 8"), 0.2, 8), 1e6
    ),
    "sizes": sizes,
    "rungs over boards": lambda: nb10_scaling.draw_over_boards(
        races("cpp", "mpi").rename(columns={"racer": "rung"}), 1000, {"L1": 32_000}
    ),
    "messages": messages,
    "predictions": lambda: nb14.draw_check(checked_predictions(), 2),
    "slowdowns": slowdowns,
    "nodes": nodes,
    "feeding": lambda: nb14.draw_feeding({"fast": 1e3}, {"its update": 5e4}, 64),
    "savings": savings,
    "CartPole's steps": step_times,
    "CartPole's work": lambda: nb13.draw_workloads(races("torch", "cpp", workload=[1, 10])),
    "fused": fused,
    "CartPole over steps": lambda: nb13.draw_learning(cartpole_learnt(), "steps"),
    "CartPole over seconds": lambda: nb13.draw_learning(cartpole_learnt(), "seconds"),
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
    "the study's shares": lambda: nb09_counters.draw_shares(
        pd.DataFrame({"count": ["loads"], "study": [1000.0], "ours": [250.0]})
    ),
    "misses": lambda: nb09_counters.draw_misses(
        pd.DataFrame({"boards": [8, 64], "count": "L1 misses", "per ply": [1.0, 2.0]}), 1000, 0.3
    ),
    "latency": lambda: nb09_counters.draw_latency(
        every(bytes=[2**12, 2**20], pages=["4 KiB"], repeat=range(3)),
        [Cache(1, 2**15, 8, 64, 1)],
    ),
    "lost by part": lost_by_part,
    "a step of ranks": lambda: nb05_figures.draw_step(a_step_of_ranks()),
    "messages of ranks": lambda: nb05_figures.draw_messages(messages_of_ranks()),
    "a warp": lambda: nb06_cuda.draw_warp(loops_of_boards(), 0),
    "Amdahl": lambda: nb01_python.draw_amdahl(shares_of_parts(), "moves", 2),
    "aging": lambda: nb01_python.draw_aging(
        races("is_repetition", "counter").query("num_envs == 8")
    ),
    "a pool": lambda: nb02_parallel.draw_timeline(
        nb02_parallel.promised(5, 3.0, 0.1), "s", same_scale=True
    ),
    "a pool's parts": pool_parts,
    "interpreters": lambda: nb02_parallel.draw_interpreters(
        every(interpreter=["3.13"], lock=["without"], threads=[1, 2], repeat=range(3)).rename(
            columns={"seconds": "rate"}
        )
    ),
    "throughput": lambda: nb11.draw_throughput(updates()),
    "parts": lambda: plots.parts(updates().query("num_envs == 8"), "racer", "An update"),
    "medians": lambda: plots.medians(
        updates(), "width", "num_envs", "seconds", things="boards", quantity="seconds", log=False
    ),
    "learning over steps": lambda: nb15.draw_learning(evaluations(), "steps"),
    "learning over seconds": lambda: nb15.draw_learning(evaluations(), "seconds"),
    "peers' rates": lambda: nb12.draw_rates(races("rungs", "other"), "boards", "One thread"),
    "peers' steps": lambda: nb12.draw_step_times(races("rungs", "other")),
    "peers": lambda: nb12.draw_bars(races("rungs", "other").query("num_envs == 8"), "rungs", "t"),
    "products": products_ladder,
    "the growth of a tree": lambda: nb16.draw_growth(grown()),
    "ratings over time": ratings_over_time,
    "strength over simulations": strength,
    "ablations of self-play": ablations,
    "searches": lambda: nb16.draw_search_ladder(raced(), 8),
}

PICTURES = {
    "architectures": lambda: nb13.draw_architectures({"mul": 20, "sin": 1, "rand": 1}),
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


@pytest.mark.parametrize("draw", PICTURES.values(), ids=PICTURES)
def test_a_picture_is_drawn_and_said_in_words(draw):
    drawn_and_said(draw)


@pytest.mark.parametrize("draw", PLOTS.values(), ids=PLOTS)
def test_a_plot_is_drawn_and_said_in_words_and_an_axis_of_numbers_says_of_what(draw):
    figure = drawn_and_said(draw)
    for axes in figure.axes:
        for which in ("x", "y"):
            if of_numbers(axes, which):
                assert label(axes, which), (axes, which)


def drawn_and_said(draw):
    figure = draw()
    figure.draw_without_rendering()
    assert len(plots.alternative(figure)) > 10
    return figure


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


@pytest.mark.parametrize("name", ["parts", "timelines", "fused"])
def test_areas_of_several_colours_have_a_hatch_each(name):
    hatches = {}
    for axes in PLOTS[name]().axes:
        for patch in axes.patches:
            hatches.setdefault(patch.get_facecolor(), set()).add(patch.get_hatch())
    assert len(hatches) > 1
    assert all(len(each) == 1 for each in hatches.values())
    assert len(set.union(*hatches.values())) == len(hatches)


def hollow(figure):
    """Returns where markers are that are not filled."""
    lines = [line for line in figure.axes[0].lines if line.get_markerfacecolor() == "white"]
    return [line.get_xdata().tolist() for line in lines if len(line.get_xdata())]


def test_what_has_more_threads_or_processes_than_cores_is_hollow():
    for cores, threads in ((2, [[4]]), (4, [])):
        drawn = nb10_scaling.draw_scaling(scaling_times(), cores, law="Amdahl", serial=0.1)
        assert hollow(drawn) == threads
    times = every(processes=[2, 3], bytes=[8, 2**20], repeat=[0])
    assert hollow(nb14.draw_messages(times, LINK, 2)) == [[8, 2**20]]
    assert not hollow(nb14.draw_messages(times, LINK, 3))


def test_points_stand_under_the_roofs_of_as_many_cores_as_they_use():
    legends = [axes.get_legend().get_texts() for axes in rooflines().axes]
    one, all_cores = (" ".join(text.get_text() for text in texts) for texts in legends)
    assert ("cpp" in one, "openmp" in one) == (True, False)
    assert ("cpp" in all_cores, "openmp" in all_cores) == (False, True)


def test_lines_of_many_racers_differ_without_their_colours():
    frame = pd.DataFrame({"racer": list("abcdefghi")})
    looks = [look["marker"] for _, _, look in plots.lines(frame.groupby("racer"))]
    assert len(set(looks)) == 9


def test_every_function_that_draws_is_called():
    here = "".join(file.read_text() for file in Path(__file__).parent.glob("test_*.py"))
    called = set(re.findall(r"\b(nb\d\d)\w*\.(draw_\w+)\(", here))
    found = {
        (module.stem[:4], name)
        for module in (ROOT / "lib" / "rungs_course").glob("nb*.py")
        for name in re.findall(r"^def (draw_\w+)", module.read_text(), re.MULTILINE)
    }
    assert len(found) > 40
    assert found <= called


def test_a_line_goes_through_medians_in_a_band_between_quartiles():
    frame = pd.DataFrame({"num_envs": 8, "rate": [5.0, 1.0, 9.0, 2.0]})
    _, axes = plots.axes()
    plots.median_line(axes, frame.groupby("num_envs")["rate"], "cpp", {"color": plots.BLUE})
    (line,), (band,) = axes.lines, axes.collections
    assert list(line.get_ydata()) == [frame["rate"].median()]
    heights = band.get_paths()[0].vertices[:, 1]
    ends = heights.min(), heights.max()
    assert ends == pytest.approx(tuple(frame["rate"].quantile([0.25, 0.75])))


def test_settings_of_others_stay_as_they_are():
    before = dict(matplotlib.rcParams)
    plots.axes()
    assert dict(matplotlib.rcParams) == before


def test_an_image_says_what_its_figure_says():
    figure, axes = plots.axes()
    axes.barh(["cpp", "python"], [3, 1])
    axes.annotate("3 <fast>", (3, 0))
    axes.set_title("A race")
    assert 'alt="A race. cpp: 3 &lt;fast&gt;."' in plots.image(figure).data


@pytest.mark.parametrize(
    ("widget", "control", "value"),
    [
        (lambda: nb04_figures.explore_threads(COST, MEASURED), "threads", 64),
        (lambda: nb04_figures.explore_threads(COST, MEASURED, "ranks"), "boards", 8),
        (lambda: nb05_figures.explore_step(a_step_of_ranks()), "step", 3),
        (lambda: nb06_cuda.explore_warp(loops_of_boards()), "lanes", 8),
    ],
)
def test_a_widget_draws_what_is_chosen(widget, control, value, monkeypatch):
    drawn = []
    monkeypatch.setattr(widgets, "display", lambda shown: drawn.append(shown.data))
    shown = widget()
    shown.update()
    before = drawn[-1]
    (slider,) = [child for child in shown.children if getattr(child, "description", "") == control]
    slider.value = value
    assert drawn[-1] != before


def test_a_widget_offers_what_there_is():
    slider, *_ = nb12.explore_peers(races("rungs", "other"), "rungs").children
    assert slider.options == (8, 64)
    part, *_ = nb01_python.explore_amdahl(shares_of_parts()).children
    assert part.options == ("moves", "mask", "rest")
    slider, *_ = nb16.explore_search(grown(), FEN).children
    assert list(slider.options) == [1, 2, 9]
    slider, *_ = nb00_start.explore_game(nb00_start.play(nb00_start.OPERA_GAME)).children
    assert (slider.min, slider.max, slider.value) == (1, 33, 33)


def test_processes_are_guessed_before_they_are_measured():
    times = races("python", "queue", "shared")
    *_, guessing, _ = nb02_parallel.predict_processes(times, 2, seed=0).children
    guess, button = guessing.children
    assert button.disabled
    guess.value = 1.5
    assert not button.disabled


def test_nothing_is_measured_before_a_guess():
    drawn, measured = [], []
    guess = ipywidgets.BoundedFloatText(1.0, min=0, max=10)
    threads = ipywidgets.SelectionSlider(options=[1, 2])

    def draw(choice, guess, found):
        drawn.append((choice, guess, found))
        return plots.axes()[0]

    def measure(choice):
        measured.append(choice)
        return 1.5

    box = predict_first(draw, measure, {"threads": threads}, guess)
    button = box.children[1].children[1]
    assert drawn == [({"threads": 1}, 1.0, None)]
    assert button.disabled
    guess.value = 1.8
    assert not button.disabled
    button.click()
    assert measured == [{"threads": 1}]
    assert drawn[-1] == ({"threads": 1}, 1.8, 1.5)
    threads.value = 2  # another question, another guess
    assert button.disabled
    assert drawn[-1] == ({"threads": 2}, 1.8, None)
