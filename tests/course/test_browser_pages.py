"""The pages of the book in which Rungs runs, opened from a folder, as a reader uses them."""

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest

from rungs_course import paths
from rungs_course.machine.roofline import attainable
from rungs_course.measure.link import Link
from rungs_course.notebooks.nb01_python import amdahl
from rungs_course.notebooks.nb14_cost_model import all_reduce_seconds
from rungs_course.pages import numbers
from rungs_course.runner import bundle
from tests.browser import PHONE, assert_fits_a_phone, needs_chromium, square
from tests.processes import succeed

pytestmark = pytest.mark.system


def marked(page, name):
    """The squares with a mark."""
    cells = page.locator(f"[data-marks~={name}]").all()
    return {cell.get_attribute("data-square") for cell in cells}


def run_in_node(name, **variables):
    """Runs a file of JavaScript's tests, all of which pass."""
    command = ["node", "--test", "--test-reporter=tap", Path(__file__).with_name(name)]
    printed = succeed(command, env=os.environ | variables)
    assert re.search(r"^# pass [1-9]", printed, re.MULTILINE)


@pytest.mark.needs("node")
def test_bitboards_allow_what_the_environment_does(browser_pages):
    run_in_node("bitboards_test.mjs", RUNGS_WASM=str(bundle.NEEDED))


@pytest.mark.needs("node")
def test_the_models_of_the_page_are_those_of_the_notebooks():
    def case(processes):
        share, factor, intensity = random.random(), *(10 ** random.uniform(-2, 2, 2))
        peak, bandwidth, latency, num_bytes = 10 ** random.uniform((9, 9, -6, 3), (12, 12, -2, 9))
        seconds = all_reduce_seconds(processes, num_bytes, Link(latency, bandwidth), messages=48)
        exchange = {"latency": latency, "bandwidth": bandwidth, "bytes": num_bytes, "messages": 48}
        return {
            **{"share": share, "factor": factor, "whole": amdahl(share, factor)},
            **{"intensity": intensity, "peak": peak, "bandwidth": bandwidth},
            **{"bound": float(attainable(intensity, peak, bandwidth))},
            **{"processes": processes, "exchange": exchange, "seconds": seconds},
        }

    random = np.random.default_rng(0)
    run_in_node("models_test.mjs", MODELS=json.dumps([*map(case, (2, 3, 8, 64))]))


@needs_chromium
def test_models(opened):
    page = opened("models", **PHONE)
    page.locator("#page:visible").wait_for()
    page.get_by_label("its share").fill("50")
    page.get_by_label("times as fast").fill("3")
    assert "becomes 2 times" in page.locator("#amdahl-about").inner_text()
    page.get_by_label("Cores").select_option("2 cores")
    page.get_by_label("operations per byte").fill("2")
    assert "operations." in page.locator("#roofline-about").inner_text().split("The roof")[0]
    page.get_by_label("operations per byte").fill("-2")
    assert "bytes." in page.locator("#roofline-about").inner_text().split("The roof")[0]
    page.get_by_label("link").fill("7")
    slow = page.locator("#cost-about").inner_text()
    page.get_by_label("link").fill("11")
    assert page.locator("#cost-about").inner_text() != slow
    assert_fits_a_phone(page)


@needs_chromium
def test_bitboards_by_mouse(opened):
    page = opened("bitboards")
    square(page, "e2").click()
    assert marked(page, "filled") == {"d1", "f1", "d3", "f3", "c4"}
    assert "0x0000000004280028" in page.locator("#word").inner_text()
    page.get_by_label("step of the fill").fill("1")
    assert marked(page, "filled") == {"e2", "d3"}
    page.get_by_role("button", name="legal").click()
    assert marked(page, "legal") == {"d3"}
    square(page, "d3").click()
    assert square(page, "d3").get_attribute("data-piece") == "B"
    assert "Black" in page.locator("#mask-about").inner_text()

    page.get_by_label("A position").select_option("two pins")
    page.get_by_role("button", name="pins").click()
    assert marked(page, "pinned") == {"c3", "e3"}
    assert marked(page, "line") == {"d2", "b4", "a5"} | {f"e{rank}" for rank in (2, 4, 5, 6, 7)}
    page.get_by_label("A position").select_option("a check")
    page.get_by_role("button", name="check mask").click()
    assert marked(page, "allowed") == {"e2", "f3", "g4", "h5"}

    page.get_by_label("A position").select_option("the start")
    page.locator("[data-word='56']").click()  # 2 north, 1 east
    assert marked(page, "plane") == {"b1", "g1"}
    page.get_by_label("Position as a FEN").fill("8/8/8/8/8/8/8/8 w - - 0 1")
    page.get_by_role("button", name="set up").click()
    assert "king" in page.locator("#status").inner_text()
    assert page.get_by_label("Position as a FEN").input_value().startswith("8/8")
    assert square(page, "b1").get_attribute("data-piece") == "N"


