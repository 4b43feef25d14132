"""The board of pages, as a reader uses it in Chromium."""

import pytest

from rungs_course import paths
from rungs_course.runner import bundle
from tests.browser import SCREENSHOTS, needs_chromium, square

pytestmark = [pytest.mark.system, needs_chromium]

PAGE = """<!doctype html><meta charset="utf-8"><title>Board</title>
<meta name="viewport" content="width=device-width">
<link rel="stylesheet" href="page.css"><link rel="stylesheet" href="board.css">
<div id="board"></div>
<script src="pieces.json.js"></script><script type="module" src="board_test.js"></script>
"""
MODULE = f"""import {{ Board }} from "{paths.ROOT}/js/board.js";
import {{ json }} from "{paths.ROOT}/js/files.js";
import {{ toUci }} from "{paths.ROOT}/js/moves.js";
globalThis.events = [];
globalThis.toUci = toUci;
globalThis.board = new Board(document.getElementById("board"), {{
  pieces: await json("pieces.json"),
  onMove: (move) => events.push(move),
  onSquare: (square) => events.push(square),
}});
"""
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
PROMOTING = "3n3k/2P5/8/8/8/8/8/K7 w - - 0 1"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("out")
    (source / "board_test.html").write_text(PAGE)
    (source / "board_test.js").write_text(MODULE)
    for style in bundle.SOURCES.glob("*.css"):
        (source / style.name).write_bytes(style.read_bytes())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bundle, "SOURCES", source)
        bundle.build(out)
    return (out / "board_test.html").as_uri()


@pytest.fixture
def opened(open_page, address):
    def show(position, **context):
        page = open_page(address, **context)
        page.wait_for_function("globalThis.board")
        page.evaluate("(position) => board.show(position)", position)
        return page

    return show


def label(page, name):
    return square(page, name).get_attribute("aria-label")


def events(page):
    return page.evaluate("events.splice(0)")


def test_moves_are_chosen_by_clicks_and_by_dragging(opened):
    page = opened({"fen": START, "moves": ["e2e4", "e2e3", "g1f3"], "last": "e7e5"})
    assert label(page, "e2") == "e2, white pawn, can move"
    square(page, "e2").click()
    assert label(page, "e2") == "e2, white pawn, selected"
    assert label(page, "e4") == "e4, empty, move here"
    assert label(page, "f3") == "f3, empty"
    page.screenshot(path=SCREENSHOTS / "board_selected.png")
    square(page, "e4").click()
    assert events(page) == ["e2", "e2e4"]
    square(page, "g1").drag_to(square(page, "f3"))
    assert events(page) == ["g1f3"]
    square(page, "g1").drag_to(square(page, "h3"))  # where it may not go
    assert events(page) == []
    square(page, "h3").click()
    assert events(page) == ["h3"]
    assert page.locator("svg[style*=translate]").count() == 0


def test_the_keyboard_moves_and_promotes(opened):
    moves = [f"c7{to}{piece}" for to in ("c8", "d8") for piece in "nbrq"]
    page = opened({"fen": PROMOTING, "moves": moves})
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.dataset.square") == "e1"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineWidth") == "3px"
    for key in ["ArrowUp"] * 6 + ["ArrowLeft"] * 2 + ["Enter", "ArrowUp", "ArrowRight", "Space"]:
        page.keyboard.press(key)
    assert page.get_by_role("dialog", name="Promote to").is_visible()
    page.screenshot(path=SCREENSHOTS / "board_promotion.png")
    page.keyboard.press("Escape")
    assert page.get_by_role("dialog").count() == 0
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.ariaLabel") == "white bishop"
    page.keyboard.press("Enter")
    assert events(page) == ["c7", "c7d8b"]
    assert page.evaluate("document.activeElement.dataset.square") == "d8"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    assert square(page, "c7").get_attribute("aria-selected") == "false"


def test_what_no_longer_may_move_is_not_selected(opened):
    page = opened({"fen": START, "moves": ["e2e4"]})
    square(page, "e2").click()
    page.evaluate("board.show({ moves: ['d2d4'] })")
    assert square(page, "e2").get_attribute("aria-selected") == "false"
