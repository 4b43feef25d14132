"""Both command lines, as typed: a status, and one line on stderr that names what is wrong."""

import errno
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from rungs import __version__
from rungs._src import cli
from rungs.errors import CompilerError, EngineError, WorkerDiedError
from rungs_course import cli as course
from rungs_course.errors import NotebookError

COURSE = ("run", "book", "doctor", "record", "progress", "grade", "tournament")
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -"


def words(capsys, *arguments) -> tuple[int, str]:
    """The status, and the one line on stderr."""
    main = course.main if arguments and arguments[0] in COURSE else cli.main
    status = main([*map(str, arguments)])
    error = capsys.readouterr().err
    assert re.fullmatch(r"rungs: .{1,600}\n", error), error
    return status, error


@pytest.fixture
def epd(tmp_path):
    path = tmp_path / "x.epd"
    castles = "4k3/8/8/8/8/8/8/4K2R w K - ;D1 15 ;D3 1197 ;D999999 5"
    path.write_text(f"# two positions\n{START} ;D1 20 ;D2 400\n{castles}\n")
    return path


def test_it_says_which_version_it_is(capsys):
    with pytest.raises(SystemExit, match="0"):
        cli.main(["--version"])
    assert capsys.readouterr().out == f"Rungs {__version__}\n"
    assert f"## {__version__}" in (Path(__file__).parents[2] / "CHANGELOG.md").read_text()


