"""A run's folder: what is not ours stays there, and what runs is our code."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from rungs._src.core.atomic import UNFINISHED, atomic_write
from rungs._src.core.folder import locked, locked_output_dir
from rungs.errors import ConfigurationError, RungsError, StorageError
from rungs_course.runner import book, chain, manifest
from tests.course import notebooks as tiny
from tests.saved import contents, deleting, full_disk, setting


def quiet(line):
    pass


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


@pytest.fixture
def runs(monkeypatch, tmp_path):
    """Runs a chain of one notebook that writes a result, without a kernel."""

    def execute(notebook, executed, parameters, cell_seconds, bar):
        for place in (
            executed,
            Path(parameters["out"]) / "results" / f"{notebook.stem}.csv",
            Path(parameters["figures"]) / f"{notebook.stem}.png",
        ):
            with atomic_write(place) as unfinished:
                unfinished.write_text(str(parameters["seed"]))

    monkeypatch.setattr(chain, "execute", execute)
    monkeypatch.setattr(chain, "_LOOK", 0.01)
    monkeypatch.setattr(manifest, "fingerprints", lambda notebooks: {})

    def run(out, **how):
        chain.run(out=out, notebooks=tmp_path / "notebooks", say=quiet, **how)

    return run


@pytest.fixture(autouse=True)
def notebooks(tmp_path):
    tiny.write(tmp_path / "notebooks", "01_a")


FOREIGN = [
    ("manifest.json", '{"name": "my web app"}'),
    ("results/measurement.csv", "precious"),
    ("figures/plot.png", "precious"),
    ("rungs.json", '{"tool": "another", "schema": 1, "kind": "run", "names": [], "files": []}'),
    ("rungs.json", "[" * 100_000),
]


@pytest.mark.parametrize(("name", "text"), FOREIGN)
def test_a_folder_that_is_not_a_run_of_ours_is_refused_by_name(runs, out, name, text):
    path = out / name
    path.parent.mkdir(parents=True)
    path.write_text(text)
    (out / "results").mkdir(exist_ok=True)
    with pytest.raises(ConfigurationError, match=str(out)):
        runs(out)
    assert contents(out) == {name: text.encode()}


def test_the_courses_own_folder_holds_what_was_run_by_hand_but_no_older_run(
    runs, out, tmp_path, monkeypatch
):
    figures = tmp_path / "figures"
    monkeypatch.setattr(chain, "OUT", out)
    monkeypatch.setattr(chain, "FIGURES", figures)
    (out / "results").mkdir(parents=True)
    figures.mkdir()
    mine = [out / "results/07_ladder.csv", figures / "07_ladder.png"]
    for path in mine:
        path.write_text("by hand")
    (out / "manifest.json").write_text('{"settings": {"size": "quick"}}')
    with pytest.raises(ConfigurationError, match=f"{out}/manifest.json is not of a run of this"):
        runs(out)
    (out / "manifest.json").unlink()
    runs(out)
    tiny.write(tmp_path / "notebooks", "02_b")
    assert (figures / "01_a.png").exists()
    runs(out, only=["02"])
    assert not (figures / "01_a.png").exists()
    assert [path.read_text() for path in mine] == ["by hand", "by hand"]


def test_a_new_run_removes_what_the_last_wrote_and_nothing_else(runs, out):
    (out / "training").mkdir(parents=True)
    (out / "training/checkpoint.pt").write_text("another's")
    runs(out)
    tiny.write(out.parent / "notebooks", "02_b")
    mine = ("results/mine.csv", "results/01_copy.csv", "notebooks/01_mine.ipynb", "figures/a.png")
    for name in (*mine, "mine.txt"):
        (out / name).write_text("precious")
    runs(out, only=["02"])
    there = contents(out)
    assert all(there[name] == b"precious" for name in (*mine, "mine.txt"))
    assert there["training/checkpoint.pt"] == b"another's"
    assert "notebooks/01_a.ipynb" not in there
    assert "notebooks/02_b.ipynb" in there


def test_a_file_put_into_a_run_under_way_is_not_the_runs(runs, out, monkeypatch):
    execute = chain.execute

    def busy(*arguments):
        execute(*arguments)
        (out / "results/mine.csv").write_text("precious")

    monkeypatch.setattr(chain, "execute", busy)
    runs(out)
    monkeypatch.setattr(chain, "execute", execute)
    runs(out)
    assert (out / "results/mine.csv").read_text() == "precious"


@pytest.mark.parametrize("name", ["results", "manifest.json"])
def test_nothing_is_removed_through_a_link(runs, out, tmp_path, name):
    runs(out)
    elsewhere = tmp_path / "elsewhere"
    (out / name).rename(elsewhere)
    (out / name).symlink_to(elsewhere)
    before = contents(tmp_path)
    with pytest.raises(ConfigurationError, match=f"{out / name} is a link"):
        runs(out)
    assert contents(tmp_path) == before


def test_a_books_folder_is_ours_only_if_it_says_so(tmp_path, monkeypatch):
    def sphinx(command, **how):
        Path(command[-1]).mkdir()
        (Path(command[-1]) / "index.html").write_text("ours")
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(book.subprocess, "run", sphinx)
    folder = tmp_path / "book"
    folder.mkdir()
    (folder / "chapter.md").write_text("precious")
    with pytest.raises(ConfigurationError, match=r"chapter\.md"):
        book.make(tmp_path, folder)
    assert contents(folder) == {"chapter.md": b"precious"}
    (folder / "chapter.md").unlink()
    book.make(tmp_path, folder)
    (folder / "mine.md").write_text("precious")
    assert book.make(tmp_path, folder).read_text() == "ours"
    assert (folder / "mine.md").read_text() == "precious"


@pytest.mark.parametrize("inner", ["results", "notebooks/deep"])
def test_a_run_inside_another_runs_own_folders_is_refused(runs, out, inner):
    runs(out)
    before = contents(out)
    with pytest.raises(ConfigurationError, match=f"part of the run in {out}"):
        runs(out / inner)
    assert contents(out) == before


def test_what_another_run_writes_inside_stays(runs, out):
    inner = out / "bench"
    runs(inner)
    unfinished = inner / "notebooks" / f"{UNFINISHED}x"
    unfinished.mkdir()
    runs(out)
    assert unfinished.is_dir()
    runs(inner)
    assert not unfinished.exists()


def test_a_folder_of_another_kind_or_in_use_is_refused(runs, out, tmp_path):
    other = tmp_path / "other"
    with locked_output_dir(other, "training", ()) as folder:
        folder.note([])
    runs(out)
    before = contents(tmp_path)
    with pytest.raises(ConfigurationError, match=f"{other} holds a training"):
        runs(other)
    with locked(out):
        for second in (lambda: runs(out), lambda: chain.resume(out=out)):
            with pytest.raises(ConfigurationError, match=f"{out}.* {os.getpid()} "):
                second()
    assert contents(tmp_path) == before


def test_a_run_on_a_full_disk_leaves_the_last_ones_results(runs, out):
    runs(out)
    before = contents(out)
    with full_disk(0), pytest.raises(StorageError, match=str(out)):
        runs(out)
    assert contents(out) == before


MALFORMED = [
    deleting("settings"),
    deleting("notebooks", "01_a", "status"),
    setting([], "settings", "parameters"),
    setting("soon", "notebooks", "01_a", "seconds"),
    setting(None, "notebooks", "01_a"),
    setting({}, "machine"),
]


@pytest.mark.parametrize("change", MALFORMED)
def test_a_malformed_manifest_is_named(runs, out, change):
    runs(out)
    run = manifest.read(out)
    change(run)
    manifest.write(run, out)
    before = contents(out)
    for use in (
        lambda: chain.resume(out=out, notebooks=out.parent / "notebooks", say=quiet),
        lambda: runs(out),
        lambda: book.build(out),
    ):
        with pytest.raises(ConfigurationError, match=str(out / "manifest.json")):
            use()
    assert contents(out) == before


@pytest.mark.parametrize("text", ["", "[]", "[" * 100_000, b"\xff\xfe"])
def test_what_is_no_manifest_is_named(runs, out, text):
    runs(out)
    (out / "manifest.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(RungsError, match=str(out / "manifest.json")):
        chain.resume(out=out)


@pytest.fixture
def download(tmp_path, monkeypatch):
    """A run's folder that brings notebooks of its own, and the course's that it was made of."""
    monkeypatch.setattr(manifest, "fingerprints", lambda notebooks: {})
    ran = []
    monkeypatch.setattr(chain, "execute", lambda notebook, *rest: ran.append((notebook, *rest)))
    here, out = tmp_path / "notebooks", tmp_path / "download"
    tiny.write(here, "01_a")
    chain.run(out=out, notebooks=here, say=quiet)
    ran.clear()
    tiny.write(out / "evil", "01_a", "raise SystemExit")

    def change(change):
        run = json.loads((out / "manifest.json").read_text())
        run["notebooks"]["01_a"]["status"] = "to do"
        change(run)
        (out / "manifest.json").write_text(json.dumps(run))
        chain.resume(out=out, notebooks=here, say=quiet)
        return ran

    return out, here, change


def test_a_run_goes_on_with_the_notebooks_that_are_here(download):
    out, here, change = download
    ran = change(setting(str(out / "evil"), "settings", "notebooks"))
    assert [notebook for notebook, *_ in ran] == [here / "01_a.ipynb"]


def test_a_run_that_was_moved_writes_where_it_is(download, tmp_path):
    out, _, change = download
    places = {"out": str(tmp_path / "home"), "figures": str(tmp_path / "home")}
    with pytest.raises(ConfigurationError, match="figures, out"):
        change(setting(places, "settings", "parameters"))
    [(_, executed, values, *_)] = change(setting({}, "settings", "parameters"))
    assert executed == out / "notebooks/01_a.ipynb"
    assert (values["out"], values["figures"]) == (str(out), str(out / "figures"))


CODE = "seed = 1; import os; os.mkdir('pwned')  #"


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (setting(0, "settings", "parameters", CODE), "no parameter"),
        (setting("huge", "settings", "size"), "huge"),
        (setting({"01_other": {"status": "to do"}}, "notebooks"), "01_other"),
        (setting({"../../evil/01_a": {"status": "to do"}}, "notebooks"), "evil"),
        (setting({"77_a": {"status": "to do"}}, "notebooks"), "77"),
        (setting({"lib/rungs/_src/cli.py": "0"}, "sources"), r"cli\.py"),
    ],
)
def test_a_manifest_says_nothing_that_is_not_here(download, change, named):
    with pytest.raises(ConfigurationError, match=named):
        download[2](change)
