"""The pages of the book in which Rungs runs, opened from a folder, as a reader uses them."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from rungs_course import paths
from rungs_course.pages import numbers
from rungs_course.runner import bundle
from tests.browser import SCREENSHOTS, browser, needs_chromium, opener

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(bool(bundle.missing()), reason="`make wasm` was not run"),
]
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("browser")
    bundle.build(out)
    return out


@pytest.fixture(scope="module")
def chromium():
    with browser() as started:
        yield started


@pytest.fixture
def opened(chromium, folder):
    """Opens a page by its name."""
    with opener(chromium) as open_page:
        address = folder.as_uri()
        yield lambda name, query="", **how: open_page(f"{address}/{name}.html{query}", **how)


def square(page, name):
    return page.locator(f"[data-square={name}]")


def marked(page, name):
    """The squares with a mark."""
    cells = page.locator(f"[data-marks~={name}]").all()
    return {cell.get_attribute("data-square") for cell in cells}


@pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")
def test_bitboards_allow_what_the_environment_does():
    command = ["node", "--test", Path(__file__).with_name("bitboards_test.mjs")]
    environment = os.environ | {"RUNGS_WASM": str(bundle.NEEDED)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout
    assert "\n# pass 1\n" in done.stdout


def test_pages_are_small(folder):
    assert sum(path.stat().st_size for path in folder.iterdir()) < 25e6


@needs_chromium
def test_bitboards_by_mouse(opened):
    page = opened("bitboards")
    square(page, "e2").click()
    assert marked(page, "filled") == {"d1", "f1", "d3", "f3", "c4"}
    assert page.locator("#word").inner_text() == "0x0000000004280028, 5 bits"
    page.screenshot(path=SCREENSHOTS / "bitboards_desktop.png")
    page.get_by_label("step of the fill").fill("1")
    assert marked(page, "filled") == {"e2", "d3"}
    page.get_by_role("button", name="legal").click()
    assert marked(page, "legal") == {"d3"}
    square(page, "d3").click()
    assert square(page, "d3").get_attribute("data-piece") == "B"
    assert "rank 1 is Black's own" in page.locator("#mask-about").inner_text()

    page.get_by_label("A position").select_option("two pins")
    page.get_by_role("button", name="pins").click()
    assert marked(page, "pinned") == {"c3", "e3"}
    assert marked(page, "line") == {"d2", "b4", "a5"} | {f"e{rank}" for rank in (2, 4, 5, 6, 7)}
    page.screenshot(path=SCREENSHOTS / "bitboards_pins.png")
    page.get_by_label("A position").select_option("a check")
    page.get_by_role("button", name="check mask").click()
    assert marked(page, "allowed") == {"e2", "f3", "g4", "h5"}
    page.get_by_label("A position").select_option("a double check")
    assert marked(page, "allowed") == set()
    assert "Double check from e1 and f6" in page.locator("#about").inner_text()

    page.get_by_label("A position").select_option("the start")
    page.locator("[data-word='56']").click()  # 2 north, 1 east
    assert marked(page, "plane") == {"b1", "g1"}
    page.get_by_label("Position as a FEN").fill("8/8/8/8/8/8/8/8 w - - 0 1")
    page.get_by_role("button", name="set up").click()
    assert "king" in page.locator("#status").inner_text()
    assert page.get_by_label("Position as a FEN").input_value().startswith("8/8")
    assert square(page, "b1").get_attribute("data-piece") == "N"


@needs_chromium
def test_bitboards_by_keyboard_to_the_end_of_a_game(opened):
    page = opened("bitboards")
    page.get_by_label("Position as a FEN").fill("6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1")
    page.keyboard.press("Enter")
    for _ in range(40):
        page.keyboard.press("Shift+Tab")
        if page.evaluate("document.activeElement.dataset.square"):
            break
    for key in ["ArrowLeft", "Enter"] + ["ArrowUp"] * 7 + ["Enter"]:
        page.keyboard.press(key)
    assert page.locator("#status").inner_text() == "The game is over: checkmate."
    assert page.get_by_role("button", name="random move").is_disabled()
    page.get_by_role("button", name="take back").click()
    assert square(page, "d1").get_attribute("data-piece") == "R"


@needs_chromium
@pytest.mark.parametrize("shade", ["light", "dark"])
def test_bitboards_by_touch(opened, shade):
    page = opened("bitboards", **PHONE, color_scheme=shade)
    square(page, "c3").tap()
    assert "c3, white knight, " in square(page, "c3").get_attribute("aria-label")
    assert {"b1", "b5", "d5", "a4"} <= marked(page, "filled")
    square(page, "d5").tap()
    assert square(page, "d5").get_attribute("data-piece") == "N"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.screenshot(path=SCREENSHOTS / f"bitboards_phone_{shade}.png", full_page=True)


@needs_chromium
@pytest.mark.parametrize("how", [{"color_scheme": "light"}, PHONE | {"color_scheme": "dark"}])
def test_a_race(opened, how):
    page = opened("race", "?seconds=1", **how)
    page.set_default_timeout(300_000)  # three rounds at least, beside other tests
    page.locator("#start:enabled").focus()
    page.keyboard.press("Enter")
    page.wait_for_function("document.getElementById('status').innerText.endsWith('done.')")
    shade = how["color_scheme"]
    page.screenshot(path=SCREENSHOTS / f"race_{shade}.png", full_page=True)
    rows = page.locator("#table tr").all()
    assert len(rows) == 5
    cells = [row.locator("td").all_inner_texts() for row in rows[1:]]
    assert [row[1] for row in cells] == ["508", "656", "4,744", "35,136"]
    assert cells[3][5] == "left out"
    for cell in (cell for row in cells for cell in row[2:] if cell != "left out"):
        found = re.findall(r"([\d.]+)( [kM])?", cell)
        units = {" k": 1e3, " M": 1e6, "": 1}
        middle, low, high = (float(number) * units[unit] for number, unit in found)
        assert 0 < low <= middle <= high
    ladder = page.locator("#ladder").text_content()
    for row in numbers.raced(paths.ROOT)[0]["rows"]:
        assert f"{row['rung']}: " in ladder
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]


RANDOM = """
function randomAction(words, random) {
  const legal = [];
  words.forEach((word, w) => {
    for (let s = 0; s < 64; ++s) if ((word >> BigInt(s)) & 1n) legal.push(64 * w + s);
  });
  return legal[Math.floor(random() * legal.length)];
}"""
KNIGHTS = """
function knightAttacks(n) {
  const one = ((n & ~0x8080808080808080n) << 1n) | ((n & ~0x0101010101010101n) >> 1n);
  const two = ((n & ~0xc0c0c0c0c0c0c0c0n) << 2n) | ((n & ~0x0303030303030303n) >> 2n);
  return BigInt.asUintN(64, (one << 16n) | (one >> 16n) | (two << 8n) | (two >> 8n));
}"""


@needs_chromium
@pytest.mark.parametrize("how", [{"color_scheme": "light"}, PHONE | {"color_scheme": "dark"}])
def test_the_first_lab_from_wrong_to_right(opened, how):
    page = opened("lab", "?limit=100", **how)
    shade = how["color_scheme"]

    def answer(name, code):
        section = page.locator(f"#{name}")
        section.wait_for()  # hidden until the page listens, which pressing a key does not mind
        if code is not None:
            section.locator("textarea").fill(code)
        section.locator("textarea").press("Control+Enter")
        verdict = section.locator(".verdict:is(.right, .not)")
        verdict.wait_for()
        return verdict.inner_text()

    assert "1, b1 to b2, is no legal action here" in answer("randomAction", None)
    assert marked(page, "from") == {"b1"}
    page.screenshot(path=SCREENSHOTS / f"lab_wrong_{shade}.png", full_page=True)
    first = RANDOM.replace("Math.floor(random() * legal.length)", "0")
    assert "came 2000 times of 2000" in answer("randomAction", first)
    assert answer("randomAction", RANDOM).startswith("Right in all 100 cases")
    assert page.locator("[role=grid]").count() == 0
    page.locator("#randomAction .again").click()
    assert "hardly ever" in page.locator("#randomAction textarea").input_value()

    assert answer("knightAttacks", None).endswith("Knights on a1: missing c2.")
    assert (marked(page, "missing"), marked(page, "right")) == ({"c2"}, {"b3"})
    comes_back = KNIGHTS.replace("~0x8080808080808080n", "~0n")
    assert "too many" in answer("knightAttacks", comes_back)
    assert answer("knightAttacks", KNIGHTS).startswith("Right in all 565 cases")
    page.screenshot(path=SCREENSHOTS / f"lab_right_{shade}.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]


@needs_chromium
def test_the_first_lab_says_what_else_is_wrong(opened):
    def answer(body, limit=100):
        page = opened("lab", f"?limit={limit}")
        page.locator("#knightAttacks textarea").fill(f"function knightAttacks(knights) {{{body}}}")
        page.locator("#knightAttacks .check").click()
        verdict = page.locator("#knightAttacks .verdict:is(.right, .not)")
        verdict.wait_for()
        return verdict.inner_text()

    assert "SyntaxError" in answer("return knights <<< 1;")
    assert "TypeError" in answer("return knights << 17;")
    assert "is not a BigInt" in answer("return 17;")
    assert "A value of type undefined" in answer("")
    assert "no set of 64 bits" in answer("return ~0n;")
    assert "No answer after 1 s" in answer("for (;;);", limit=1)


def test_without_scripts_there_is_something_to_read_and_to_see(folder):
    for name in ("bitboards", "lab", "play", "race"):
        page = (folder / f"{name}.html").read_text()
        (instead,) = re.findall("<noscript>(.*?)</noscript>", page, re.DOTALL)
        assert "needs JavaScript" in instead
        (source,) = re.findall('<img src="([^"]+)"', instead)
        assert (folder / source).stat().st_size > 10_000
