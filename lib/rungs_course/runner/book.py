"""The course as a book: executed notebooks, and the pages in `docs/`, to read in a browser."""

import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from rungs.devel import (
    UNFINISHED,
    locked_output_dir,
    reraise_as_storage_error,
    run_program,
    temporary_dir,
)
from rungs_course import paths
from rungs_course.errors import BookError
from rungs_course.machine.naming import in_words
from rungs_course.outline import numbered
from rungs_course.pages.machines import filled
from rungs_course.runner import bundle
from rungs_course.runner import manifest as manifests
from rungs_course.runner.chain import NOTEBOOKS, OUT
from rungs_course.runner.notebook import widgets
from rungs_course.tables import fill

_WIDGET = "application/vnd.jupyter.widget-view+json"
_PNG = re.compile('src="data:image/png;base64,([^"]+)"')  # as `rungs_course.plots` writes it
_LABELS, _TAG = ("LabelModel", "HTMLModel"), re.compile("<[^>]*>")

# Files that the pages show, include or link to, at the same place as in the source tree.
_SOURCES = (
    *("README.md", "CHANGELOG.md", "CONTRIBUTING.md"),
    *("cpp", "data", "docs", "figures", "js", "lib"),
)

_SECONDS = 7200.0  # for Sphinx, which takes minutes
_BROWSER = "browser"  # the folder of pages in which Rungs runs


def build(out: Path = OUT) -> Path:
    """Makes a book of the run in `out`, in place of its last one, without network; returns the
    front page.

    A notebook that the run leaves out is a page without outputs, and says so. Pages in which Rungs
    runs are made where `make wasm` was run; else `docs/browser.md` says that they are left out.
    Where Sphinx finds a fault in a page the book is made all the same, before `BookError`.
    """
    with temporary_dir() as folder:
        stage(out, Path(folder, "stage"))
        return make(Path(folder, "stage"), out / "book")


def stage(out: Path, folder: Path) -> None:
    """Lays out in `folder` what Sphinx reads as in the source tree, so that all links hold."""
    manifest = manifests.read(out)
    (folder / "notebooks" / "solutions").mkdir(parents=True)
    shutil.copytree(NOTEBOOKS / "labs", folder / "notebooks" / "labs")
    for name in _SOURCES:
        source = paths.ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, symlinks=True, ignore=_left_out)
        else:
            shutil.copy(source, folder / name)
    machines_page = folder / "docs" / "machines.md"
    machines_page.write_text(filled(machines_page.read_text(), paths.ROOT, out))
    _stage_browser(folder)
    # The front page belongs at the top, so its links are written as from there.
    shutil.move(folder / "docs" / "index.md", folder / "index.md")
    for notebook in numbered(NOTEBOOKS).values():
        executed = out / "notebooks" / notebook.name
        entry = manifest["notebooks"].get(notebook.stem, {"status": "left out"})
        page = nbformat.read(executed if executed.exists() else notebook, as_version=4)
        nbformat.write(_page(page, _origin(manifest, entry)), folder / "notebooks" / notebook.name)
    for notebook in sorted(NOTEBOOKS.glob("solutions/*.ipynb")):
        page = _answers(nbformat.read(notebook, as_version=4), notebook.name)
        nbformat.write(page, folder / "notebooks" / "solutions" / notebook.name)


def _stage_browser(folder: Path) -> None:
    """Makes the pages in which Rungs runs, and links to them from the page that is about them.

    Where they can't be made, the front page doesn't promise them.
    """
    if why := bundle.missing():
        links = f"{why}\n"
        front = folder / "docs" / "index.md"
        lines = front.read_text().splitlines(keepends=True)
        front.write_text("".join(line for line in lines if "(docs/browser.md)" not in line))
    else:
        (folder / _BROWSER).mkdir()
        titles = bundle.build(folder / _BROWSER).items()
        links = "".join(f'- <a href="../{_BROWSER}/{name}">{title}</a>\n' for name, title in titles)
    page = folder / "docs" / "browser.md"
    page.write_text(fill(page.read_text(), {"pages": links}))


def _left_out(folder: str, names: list[str]) -> set[str]:
    """Returns which files of a folder are not of the source tree: figures and folders of runs."""
    generated = {"run", "__pycache__"}
    return {n for n in names if n in generated or Path(folder, n, manifests.NAME).exists()}