@pytest.mark.parametrize("rung", ["cpp", "python"])
def test_perft_counts(epd, rung, capsys):
    assert cli.main(["perft", "--epd", str(epd), "--depth", "3", "--rung", rung]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert ["400" in line for line in lines] == [START in line and "2:" in line for line in lines]
    assert "1,197" in lines[-2]
    assert lines[-1].startswith("1,597 ")


@pytest.mark.parametrize("options", [(), ("--threads", "2"), ("--rung", "python")])
def test_a_position_is_divided_by_its_moves(options, capsys):
    fen = "4k3/8/8/8/8/8/8/R3K3 w Q - 0 1"
    assert cli.main(["perft", "--divide", fen, "--depth", "2", *options]) == 0
    *moves, empty, total = capsys.readouterr().out.splitlines()
    assert len(moves) == 16
    assert {"a1a8: 3", "a1d1: 3", "e1c1: 3", "e1e2: 5"} <= set(moves)
    assert (empty, total) == ("", "Nodes searched: 71")


def test_a_wrong_count_names_the_fen(epd, capsys):
    epd.write_text(epd.read_text().replace("400", "401"))
    assert cli.main(["perft", "--epd", str(epd), "--depth", "2"]) == 1
    error = capsys.readouterr().err
    assert START in error
    assert "401" in error


def test_a_path_that_is_no_text_can_be_said(tmp_path, capsys, monkeypatch):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.json").write_text("null")
    out = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.csv")
    said = io.BytesIO()
    strict = io.TextIOWrapper(said, "utf-8", "strict", write_through=True)
    monkeypatch.setattr(sys, "stdout", strict)
    course.main(["grade", str(folder), "--trust", "--out", out])
    assert b"\\udcff.csv" in said.getvalue()
    assert "a bug in Rungs" not in capsys.readouterr().err


# What is typed, and what of it the line names.
WRONG = {
    "": "COMMAND",
    "x" * 10**5: "xxx",
    "--nope": "COMMAND",
    "perft": "--depth",
    "perft --depth 1": "--epd --divide",
    "perft --epd {epd} --depth 1 --divide 8/8": "--epd",
    "perft --depth 1 --divide 8/8": "8/8",
    "perft --depth 65 --divide 8/8": "depth=65",
    "perft --epd {epd} --depth 1e3": "'1e3'",
    "perft --epd {epd} --depth 0": "--depth 0",
    "perft --epd {epd} --depth 1 --rung java": "java",
    "perft --epd {epd} --depth 1 --threads 0": "threads",
    "perft --epd {epd} --depth 1 --threads 2 --rung python": "--threads",
    "perft --epd {folder} --depth 1": "Is a directory",
    "perft --epd {epd}/none --depth 1": "none",
    "perft --epd /dev/null --depth 1": "/dev/null",
    # Beyond the stack.
    **{f"perft --epd {{epd}} --depth 999999 --rung {rung}": "999999" for rung in ("cpp", "python")},
    "paths": "make archive",
    "run --size SMOKE": "SMOKE",
    "run --only 42": "42",
    "run --only=": "notebook",
    "run -p x": "NAME=VALUE",
    "run --only 01 -p out=x": "--out",
    "run --only 01 -p size=full": "smoke|quick|full",
    "run --only 01 -p figures=x": "--out",
    "run -p seed=1 -p seed=2": "-p seed",
    "run -p seed={{1}}": "-p seed",
    "run --only 00 -p nope=" + "[" * 10**5: "nope",
    "run --resume --size quick": "--resume",
    "run --resume --out {folder}": "empty",
    "book more": "more",
    "book --out {folder}": "empty",
    "grade {folder}": "--out",
    "tournament {folder}": "empty",
    "tournament {folder} --games x": "'x'",
    "mpi -n 1": "script",
    "mpi -n 1 {folder}": "empty",
    "mpi -n 1 -m no.such.module": "no.such.module",
    "train --num 3": "--num-envs",
    "train --seed 18446744073709551616": "seed=18446744073709551616",
    "train --opponent {folder}": "empty",
    "train --resume --out {folder}": "checkpoint.pt",
    "train -p threads=x": "threads='x'",
    "train --rung openmp -p schedule=[]": "schedule=[]",
    "train --out a\0b": r"'a\x00b'",
}
# What training itself passes to the environment.
PASSED = "seed num_envs opponent max_plies first_board obs mask autoreset_mode rung name env_id"
WRONG |= {f"train -p {name}=3": f"'{name}'" for name in PASSED.split()}


@pytest.mark.parametrize("typed", WRONG, ids=lambda typed: typed[:60])
def test_wrong_use_is_named_in_one_line(typed, epd, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    arguments = typed.format(epd=epd, folder=tmp_path / "empty").split()
    status, error = words(capsys, *arguments)
    assert status == 2
    assert WRONG[typed] in error


@pytest.fixture
def fails(monkeypatch):
    """Has `rungs doctor` raise an error."""

    def raises(error):
        def command(options):
            raise error

        monkeypatch.setattr(course, "_doctor", command)

    return raises


COUNTS = ["D1 " + "9" * 5000, "D-1 1", "D1 -1", "D1 ٣", "1 5", "D9 1"]
FENS = ["k" * 10**5, "8/8 é", "8/8 \ud800", "\0", f"{START} 0 65536", "8/8/8/8/8/8/8/8 w - -"]


@pytest.mark.parametrize("rung", ["python", "cpp"])
def test_a_wrong_line_of_a_file_is_named(epd, rung, capsys):
    for line in (*(f"{START} ;{count}" for count in COUNTS), *(f"{fen} ;D1 5" for fen in FENS)):
        epd.write_bytes(f"# none\n{line}\n".encode(errors="surrogatepass"))
        status, error = words(capsys, "perft", "--epd", epd, "--depth", 1, "--rung", rung)
        assert status == 2
        assert "x.epd:2" in error


def test_a_file_in_a_folders_place_is_named(tmp_path, capsys):
    file = tmp_path / "file"
    file.write_text("precious")
    for out in (file, file / "out"):
        for command in ("run --only 07", "train --rung cpp --num-envs 8"):
            status, error = words(capsys, *command.split(), "--out", out)
            assert status in (1, 2)
            assert str(file) in error
    assert file.read_text() == "precious"


def test_debug_shows_the_traceback_before_the_line_but_behind_a_script_it_is_the_scripts(
    fails, capsys, monkeypatch
):
    fails(KeyError("boom"))
    for typed in (["--debug", "doctor"], ["doctor", "--debug"]):
        assert course.main(typed) == 1
        error = capsys.readouterr().err.splitlines()
        assert error[0] == "Traceback (most recent call last):"
        assert error[-1].startswith("rungs: KeyError: 'boom'")
    given = {}
    monkeypatch.setattr(
        "rungs._src.processes.ranks.launch", lambda *args, **options: given.update(all=args)
    )
    assert cli.main(["mpi", "-n", "1", "x.py", "--debug"]) == 0
    assert given["all"] == (1, "x.py", ["--debug"])


ERRORS = [
    (KeyboardInterrupt(), 130, "interrupted"),
    (NotebookError("01_a.ipynb, code cell 2"), 1, "01_a.ipynb, code cell 2"),
    (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "x.pt"), 1, "x.pt: No space left"),
    (OSError("what no system says"), 1, "what no system says"),
    (TimeoutError(), 1, "TimeoutError"),
    (MemoryError("Unable to allocate 3 TiB"), 1, "memory"),
    (EngineError("engine sf died", 3), 1, "board 3: engine sf died"),
    (ModuleNotFoundError("No module named 'x'", name="mpi4py.MPI"), 2, "mpi4py.MPI"),
    (ModuleNotFoundError("No module named 'x'", name="rungs.x"), 1, "a bug in Rungs"),
    (KeyError("boom"), 1, "KeyError: 'boom'"),
    (ValueError("many\n\nlines " + "x" * 10**6), 1, "ValueError: many lines xxx"),
]


@pytest.mark.parametrize(("error", "status", "named"), ERRORS)
def test_every_error_is_one_line_and_a_status(fails, error, status, named, capsys):
    fails(error)
    ended, line = words(capsys, "doctor")
    assert ended == status
    assert named in line


def test_what_has_more_to_say_ends_in_the_line_that_says_what_it_is(fails, capsys):
    for error in (WorkerDiedError(1, "raised\nfirst\nlast"), CompilerError("a\nb")):
        fails(error)
        assert course.main(["doctor"]) in (1, 2)
        what, *more = str(error).splitlines()
        assert capsys.readouterr().err.splitlines() == [*more, f"rungs: {what}"]


@pytest.mark.system
@pytest.mark.parametrize("to", ["/dev/full", "closed"])
def test_output_that_nobody_takes_is_one_line(epd, to):
    command = [sys.executable, "-m", "rungs", "perft", "--epd", str(epd), "--depth", "1"]
    if to == "closed":
        reader, out = os.pipe()
        os.close(reader)
    else:
        out = os.open(to, os.O_WRONLY)
    try:
        done = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, text=True)
    finally:
        os.close(out)
    assert done.returncode == 1
    assert re.fullmatch(r"rungs: .*\n", done.stderr), done.stderr
