"""The course at its smallest size, and its book: in a browser, and without eyes or network."""

import contextlib
import functools
import http.server
import itertools
import shutil
import threading
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import pytest

from rungs.errors import ConfigurationError
from rungs_course import paths
from rungs_course.errors import BookError
from rungs_course.runner import book, chain, manifest
from tests.browser import SCREENSHOTS, browser, needs_chromium

pytestmark = pytest.mark.system

ROOT = Path(__file__).parents[2]
PICTURED = ("index.html", "07_ladder.html", "08_roofline.html", "glossary.html")
WIDTHS, SCHEMES = {"desktop": (1280, 900), "phone": (390, 844)}, ("light", "dark")


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    """The folder of a run at the smallest size."""
    out = tmp_path_factory.mktemp("run")
    chain.run(size="smoke", out=out, say=lambda line: None)
    return out


@pytest.fixture(scope="module")
def pages(smoke):
    """The book's folder."""
    return book.build(smoke).parent


def test_every_notebook_runs_from_top_to_bottom(smoke):
    numbers = [path.name[:2] for path in sorted((smoke / "notebooks").glob("*.ipynb"))]
    assert numbers == [f"{number:02}" for number in range(18)]
    entries = manifest.read(smoke)["notebooks"]
    for number in [name[:2] for name, entry in entries.items() if entry["status"] == "done"]:
        assert list((smoke / "results").glob(f"{number}_*.csv")), number
        assert list((smoke / "figures").glob(f"{number}_*.png")), number


class Page(HTMLParser):
    """What a page links to, can be linked to by, and shows."""

    def __init__(self, path):
        super().__init__()
        self.links, self.ids, self.pictures, self.captions = [], set(), [], []
        self._open = []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.ids.add(attributes.get("id"))
        self.links += [attributes[name] for name in ("href", "src") if attributes.get(name)]
        if tag == "img":
            self.pictures.append((attributes.get("src"), attributes.get("alt", "")))
        if tag in ("figure", "figcaption"):
            self._open.append(tag)
        if tag == "figcaption":
            self.captions.append("")

    def handle_data(self, data):
        if "figcaption" in self._open:
            self.captions[-1] += data

    def handle_endtag(self, tag):
        if tag in self._open:
            self._open.remove(tag)


@functools.cache
def read(path):
    return Page(path)


def notebooks(pages):
    return sorted((pages / "notebooks").glob("*.html"))


def test_every_notebook_is_a_page_that_says_where_it_ran(pages):
    assert len(notebooks(pages)) == 18
    for page in notebooks(pages):
        assert "Run at size <code" in page.read_text()
    assert (pages / "index.html").exists()


def test_answers_are_pages_that_neither_menu_nor_search_tells_of(pages):
    answers = sorted((pages / "notebooks" / "solutions").glob("*.html"))
    assert [page.name for page in answers] == [page.name for page in notebooks(pages)]
    menu = read(pages / "index.html").links
    assert "for teachers" not in (pages / "searchindex.js").read_text()
    for page in answers:
        assert f"../{page.name}" in read(page).links
        assert f"notebooks/solutions/{page.name}" not in menu


def test_no_link_is_dead(pages):
    checked = 0
    for page in pages.rglob("*.html"):
        for link in read(page).links:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            assert target.is_file(), (page, link)
            if parts.fragment and target.suffix == ".html":
                assert unquote(parts.fragment) in read(target).ids, (page, link)
            checked += 1
    assert checked > 1000


def test_every_picture_says_in_words_what_it_shows(pages):
    captions = 0
    for page in [pages / "index.html", *notebooks(pages)]:
        for source, words in read(page).pictures:
            assert len(words) > 30, (page.name, source)
            assert not words.endswith((".png", ".svg"))
        assert all(caption.strip() for caption in read(page).captions)
        assert len(set(read(page).captions)) == len(read(page).captions), page.name
        captions += len(read(page).captions)
    assert captions > 40


def test_widgets_are_pictures_or_questions(pages):
    for page in notebooks(pages):
        assert "(a widget)" not in page.read_text()


def test_no_path_of_this_machine_is_in_it(smoke, pages):
    """Where a run's results went is its reader's business."""
    for page in notebooks(pages):
        assert str(smoke) not in page.read_text(), page.name


@pytest.fixture(scope="module")
def address(pages):
    """The book served on loopback."""
    handler = functools.partial(QuietHandler, directory=pages)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


