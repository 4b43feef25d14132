"""Folders of others, folders in use, full disks: what is not ours is left as it is."""

import contextlib
import os
import resource
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from rungs._src import cli as library
from rungs._src.core.atomic import UNFINISHED, atomic_write, remove_leftovers
from rungs._src.core.folder import locked, locked_output_dir
from rungs._src.train.runs import CHECKPOINT
from rungs._src.train.settings import PpoSettings, Training
from rungs._src.train.training import checkpoint, train
from rungs.errors import ConfigurationError, RungsError, StorageError
from rungs_course import cli
from rungs_course.runner import book, chain, manifest
from tests.course import notebooks as tiny
from tests.library.attacks.states import being, without

TINY = Training(
    rung="cpp",
    num_envs=4,
    updates=1,
    games=2,
    max_plies=10,
    torch_threads=1,
    ppo=PpoSettings(num_steps=2, num_minibatches=1),
)


def contents(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def quiet(line):
    pass


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


@pytest.fixture
def runs(monkeypatch, tmp_path):
    """Runs a chain of one notebook that writes a result, without a kernel."""

    def execute(notebook, executed, parameters, cell_seconds):
        for place in (
            executed,
            Path(parameters["out"]) / "results" / f"{notebook.stem}.csv",
            Path(parameters["figures"]) / f"{notebook.stem}.png",
        ):
            with atomic_write(place) as unfinished:
                unfinished.write_text(str(parameters["seed"]))

    monkeypatch.setattr(chain, "execute", execute)
    monkeypatch.setattr(manifest, "fingerprints", lambda notebooks: {})

    def run(out, **how):
        chain.run(out=out, notebooks=tmp_path / "notebooks", say=quiet, **how)

    return run


@pytest.fixture(autouse=True)
def notebooks(tmp_path):
    tiny.write(tmp_path / "notebooks", "01_a")


@pytest.fixture
def limited():
    """Lets no file grow beyond some bytes, as on a full disk."""

    @contextlib.contextmanager
    def limit(size):
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    return limit


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


@pytest.mark.parametrize("name", ["metrics.csv", "tensorboard/a", "rungs.json"])
def test_a_folder_that_is_not_a_training_of_ours_is_refused_by_name(out, name):
    (out / name).parent.mkdir(parents=True)
    (out / name).write_text("precious")
    with pytest.raises(ConfigurationError, match=str(out / name.split("/")[0])):
        train(TINY, out, say=quiet)
    assert contents(out) == {name: b"precious"}


def test_a_path_with_a_nul_is_refused(tmp_path):
    with (
        pytest.raises(ConfigurationError, match="is no path"),
        locked_output_dir(tmp_path / "a\0b", "run", ()),
    ):
        pass


@pytest.mark.parametrize(
    ("kind", "into"),
    [
        ("run", lambda runs, out: train(TINY, out, say=quiet)),
        ("training", lambda runs, out: runs(out)),
    ],
)
def test_a_folder_of_ours_of_another_kind_is_refused(runs, out, kind, into):
    with locked_output_dir(out, kind, ()) as folder:
        folder.note([])
    before = contents(out)
    with pytest.raises(ConfigurationError, match=f"{out} holds a {kind}"):
        into(runs, out)
    assert contents(out) == before


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


def test_a_new_training_removes_what_the_last_wrote_and_nothing_else(out):
    short = Training(**vars(TINY) | {"checkpoint_every": 0})
    train(short, out, say=quiet)
    for name in ("tensorboard/mine", "mine.csv"):
        (out / name).write_text("precious")
    first = set(contents(out))
    train(short, out, say=quiet)
    there = contents(out)
    assert there["tensorboard/mine"] == there["mine.csv"] == b"precious"
    # TensorBoard's file has another name, and is the only one.
    assert len(there) == len(first)
    assert len(first - set(there)) == 1


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


@pytest.mark.parametrize("name", ["../precious", "{}/precious", "link/precious", "link"])
def test_a_list_of_files_removes_nothing_elsewhere(tmp_path, out, name):
    (tmp_path / "precious").write_text("precious")
    with locked_output_dir(out, "run", ()) as folder:
        (out / "link").symlink_to(tmp_path)
        folder.files = [name.format(tmp_path)]
        folder.note([])
    with locked_output_dir(out, "run", ()) as folder:
        folder.clear()
    assert (tmp_path / "precious").read_text() == "precious"
    assert (out / "link").is_symlink()


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


def test_a_comparison_replaces_no_file_of_others(tmp_path, capsys):
    recorded = sorted((Path(__file__).parents[3] / "data" / "recorded").iterdir())[0]
    (tmp_path / "compare.csv").write_text("precious")
    arguments = ["compare", str(recorded), str(recorded), "--out", str(tmp_path)]
    assert cli.main(arguments) == 2
    assert str(tmp_path / "compare.csv") in capsys.readouterr().err
    assert (tmp_path / "compare.csv").read_text() == "precious"


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


def test_what_looks_unfinished_and_is_a_link_stays(tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / f"{UNFINISHED}x").symlink_to("precious")
    (tmp_path / ".unfinished-mine").mkdir()
    remove_leftovers(tmp_path)
    assert len(list(tmp_path.glob("*"))) == 4  # with the notebooks


def test_a_second_run_or_training_in_a_folder_is_refused_at_once(runs, out):
    runs(out)
    before = contents(out)
    with locked(out):
        for second in (lambda: runs(out), lambda: chain.resume(out=out)):
            with pytest.raises(
                ConfigurationError, match=f"{out} is in use by process {os.getpid()} "
            ):
                second()
    assert contents(out) == before
    training = out / "training"
    with locked(training), pytest.raises(ConfigurationError, match="in use"):
        train(TINY, training, say=quiet)
    assert not contents(training)


def test_a_lock_dies_with_its_process(tmp_path):
    code = (
        "import os, signal, sys\nfrom pathlib import Path\n"
        "from rungs._src.core.folder import locked\n"
        "with locked(Path(sys.argv[1])):\n"
        "    print('locked', flush=True)\n"
        "    signal.pause()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "locked\n"
    with pytest.raises(ConfigurationError, match=f"process {process.pid} on"), locked(tmp_path):
        pass
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    with locked(tmp_path):
        pass
    assert not list(tmp_path.glob(".*"))


def test_a_lock_has_one_holder_at_a_time(tmp_path):
    inside, most = [], []

    def hold():
        for _ in range(200):
            with contextlib.suppress(ConfigurationError), locked(tmp_path):
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=hold) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(most) == {1}


def test_a_lock_is_not_written_through_a_link(tmp_path):
    (tmp_path / "precious").write_text("precious")
    (tmp_path / ".rungs-lock").symlink_to("precious")
    with pytest.raises(StorageError, match="rungs-lock"), locked(tmp_path):
        pass
    assert (tmp_path / "precious").read_text() == "precious"


def test_a_file_where_a_folder_should_be_is_said_in_a_line(tmp_path, capsys):
    (tmp_path / "file").write_text("precious")
    for out in (tmp_path / "file", tmp_path / "file" / "out"):
        train = ["train", "--rung", "cpp", "--num-envs", "8"]
        for main, command in ((cli.main, ["run", "--only", "07"]), (library.main, train)):
            assert main([*command, "--out", str(out)]) in (1, 2)
            error = capsys.readouterr().err
            assert error.count("\n") == 1
            assert str(tmp_path / "file") in error
        with pytest.raises(ConfigurationError, match="there is no run in"):
            chain.resume(out=out)
    assert (tmp_path / "file").read_text() == "precious"


def test_a_full_disk_names_the_file_and_leaves_the_old_one(tmp_path, limited):
    path = tmp_path / "file"
    path.write_text("old")
    message = f"{path} can't be written: File too large"
    with pytest.raises(StorageError, match=message), limited(10), atomic_write(path) as unfinished:
        unfinished.write_bytes(bytes(1000))
    assert path.read_text() == "old"
    assert not list(tmp_path.glob(f"{UNFINISHED}*"))


@pytest.mark.parametrize("size", [0, 10_000])
def test_a_training_on_a_full_disk_ends_with_a_line_and_keeps_its_checkpoint(
    out, limited, capfd, size
):
    train(TINY, out, say=quiet)
    before = (out / CHECKPOINT).read_bytes()
    more = checkpoint.load(out)["training"]
    more = Training(**vars(more) | {"updates": 40})
    capfd.readouterr()
    with limited(size), pytest.raises(StorageError, match=f"{out}.* can't be written"):
        train(more, out, resume=True, say=quiet)
    assert not capfd.readouterr().err
    assert (out / CHECKPOINT).read_bytes() == before
    # And goes on where there is room again.
    assert train(Training(**vars(more) | {"updates": 2}), out, resume=True, say=quiet).updates == 2


def test_a_run_on_a_full_disk_leaves_the_last_ones_results(runs, out, limited):
    runs(out)
    before = contents(out)
    with limited(0), pytest.raises(StorageError, match=str(out)):
        runs(out)
    assert contents(out) == before


MALFORMED = [
    without("settings"),
    without("notebooks", "01_a", "status"),
    being([], "settings", "parameters"),
    being("soon", "notebooks", "01_a", "seconds"),
    being(None, "notebooks", "01_a"),
    being({}, "machine"),
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
