"""A server on loopback, and Chromium to use its pages as a reader does."""

import contextlib
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from rungs._src.chess.engine import find_program

ROOT = Path(__file__).parents[1]
SCREENSHOTS = ROOT / "figures" / "run"

CHROMIUM = find_program("chromium")
needs_chromium = pytest.mark.skipif(not CHROMIUM, reason="no Chromium: apt-get install chromium")

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


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def made(target, *options):
    """The command that `make` runs for a target, of the Python that runs the tests."""
    this = f"BIN={Path(sys.executable).parent}"
    command = ["make", "--silent", "--dry-run", "--assume-old=.venv/installed", this, target]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return ["sh", "-c", f"exec env {done.stdout.strip()} {' '.join(options)}"]


def printed_token(log):
    """The token in the address that a server prints for its reader, in one line."""
    return re.search(r"^\s*http://127\.0\.0\.1:\d+/\S*\?token=(\w{16,})$", log.read_text(), re.M)[1]


@contextlib.contextmanager
def served(command, address, log, *, cwd, env):
    """Runs a server until the context ends; yields its process once it answers at `address`."""
    with open(log, "w") as file:
        server = subprocess.Popen(command, cwd=cwd, env=os.environ | env, stdout=file, stderr=file)
    try:
        end = time.monotonic() + 60
        while True:
            with contextlib.suppress(OSError):
                urllib.request.urlopen(address, timeout=5)
                break
            assert server.poll() is None, log.read_text()
            assert time.monotonic() < end, f"{command[2]} does not answer"
            time.sleep(0.2)
        yield server
    finally:
        server.terminate()
        server.wait(30)


@contextlib.contextmanager
def browser():
    """A browser that knows nothing yet."""
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield chromium
        chromium.close()


@contextlib.contextmanager
def opener(chromium, own=("file:", "blob:")):
    """Yields what opens a page by its address; at the end, nothing went wrong or left the machine.

    `own` are the beginnings of addresses that a page may ask for.
    """
    pages, wrong = [], []

    def open_page(address, **how):
        page = chromium.new_page(**{"viewport": {"width": 1280, "height": 900}} | how)
        page.set_default_timeout(120_000)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: said.type == "error" and wrong.append(said.text))
        page.on("request", lambda asked: asked.url.startswith(own) or wrong.append(asked.url))
        page.goto(address)
        pages.append(page)
        return page

    yield open_page
    for page in pages:
        page.close()
    assert not wrong