def make(staged: Path, book: Path) -> Path:
    """Makes the pages of a staged tree, in place of those made there before; raises as `build`."""
    with (
        locked_output_dir(book, "book", ("*",)) as output,
        reraise_as_storage_error(book),
        tempfile.TemporaryDirectory(dir=output.path, prefix=UNFINISHED) as folder,
    ):
        pages = Path(folder, "pages")
        command = [sys.executable, "-P", "-m", "sphinx", "--quiet", "--fail-on-warning"]
        command += ["--jobs=auto"]
        command += [f"--conf-dir={staged / 'docs'}", f"--doctree-dir={Path(folder, 'trees')}"]
        done = run_program([*command, staged, pages], _SECONDS)
        if not (pages / "index.html").exists():
            raise BookError(f"Sphinx failed: {done.stderr}")
        if (staged / _BROWSER).exists():  # which Sphinx needn't know
            shutil.copytree(staged / _BROWSER, pages / _BROWSER)
        files = [page for page in pages.rglob("*") if page.is_file()]
        targets = {page: output.path / page.relative_to(pages) for page in files}
        output.clear()
        output.note(targets.values())
        for page, place in targets.items():
            place.parent.mkdir(parents=True, exist_ok=True)
            page.replace(place)
    if done.returncode:
        raise BookError(f"{book / 'index.html'} is there, but with faults:\n{done.stderr}")
    return book / "index.html"


def _origin(manifest: dict, entry: dict) -> str:
    """Returns where a notebook's numbers come from, in a sentence."""
    if entry["status"] not in manifests.OVER:
        return f"Without outputs: in this book's run it is {entry['status']}."
    machine_name, date = in_words(manifest["machine"]), manifest["started"][:10]
    size, seconds = manifest["settings"]["size"], entry["seconds"]
    return f"Run at size `{size}` on {machine_name}, {date}, in {seconds:.0f} s."


def _page(notebook: nbformat.NotebookNode, run: str) -> nbformat.NotebookNode:
    """Makes a reader's version of a notebook: without parameters, each widget as what it showed."""
    states = widgets(notebook)
    cells = _without_parameters(notebook)
    for cell in cells:
        if cell.cell_type == "code":
            cell.outputs = [_picture(output, states) for output in cell.outputs]
    cells.insert(1, new_markdown_cell(f":::{{note}}\n{run}\n:::"))
    notebook.cells = [part for cell in cells for part in _captioned_once(cell)]
    return notebook


def _captioned_once(cell: nbformat.NotebookNode) -> Iterator[nbformat.NotebookNode]:
    """Yields a cell, or its parts where it has a caption, which Sphinx would give to every output.

    Only the cell's first picture keeps it. (Cells without code are left out by Sphinx.)
    """
    if "figure" not in cell.metadata.get("mystnb", {}) or len(cell.outputs) < 2:
        yield cell
        return
    outputs, cell.outputs = cell.outputs, []
    caption, look = cell.metadata.mystnb.pop("figure"), cell.metadata.mystnb
    yield cell
    for output in outputs:
        part = new_code_cell("pass", outputs=[output])
        part.metadata = {"tags": ["remove-input"], "mystnb": look}
        if caption and "image/png" in output.get("data", {}):
            part.metadata["mystnb"] = {**look, "figure": caption}
            caption = None
        yield part


def _answers(notebook: nbformat.NotebookNode, name: str) -> nbformat.NotebookNode:
    """Makes a page of a notebook's solutions that neither the menu nor the search leads to."""
    notebook.metadata |= {"orphan": True, "nosearch": True}
    notebook.cells = cells = _without_parameters(notebook)
    title, _, rest = cells[0].source.partition("\n")
    note = f"Try first: these are answers to [the exercises](../{name}). The tests run their cells."
    cells[0].source = f"{title}\n\n:::{{note}}\n{note}\n:::\n{rest}"
    return notebook


def _without_parameters(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    parameter_tags = {"parameters", "injected-parameters"}
    return [
        cell for cell in notebook.cells if not parameter_tags & set(cell.metadata.get("tags", []))
    ]


def _picture(output: nbformat.NotebookNode, states: dict) -> nbformat.NotebookNode:
    """Returns an output that shows a figure, itself or in a widget, as the figure alone, and any
    other widget as what it asked.
    """
    data = output.get("data", {})
    inside = list(_inside(data[_WIDGET]["model_id"], states)) if _WIDGET in data else []
    for shown in (output, *(shown for state in inside for shown in state.get("outputs", []))):
        if picture := _PNG.search(shown.get("data", {}).get("text/html", "")):
            return new_output("display_data", data={"image/png": picture[1]})
    if not inside:
        return output
    labels = (s.get("value") or "" for s in inside if s.get("_model_name") in _LABELS)
    if question := " ".join(filter(None, (_TAG.sub("", label).strip() for label in labels))):
        return new_output("display_data", data={"text/markdown": f"*{question}*"})
    return new_output("display_data", data={"text/plain": "(a widget)"})


def _inside(model: str, states: dict) -> Iterator[dict]:
    """Yields the states of a widget and of all within it."""
    state = states.get(model, {})
    yield state
    for child in state.get("children", []):
        yield from _inside(child.removeprefix("IPY_MODEL_"), states)
