"""Whatever a user types: a status, and one line on stderr that names what was wrong."""

import errno
import os
import re
import subprocess
import sys

import pytest

from rungs._src import cli
from rungs.errors import CompilerError, EngineError, WorkerDiedError
from rungs_course import cli as course

COURSE = ("run", "race", "book", "doctor", "compare", "record", "progress", "grade")
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -"


def words(capsys, *arguments) -> tuple[int, str]:
    """The status, and the one line on stderr."""
    main = course.main if arguments and arguments[0] in COURSE else cli.main
    status = main([*map(str, arguments)])
    error = capsys.readouterr().err
    assert re.fullmatch(r"rungs: .{1,600}\n", error), error
    return status, error


# What is typed, and what of it the line names.
WRONG = {
    "": "COMMAND",
    "nonsense": "nonsense",
    "x" * 10**5: "xxx",
    "--nope": "COMMAND",
    "perft": "--epd, --depth",
    "perft --epd {epd} --depth 1e3": "'1e3'",
    "perft --epd {epd} --depth 0": "--depth 0",
    "perft --epd {epd} --depth 1 --rung java": "java",
    "perft --epd {epd} --depth 1 more": "more",
    "perft --epd {folder} --depth 1": "Is a directory",
    "perft --epd {epd}/none --depth 1": "none",
    "perft --epd /dev/null --depth 1": "no position",
    "run --size": "--size",
    "run --size SMOKE": "SMOKE",
    "run --only 42": "42",
    "run --only=": "no notebook",
    "run -p": "-p",
    "run -p x": "NAME=VALUE",
    "run -p size=full": "-p size",
    "run -p seed=1 -p seed=2": "-p seed is given twice",
    "run -p seed={{1}}": "-p seed",
    "run --only 00 -p nope=" + "[" * 10**5: "nope",
    "run --resume --size quick": "--resume",
    "run --resume --out {folder}": "no run",
    "book more": "more",
    "book --out {folder}": "no run",
    "compare {folder}": "RUN_B",
    "compare {folder} {folder}": "holds no results",
    "compare {folder} {folder} --floor x": "'x'",
    "mpi": "-n",
    "mpi -n 1": "script",
    "mpi -n 0 {epd}": "ranks=0",
    "mpi -n 1 {folder}": "no script",
    "mpi -n 1 -m no.such.module": "no.such.module",
    "train --rung fortran": "fortran",
    "train --rung python -p threads=3": "threads",
    "train --num 3": "--num-envs",
    "train --num-envs 0": "num_envs=0",
    "train --num-minibatches 1000 --num-envs 2 --num-steps 2": "num_minibatches=1000",
    "train --seconds nan": "seconds=nan",
    "train --seed 18446744073709551616": "seed=18446744073709551616",
    "train --device tpu": "tpu",
    "train --opponent nope": "nope",
    "train --opponent {folder}": "is no program",
    "train --learner abacus": "learner='abacus'",
    "train --resume --seed 3": "--resume",
    "train --resume --out {folder}": "checkpoint.pt",
    "train -p threads=x": "threads='x'",
    "train -p threads=1 -p threads=2": "-p threads is given twice",
    "train --rung openmp -p schedule=[]": "schedule=[]",
    "train --rung threads -p thread=2": "threads",
    "train --out a\0b": r"'a\x00b'",
}
# What training itself passes to the environment.
PASSED_BY_TRAINING = (
    *("seed", "num_envs", "opponent", "max_plies", "first_board", "obs", "mask"),
    *("autoreset_mode", "rung", "name", "env_id"),
)
WRONG |= {f"train -p {name}=3": f"'{name}'" for name in PASSED_BY_TRAINING}


@pytest.fixture
def epd(tmp_path):
    path = tmp_path / "x.epd"
    path.write_text(f"{START} ;D1 20 ;D2 400\n")
    return path


