"""Widgets as a reader uses them: JupyterLab on loopback, driven by Chromium."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from rungs.machine import optional

ROOT = Path(__file__).parents[2]
SCREENSHOTS = ROOT / "figures" / "run"
TOKEN = "loopback"

CHROMIUM = optional.find("chromium")
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="no Chromium: apt-get install chromium")

# Chromium of its own accord asks hosts that a closed network refuses.
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture
def lab(tmp_path):
    """The address of a JupyterLab on a copy of the notebooks, with settings of its own."""
    home = tmp_path
    shutil.copytree(ROOT / "notebooks", home / "course" / "notebooks")
    shutil.copytree(ROOT / "data" / "paper", home / "course" / "data" / "paper")
    for notebook in (home / "course" / "notebooks").glob("*.ipynb"):
        text = notebook.read_text()
        notebook.write_text(text.replace('size = \\"quick\\"', 'size = \\"smoke\\"'))
    news = home / "settings" / "@jupyterlab" / "apputils-extension"
    news.mkdir(parents=True)
    (news / "notification.jupyterlab-settings").write_text('{"fetchNews": "false"}')
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += [f"--ServerApp.port={port}", "--ServerApp.ip=127.0.0.1"]
    command += [f"--IdentityProvider.token={TOKEN}", "--ServerApp.port_retries=0"]
    own = {name: str(home / name) for name in ("JUPYTER_CONFIG_DIR", "JUPYTERLAB_WORKSPACES_DIR")}
    own |= {"JUPYTERLAB_SETTINGS_DIR": str(home / "settings")}
    with open(home / "log", "w") as log:
        server = subprocess.Popen(
            command, cwd=home / "course", env=os.environ | own, stdout=log, stderr=log
        )
    try:
        address = f"http://127.0.0.1:{port}"
        end = time.monotonic() + 60
        while True:
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"{address}/api?token={TOKEN}", timeout=5)
                break
            assert server.poll() is None, (home / "log").read_text()
            assert time.monotonic() < end, "JupyterLab does not answer"
            time.sleep(0.2)
        yield address
    finally:
        server.terminate()
        server.wait(30)


@pytest.fixture
def page(lab):
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        page.set_default_timeout(120_000)
        yield page
        browser.close()


def run_all(page, lab, notebook):
    """Opens a notebook and runs all of it."""
    page.goto(f"{lab}/lab/tree/notebooks/{notebook}?token={TOKEN}")
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()  # else it asks for a kernel
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_text("Run All Cells", exact=True).click()


def picture(page):
    """The figure that the widget shows now."""
    image = page.locator(".widget-output img, .jupyter-widgets-output-area img").last
    image.wait_for()
    return image.get_attribute("src")


def changed(page, before):
    """Waits until the widget shows another figure."""
    end = time.monotonic() + 60
    while (now := picture(page)) == before:
        assert time.monotonic() < end, "the figure stays as it was"
        page.wait_for_timeout(100)
    return now


def test_predict_first_and_then_measure(lab, page):
    run_all(page, lab, "10_scaling.ipynb")
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
    page.locator(".widget-vbox").last.screenshot(path=SCREENSHOTS / "lab_scaling.png")


def test_the_ladders_slider(lab, page):
    run_all(page, lab, "07_ladder.ipynb")
    handle = page.locator(".widget-toggle-buttons button").last
    handle.scroll_into_view_if_needed()
    first = picture(page)
    handle.click()
    changed(page, first)
    page.screenshot(path=SCREENSHOTS / "lab_ladder.png")
