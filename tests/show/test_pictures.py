"""Pictures of ideas say what the course says."""

import pandas as pd
import pytest

from rungs_course import paths
from rungs_course.show import games as show_games
from rungs_course.show.pictures import course, loop
from rungs_course.studies import games


def texts(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def test_the_map_has_every_notebook_and_marks_one():
    figure = course.course_map("07")
    said = texts(figure)
    numbers = [path.stem[:2] for path in sorted((paths.ROOT / "notebooks").glob("[0-9]*.ipynb"))]
    assert sorted(text[:2] for text in said if text[:2].isdigit()) == numbers
    widths = [patch.get_linewidth() for patch in figure.axes[0].patches]
    assert widths.count(3) == 1


def test_the_loop_names_what_goes_round():
    said = " ".join(texts(loop.rl_loop()))
    for word in ("agent", "environment", "action", "observation", "reward", "update", "generate"):
        assert word in said


@pytest.fixture(scope="module")
def game():
    return games.play(games.OPERA_GAME)


def test_diagrams_have_a_glyph_for_every_piece(game):
    figure = show_games.plies_of(game, [1, 33])
    first, last = figure.axes
    assert (len(first.texts), len(last.texts)) == (32, 20)
    assert first.get_title() == "1. e4, 20 legal"
    assert last.get_title() == "17. Rd8#, checkmate: +1"


def test_black_moves_have_two_dots(game):
    (axes,) = show_games.plies_of(game, [2]).axes
    assert axes.get_title().startswith("1... e5")


def test_random_games_are_drawn_with_their_ends():
    positions = pd.DataFrame({"ply": [0, 1, 12], "legal": [20, 21, 30], "hit": False})
    ended = pd.DataFrame({"reason": ["checkmate", "stalemate", "checkmate"], "plies": 9})
    left, right = show_games.at_random(positions, ended).axes
    assert left.get_ylabel() == "legal actions, of 4,672"
    assert [text.get_text() for text in right.texts] == ["2", "1"]


def test_the_slider_goes_through_the_game(game):
    slider = show_games.explore_game(game).children[0]
    assert (slider.min, slider.max, slider.value) == (1, 33, 33)
