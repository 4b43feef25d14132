"""A run's folder: what is not ours stays there, and what runs is our code."""

import os
import subprocess
from pathlib import Path

import pytest

from rungs._src.core.atomic import UNFINISHED
from rungs._src.core.folder import locked
from rungs._src.core.progress import silent
from rungs.errors import ConfigurationError, StorageError
from rungs_course.errors import BookError
from rungs_course.runner import book, chain, manifest
from tests.course import notebooks as tiny
from tests.saved import contents, deleting, full_disk, setting

pytestmark = pytest.mark.usefixtures("without_kernels")

# Writes a result and a figure, named after the notebook.
WRITES = """
from pathlib import Path
for file in (Path(out) / "results" / "{0}.csv", Path(figures) / "{0}.png"):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("0")
"""


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


@pytest.fixture(autouse=True)
def notebooks(tmp_path):
    for name in ("01_a", "02_b"):
        tiny.write(tmp_path / "notebooks", name, WRITES.format(name))
    return tmp_path / "notebooks"


@pytest.fixture
def run(notebooks):
    def run(out, only="01"):
        chain.run(out=out, notebooks=notebooks, only=[only], say=silent)

    return run


FOREIGN = [
    ("manifest.json", '{"name": "my web app"}'),
    ("results/measurement.csv", "precious"),
    ("figures/plot.png", "precious"),
    ("notebooks/mine.ipynb", "precious"),
    ("rungs.json", '{"tool": "another", "schema": 1, "kind": "run", "names": [], "files": []}'),
    ("rungs.json", "[" * 100_000),
]


@pytest.mark.parametrize(("name", "text"), FOREIGN)
def test_a_folder_that_is_not_a_run_of_ours_is_refused_by_name(run, out, name, text):
    path = out / name
    path.parent.mkdir(parents=True)
    path.write_text(text)
    (out / "results").mkdir(exist_ok=True)
    with pytest.raises(ConfigurationError, match=str(out)):
        run(out)
    assert contents(out) == {name: text.encode()}


def test_the_courses_own_folder_holds_what_was_run_by_hand_but_no_older_run(
    run, out, tmp_path, monkeypatch
):
    figures = tmp_path / "figures"
    monkeypatch.setattr(chain, "OUT", out)
    monkeypatch.setattr(chain, "FIGURES", figures)
    by_hand = [out / "results/07_ladder.csv", figures / "07_ladder.png"]
    for path in by_hand:
        path.parent.mkdir(parents=True)
        path.write_text("by hand")
    (out / "manifest.json").write_text('{"settings": {"size": "quick"}}')
    with pytest.raises(ConfigurationError, match=f"{out}/manifest.json"):
        run(out)
    (out / "manifest.json").unlink()
    run(out)
    assert (figures / "01_a.png").exists()
    run(out, only="02")
    assert not (figures / "01_a.png").exists()
    assert [path.read_text() for path in by_hand] == ["by hand", "by hand"]


def test_a_new_run_removes_what_the_last_wrote_and_nothing_else(run, out, monkeypatch):
    """Nor what was put there before it, while it ran or after it, or is of a run inside."""

    def execute(*arguments):
        tiny.execute(*arguments)
        (out / "results/during.csv").write_text("precious")

    monkeypatch.setattr(chain, "execute", execute)
    before, after = ("training/checkpoint.pt",), ("results/mine.csv", "results/01_copy.csv")
    after += ("notebooks/01_mine.ipynb", "figures/a.png", f"bench/notebooks/{UNFINISHED}x")
    for names, only in ((before, "01"), (after, "02")):
        for name in names:
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            (out / name).write_text("precious")
        run(out, only)
    (out / f"notebooks/{UNFINISHED}x").mkdir()
    monkeypatch.setattr(chain, "execute", tiny.execute)
    run(out, "02")
    files = contents(out)
    assert all(files[name] == b"precious" for name in (*before, *after, "results/during.csv"))
    assert "notebooks/01_a.ipynb" not in files
    assert "notebooks/02_b.ipynb" in files
    assert not (out / f"notebooks/{UNFINISHED}x").exists()


@pytest.mark.parametrize("name", ["results", "manifest.json"])
def test_nothing_is_removed_through_a_link(run, out, tmp_path, name):
    run(out)
    elsewhere = tmp_path / "elsewhere"
    (out / name).rename(elsewhere)
    (out / name).symlink_to(elsewhere)
    before = contents(tmp_path)
    with pytest.raises(ConfigurationError, match=f"{out / name}"):
        run(out)
    assert contents(tmp_path) == before


