"""Figures of recorded tables have alternative texts and units; widgets draw what is chosen."""

import functools
import re
from pathlib import Path

import chess
import ipywidgets
import matplotlib
import numpy as np
import pandas as pd
import pytest

from rungs.devel import DEFAULT_RUNG
from rungs_course import plots, rating, widgets
from rungs_course.diagrams import OPERA_GAME, filmstrip
from rungs_course.machine import roofline
from rungs_course.machine.roofline import CORRECTED, PAPER
from rungs_course.machine.topology import Cache
from rungs_course.measure import over_boards, results
from rungs_course.measure.link import Link
from rungs_course.notebooks import nb00_start as nb00
from rungs_course.notebooks import nb01_python as nb01
from rungs_course.notebooks import nb02_parallel as nb02
from rungs_course.notebooks import nb03_bitboards, nb03_perft
from rungs_course.notebooks import nb04_openmp as nb04
from rungs_course.notebooks import nb05_mpi as nb05
from rungs_course.notebooks import nb06_cuda as nb06
from rungs_course.notebooks import nb07_ladder as nb07
from rungs_course.notebooks import nb08_roofline as nb08
from rungs_course.notebooks import nb09_counters as nb09
from rungs_course.notebooks import nb10_scaling as nb10
from rungs_course.notebooks import nb11_full_system as nb11
from rungs_course.notebooks import nb12_peers as nb12
from rungs_course.notebooks import nb13_cartpole as nb13
from rungs_course.notebooks import nb14_cost_model as nb14
from rungs_course.notebooks import nb15_training as nb15
from rungs_course.notebooks import nb16_search as nb16
from rungs_course.notebooks import nb17_versions as nb17
from rungs_course.paths import ROOT

LINK = Link(1e-4, 1e9)
CORES = 2
FEN = "7k/8/5K2/8/8/8/8/R7 w - - 0 1"


@functools.cache
def load(name):
    """Returns the newest of the recorded tables of a name."""
    tables = map(results.load, (ROOT / "data" / "recorded").glob(f"*/{name}.csv"))
    return max(tables, key=lambda table: table.attrs["provenance"]["date"])


def recorded(name, **values):
    """Returns the rows of a recorded table that have some values."""
    rows = load(name)
    for column, value in values.items():
        rows = rows[rows[column] == value]
    return rows


def first_boards(name):
    """Returns the rows of a recorded table with the smallest number of boards."""
    return recorded(name, num_envs=load(name)["num_envs"].min())


def rooflines():
    tables = map(load, ("08_compute", "08_bandwidth", "08_rungs"))
    return nb08.rooflines(*tables, load("08_compute")["threads"].max())


def products():
    shares = {"% of peak": [0.002, 0.3, 80.0], "slides: % of peak": [0.0, 0.03, np.nan]}
    return nb08.draw_products(pd.DataFrame(shares, index=["Python", "C", "a library"]))


def paper_counters():
    return results.load(ROOT / "data" / "paper" / "chess_papi.csv").set_index("counter")["value"]


def shares_of_the_study():
    most = recorded("09_counts", boards=load("09_counts")["boards"].max())
    counts = most.set_index("count")["per ply"].rename({"L1 misses": "L1 data misses"})
    table = pd.DataFrame({"study": paper_counters() / 1e6, "ours": counts}).dropna()
    return nb09.draw_shares(table.rename_axis("count").reset_index())


def counters():
    ways = [("one thread", 2e-9), ("all threads", 9e-9)]
    rows = [(*way, stride, 0, 0.9) for way in ways for stride in (8, 64)]
    columns = ["way", "seconds", "stride", "repeat", "overlap"]
    return nb04.draw_counters(pd.DataFrame(rows, columns=columns))


def scaling(cores):
    paper = results.load(ROOT / "data" / "paper" / "chess_strong_scaling.csv")
    return nb10.draw_scaling(load("10_strong"), cores, paper=paper, serial=0.1)


