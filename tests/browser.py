"""A server on loopback, and Chromium to use its pages as a reader does."""

import contextlib
import dataclasses
import os
import re
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from rungs._src.programs import find_program
from tests.processes import poll

ROOT = Path(__file__).parents[1]
SCREENSHOTS = ROOT / "figures" / "run"

CHROMIUM = find_program("chromium")
needs_chromium = pytest.mark.needs("chromium")
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}

# Chromium of its own accord asks hosts that a closed network refuses.
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]
QUIET += ["--disable-component-update", "--disable-sync", "--no-first-run"]


@dataclasses.dataclass(frozen=True)
class Server:
    """A server at work, with the token in the address that it prints for its reader."""

    process: subprocess.Popen
    address: str
    token: str


@contextlib.contextmanager
def served(target, ready, home, *options, cwd=ROOT):
    """Runs the server of a target of `make` until the context ends.

    It answers the path `ready` first, has its settings in `home`, and more arguments, with
    `{port}`, in `options`.
    """
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    names = ("JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "XDG_DATA_HOME")
    names += ("JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR")
    environment = os.environ | {name: str(home / name) for name in names}
    command = [*make_command(target), *(option.format(port=port) for option in options)]
    address, log = f"http://127.0.0.1:{port}", home / "log"
    with open(log, "w") as file:
        process = subprocess.Popen(command, cwd=cwd, env=environment, stdout=file, stderr=file)

    def answers():
        assert process.poll() is None, log.read_text()
        with contextlib.suppress(OSError):
            return urllib.request.urlopen(address + ready, timeout=5)

    try:
        poll(answers).close()
        printed = re.search(rf"^\s*{address}/\S*\?token=(\w{{16,}})$", log.read_text(), re.M)
        yield Server(process, address, printed[1])
    finally:
        process.terminate()
        process.wait(30)


def make_command(target):
    """The command that `make` runs for a target, by the Python that runs the tests."""
    python = f"BIN={Path(sys.executable).parent}"
    command = ["make", "--silent", "--dry-run", "--no-print-directory"]
    command += ["--assume-old=.venv/installed", python, target]
    dry_run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return ["sh", "-c", f'exec env {dry_run.stdout.strip()} "$@"', target]


def square(page, name):
    """Returns a square of a page's board."""
    return page.locator(f"[data-square={name}]")


def assert_fits_a_phone(page):
    """Looks at a page on a phone, in the dark."""
    page.set_viewport_size(PHONE["viewport"])
    page.emulate_media(color_scheme="dark")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["viewport"]["width"]
