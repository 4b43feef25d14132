"""The dashboard as a page that Voilà serves, reached and operated by keyboard alone."""

import json

import pytest
from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager
from traitlets.config import Config

from rungs_course.measure import valgrind
from rungs_course.runner.client import WatchfulClient
from tests.browser import (
    ROOT,
    SCREENSHOTS,
    changed,
    free_port,
    made,
    needs_chromium,
    new_page,
    picture,
    printed_token,
    served,
)

pytest.importorskip("voila")
pytestmark = [pytest.mark.system, needs_chromium]

CONFIG = ROOT / "lib" / "rungs_course" / "voila" / "voila.json"
RING = "rgb(0, 114, 178) 0px 0px 0px 3px"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    home = tmp_path_factory.mktemp("voila")
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    # The page itself starts a kernel; this answers sooner.
    answers = f"{address}/voila/static/voila.js"
    own = {"JUPYTER_CONFIG_DIR": str(home / "config")}
    command = made("explore", f"--port={port}", "--Voila.port_retries=0")
    with served(command, answers, home / "log", cwd=ROOT, env=own):
        yield f"{address}/?token={printed_token(home / 'log')}"


def test_its_kernels_are_spoken_to_by_a_client_that_looks_again():
    manager = AsyncMappingKernelManager(config=Config(json.loads(CONFIG.read_text())))
    kernel = manager.kernel_manager_factory(parent=manager)
    assert kernel.client_factory is WatchfulClient


def opened(page, address):
    """Opens the dashboard; returns what goes wrong from then on."""
    wrong, origin = [], address.partition("/?")[0]
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda said: said.type == "error" and wrong.append(said.text))
    page.on("request", lambda request: foreign(request.url, origin) and wrong.append(request.url))
    page.goto(address)
    picture(page)
    return wrong


def foreign(url, origin):
    return not url.startswith((origin, origin.replace("http", "ws"), "data:", "blob:"))


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


def choose(page, name):
    before = picture(page)
    tab_to(page, name)
    page.keyboard.press("Enter")
    return changed(page, before)


def test_every_panel_is_operated_by_keyboard(address):
    with new_page() as page:
        wrong = opened(page, address)

        first = picture(page)
        tab_to(page, "slider")
        page.keyboard.press("ArrowRight")
        changed(page, first)
        choose(page, "bits")

        moved = ("profile", "updates", "chess peers", "CartPole", "threads")
        for name in (*moved, "a game"):
            shown = choose(page, name)
            tab_to(page, "slider")
            page.keyboard.press("ArrowLeft")
            changed(page, shown)
            page.screenshot(path=SCREENSHOTS / f"explore_{name.replace(' ', '_')}.png")

        choose(page, "learning")
        choose(page, "seconds")
        image = page.locator("img:visible").last
        assert image.get_attribute("alt").startswith("Over time: the rungs.")

        # Under the roofline only what valgrind has counted can be placed.
        for name in ("scaling, live", *["roofline, live"] * valgrind.have_valgrind()):
            shown = choose(page, name)
            tab_to(page, "cpp")
            page.keyboard.press("Space")
            tab_to(page, "number")
            page.keyboard.press("Control+a")
            page.keyboard.type("1.5")
            page.keyboard.press("Enter")
            changed(page, shown)
            choose(page, "Measure")
            page.screenshot(path=SCREENSHOTS / f"explore_{name.split(',')[0]}.png")
        assert not wrong


def test_it_fits_a_narrow_page(address):
    with new_page(400, 900) as page:
        wrong = opened(page, address)
        page.screenshot(path=SCREENSHOTS / "explore_narrow.png", full_page=True)
        assert page.evaluate("document.documentElement.scrollWidth") <= 400
        assert not wrong
