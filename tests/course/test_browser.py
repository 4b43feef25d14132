"""The dashboard and notebooks, as a reader uses them in Chromium."""

import pytest

from rungs_course.labs.lab import find
from rungs_course.measure import valgrind
from tests.browser import assert_fits_a_phone, needs_chromium
from tests.processes import poll

pytestmark = [pytest.mark.system, needs_chromium]

RING = "rgb(0, 114, 178) 0px 0px 0px 3px"


def picture(page):
    """The figure that the widget shows now."""
    outputs = ".widget-output img:visible, .jupyter-widgets-output-area img:visible"
    return page.locator(outputs).last.get_attribute("src")


def changed(page, before):
    """Waits until the widget shows another figure, which a busy machine may compile first."""
    poll(lambda: picture(page) != before, 300)
    return picture(page)


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


def test_the_dashboards_panels_are_operated_by_keyboard_and_fit_a_phone(dashboard, open_page):
    page = open_page(f"{dashboard.address}/?token={dashboard.token}")

    def press(name, key):
        before = picture(page)
        tab_to(page, name)
        page.keyboard.press(key)
        return changed(page, before)

    press("slider", "ArrowLeft")
    for name in ("profile", "updates", "chess peers", "CartPole", "a game"):
        press(name, "Enter")
        press("slider", "ArrowLeft")
    press("learning", "Enter")
    press("seconds", "Enter")
    assert page.locator("img:visible").last.get_attribute("alt")

    # Under the roofline only what valgrind has counted can be placed.
    for name in ("scaling, live", *["roofline, live"] * valgrind.have_valgrind()):
        before = press(name, "Enter")
        tab_to(page, "cpp")
        page.keyboard.press("Space")
        tab_to(page, "number")
        page.keyboard.press("Control+a")
        page.keyboard.type("1.5")
        page.keyboard.press("Enter")
        changed(page, before)
        press("Measure", "Enter")
    assert_fits_a_phone(page)


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
    handle.press("ArrowRight")
    moved = changed(page, first)
    measure = page.get_by_role("button", name="Measure")
    assert measure.is_disabled()
    guess = page.locator(".widget-text input[type=number]").last
    guess.fill("1.7")
    guess.press("Enter")
    guessed = changed(page, moved)
    measure.click()
    changed(page, guessed)


def test_from_a_wrong_answer_to_a_right_one(run_all):
    page = run_all("labs/03a_knight_attacks.ipynb")
    page.locator(".jp-OutputArea-output").get_by_text("not right yet").wait_for()
    page.locator(".jp-OutputArea-output svg").last.wait_for()
    page.locator(".cm-content").filter(has_text="%%rung 03a").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text("%%rung 03a\n" + find("03a").code("solution"))
    run_all()
    page.get_by_text("times the baseline").wait_for()