def messages(cores):
    return nb14.draw_messages(load("14_messages"), LINK, cores)


def strength():
    matches = results.load(ROOT / rating.STRENGTH)
    return nb16.draw_strength(matches, matches.attrs["provenance"]["against"])


PLOTS = {
    "flames": lambda: nb01.draw_flames(
        pd.DataFrame({"stack": ["rungs.step", "rungs.step;chess.push"], "samples": [1, 2]})
    ),
    "Amdahl": lambda: nb01.draw_amdahl(load("01_profile"), load("01_profile")["part"].iloc[0], 2),
    "aging": lambda: nb01.draw_aging(load("01_counting")),
    "a search": lambda: nb01.draw_search(load("01_search")),
    "a pool": lambda: nb02.draw_timeline(nb02.promised(5, 3.0, 0.1), "s", same_scale=True),
    "a pool's parts": lambda: nb02.draw_parts({"boards": first_boards("02_parts")}),
    "interpreters": lambda: nb02.draw_interpreters(results.load(nb02.FREE_THREADED)),
    "gains": lambda: plots.gains(
        over_boards.gains(load("02_race"), "python"), "python", CORES, oversubscribed=["queue"]
    ),
    "perft": lambda: nb03_perft.draw_perft(load("03_perft")),
    "counters": counters,
    "schedules": lambda: nb04.draw_schedules(load("04_schedules")),
    "a step of ranks": lambda: nb05.draw_step(load("05_works")),
    "messages of ranks": lambda: nb05.draw_messages(load("05_messages")),
    "a warp": lambda: nb06.draw_warp(load("06_followed")),
    "the ladder": lambda: nb07.draw_ladder(load("07_ladder"), 1e6),
    "the poster": lambda: nb07.draw_poster(load("07_ladder"), "2 cores"),
    "sizes": lambda: nb07.draw_sizes(load("07_sizes"), load("07_bounds")),
    "rooflines": rooflines,
    "the study's rooflines": lambda: nb08.study_rooflines(
        [*zip(PAPER, CORRECTED, strict=True)], roofline.points(paper_counters())
    ),
    "products": products,
    "the study's shares": shares_of_the_study,
    "misses": lambda: nb09.draw_misses(load("09_counts"), 1000, 0.3),
    "latency": lambda: nb09.draw_latency(load("09_latency"), [Cache(1, 2**15, 8, 64, 1)]),
    "scaling": lambda: scaling(CORES),
    "lost by mask": lambda: nb10.draw_lost(load("10_lost")),
    "rungs over boards": lambda: nb10.draw_over_boards(load("10_boards"), 1000, {"L1": 32_000}),
    "throughput": lambda: nb11.draw_throughput(load("11_updates")),
    "parts": lambda: plots.parts(first_boards("11_updates"), "racer", "An update"),
    "medians": lambda: plots.medians(
        load("11_models"), "width", "num_envs", "seconds", things="boards", quantity="s", log=False
    ),
    "generation": lambda: nb11.draw_generation(load("11_generation"), 0.6),
    "wins": lambda: nb11.draw_wins(recorded("11_curves", seed=0), over="steps"),
    "learners": lambda: nb11.draw_ladder(load("11_learners_table")),
    "peers' rates": lambda: plots.rates(load("12_alone"), "boards", "Chess on one core"),
    "peers' steps": lambda: plots.step_times(recorded("12_alone", racer="rungs, board + bits")),
    "peers": lambda: nb12.draw_bars(first_boards("12_alone"), "rungs, board + bits", "Peers"),
    "CartPole's steps": lambda: nb13.draw_step_times(
        recorded("13_times", racer="cpp"), recorded("13_turning", racer="cpp")
    ),
    "CartPole's work": lambda: nb13.draw_workloads(recorded("13_work", racer="cpp")),
    "physics": lambda: nb13.draw_physics(
        load("13_work").rename(columns={"racer": "physics", "workload": "racer"})
    ),
    "CartPole's layouts": lambda: nb13.draw_layouts(load("13_layouts")),
    "CartPole's learning": lambda: nb13.draw_learning(load("13_learning")),
    "messages": lambda: messages(CORES),
    "predictions": lambda: nb14.draw_check(load("14_check").head(2), CORES),
    "nodes": lambda: nb14.draw_nodes(load("14_nodes"), mark=4),
    "savings": lambda: nb14.draw_savings(
        pd.Series({"cpp": 1e-7, "OpenSpiel": 1e-5}), (0.25, 0.5), 1e-4
    ),
    "learning over steps": lambda: nb15.draw_learning(load("15_evaluations"), "steps"),
    "learning over seconds": lambda: nb15.draw_learning(load("15_evaluations"), "seconds"),
    "searches": lambda: nb16.draw_search_ladder(load("16_race")),
    "the growth of a tree": lambda: nb16.draw_growth(load("16_grown")),
    "ratings": lambda: nb16.draw_ratings(load("16_ratings")),
    "ratings over time": lambda: nb16.draw_ratings_over_time(load("16_evaluations")),
    "strength over simulations": strength,
    "Elo over core-hours": lambda: nb16.draw_core_hours(results.load(ROOT / rating.CORE_HOURS)),
    "ablations of self-play": lambda: nb16.draw_ablations(
        rating.of_ablations(results.load(ROOT / rating.ABLATIONS))
    ),
    "versions": lambda: nb17.draw_waterfall(load("17_waterfall")),
    "versions' flags": lambda: nb17.draw_flags(load("17_flags")),
    "versions' work": lambda: nb17.draw_work(load("17_work")),
}

