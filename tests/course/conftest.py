"""What tests of the course share: its run and its book, servers and a browser."""

import re
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.browser import CHROMIUM, QUIET, ROOT, SCREENSHOTS, served
from tests.course import notebooks


@pytest.fixture
def without_kernels(monkeypatch):
    """Lets the chain run notebooks in this process, as made of no other sources than themselves."""
    from rungs_course.runner import chain, manifest

    monkeypatch.setattr(chain, "execute", notebooks.execute)
    monkeypatch.setattr(chain, "_LOOK", 0.0)
    monkeypatch.setattr(manifest, "_SOURCES", ())


@pytest.fixture(scope="session")
def smoke(tmp_path_factory):
    """The folder of a run of the course at its smallest size.

    Its times mean nothing, so notebooks run two at a time, each in a folder of its own at first.
    """
    from rungs.devel import silent
    from rungs_course.outline import numbered
    from rungs_course.runner import chain, manifest

    out = tmp_path_factory.mktemp("run")

    def run(number):
        part = out / "parts" / number
        chain.run(size="smoke", only=[number], out=part, say=silent)
        of_this_run = shutil.ignore_patterns("*.json")
        shutil.copytree(part, out, ignore=of_this_run, dirs_exist_ok=True)
        return manifest.read(part)

    with ThreadPoolExecutor(2) as executor:
        first, *rest = executor.map(run, numbered(chain.NOTEBOOKS))
    for part in rest:
        first["notebooks"] |= part["notebooks"]
    manifest.write(first, out)
    return out


@pytest.fixture(scope="session")
def pages(smoke):
    """The folder of that run's book."""
    from rungs_course.runner import book

    return book.build(smoke).parent


@pytest.fixture(scope="session")
def browser_pages(tmp_path_factory):
    """The folder of those of the book's pages in which Rungs runs."""
    from rungs_course.runner import bundle

    if why := bundle.missing():
        pytest.skip(why)
    folder = tmp_path_factory.mktemp("browser")
    bundle.build(folder)
    return folder


@pytest.fixture(scope="session")
def dashboard(tmp_path_factory):
    """The server that `make explore` starts."""
    pytest.importorskip("voila")
    home = tmp_path_factory.mktemp("explore")
    # Its page starts a kernel; this file is there sooner.
    options = ("--port={port}", "--Voila.port_retries=0")
    with served("explore", "/voila/static/voila.js", home, *options) as server:
        yield server


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """The server that `make lab` starts, on a copy of the notebooks at their smallest size."""
    pytest.importorskip("jupyterlab")
    home = tmp_path_factory.mktemp("lab")
    course = home / "course"
    shutil.copytree(ROOT / "notebooks", course / "notebooks")
    shutil.copytree(ROOT / "data" / "paper", course / "data" / "paper")
    (course / "lib").symlink_to(ROOT / "lib")  # where `make lab` has settings
    for notebook in (course / "notebooks").glob("*.ipynb"):
        text = notebook.read_text()
        notebook.write_text(text.replace('size = \\"quick\\"', 'size = \\"smoke\\"'))
    options = ("--no-browser", "--ServerApp.port={port}", "--ServerApp.port_retries=0")
    with served("lab", "/login", home, *options, cwd=course) as server:
        yield server


# Not of the session: while it is there, an event loop runs in the tests' thread.
@pytest.fixture(scope="package")
def chromium():
    """A browser that knows nothing yet."""
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium, request):
    """Opens an address for a reader who was never there.

    At the end pictures of the pages are kept, and none had an error or asked for what is elsewhere.
    """
    pages, faults = [], []

    def open_page(address, levels=("error",), **context):
        page = chromium.new_page(**{"viewport": {"width": 1280, "height": 900}} | context)
        page.set_default_timeout(300_000)
        origin = re.match("file:|http://[^/]*", address)[0]
        origins = (origin, origin.replace("http:", "ws:"), "data:", "blob:")
        page.on("pageerror", lambda error: faults.append((page.url, str(error))))
        page.on(
            "console", lambda line: line.type in levels and faults.append((page.url, line.text))
        )
        page.on("request", lambda sent: sent.url.startswith(origins) or faults.append(sent.url))
        page.goto(address)
        pages.append(page)
        return page

    yield open_page
    for number, page in enumerate(pages):
        picture = SCREENSHOTS / f"{request.node.name}_{number}.png"
        page.screenshot(path=picture, full_page=True, timeout=30_000)
        page.close()
    assert not faults


@pytest.fixture
def opened(open_page, browser_pages):
    """Opens one of the pages in which Rungs runs, by its name."""
    return lambda name, query="", **context: open_page(
        f"{browser_pages.as_uri()}/{name}.html{query}", **context
    )
