"""The dashboard and notebooks, as a reader uses them in Chromium."""

import contextlib
import json
import shutil
import sys
import time

import nbformat
import pytest
from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager
from traitlets.config import Config

from rungs_course.labs.lab import find
from rungs_course.measure import valgrind
from rungs_course.runner.client import WatchfulClient
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

CONFIG = ROOT / "lib" / "rungs_course" / "voila" / "voila.json"
RING = "rgb(0, 114, 178) 0px 0px 0px 3px"
TOKEN = "loopback"
COURSE = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))


@contextlib.contextmanager
def voila(target, home):
    """Serves a page by its target of `make`; yields its address."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    command = made(target, f"--port={port}", "--Voila.port_retries=0")
    # The page itself starts a kernel; this answers sooner.
    answers, own = f"{address}/voila/static/voila.js", {"JUPYTER_CONFIG_DIR": str(home / "config")}
    with served(command, answers, home / "log", cwd=ROOT, env=own):
        yield f"{address}/?token={printed_token(home / 'log')}"


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory):
    with voila("explore", tmp_path_factory.mktemp("explore")) as address:
        yield address


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


@pytest.fixture(scope="module")
def chromium():
    with browser() as started:
        yield started


@pytest.fixture
def opened(chromium):
    """Opens a page for a browser that was never there; when the test ends, nothing went wrong."""
    pages, wrong = [], []

    def foreign(url, origin):
        return not url.startswith((origin, origin.replace("http", "ws"), "data:", "blob:"))

    def open_page(address, width=1280, height=900, **how):
        page = chromium.new_page(viewport={"width": width, "height": height}, **how)
        page.set_default_timeout(300_000)
        origin = address.partition("/?")[0]
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: said.type == "error" and wrong.append(said.text))
        page.on("request", lambda asked: foreign(asked.url, origin) and wrong.append(asked.url))
        page.goto(address)
        pages.append(page)
        return page

    yield open_page
    for page in pages:
        page.close()
    assert not wrong


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
        found = page.evaluate(
            """() => {
                const at = document.activeElement;
                const ring = getComputedStyle(at).boxShadow;
                return [at.innerText, at.getAttribute("role"), at.type, ring];
            }"""
        )
        if name in found[:3]:
            assert found[3] == RING, found
            return
    raise AssertionError(f"Tab does not reach {name}")


def test_the_dashboards_kernels_are_spoken_to_by_a_client_that_looks_again():
    manager = AsyncMappingKernelManager(config=Config(json.loads(CONFIG.read_text())))
    kernel = manager.kernel_manager_factory(parent=manager)
    assert kernel.client_factory is WatchfulClient


def test_every_panel_of_the_dashboard_is_operated_by_keyboard(dashboard, opened):
    page = opened(dashboard)

    def choose(name):
        before = picture(page)
        tab_to(page, name)
        page.keyboard.press("Enter")
        return changed(page, before)

    first = picture(page)
    tab_to(page, "slider")
    page.keyboard.press("ArrowRight")
    changed(page, first)
    choose("bits")
    for name in ("profile", "updates", "chess peers", "CartPole", "threads", "a game"):
        shown = choose(name)
        tab_to(page, "slider")
        page.keyboard.press("ArrowLeft")
        changed(page, shown)
        page.screenshot(path=SCREENSHOTS / f"explore_{name.replace(' ', '_')}.png")
    choose("learning")
    choose("seconds")
    assert page.locator("img:visible").last.get_attribute("alt")

    # Under the roofline only what valgrind has counted can be placed.
    for name in ("scaling, live", *["roofline, live"] * valgrind.have_valgrind()):
        shown = choose(name)
        tab_to(page, "cpp")
        page.keyboard.press("Space")
        tab_to(page, "number")
        page.keyboard.press("Control+a")
        page.keyboard.type("1.5")
        page.keyboard.press("Enter")
        changed(page, shown)
        choose("Measure")
        page.screenshot(path=SCREENSHOTS / f"explore_{name.split(',')[0]}.png")


def test_the_dashboard_fits_a_narrow_page(dashboard, opened):
    page = opened(dashboard, 400, 900)
    picture(page)
    page.screenshot(path=SCREENSHOTS / "explore_narrow.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 400


@pytest.fixture
def page(lab, chromium):
    """A page of a browser that has not been there; its kernels are ended with it."""
    page = chromium.new_page(viewport={"width": 1280, "height": 1000})
    page.set_default_timeout(120_000)
    yield page
    sessions = page.request.get(f"{lab}/api/sessions?token={TOKEN}").json()
    for session in sessions:
        page.request.delete(f"{lab}/api/sessions/{session['id']}?token={TOKEN}")
    page.close()


def run_all(page, lab, notebook):
    """Opens a notebook, in a workspace where no other is open, and runs all of it."""
    workspace = notebook.replace("/", "-").removesuffix(".ipynb")
    page.goto(f"{lab}/lab/workspaces/{workspace}/tree/notebooks/{notebook}?token={TOKEN}")
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()  # else it asks for a kernel
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_text("Run All Cells", exact=True).click()


def test_predict_first_and_then_measure(lab, page):
    """The sliders of other notebooks are panels of the page that Voilà serves."""
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
    page.locator(".widget-vbox").last.screenshot(path=SCREENSHOTS / "lab_predict.png")


def test_the_ladders_buttons_change_the_figure(lab, page):
    run_all(page, lab, "07_ladder.ipynb")
    handle = page.locator(".widget-toggle-buttons button").last
    handle.scroll_into_view_if_needed()
    first = picture(page)
    handle.click()
    changed(page, first)


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