PICTURES = {
    "the course": lambda: nb00.course_map("07"),
    "the loop": nb00.rl_loop,
    "plies": lambda: nb00.draw_plies(nb00.play(OPERA_GAME), [1, 33]),
    "doublings": lambda: nb03_bitboards.draw_doublings(chess.Board(FEN), chess.A1),
    "bitboards": lambda: nb03_bitboards.draw_generator(chess.Board(FEN), chess.A1),
    "a ring": lambda: nb05.draw_ring(np.ones((5, 3, 3), int)),
    "layouts": lambda: nb06.draw_layouts(load("06_layout")),
    "architectures": lambda: nb13.draw_architectures({"mul": 20, "sin": 1, "rand": 1}),
    "a film": lambda: filmstrip(load("15_games").head(6), columns=2),
    "the root": lambda: nb16.draw_root(load("16_grown"), FEN, 5),
    "trees": lambda: nb16.draw_trees(
        {count: load("16_tree").fillna({"move": "", "end": ""}).head(count) for count in (11, 99)}
    ),
}


@pytest.mark.parametrize("draw", [*PICTURES.values(), *PLOTS.values()], ids=[*PICTURES, *PLOTS])
def test_a_figure_has_an_alternative_text_and_a_plot_the_units_of_its_numbers(draw):
    figure = draw()
    assert len(plots.alternative(figure)) > 10
    for axes in figure.axes if draw in PLOTS.values() else ():
        for which in ("x", "y"):
            assert label(axes, which) or not of_numbers(axes, which), (axes, which)


def of_numbers(axes, which):
    texts = [text.get_text() for text in getattr(axes, f"get_{which}ticklabels")()]
    return any(text[:1] in {*"0123456789$"} and " " not in text for text in texts if text)


def label(axes, which):
    """Returns the label of an axis, which panels one above another or side by side may share."""
    span = "colspan" if which == "x" else "rowspan"
    place = getattr(axes.get_subplotspec(), span, None)
    panels = [e for e in axes.figure.axes if getattr(e.get_subplotspec(), span, None) == place]
    labels = [getattr(panel, f"get_{which}label")() for panel in panels]
    return "".join(labels) or getattr(axes.figure, f"get_sup{which}label")()


