"""The dashboard and notebooks, as a reader uses them in Chromium."""

import time

import pytest

from rungs_course.labs.lab import find
from rungs_course.measure import valgrind
from tests.browser import SCREENSHOTS, needs_chromium

pytestmark = [pytest.mark.system, needs_chromium]

RING = "rgb(0, 114, 178) 0px 0px 0px 3px"


def picture(page):
    """The figure that the widget shows now."""
    image = page.locator(
        ".widget-output img:visible, .jupyter-widgets-output-area img:visible"
    ).last
    image.wait_for()
    return image.get_attribute("src")


def changed(page, before):
    """Waits until the widget shows another figure."""
    end = time.monotonic() + 300  # a busy machine may compile first
    while (now := picture(page)) == before:
        assert time.monotonic() < end, "the figure stays as it was"
        page.wait_for_timeout(100)
    return now


def tab_to(page, name):
    """Presses Tab until the control of that name or role has the focus, which must be visible."""
    for _ in range(40):
        page.keyboard.press("Tab")
        *names, ring = page.evaluate(
            """() => {
                const at = document.activeElement;
                const ring = getComputedStyle(at).boxShadow;
                return [at.innerText, at.getAttribute("role"), at.type, ring];
            }"""
        )
        if name in names:
            assert ring == RING, names
            return
    raise AssertionError(f"Tab does not reach {name}")


def test_every_panel_of_the_dashboard_is_operated_by_keyboard_and_fits_a_narrow_page(
    dashboard, open_page
):
    page = open_page(f"{dashboard.address}/?token={dashboard.token}")

    def choose(name):
        before = picture(page)
        tab_to(page, name)
        page.keyboard.press("Enter")
        return changed(page, before)

    first, wide = picture(page), page.viewport_size
    page.set_viewport_size({"width": 400, "height": 900})
    page.screenshot(path=SCREENSHOTS / "explore_narrow.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    page.set_viewport_size(wide)
    tab_to(page, "slider")
    page.keyboard.press("ArrowLeft")
    changed(page, first)
    for name in ("profile", "updates", "chess peers", "CartPole", "a game"):
        before = choose(name)
        tab_to(page, "slider")
        page.keyboard.press("ArrowLeft")
        changed(page, before)
        page.screenshot(path=SCREENSHOTS / f"explore_{name.replace(' ', '_')}.png")
    choose("learning")
    choose("seconds")
    assert page.locator("img:visible").last.get_attribute("alt")

    # Under the roofline only what valgrind has counted can be placed.
    for name in ("scaling, live", *["roofline, live"] * valgrind.have_valgrind()):
        before = choose(name)
        tab_to(page, "cpp")
        page.keyboard.press("Space")
        tab_to(page, "number")
        page.keyboard.press("Control+a")
        page.keyboard.type("1.5")
        page.keyboard.press("Enter")
        changed(page, before)
        choose("Measure")
        page.screenshot(path=SCREENSHOTS / f"explore_{name.split(',')[0]}.png")


@pytest.fixture
def run_all(lab, chromium):
    """Opens a notebook for a reader who has not been there, and runs all of it."""
    page = chromium.new_page(viewport={"width": 1280, "height": 1000})
    page.set_default_timeout(120_000)

    def run_all(notebook=None):
        if notebook:  # in a workspace where no other is open
            workspace = notebook.replace("/", "-").removesuffix(".ipynb")
            address = f"{lab.address}/lab/workspaces/{workspace}/tree/{notebook}"
            page.goto(f"{address}?token={lab.token}")
            # Else it asks for a kernel.
            page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_text("Run All Cells", exact=True).click()
        return page

    yield run_all
    for session in page.request.get(f"{lab.address}/api/sessions?token={lab.token}").json():
        page.request.delete(f"{lab.address}/api/sessions/{session['id']}?token={lab.token}")
    page.close()


def test_predict_first_and_then_measure(run_all):
    """The sliders of other notebooks are panels of the page that Voilà serves."""
    page = run_all("02_parallel_python.ipynb")
    handle = page.locator(".widget-slider .noUi-handle").last
    handle.scroll_into_view_if_needed()
    first = picture(page)
    measure = page.get_by_role("button", name="Measure")
    assert measure.is_disabled()

    handle.focus()
    page.keyboard.press("ArrowRight")
    moved = changed(page, first)
    assert measure.is_disabled()

    guess = page.locator(".widget-text input[type=number]").last
    guess.fill("1.7")
    guess.press("Enter")
    guessed = changed(page, moved)
    measure.click()
    changed(page, guessed)
    page.locator(".widget-vbox").last.screenshot(path=SCREENSHOTS / "lab_predict.png")


def test_from_a_wrong_answer_to_a_right_one(run_all):
    page = run_all("labs/03a_knight_attacks.ipynb")
    page.locator(".jp-OutputArea-output").get_by_text("not right yet").wait_for()
    board = page.locator(".jp-OutputArea-output svg").last
    board.scroll_into_view_if_needed()
    assert board.is_visible()
    page.screenshot(path=SCREENSHOTS / "lab_wrong.png")

    page.locator(".cm-content").filter(has_text="%%rung 03a").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text("%%rung 03a\n" + find("03a").code("solution"))
    run_all()
    right = page.get_by_text("times the baseline")
    right.wait_for()
    right.scroll_into_view_if_needed()
    page.screenshot(path=SCREENSHOTS / "lab_right.png")
