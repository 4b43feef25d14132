"""Widgets as a reader uses them: JupyterLab on loopback, driven by Chromium."""

import shutil
import sys
import time

import nbformat
import pytest

from rungs_course.labs.lab import find
from tests.browser import (
    ROOT,
    SCREENSHOTS,
    changed,
    free_port,
    needs_chromium,
    new_page,
    picture,
    served,
)

TOKEN = "loopback"
COURSE = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))

pytestmark = [pytest.mark.system, needs_chromium]


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A copy of the notebooks, at their smallest size."""
    course = tmp_path_factory.mktemp("lab") / "course"
    shutil.copytree(ROOT / "notebooks", course / "notebooks")
    shutil.copytree(ROOT / "data" / "paper", course / "data" / "paper")
    for notebook in (course / "notebooks").glob("*.ipynb"):
        text = notebook.read_text()
        notebook.write_text(text.replace('size = \\"quick\\"', 'size = \\"smoke\\"'))
    return course


@pytest.fixture(scope="module")
def lab(course):
    """The address of a JupyterLab on the copy, with settings of its own."""
    home = course.parent
    news = home / "settings" / "@jupyterlab" / "apputils-extension"
    news.mkdir(parents=True)
    (news / "notification.jupyterlab-settings").write_text('{"fetchNews": "false"}')
    port = free_port()
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += [f"--ServerApp.port={port}", "--ServerApp.ip=127.0.0.1"]
    command += [f"--IdentityProvider.token={TOKEN}", "--ServerApp.port_retries=0"]
    own = {name: str(home / name) for name in ("JUPYTER_CONFIG_DIR", "JUPYTERLAB_WORKSPACES_DIR")}
    own |= {"JUPYTERLAB_SETTINGS_DIR": str(home / "settings"), "XDG_DATA_HOME": str(home / "data")}
    address = f"http://127.0.0.1:{port}"
    answers = f"{address}/api?token={TOKEN}"
    with served(command, answers, home / "log", cwd=course, env=own):
        yield address


@pytest.fixture
def page(lab):
    """A page of a browser that has not been there; its kernels are ended with it."""
    with new_page() as page:
        yield page
        sessions = page.request.get(f"{lab}/api/sessions?token={TOKEN}").json()
        for session in sessions:
            page.request.delete(f"{lab}/api/sessions/{session['id']}?token={TOKEN}")


def run_all(page, lab, notebook):
    """Opens a notebook, in a workspace where no other is open, and runs all of it."""
    workspace = notebook.replace("/", "-").removesuffix(".ipynb")
    page.goto(f"{lab}/lab/workspaces/{workspace}/tree/notebooks/{notebook}?token={TOKEN}")
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()  # else it asks for a kernel
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_text("Run All Cells", exact=True).click()


def test_a_slider_changes_the_figure(lab, page):
    """The sliders of other notebooks are panels of the page that Voilà serves."""
    run_all(page, lab, "01_python.ipynb")
    handle = page.locator(".widget-slider .noUi-handle").last
    handle.scroll_into_view_if_needed()
    first = picture(page)
    handle.focus()
    page.keyboard.press("ArrowLeft")
    changed(page, first)
    page.screenshot(path=SCREENSHOTS / "lab_slider.png")


def test_predict_first_and_then_measure(lab, page):
    run_all(page, lab, "02_parallel_python.ipynb")
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
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.locator(".widget-vbox").last.screenshot(path=SCREENSHOTS / "lab_predict.png")


def test_the_ladders_slider(lab, page):
    run_all(page, lab, "07_ladder.ipynb")
    handle = page.locator(".widget-toggle-buttons button").last
    handle.scroll_into_view_if_needed()
    first = picture(page)
    handle.click()
    changed(page, first)
    page.screenshot(path=SCREENSHOTS / "lab_ladder.png")


def test_from_a_wrong_answer_to_a_right_one(lab, page):
    run_all(page, lab, "labs/03a_knight_attacks.ipynb")
    page.locator(".jp-OutputArea-output").get_by_text("not right yet").wait_for()
    board = page.locator(".jp-OutputArea-output svg").last
    board.scroll_into_view_if_needed()
    assert board.is_visible()
    page.screenshot(path=SCREENSHOTS / "lab_wrong.png")

    page.locator(".cm-content").filter(has_text="%%rung 03a").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text("%%rung 03a\n" + find("03a").code("solution"))
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_text("Run All Cells", exact=True).click()
    right = page.get_by_text("times the baseline")
    right.wait_for()
    right.scroll_into_view_if_needed()
    page.screenshot(path=SCREENSHOTS / "lab_right.png")


@pytest.mark.slow
@pytest.mark.parametrize("path", COURSE, ids=lambda path: path.stem)
def test_run_all_reaches_the_bottom(lab, page, path, course):
    run_all(page, lab, path.name)
    file = course / "notebooks" / path.name
    end = time.monotonic() + 600
    while True:
        page.keyboard.press("Control+s")
        page.wait_for_timeout(1000)
        cells = [cell for cell in nbformat.read(file, 4).cells if cell.cell_type == "code"]
        outputs = [output for cell in cells for output in cell.outputs]
        assert not [output for output in outputs if output.output_type == "error"]
        if all(cell.execution_count for cell in cells):
            break
        assert time.monotonic() < end, "it doesn't end"