@needs_chromium
def test_bitboards_by_touch(opened):
    page = opened("bitboards", **PHONE)
    square(page, "c3").tap()
    assert {"b1", "b5", "d5", "a4"} <= marked(page, "filled")
    square(page, "d5").tap()
    assert square(page, "d5").get_attribute("data-piece") == "N"
    assert_fits_a_phone(page)


@needs_chromium
def test_a_race(opened):
    page = opened("race", "?seconds=1")
    page.locator("#start:enabled").focus()
    page.keyboard.press("Enter")
    page.wait_for_function("document.getElementById('status').innerText.endsWith('done.')")
    rows = page.locator("#table tr").all()
    cells = [row.locator("td").all_inner_texts() for row in rows[1:]]
    assert [row[1] for row in cells] == ["508", "656", "4,744", "35,136"]
    assert cells[3][5] == "left out"
    for cell in (cell for row in cells for cell in row[2:] if cell != "left out"):
        numerals = re.findall(r"([\d.]+)( [kM])?", cell)
        units = {" k": 1e3, " M": 1e6, "": 1}
        middle, low, high = (float(numeral) * units[unit] for numeral, unit in numerals)
        assert 0 < low <= middle <= high
    ladder = page.locator("#ladder").text_content()
    assert all(f"{row['rung']}: " in ladder for row in numbers.raced(paths.ROOT)[0]["rows"])
    assert_fits_a_phone(page)


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


def verdict_on(page, name, code=None):
    """Checks the code that is there or other code; returns the page's words on it."""
    section = page.locator(f"#{name}")
    section.wait_for()  # hidden until the page listens, which pressing a key does not mind
    if code is not None:
        section.locator("textarea").fill(code)
    section.locator("textarea").press("Control+Enter")
    verdict = section.locator(".verdict:is(.right, .not)")
    verdict.wait_for()
    return verdict.inner_text()


@needs_chromium
def test_the_first_lab_from_wrong_to_right(opened):
    page = opened("lab", "?limit=100")
    editor = page.locator("#randomAction textarea")
    assert "b1 to b2" in verdict_on(page, "randomAction")
    stub = editor.input_value()
    assert marked(page, "from") == {"b1"}
    first = RANDOM.replace("Math.floor(random() * legal.length)", "0")
    assert "2000 times of 2000" in verdict_on(page, "randomAction", first)
    assert verdict_on(page, "randomAction", RANDOM).startswith("Right")
    assert page.locator("[role=grid]").count() == 0
    page.locator("#randomAction .again").click()
    assert editor.input_value() == stub

    assert "c2" in verdict_on(page, "knightAttacks")
    assert (marked(page, "missing"), marked(page, "right")) == ({"c2"}, {"b3"})
    for code, words in (
        ("function knightAttacks(n) { return n <<< 1; }", "SyntaxError"),
        ("function knightAttacks(n) { return n << 17; }", "TypeError"),
        ("function knightAttacks(n) {}", "undefined"),
        (KNIGHTS.replace("~0x8080808080808080n", "~0n"), "too many"),
        (KNIGHTS, "Right"),
    ):
        assert words in verdict_on(page, "knightAttacks", code)
    assert_fits_a_phone(page)
    endless = "function knightAttacks(n) { for (;;); }"
    assert "1 s" in verdict_on(opened("lab", "?limit=1"), "knightAttacks", endless)


def test_without_scripts_there_is_something_to_read_and_to_see(browser_pages):
    for name in ("bitboards", "lab", "play", "race"):
        page = (browser_pages / f"{name}.html").read_text()
        (instead,) = re.findall("<noscript>(.*?)</noscript>", page, re.DOTALL)
        assert "JavaScript" in instead
        (source,) = re.findall('<img src="([^"]+)"', instead)
        assert (browser_pages / source).stat().st_size > 10_000
