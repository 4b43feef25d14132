"""The page to play on, as a reader uses it in Chromium, from a folder."""

import io

import chess
import chess.pgn
import pytest

from rungs_course import agents
from tests.browser import SCREENSHOTS, assert_fits_a_phone, needs_chromium, square

pytestmark = [pytest.mark.system, needs_chromium]
LOST = "6k1/8/6K1/8/8/8/8/7Q w - - 0 1"  # for Black
PROMOTING = "3n3k/2P5/8/8/8/8/8/K7 w - - 0 1"
MATE_IN_ONE = "6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1"


@pytest.fixture
def play(opened):
    def play(seconds="0.1"):
        page = opened("play")
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


def label(page, name):
    return square(page, name).get_attribute("aria-label")


def is_selected(page, name):
    return square(page, name).get_attribute("aria-selected") == "true"


def test_squares_say_what_they_are_for_and_pieces_are_dragged(play):
    page = play()
    assert label(page, "e2") == "e2, white pawn, can move"
    square(page, "e2").click()
    assert label(page, "e2") == "e2, white pawn, selected"
    assert label(page, "e4") == "e4, empty, move here"
    assert label(page, "f3") == "f3, empty"
    page.screenshot(path=SCREENSHOTS / "board_selected.png")
    square(page, "g1").drag_to(square(page, "g3"))  # where it may not go
    assert played(page) == []
    assert page.locator("svg[style*=translate]").count() == 0
    square(page, "g1").drag_to(square(page, "f3"))
    wait_for_plies(page, 2)
    assert played(page)[0] == "Nf3"
    wait_for_status(page, "White is to move.")
    square(page, "e2").click()
    type_move(page, "d4")  # while it is the agent's turn, nothing may move
    assert not is_selected(page, "e2")


def test_the_keyboard_moves_and_promotes(play):
    page = play()
    set_up(page, PROMOTING)
    page.locator("#seconds").focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.dataset.square") == "e1"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineWidth") == "3px"
    for key in ["ArrowUp"] * 6 + ["ArrowLeft"] * 2 + ["Enter"]:
        page.keyboard.press(key)
    assert is_selected(page, "c7")
    page.keyboard.press("Escape")
    assert not is_selected(page, "c7")
    for key in ("Enter", "ArrowUp", "ArrowRight", "Space"):
        page.keyboard.press(key)
    assert page.get_by_role("dialog", name="Promote to").is_visible()
    page.screenshot(path=SCREENSHOTS / "board_promotion.png")
    page.keyboard.press("Escape")
    assert page.get_by_role("dialog").count() == 0
    for key in ("Enter", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.ariaLabel") == "white bishop"
    page.keyboard.press("Enter")
    wait_for_plies(page, 1)
    assert played(page)[0].startswith("cxd8=B")
    assert page.evaluate("document.activeElement.dataset.square") == "d8"


def test_a_move_is_played_and_answered_and_what_is_illegal_refused(play):
    page = play()
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


def test_moves_are_taken_back_and_written_as_pgn(play):
    page = play()
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


def test_a_position_is_set_up_and_ends_by_mate_or_agreement(play):
    page = play()
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


def test_the_agent_begins_where_you_are_black(play):
    page, (_, first, *_) = play(), agents.known()  # the page lists them in this order
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


def test_two_agents_play_each_other_until_a_new_game_begins(play):
    page, (black, white, *_) = play(), agents.known()
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


def test_a_long_search_is_seen_and_ended_by_another_wish(play):
    page = play(seconds="5")
    type_move(page, "e4")
    page.locator("#numbers").filter(has_text="simulations").wait_for()
    page.get_by_role("button", name="Take back").click()
    wait_for_status(page, "White is to move.")
    page.wait_for_timeout(300)
    assert played(page) == []
