"""The page to play on, as a reader uses it in Chromium, from a folder."""

import io

import chess
import chess.pgn
import pytest

from rungs_course import agents
from tests.browser import assert_fits_a_phone, needs_chromium, square
from tests.processes import poll

pytestmark = [pytest.mark.system, needs_chromium]
LOST = "6k1/8/6K1/8/8/8/8/7Q w - - 0 1"  # for Black
PROMOTING = "3n3k/2P5/8/8/8/8/8/K7 w - - 0 1"
MATE_IN_ONE = "6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1"


@pytest.fixture
def page(opened):
    page = opened("play")
    page.locator("main").wait_for()
    page.locator("#seconds").select_option("0.1")
    return page


def played(page):
    lines = page.locator("#moves li").all_inner_texts()
    return [word for line in lines for word in line.split()[1:]]


def wait_for_plies(page, count):
    poll(lambda: len(played(page)) >= count, 300)


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


def label(page, name):
    return square(page, name).get_attribute("aria-label")


def is_selected(page, name):
    return square(page, name).get_attribute("aria-selected") == "true"


def test_pieces_are_clicked_and_dragged_and_moves_answered(page):
    assert label(page, "e2") == "e2, white pawn, can move"
    square(page, "e2").click()
    assert label(page, "e2") == "e2, white pawn, selected"
    assert label(page, "e4") == "e4, empty, move here"
    assert label(page, "f3") == "f3, empty"
    square(page, "e5").click()  # where a pawn can't go
    square(page, "g1").drag_to(square(page, "g3"))  # nor a knight
    assert played(page) == []
    assert page.locator("svg[style*=translate]").count() == 0
    square(page, "e2").click()
    square(page, "e4").click()
    wait_for_plies(page, 2)
    wait_for_status(page, "White is to move.")
    board = chess.Board()
    for san in played(page):
        board.push_san(san)
    assert page.locator("#fen").input_value() == board.fen()
    move, visits, *_ = page.locator("#candidates tr").first.locator("td").all_inner_texts()
    assert move == played(page)[1]
    assert int(visits.replace(",", "")) > 1
    assert "simulations a second" in page.locator("#numbers").inner_text()
    assert page.locator("#tree rect").count() > 3
    assert "Elo" in page.locator("#ratings").inner_text()
    type_move(page, "Ke5")
    wait_for_status(page, "Ke5")
    assert page.locator("#status").get_attribute("role") == "status"
    square(page, "g1").drag_to(square(page, "f3"))
    wait_for_plies(page, 4)
    assert [played(page)[0], played(page)[2]] == ["e4", "Nf3"]
    wait_for_status(page, "White is to move.")
    square(page, "d2").click()
    type_move(page, "a4")  # while it is the agent's turn, nothing may move
    assert not is_selected(page, "d2")
    assert_fits_a_phone(page)


def test_the_keyboard_moves_and_promotes(page):
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
    page.keyboard.press("Escape")
    assert page.get_by_role("dialog").count() == 0
    for key in ("Enter", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.ariaLabel") == "white bishop"
    page.keyboard.press("Enter")
    wait_for_plies(page, 1)
    assert played(page)[0].startswith("cxd8=B")
    assert page.evaluate("document.activeElement.dataset.square") == "d8"


def test_moves_are_taken_back_and_written_as_pgn(page):
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


def test_a_position_is_set_up_and_ends_by_mate_or_agreement(page):
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


def test_agents_begin_where_you_are_black_and_play_each_other_until_a_new_game_begins(page):
    black, white, *_ = agents.known()  # the page lists them in this order
    page.locator("#white").select_option("1")
    page.locator("#black").select_option("you")
    wait_for_plies(page, 1)
    wait_for_status(page, "Black is to move.")
    assert page.locator("[role=gridcell]").first.get_attribute("data-square") == "h1"
    type_move(page, "a6")
    wait_for_plies(page, 3)
    wait_for_status(page, "Black is to move.")  # a reply writes a status of its own
    page.locator("#black").select_option("0")  # of the next game
    wait_for_status(page, "new game")
    assert f'[White "{white}"]\n[Black "you"]' in pgn(page)
    page.get_by_role("button", name="New game").click()
    wait_for_plies(page, 4)
    assert page.get_by_role("button", name="Hint").is_disabled()
    assert f'[White "{white}"]\n[Black "{black}"]' in pgn(page)
    page.locator("#white").select_option("you")
    page.get_by_role("button", name="New game").click()
    wait_for_status(page, "White is to move.")
    assert played(page) == []


def test_a_long_search_is_seen_and_ended_by_another_wish(page):
    page.locator("#seconds").select_option("5")
    type_move(page, "e4")
    page.locator("#numbers").filter(has_text="simulations").wait_for()
    page.get_by_role("button", name="Take back").click()
    wait_for_status(page, "White is to move.")
    page.wait_for_timeout(300)
    assert played(page) == []