@pytest.mark.parametrize("typed", WRONG, ids=lambda typed: typed[:60])
def test_wrong_use_is_named_in_one_line(typed, epd, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    arguments = typed.format(epd=epd, folder=tmp_path / "empty").split()
    status, error = words(capsys, *arguments)
    assert status == 2
    assert WRONG[typed] in error


@pytest.mark.parametrize("line", ["D1 " + "9" * 5000, "D-1 1", "D1 -1", "D1 ٣", "1 5", "D9 1"])
def test_a_wrong_count_of_a_file_is_named(epd, line, capsys):
    epd.write_text(f"{START} ;{line}\n")
    status, error = words(capsys, "perft", "--epd", epd, "--depth", 1)
    assert status == 2
    assert "x.epd:1" in error


@pytest.mark.parametrize("fen", ["k" * 10**5, "8/8 é", "8/8 \ud800", "\0", START + " 0 65536"])
@pytest.mark.parametrize("rung", ["python", "cpp"])
def test_a_fen_that_is_none_is_named(epd, fen, rung, capsys):
    epd.write_bytes(f"{fen} ;D1 5\n".encode(errors="surrogatepass"))
    status, error = words(capsys, "perft", "--epd", epd, "--depth", 1, "--rung", rung)
    assert status == 2
    assert "x.epd:1" in error


@pytest.fixture
def fails(monkeypatch):
    """Has `rungs doctor` raise an error."""

    def raises(error):
        def command(options):
            raise error

        monkeypatch.setattr(course, "_doctor", command)

    return raises


@pytest.mark.parametrize(
    ("error", "status", "says"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "x.pt"), 1, "x.pt: No space left"),
        (PermissionError(errno.EACCES, os.strerror(errno.EACCES), "x"), 1, "x: Permission denied"),
        (OSError("what no system says"), 1, "what no system says"),
        (TimeoutError(), 1, "TimeoutError"),
        (MemoryError("Unable to allocate 3 TiB"), 1, "too little memory: Unable to allocate"),
        (EngineError("engine sf died", 3), 1, "board 3: engine sf died"),
        (
            ModuleNotFoundError("No module named 'mpi4py'", name="mpi4py.MPI"),
            2,
            "mpi4py.MPI is not",
        ),
        (ModuleNotFoundError("No module named 'rungs.x'", name="rungs.x"), 1, "a fault of Rungs"),
        (KeyError("boom"), 1, "KeyError: 'boom' (a fault of Rungs; --debug shows its traceback)"),
        (ValueError("many\n\nlines " + "x" * 10**6), 1, "ValueError: many lines xxx"),
    ],
)
def test_every_error_is_one_line_and_a_status(fails, error, status, says, capsys):
    fails(error)
    ended, line = words(capsys, "doctor")
    assert ended == status
    assert says in line


@pytest.mark.parametrize(
    "error", [WorkerDiedError(1, "raised\nfirst\nlast"), CompilerError("a\nb")]
)
def test_what_has_more_to_say_ends_in_the_line_that_says_what_it_is(fails, error, capsys):
    fails(error)
    assert course.main(["doctor"]) in (1, 2)
    *more, last = capsys.readouterr().err.splitlines()
    what, *rest = str(error).splitlines()
    assert more == rest
    assert last == f"rungs: {what}"


@pytest.mark.parametrize("typed", [("--debug", "doctor"), ("doctor", "--debug")])
def test_debug_shows_the_traceback_before_the_line(fails, typed, capsys):
    fails(KeyError("boom"))
    assert course.main([*typed]) == 1
    error = capsys.readouterr().err.splitlines()
    assert error[0] == "Traceback (most recent call last):"
    assert "KeyError: 'boom'" in error
    assert error[-1].startswith("rungs: KeyError: 'boom'")


def test_debug_behind_a_script_is_the_scripts(monkeypatch):
    given = {}
    monkeypatch.setattr("rungs._src.processes.ranks.launch", lambda *a, **how: given.update(all=a))
    assert cli.main(["mpi", "-n", "1", "x.py", "--debug"]) == 0
    assert given["all"] == (1, "x.py", ["--debug"])


def test_a_file_in_a_folders_place_is_named(tmp_path, capsys, monkeypatch):
    (tmp_path / "07_race.csv").write_text("# size: quick\nracer,repeat,seconds\ncpp,0,1\ncpp,1,1\n")
    file = tmp_path / "file"
    file.touch()
    status, error = words(capsys, "compare", tmp_path, tmp_path, "--out", file)
    assert status == 2
    assert str(file) in error


@pytest.mark.system
def test_the_largest_seed_trains(tmp_path, capsys):
    small = "--num-envs 2 --num-steps 2 --updates 1 --games 2 --max-plies 8 --num-minibatches 1"
    largest = ["--seed", str(2**64 - 1), "--rung", "cpp", "--out", str(tmp_path)]
    assert cli.main(["train", *small.split(), *largest]) == 0
    assert (tmp_path / "checkpoint.pt").exists()


@pytest.mark.system
@pytest.mark.parametrize(("to", "says"), [("/dev/full", "No space left"), ("closed", "nobody")])
def test_output_that_nobody_takes_is_one_line(epd, to, says):
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
    assert re.fullmatch(rf"rungs: .*{says}.*\n", done.stderr), done.stderr