def test_every_function_that_draws_is_called():
    called = set(re.findall(r"\b(nb\d\d)\w*\.(draw_\w+)\(", Path(__file__).read_text()))
    for module in (ROOT / "lib" / "rungs_course" / "notebooks").glob("nb*.py"):
        for name in re.findall(r"^def (draw_\w+)", module.read_text(), re.MULTILINE):
            assert (module.stem[:4], name) in called


@pytest.mark.parametrize("rung", nb07.POSTER)
def test_the_poster_shows_lines_that_run(rung):
    lines = nb07.POSTER[rung]
    source = (ROOT / lines.file).read_text()
    assert all(line in source for line in lines.code.splitlines())


@pytest.mark.parametrize(
    ("draw", "table", "workers", "x"),
    [(scaling, "10_strong", "threads", "threads"), (messages, "14_messages", "processes", "bytes")],
)
def test_more_threads_or_processes_than_cores_are_hollow(draw, table, workers, x):
    most = load(table)[workers].max()
    assert not hollow(draw(most))
    assert hollow(draw(most - 1)) == [sorted(set(recorded(table, **{workers: most})[x]))]


def hollow(figure):
    """Returns where the markers are that are not filled, by line."""
    lines = [line for line in figure.axes[0].lines if line.get_markerfacecolor() == "white"]
    return [line.get_xdata().tolist() for line in lines if len(line.get_xdata())]


def test_points_are_under_the_roofs_of_as_many_cores_as_they_use():
    legends = [axes.get_legend().get_texts() for axes in rooflines().axes]
    one, all_cores = (" ".join(text.get_text() for text in texts) for texts in legends)
    assert ("cpp" in one, "openmp" in one) == (True, False)
    assert ("cpp" in all_cores, "openmp" in all_cores) == (False, True)


def test_lines_and_areas_differ_without_their_colours():
    frame = pd.DataFrame({"racer": list("abcdefghi")})
    markers = [look["marker"] for _, _, look in plots.lines(frame.groupby("racer"))]
    assert len(set(markers)) == len(frame)
    hatches = [look["hatch"] for look in plots.fills("abcde", plots.COLORS[:5]).values()]
    assert len(set(hatches)) == 5


def test_a_line_goes_through_medians_in_a_band_between_quartiles():
    frame = pd.DataFrame({"num_envs": 8, "rate": [5.0, 1.0, 9.0, 2.0]})
    _, axes = plots.axes()
    plots.median_line(axes, frame.groupby("num_envs")["rate"], "cpp", {"color": plots.BLUE})
    (line,), (band,) = axes.lines, axes.collections
    assert list(line.get_ydata()) == [frame["rate"].median()]
    heights = band.get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == pytest.approx(
        tuple(frame["rate"].quantile([0.25, 0.75]))
    )


def bars(names, height, panels):
    figure, axes = plots.axes(ncols=panels, sharey=True, squeeze=False)
    for ax in axes.flat:
        ax.barh(range(len(names)), height)
        ax.set_yticks(range(len(names)), names)
        ax.invert_xaxis()
    return figure


def limits(figure, axis):
    return [getattr(ax, f"get_{axis}lim")() for ax in figure.axes]


@pytest.mark.parametrize("panels", [1, 2])
@pytest.mark.parametrize("names", ["cpp openmp", "cpp openmp cuda", "cpp", "PyTorch JAX"])
def test_bars_of_the_same_things_have_the_same_axes_and_others_the_same_scale(names, panels):
    names, same = names.split(), names == "cpp openmp"
    first, second = bars(["cpp", "openmp"], 2, panels), bars(names, 50, panels)
    first.axes[0].set_ylim(-9, 9)
    before = limits(second, "y")
    plots.same_axes(first, second)
    assert limits(first, "x") == limits(second, "x")
    assert first.axes[0].xaxis_inverted()
    assert (limits(first, "y") == limits(second, "y")) == same
    assert (limits(second, "y") == before) != same


