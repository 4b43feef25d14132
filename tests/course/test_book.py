"""The course at its smallest size, and its book: in a browser, and without eyes or network."""

import functools
import itertools
import re
import shutil
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import nbformat
import pytest

from rungs._src.programs import find_program
from rungs_course import paths
from rungs_course.errors import BookError
from rungs_course.measure import results
from rungs_course.outline import number_of, numbered
from rungs_course.runner import book, bundle, manifest
from tests.browser import PHONE, ROOT, SCREENSHOTS, needs_chromium

pytestmark = pytest.mark.system

COURSE = [path.stem for path in numbered(ROOT / "notebooks").values()]
PICTURED = ("index.html", "07_ladder.html", "08_roofline.html", "glossary.html")
SIZES = {"desktop": {"width": 1280, "height": 900}, "phone": PHONE["viewport"]}
# How many listings are wider than their place and can't be scrolled.
_CUT = """[...document.querySelectorAll("pre")].filter((listing) =>
  listing.scrollWidth > listing.clientWidth && getComputedStyle(listing).overflowX == "visible"
).length"""
LOOKS = [*itertools.product(SIZES, ("light", "dark"))]


def test_every_notebook_runs_from_top_to_bottom(smoke):
    assert sorted(path.stem for path in (smoke / "notebooks").glob("*.ipynb")) == COURSE
    for name, entry in manifest.read(smoke)["notebooks"].items():
        if entry["status"] == "done":
            assert list((smoke / "results").glob(f"{number_of(name)}_*.csv")), name
            assert list((smoke / "figures").glob(f"{number_of(name)}_*.png")), name
    if find_program("node") and not bundle.missing():
        assert "node" in set(results.load(smoke / "results" / "07_race.csv")["racer"])


class Page(HTMLParser):
    """What a page links to, can be linked to by, and shows."""

    def __init__(self, path):
        super().__init__()
        self.links, self.ids, self.pictures = [], set(), []
        text = path.read_text()
        self.feed(text)
        captions = re.findall("<figcaption>(.*?)</figcaption>", text, re.DOTALL)
        self.captions = [re.sub("<[^>]*>", "", caption).strip() for caption in captions]

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.ids.add(attributes.get("id"))
        self.links += [attributes[name] for name in ("href", "src") if attributes.get(name)]
        if tag == "img":
            self.pictures.append((attributes.get("src"), attributes.get("alt", "")))


parsed = functools.cache(Page)


@pytest.fixture(scope="module")
def notebooks(pages):
    return sorted((pages / "notebooks").glob("*.html"))


def test_every_notebook_is_a_page_that_names_its_size_and_no_path(smoke, pages, notebooks):
    assert [page.stem for page in notebooks] == COURSE
    for page in notebooks:
        text = page.read_text()
        assert ">smoke<" in text, page
        assert str(smoke) not in text, page
        assert "(a widget)" not in text, page  # neither a picture nor a question
        assert "&lt;IPython.core.display" not in text, page  # a type's name
    assert (pages / "index.html").exists()


def test_answers_are_pages_that_neither_menu_nor_search_tells_of(pages):
    answers = sorted((pages / "notebooks" / "solutions").glob("*.html"))
    assert [page.stem for page in answers] == COURSE
    menu = parsed(pages / "index.html").links
    assert "for teachers" not in (pages / "searchindex.js").read_text()
    for page in answers:
        assert f"../{page.name}" in parsed(page).links
        assert f"notebooks/solutions/{page.name}" not in menu


def test_no_link_is_dead(pages):
    checked = set()
    for page in pages.rglob("*.html"):
        for link in parsed(page).links:
            parts = urlsplit(link)
            if not parts.scheme:
                target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
                assert target.is_file(), (page, link)
                if parts.fragment and target.suffix == ".html":
                    assert unquote(parts.fragment) in parsed(target).ids, (page, link)
                checked.add(target)
    assert checked >= set((pages / "notebooks").glob("*.html"))


def test_every_picture_says_in_words_what_it_shows(pages, notebooks):
    for page in [pages / "index.html", *notebooks]:
        for source, words in parsed(page).pictures:
            assert " " in words.strip(), (page.name, source)
        captions = parsed(page).captions
        assert all(captions), page.name
        assert len(set(captions)) == len(captions), page.name
    assert all(parsed(pages / "notebooks" / name).captions for name in PICTURED[1:3])


@needs_chromium
def test_every_page_in_a_browser(pages, open_page):
    """One look at each, and all of them at those with most pictures."""
    page = open_page((pages / "index.html").as_uri(), levels=("error", "warning"))
    for path, next_look in zip(sorted(pages.rglob("*.html")), itertools.cycle(LOOKS)):
        page.goto(path.as_uri())
        for size, scheme in LOOKS if path.name in PICTURED else [next_look]:
            page.set_viewport_size(SIZES[size])
            page.emulate_media(color_scheme=scheme)
            width = page.evaluate("document.documentElement.scrollWidth")
            assert width <= SIZES[size]["width"], (path, size)
            white = "getComputedStyle(document.body).backgroundColor == 'rgb(255, 255, 255)'"
            assert page.evaluate(white) == (scheme == "light"), (path, scheme)
            assert page.evaluate(_CUT) == 0, (path, size)
            if path.name in PICTURED:
                file = f"book_{path.parent.name}_{path.stem}_{size}_{scheme}.png"
                page.screenshot(path=SCREENSHOTS / file, full_page=True)


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
    monkeypatch.setattr(bundle, "missing", lambda: "They are left out.")
    run = manifest.read(smoke)
    run["notebooks"]["01_python"]["status"] = "failed"
    del run["notebooks"]["02_parallel_python"]
    manifest.write(run, tmp_path)
    book.stage(tmp_path, tmp_path / "stage")
    for name, status in (("01_python", "failed"), ("02_parallel_python", "left out")):
        cells = nbformat.read(tmp_path / "stage" / "notebooks" / f"{name}.ipynb", 4).cells
        assert status in cells[1].source
    assert [file.name for file in (tmp_path / "stage" / "data").iterdir()] == ["kept.csv"]
    assert "browser.md" not in (tmp_path / "stage" / "index.md").read_text()


def test_a_dead_link_is_named_and_the_book_is_there(tmp_path):
    stage = tmp_path / "stage"
    shutil.copytree(ROOT / "docs" / "_static", stage / "docs" / "_static")
    shutil.copy(ROOT / "docs" / "conf.py", stage / "docs")
    (stage / "index.md").write_text("# Title\n\n[gone](nowhere.md)\n")
    with pytest.raises(BookError, match=r"nowhere\.md"):
        book.make(stage, tmp_path / "book")
    assert "Title" in (tmp_path / "book" / "index.html").read_text()
