"""The page to play on as a reader uses it: Voilà, Chromium, mouse, keyboard, and a phone."""

import io

import chess.pgn
import pytest

from tests.browser import (
    ROOT,
    SCREENSHOTS,
    browser,
    free_port,
    made,
    needs_chromium,
    printed_token,
    served,
)

pytest.importorskip("voila")
pytestmark = [pytest.mark.system, needs_chromium]


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    home = tmp_path_factory.mktemp("voila")
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    own = {"JUPYTER_CONFIG_DIR": str(home / "config")}
    command = made("play", f"--port={port}", "--Voila.port_retries=0")
    with served(command, f"{address}/voila/static/voila.js", home / "log", cwd=ROOT, env=own):
        yield f"{address}/?token={printed_token(home / 'log')}"


@pytest.fixture(scope="module")
def chromium():
    with browser() as started:
        yield started


def opened(chromium, address, *, width=1280, height=900, dark=False, touch=False):
    """A page with the board on it, and a list of what goes wrong there."""
    page = chromium.new_page(
        viewport={"width": width, "height": height},
        color_scheme="dark" if dark else "light",
        has_touch=touch,
        accept_downloads=True,
    )
    page.set_default_timeout(120_000)
    wrong, origin = [], address.partition("/?")[0]
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: foreign(request.url, origin) and wrong.append(request.url))
    page.goto(address)
    square(page, "e2").wait_for()
    page.get_by_label("simulations").select_option("8 a move")
    return page, wrong


def foreign(url, origin):
    return not url.startswith((origin, origin.replace("http", "ws"), "data:", "blob:"))


def square(page, name):
    return page.locator(f"[data-square={name}]")


def moves(page, count, words=3):
    """Waits until so many lines of moves are there, the last of so many words; returns the text."""
    page.wait_for_function(
        """([count, words]) => {
            const lines = document.querySelector(".score")?.innerText.trim().split("\\n") ?? [];
            return lines.length === count + 1 && lines[count].split(" ").length === words;
        }""",
        arg=[count, words],
    )
    return page.locator(".score").inner_text()


def test_a_game_by_mouse(address, chromium):
    page, wrong = opened(chromium, address)
    square(page, "e2").click()
    for name in ("e3", "e4"):
        assert "move here" in square(page, name).get_attribute("aria-label")
    assert "move here" not in square(page, "e5").get_attribute("aria-label")
    page.screenshot(path=SCREENSHOTS / "play_targets.png")
    square(page, "e4").click()
    assert "1. e4 " in moves(page, 1)
    square(page, "g1").click()
    square(page, "f3").click()
    assert "2. Nf3 " in moves(page, 2)
    assert page.locator(".thoughts tr").count() > 3
    assert page.locator(".thoughts meter").is_visible()
    page.screenshot(path=SCREENSHOTS / "play_desktop.png")

    with page.expect_download() as download:
        page.get_by_role("link", name="Save the game").click()
    game = chess.pgn.read_game(io.StringIO(download.value.path().read_text()))
    assert [move.uci() for move in game.mainline_moves()][::2] == ["e2e4", "g1f3"]

    page.get_by_role("button", name="take back").click()
    assert "2. " not in moves(page, 1)
    page.get_by_role("button", name="hint").click()
    page.get_by_text("In your place it would play").wait_for()
    page.get_by_role("button", name="flip").click()
    page.wait_for_function("document.querySelector('[role=gridcell]').dataset.square === 'h1'")
    page.get_by_label("you are").select_option("Black")
    moves(page, 1, words=2)  # the agent's alone
    assert page.locator("[role=gridcell]").first.get_attribute("data-square") == "h1"
    assert not wrong
    page.close()


def test_a_move_by_keyboard_alone(address, chromium):
    page, wrong = opened(chromium, address)
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.dataset.square") == "e1":
            break
    else:
        raise AssertionError("Tab does not reach the board")
    focused = "getComputedStyle(document.activeElement).outlineWidth"
    assert page.evaluate(focused) == "3px"
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    assert square(page, "e2").get_attribute("aria-selected") == "true"
    page.keyboard.press("Escape")
    assert square(page, "e2").get_attribute("aria-selected") == "false"
    page.keyboard.press("Space")
    for _ in range(2):
        page.keyboard.press("ArrowUp")
    page.screenshot(path=SCREENSHOTS / "play_keyboard.png")
    page.keyboard.press("Enter")
    assert "1. e4 " in moves(page, 1)
    page.get_by_label("your move").fill("Nf3")
    page.keyboard.press("Enter")
    assert "2. Nf3 " in moves(page, 2)
    page.get_by_label("your move").fill("Ke7")
    page.keyboard.press("Enter")
    page.get_by_text("'Ke7' is no legal move here").wait_for()
    assert not wrong
    page.close()


@pytest.mark.parametrize("dark", [False, True])
def test_it_fits_a_phone_light_and_dark(address, chromium, dark):
    page, wrong = opened(chromium, address, width=390, height=844, dark=dark, touch=True)
    square(page, "d2").tap()
    square(page, "d4").tap()
    moves(page, 1)
    box = square(page, "e4").bounding_box()
    assert box["width"] == pytest.approx(box["height"], abs=1)
    assert box["width"] > 36  # a finger's
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    shade = "dark" if dark else "light"
    page.screenshot(path=SCREENSHOTS / f"play_phone_{shade}.png", full_page=True)
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    brightness = sum(int(part) for part in background[4:-1].split(",")[:3]) / 3
    assert (brightness < 60) == dark
    assert not wrong
    page.close()