def test_numbers_of_boards_of_both_figures_stand_below_both():
    pair = [plots.axes()[0] for _ in range(2)]
    for figure, boards in zip(pair, ([16, 64], [64, 512]), strict=True):
        (ax,) = figure.axes
        ax.plot(boards, boards)
        plots.numbers_below(ax, "boards", boards)
    plots.same_axes(*pair)
    labels = [[text.get_text() for text in f.axes[0].get_xticklabels()] for f in pair]
    assert labels == [["16", "64", "512"]] * 2
    assert limits(pair[0], "x") == limits(pair[1], "x")


def test_settings_of_others_stay_as_they_are():
    before = dict(matplotlib.rcParams)
    plots.axes()
    assert dict(matplotlib.rcParams) == before


def test_an_image_has_the_alternative_text_of_its_figure():
    figure, axes = plots.axes()
    axes.barh(["cpp", "python"], [3, 1])
    axes.annotate("3 <fast>", (3, 0))
    axes.set_title("A race")
    assert 'alt="A race. cpp: 3 &lt;fast&gt;."' in plots.image(figure).data


@pytest.fixture
def alternatives(monkeypatch):
    """Returns what widgets show: alternative texts in the place of images."""
    texts = []
    monkeypatch.setattr(widgets, "image", plots.alternative)
    monkeypatch.setattr(widgets, "display", texts.append)
    return texts


def test_a_widget_draws_what_is_chosen(alternatives):
    widget = nb06.explore_warp(load("06_followed"))
    widget.update()
    _, lanes, _ = widget.children
    lanes.value = 8
    assert alternatives[0] != alternatives[-1]


def test_a_widget_offers_what_there_is(alternatives):
    times, shares, grown = load("12_alone"), load("01_profile"), load("16_grown").head(99)
    for widget, offered in (
        (nb12.explore_peers(times, "rungs, board + bits"), times["num_envs"]),
        (nb01.explore_amdahl(shares), shares["part"]),
        (nb16.explore_search(grown, FEN), grown["simulation"]),
    ):
        assert set(widget.children[0].options) == set(offered)
    slider, *_ = nb00.explore_game(nb00.play(OPERA_GAME)).children
    assert (slider.min, slider.max, slider.value) == (1, 33, 33)
    assert widgets.rung_controls([1, 2])["rung"].value == DEFAULT_RUNG


@pytest.mark.parametrize("rung", widgets.rung_controls([1])["rung"].options)
def test_every_rung_that_is_offered_is_measured(rung, monkeypatch):
    monkeypatch.setitem(over_boards._PLIES, rung, 64)
    rate, gain = over_boards.one_point(rung, 8, threads=2, schedule="static", mask="bits", seed=0)
    assert rate > 0
    assert gain > 0


@pytest.mark.parametrize("share", [0.4, None])
def test_a_panel_measures_after_a_guess_and_tells_whether_it_was_disturbed(
    share, alternatives, monkeypatch
):
    causes = {"other programs used {:.0%}": share} if share else {}
    monkeypatch.setattr(widgets, "disturbances", lambda *_, **options: causes)
    draw_calls, measured = [], []

    def draw(*call):
        draw_calls.append(call)
        return plots.axes()[0]

    def measure(choice):
        measured.append((choice, "measuring" in note.value))
        return 1.5

    guess = ipywidgets.BoundedFloatText(1.0, min=0, max=10)
    threads = ipywidgets.SelectionSlider(options=[1, 2])
    box = widgets.predict_first(draw, measure, {"threads": threads}, guess)
    _, button, note = box.children[1].children
    assert button.disabled
    guess.value = 1.8
    assert not button.disabled
    button.click()
    assert measured == [({"threads": 1}, True)]
    assert ("40%" in note.value) == bool(share)
    assert "measuring" not in note.value
    threads.value = 2  # needs another guess
    assert button.disabled
    calls = [(1, 1.0, None), (1, 1.8, None), (1, 1.8, 1.5), (2, 1.8, None)]
    assert draw_calls == [({"threads": count}, *others) for count, *others in calls]
