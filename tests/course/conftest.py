"""What tests of the course share: its run and its book, servers and a browser."""

import shutil

import pytest

from tests.browser import ROOT, browser, opener, served
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
    """The folder of a run of the course at its smallest size."""
    from rungs_course.runner import chain

    out = tmp_path_factory.mktemp("run")
    chain.run(size="smoke", out=out, say=lambda line: None)
    return out


@pytest.fixture(scope="session")
def pages(smoke):
    """The folder of that run's book."""
    from rungs_course.runner import book

    return book.build(smoke).parent


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
def notebooks_copy(tmp_path_factory):
    """A copy of the notebooks, at their smallest size."""
    course = tmp_path_factory.mktemp("lab") / "course"
    shutil.copytree(ROOT / "notebooks", course / "notebooks")
    shutil.copytree(ROOT / "data" / "paper", course / "data" / "paper")
    (course / "lib").symlink_to(ROOT / "lib")  # where `make lab` has settings
    for notebook in (course / "notebooks").glob("*.ipynb"):
        text = notebook.read_text()
        notebook.write_text(text.replace('size = \\"quick\\"', 'size = \\"smoke\\"'))
    return course / "notebooks"


@pytest.fixture(scope="session")
def lab(notebooks_copy):
    """The server that `make lab` starts, on the copy."""
    pytest.importorskip("jupyterlab")
    course = notebooks_copy.parent
    options = ("--no-browser", "--ServerApp.port={port}", "--ServerApp.port_retries=0")
    with served("lab", "/login", course.parent, *options, cwd=course) as server:
        yield server


# Not of the session: while it is there, an event loop runs in the tests' thread.
@pytest.fixture(scope="package")
def chromium():
    with browser() as started:
        yield started


@pytest.fixture
def open_page(chromium):
    """Opens an address, see `tests.browser.opener`."""
    with opener(chromium) as open_page:
        yield open_page
