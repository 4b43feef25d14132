"""Pictures of a search say what its tables say."""

import pandas as pd

from rungs_course.show import elo, image, searches, trees

FEN = "7k/8/5K2/8/8/8/8/R7 w - - 0 1"


def grown():
    rows = [
        (simulation, move, uci, prior, visits, value)
        for simulation, of in ((1, (1, 0)), (2, (1, 1)), (9, (2, 7)))
        for (move, uci, prior), visits, value in zip(
            (("Kg6", "f6g6", 0.25), ("Ra2", "a1a2", 0.75)), of, (0.5, -0.5), strict=True
        )
    ]
    return pd.DataFrame(rows, columns=["simulation", "move", "uci", "prior", "visits", "value"])


def test_the_root_is_drawn_as_it_was_after_so_many_simulations():
    for simulation, shown in ((1, 1), (5, 2), (9, 9)):
        board, shares, values = trees.root(grown(), FEN, simulation).axes
        assert board.get_title().startswith(f"after {shown} simulation")
        assert [tick.get_text() for tick in shares.get_yticklabels()] == ["Ra2", "Kg6"]
        assert {patch.get_width() for patch in values.patches} <= {0.5, -0.5, 0.0}
    widths = [patch.get_width() for patch in shares.patches]
    assert widths == [0.75, 0.25, 7 / 9, 2 / 9]


def test_growth_marks_the_most_visited_and_leaves_others_grey():
    visits = {"a": 4, "b": 9, "c": 7, "d": 1, "e": 2}
    rows = [(n, move, count * n / 9, 0.0) for n in (1, 9) for move, count in visits.items()]
    table = pd.DataFrame(rows, columns=["simulation", "move", "visits", "value"])
    left, _ = trees.growth(table.assign(prior=0.2)).axes
    marked = [line.get_label() for line in left.lines if line.get_marker() != "None"]
    assert marked == ["b", "c", "a"]
    assert len(left.lines) == 5


def test_the_tree_has_a_circle_for_each_position():
    nodes = pd.DataFrame(
        [(-1, "", 0, 9, 0.1, ""), (0, "Kg6", 1, 5, 0.6, ""), (1, "Kg8", 2, 4, 1, "checkmate")],
        columns=["parent", "move", "depth", "visits", "value", "end"],
    )
    (axes,) = trees.tree(nodes).axes
    assert len(axes.collections) == 3
    assert [text.get_text() for text in axes.texts] == ["Kg6\n5, +0.60", "Kg8\n4, +1.00"]


def test_the_slider_has_what_was_seen():
    slider, *_ = trees.explore_search(grown(), FEN).children
    assert list(slider.options) == [1, 2, 9]


def test_ratings_are_drawn_with_intervals_the_best_on_top():
    table = pd.DataFrame(
        [("a", 100, 50, 150), ("random", 0, 0, 0)], columns=["player", "elo", "low", "high"]
    )
    (axes,) = elo.ratings(table).axes
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["random", "a"]


def test_a_run_is_drawn_with_search_and_without():
    rows = [(0, 0, 10, -5, 25, 0.5, 5), (9, 8, 200, 150, 250, 0.9, 150)]
    names = ["positions", "seconds", "elo", "low", "high", "random", "search_gain"]
    for over in ("seconds", "positions"):
        figure = elo.over_time(pd.DataFrame(rows, columns=names), over)
        said = image.alternative(figure)
        assert "with search" in said
        assert "the policy alone" in said


def raced():
    rows = [
        (way, evaluator, games, repeat, rate * games)
        for way, rate in (("Python", 1), ("C++", 500))
        for evaluator in ("nothing", "the network")
        for games in (1, 8)
        for repeat in range(3)
    ]
    return pd.DataFrame(rows, columns=["racer", "evaluator", "games", "repeat", "per_second"])


def test_the_ladder_has_a_bar_for_each_way_and_evaluator():
    (axes,) = searches.ladder(raced(), 8).axes
    assert [patch.get_width() for patch in axes.patches] == [8, 4000, 8, 4000]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["Python", "C++"]


def test_batches_are_drawn_over_games():
    (axes,) = searches.batches(raced(), "the network").axes
    assert {line.get_label() for line in axes.lines} >= {"Python", "C++"}
