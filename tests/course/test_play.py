"""The page to play on, as a reader uses it in Chromium, from a folder."""

import io

import chess
import chess.pgn
import pytest

from rungs_course import agents
from rungs_course.runner import bundle
from tests.browser import SCREENSHOTS, assert_fits_a_phone, needs_chromium, square

pytestmark = [
    pytest.mark.system,
    needs_chromium,
    pytest.mark.skipif(bool(bundle.missing()), reason=bundle.missing()),
]
LOST = "6k1/8/6K1/8/8/8/8/7Q w - - 0 1"  # for Black
MATE_IN_ONE = "6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    bundle.build(folder)
    return (folder / "play.html").as_uri()


@pytest.fixture
def opened(open_page, address):
    def play(seconds="0.1", **context):
        page = open_page(address, **context)
        page.locator("main").wait_for()
        page.locator("#seconds").select_option(seconds)
        return page

    return play


def played(page):
    lines = page.locator("#moves li").all_inner_texts()
    return [word for line in lines for word in line.split()[1:]]


def wait_for_plies(page, count):
    page.wait_for_function(
        "(count) => [...document.querySelectorAll('#moves li')]"
        ".reduce((sum, line) => sum + line.textContent.split(' ').length - 1, 0) >= count",
        arg=count,
    )


def wait_for_status(page, text):
    page.locator("#status").filter(has_text=text).wait_for()


def pgn(page):
    return page.evaluate("fetch(document.getElementById('save').href).then((it) => it.text())")


def type_move(page, text):
    page.locator("#move").fill(text)
    page.locator("#move").press("Enter")


def set_up(page, fen):
    page.locator("#fen").fill(fen)
    page.get_by_role("button", name="Set up").click()


def assert_answers(page):
    """Plays a move, which an agent answers."""
    type_move(page, "e4")
    wait_for_plies(page, 2)
    wait_for_status(page, "White is to move.")
    board = chess.Board()
    for san in played(page):
        board.push_san(san)
    assert page.locator("#fen").input_value() == board.fen()
    row = page.locator("#candidates tr").first.locator("td").all_inner_texts()
    assert row[0] == played(page)[1]
    assert int(row[1].replace(",", "")) > 1
    assert "simulations a second" in page.locator("#numbers").inner_text()
    assert page.locator("#tree rect").count() > 3
    assert "Elo" in page.locator("#ratings").inner_text()


def test_a_move_is_played_and_answered_and_what_is_illegal_refused(opened):
    page = opened()
    square(page, "e2").click()
    square(page, "e5").click()  # where a pawn can't go
    assert played(page) == []
    assert_answers(page)
    page.screenshot(path=SCREENSHOTS / "play_desktop.png", full_page=True)
    type_move(page, "Ke5")
    wait_for_status(page, "Ke5")
    assert len(played(page)) == 2
    square(page, "g1").click()
    square(page, "f3").click()
    wait_for_plies(page, 4)
    assert played(page)[2] == "Nf3"
    assert page.locator("#status").get_attribute("role") == "status"
    assert_fits_a_phone(page, "play")


def test_moves_are_taken_back_and_written_as_pgn(opened):
    page = opened()
    for plies, text in ((2, "d4"), (4, "Nf3")):
        wait_for_status(page, "White is to move.")
        type_move(page, text)
        wait_for_plies(page, plies)
    wait_for_status(page, "White is to move.")
    before = played(page)
    game = chess.pgn.read_game(io.StringIO(pgn(page)))
    assert not game.errors
    assert game.headers["White"] == "you"
    assert "self-play" in game.headers["Black"]
    board = game.board()
    assert [board.san_and_push(move) for move in game.mainline_moves()] == before
    page.get_by_role("button", name="Take back").click()
    assert played(page) == before[:2]
    page.get_by_role("button", name="Hint").click()
    wait_for_status(page, "In your place")
    assert page.locator("[data-marks=hint]").count() == 2
    assert played(page) == before[:2]
    page.get_by_role("button", name="Flip").click()
    assert page.locator("[role=gridcell]").first.get_attribute("data-square") == "h1"
    page.get_by_role("button", name="Resign").click()
    wait_for_status(page, "White resigns")
    assert '[Result "0-1"]' in pgn(page)
    square(page, "a2").click()
    square(page, "a3").click()
    assert played(page) == before[:2]
    page.get_by_role("button", name="Take back").click()
    wait_for_status(page, "White is to move.")


def test_a_position_is_set_up_and_ends_by_mate_or_agreement(opened):
    page = opened()
    set_up(page, "no position")
    wait_for_status(page, "no position")
    set_up(page, LOST)
    page.get_by_role("button", name="Offer a draw").click()
    wait_for_status(page, "agreement")
    set_up(page, MATE_IN_ONE)
    wait_for_status(page, "White is to move.")
    assert "agreement" not in page.locator("#status").inner_text()
    type_move(page, "Rd8")
    wait_for_status(page, "checkmate")
    assert f'[FEN "{MATE_IN_ONE}"]' in pgn(page)
    assert "1. Rd8# 1-0" in pgn(page)


def test_the_agent_begins_where_you_are_black(opened):
    page, (_, first, *_) = opened(), agents.known()  # the page lists them in this order
    page.locator("#white").select_option("1")
    page.locator("#black").select_option("you")
    wait_for_plies(page, 1)
    wait_for_status(page, "Black is to move.")
    assert page.locator("[role=gridcell]").first.get_attribute("data-square") == "h1"
    type_move(page, "a6")
    wait_for_plies(page, 3)
    wait_for_status(page, "Black is to move.")  # a reply writes a status of its own
    page.locator("#white").select_option("0")  # of the next game
    wait_for_status(page, "new game")
    assert f'[White "{first}"]' in pgn(page)


def test_two_agents_play_each_other_until_a_new_game_begins(opened):
    page, (black, white, *_) = opened(), agents.known()
    page.locator("#white").select_option("1")
    page.get_by_role("button", name="New game").click()
    wait_for_plies(page, 4)
    assert page.get_by_role("button", name="Hint").is_disabled()
    assert f'[White "{white}"]\n[Black "{black}"]' in pgn(page)
    page.screenshot(path=SCREENSHOTS / "play_watched.png", full_page=True)
    page.locator("#white").select_option("you")
    page.get_by_role("button", name="New game").click()
    wait_for_status(page, "White is to move.")
    assert played(page) == []


def test_a_long_search_is_seen_and_ended_by_another_wish(opened):
    page = opened(seconds="5")
    type_move(page, "e4")
    page.locator("#numbers").filter(has_text="simulations").wait_for()
    page.get_by_role("button", name="Take back").click()
    wait_for_status(page, "White is to move.")
    page.wait_for_timeout(300)
    assert played(page) == []