def test_a_books_folder_is_ours_only_if_it_says_so(tmp_path, monkeypatch):
    def sphinx(command, _seconds):
        if crashes:
            return subprocess.CompletedProcess(command, 2, stderr="no such theme")
        Path(command[-1]).mkdir()
        (Path(command[-1]) / "index.html").write_text("ours")
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(book, "run_program", sphinx)
    folder, crashes = tmp_path / "book", False
    book.make(tmp_path, folder)
    (folder / "mine.md").write_text("precious")
    assert book.make(tmp_path, folder).read_text() == "ours"
    before, crashes = contents(folder), True
    assert before["mine.md"] == b"precious"
    with pytest.raises(BookError, match="no such theme"):
        book.make(tmp_path, folder)
    assert contents(folder) == before
    (folder / "rungs.json").unlink()
    with pytest.raises(ConfigurationError, match=r"mine\.md|index\.html"):
        book.make(tmp_path, folder)


def test_a_folder_in_use_is_refused(run, out):
    run(out)
    with locked(out):
        for second in (lambda: run(out), lambda: chain.resume(out=out)):
            with pytest.raises(ConfigurationError, match=f"{out}.* {os.getpid()} "):
                second()


def test_a_run_on_a_full_disk_leaves_the_last_ones_results(run, out):
    run(out)
    before = contents(out)
    with full_disk(0), pytest.raises(StorageError, match=str(out)):
        run(out)
    assert contents(out) == before


MALFORMED = [
    *(b"", b"[]", b"[" * 100_000, b"\xff\xfe"),
    deleting("settings"),
    deleting("notebooks", "01_a", "status"),
    setting([], "settings", "parameters"),
    setting("soon", "notebooks", "01_a", "seconds"),
    setting(None, "notebooks", "01_a"),
    setting({}, "machine"),
]


@pytest.mark.parametrize("change", MALFORMED)
def test_a_malformed_manifest_is_named(run, out, notebooks, change):
    run(out)
    content = manifest.read(out)
    if isinstance(change, bytes):
        (out / manifest.NAME).write_bytes(change)
    else:
        change(content)
        manifest.write(content, out)
    before = contents(out)
    for use in (
        lambda: chain.resume(out=out, notebooks=notebooks, say=silent),
        lambda: run(out),
        lambda: book.build(out),
    ):
        with pytest.raises(ConfigurationError, match=str(out / "manifest.json")):
            use()
    assert contents(out) == before


def test_a_pipe_is_no_manifest_and_is_not_waited_for(tmp_path):
    for make in (lambda path: None, os.mkfifo):
        make(tmp_path / manifest.NAME)
        with pytest.raises(ConfigurationError, match=str(tmp_path)):
            book.build(tmp_path)


@pytest.fixture
def resume(notebooks):
    """Resumes a run whose first notebook is to be run again, after a change of its manifest."""

    def resume(out, change):
        content = manifest.read(out)
        content["notebooks"]["01_a"]["status"] = "to do"
        change(content)
        manifest.write(content, out)
        chain.resume(out=out, notebooks=notebooks, say=silent)

    return resume


def test_a_run_that_was_moved_runs_what_is_here_and_writes_where_it_is(run, out, resume, tmp_path):
    run(out)
    moved = out.rename(tmp_path / "download")
    names = ("notebooks/01_a.ipynb", "results/01_a.csv", "figures/01_a.png")
    for name in names:
        (moved / name).write_text("raise SystemExit")
    resume(moved, setting(str(moved / "notebooks"), "settings", "notebooks"))
    assert not any(b"SystemExit" in contents(moved)[name] for name in names)
    assert not out.exists()


CODE = "seed = 1; import os; os.mkdir('pwned')  #"


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (setting({"out": "/home", "figures": "/home"}, "settings", "parameters"), "figures, out"),
        (setting(0, "settings", "parameters", CODE), "pwned"),
        (setting("huge", "settings", "size"), "huge"),
        (setting({"01_other": {"status": "to do"}}, "notebooks"), "01_other"),
        (setting({"../../evil/01_a": {"status": "to do"}}, "notebooks"), "evil"),
        (setting({"77_a": {"status": "to do"}}, "notebooks"), "77"),
        (setting({"lib/rungs/_src/cli.py": "0"}, "sources"), r"cli\.py"),
        (setting("Zen 99", "machine", "microarchitecture"), "Zen 99"),
    ],
)
def test_a_manifest_says_nothing_that_is_not_here(run, out, resume, change, named):
    run(out)
    with pytest.raises(ConfigurationError, match=named):
        resume(out, change)