@contextlib.contextmanager
def opened(started, address):
    """A page of a browser that takes note of what goes wrong."""
    context = started.new_context()
    page, wrong = context.new_page(), []
    page.on("pageerror", lambda error: wrong.append((page.url, str(error))))
    page.on(
        "console",
        lambda entry: entry.type in ("error", "warning") and wrong.append((page.url, entry.text)),
    )
    page.on(
        "request",
        lambda asked: (
            asked.url.startswith((address, "data:")) or wrong.append((page.url, asked.url))
        ),
    )
    yield page
    context.close()
    assert not wrong


def look(page, size, scheme):
    """Makes the page one of a screen of that size, in light or in the dark."""
    width, height = WIDTHS[size]
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme=scheme)


@needs_chromium
def test_every_page_in_a_browser(pages, address):
    names = [page.relative_to(pages) for page in pages.rglob("*.html")]
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    with browser() as started, opened(started, address) as page:
        for name in names:
            page.goto(f"{address}/{name}")
            for size, scheme in itertools.product(WIDTHS, SCHEMES):
                look(page, size, scheme)
                wide = page.evaluate("document.documentElement.scrollWidth")
                assert wide <= WIDTHS[size][0], (name, size, scheme)
                white = "getComputedStyle(document.body).backgroundColor == 'rgb(255, 255, 255)'"
                assert page.evaluate(white) == (scheme == "light"), (name, size, scheme)
                if name.name in PICTURED:
                    shot = f"book_{name.parent.name}_{name.stem}_{size}_{scheme}.png"
                    page.screenshot(path=SCREENSHOTS / shot, full_page=True)


@needs_chromium
def test_the_search_finds_and_the_menu_leads_on(address):
    with browser() as started, opened(started, address) as page:
        look(page, "phone", "light")
        page.goto(f"{address}/index.html")
        page.locator("label[for=__navigation]:visible").first.click()
        page.get_by_placeholder("Search").fill("false sharing")
        page.keyboard.press("Enter")
        page.locator("ul.search li a", has_text="OpenMP").first.click()
        page.wait_for_url("**/04_openmp.html*")
        page.get_by_role("link", name="Next").click()
        page.wait_for_url("**/05_mpi.html*")


def test_a_notebook_without_outputs_says_why(smoke, tmp_path, monkeypatch):
    """Also in a tree that holds other runs: they are no pages of the book."""
    tree = tmp_path / "tree"
    tree.mkdir()
    for name in book._SOURCES:
        (tree / name).symlink_to(ROOT / name)
    (tree / "data").unlink()
    shutil.copytree(smoke / "notebooks", tree / "data" / "another" / "notebooks")
    shutil.copy(smoke / manifest.NAME, tree / "data" / "another")
    (tree / "data" / "kept.csv").write_text("kept")
    monkeypatch.setattr(paths, "ROOT", tree)
    run = manifest.read(smoke)
    run["notebooks"]["01_python"]["status"] = "failed"
    del run["notebooks"]["02_parallel_python"]
    manifest.write(run, tmp_path)
    book.stage(tmp_path, tmp_path / "stage")
    for name, status in (("01_python", "failed"), ("02_parallel_python", "left out")):
        cells = nbformat.read(tmp_path / "stage" / "notebooks" / f"{name}.ipynb", 4).cells
        assert f"in this book's run it is {status}" in cells[1].source
    assert [file.name for file in (tmp_path / "stage" / "data").iterdir()] == ["kept.csv"]


def test_no_run_no_book(tmp_path):
    with pytest.raises(ConfigurationError, match="there is no run in"):
        book.build(tmp_path)


def test_a_dead_link_is_named_and_the_book_is_there(tmp_path):
    (tmp_path / "stage" / "docs" / "_static").mkdir(parents=True)
    shutil.copy(ROOT / "docs" / "conf.py", tmp_path / "stage" / "docs")
    shutil.copytree(
        ROOT / "docs" / "_static", tmp_path / "stage" / "docs" / "_static", dirs_exist_ok=True
    )
    (tmp_path / "stage" / "index.md").write_text("# Title\n\n[gone](nowhere.md)\n")
    with pytest.raises(BookError, match=r"nowhere\.md"):
        book.make(tmp_path / "stage", tmp_path / "book")
    assert "Title" in (tmp_path / "book" / "index.html").read_text()
    (tmp_path / "stage" / "index.md").unlink()
    with pytest.raises(BookError, match="Sphinx failed"):
        book.make(tmp_path / "stage", tmp_path / "book")
    assert "Title" in (tmp_path / "book" / "index.html").read_text()
