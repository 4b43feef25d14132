"""`python -m rungs …`: the course, its book, results compared and recorded, training, and tools."""

import argparse
import ast
import io
import json
import os
import sys
import time
import traceback
from pathlib import Path

from rungs.core.arguments import shortened, shown
from rungs.errors import (
    CompilerError,
    ConfigurationError,
    InvalidFenError,
    InvalidStateError,
    RungsError,
    UnavailableError,
    install_hint,
)
from rungs.selfplay.settings import SelfPlayTraining
from rungs.train.options import add_options, given, training_of
from rungs.train.settings import Training
from rungs.version import __version__


def main(arguments: list[str] | None = None) -> int:
    """Runs a command; returns the exit status.

    That is 0, 1 (it failed), 2 (it could not begin: wrong use, or something is missing here), or
    130 (Ctrl-C). The last line on stderr says why; with `--debug` the traceback comes before it.
    """
    debug, extra = False, ""
    if isinstance(sys.stdout, io.TextIOWrapper):  # a path or a move may hold what is no UTF-8
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        options = _parser().parse_args(arguments)
        debug, extra = "debug" in options, options.extra
        status = options.command(options)
        sys.stdout.flush()  # where nothing reads it, or the disk is full, it fails here
        return status
    except (Exception, KeyboardInterrupt) as error:
        if debug:
            traceback.print_exception(error)
        status, says = _ending(error, extra)
        line, *more = says.splitlines() or [""]
        print(*more, f"rungs: {line}", sep="\n", file=sys.stderr)
        return status


# Wrong use, or something is missing here.
_NOT_BEGUN = (
    CompilerError,
    ConfigurationError,
    InvalidFenError,
    InvalidStateError,
    UnavailableError,
)


def _ending(error: BaseException, extra: str = "") -> tuple[int, str]:
    """Returns the exit status that an error ends in, and what is said of it.

    Args:
        error: what was raised.
        extra: of pyproject.toml's, that brings what the command imports; "" where none does.
    """
    if isinstance(error, RungsError):
        return 2 if isinstance(error, _NOT_BEGUN) else 1, str(error)
    if isinstance(error, KeyboardInterrupt):
        return 130, "interrupted"
    if isinstance(error, ModuleNotFoundError) and (error.name or "rungs").split(".")[0] != "rungs":
        return 2, f"{error.name} is not installed" + (f": {install_hint(extra)}" if extra else "")
    if isinstance(error, BrokenPipeError):
        # Else Python would say so again as it ends, and once more try to write.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1, "nobody reads what is written"
    if isinstance(error, OSError):
        named = f"{error.filename}: " if error.filename else ""
        return 1, f"{named}{error.strerror or str(error) or type(error).__name__}"
    if isinstance(error, MemoryError):
        return 1, f"there is too little memory: {error}".removesuffix(": ")
    what = shortened(" ".join(f"{type(error).__name__}: {error}".split()))
    return 1, f"{what} (a fault of Rungs; --debug shows its traceback)"


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints are errors of ours, one line each."""

    def error(self, message: str):
        raise ConfigurationError(f"{shortened(message)} ({self.prog} --help says more)")


def _path(text: str) -> Path:
    if "\0" in text:
        raise argparse.ArgumentTypeError(f"{shown(text)} is no path")
    return Path(text)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m rungs")
    parser.add_argument("--version", action="version", version=f"Rungs {__version__}")
    parser.set_defaults(extra="")  # of pyproject.toml's, that brings what the command imports
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    run = commands.add_parser("run", help="run the notebooks, each in a process of its own")
    run.add_argument("--size", help="smoke, quick (the default) or full")
    run.add_argument("--only", metavar="01,03", help="numbers of the notebooks to run")
    run.add_argument("--out", type=_path, help="the run's folder (default: data/run)")
    run.add_argument("--resume", action="store_true", help="go on with the run in --out")
    run.add_argument(
        "-p",
        dest="parameters",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a value for the notebooks' parameters cells; may be given several times",
    )
    run.set_defaults(command=_run, extra="course")

    race = commands.add_parser("race", help="what works here, and a race of some seconds")
    race.set_defaults(command=_race, extra="course")

    book = commands.add_parser("book", help="make a book of the notebooks that were run")
    book.add_argument("--out", type=_path, help="the run's folder (default: data/run)")
    book.set_defaults(command=_book, extra="book")

    doctor = commands.add_parser("doctor", help="what works here, and how to get what doesn't")
    doctor.set_defaults(command=_doctor)

    perft = commands.add_parser("perft", help="count move-tree leaves against published counts")
    perft.add_argument("--epd", type=_path, required=True, help="lines like 'FEN ;D1 20 ;D2 400'")
    perft.add_argument("--depth", type=int, required=True, help="the deepest count to compare")
    perft.add_argument("--rung", default="cpp", choices=("cpp", "python"))
    perft.set_defaults(command=_perft)

    mpi = commands.add_parser("mpi", help="run a script on several MPI ranks")
    mpi.add_argument("-n", dest="ranks", type=int, required=True, help="how many")
    mpi.add_argument("--hosts", default="", help="where, separated by commas (default: here)")
    mpi.add_argument("-m", dest="module", action="store_true", help="SCRIPT is a module's name")
    mpi.add_argument("script")
    mpi.add_argument("arguments", nargs=argparse.REMAINDER, help="what the script is called with")
    mpi.set_defaults(command=_mpi)

    train = commands.add_parser("train", help="train a policy by PPO on any rung")
    train.add_argument(
        "--out",
        type=_path,
        default=Path("data/run/train"),
        help="the run's folder (default: data/run/train)",
    )
    train.add_argument("--resume", action="store_true", help="go on with the run in --out")
    train.add_argument(
        "--trust", action="store_true", help="let a run that goes on start the engine it names"
    )
    train.add_argument(
        "-p",
        dest="how",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting of the rung, such as threads=4; may be given several times",
    )
    add_options(train)
    train.set_defaults(command=_train, extra="train")

    selfplay = commands.add_parser("selfplay", help="train a policy by search and self-play")
    selfplay.add_argument(
        "--out",
        type=_path,
        default=Path("data/run/selfplay"),
        help="the run's folder (default: data/run/selfplay)",
    )
    selfplay.add_argument("--resume", action="store_true", help="go on with the run in --out")
    add_options(selfplay, (SelfPlayTraining,))
    selfplay.set_defaults(command=_selfplay, extra="train")

    compare = commands.add_parser("compare", help="what changed between two runs beyond the noise")
    compare.add_argument(
        "a", type=_path, metavar="RUN_A", help="a run's folder, or one of CSV files"
    )
    compare.add_argument("b", type=_path, metavar="RUN_B", help="the one that is better or worse")
    compare.add_argument(
        "--out",
        type=_path,
        default=Path("data/run/compare"),
        help="for table and figure (default: data/run/compare)",
    )
    compare.add_argument("--floor", type=float, help="changes of timings that count (default: 0.1)")
    compare.add_argument(
        "--fail-on-regression", action="store_true", help="exit with 1 where anything is worse"
    )
    compare.set_defaults(command=_compare, extra="course")

    record = commands.add_parser("record", help="keep the last run's results in data/recorded/")
    record.add_argument(
        "--agents",
        nargs="+",
        type=_path,
        metavar="PATH",
        help="keep agents instead, the earliest first: files of a pool, or a training run's folder",
    )
    record.add_argument(
        "--check",
        action="store_true",
        help="keep nothing; say whether what is recorded can be offered to others",
    )
    record.add_argument(
        "folder",
        type=_path,
        nargs="?",
        help="of the run (default: data/run); what --check looks at (default: this machine's)",
    )
    record.set_defaults(command=_record, extra="course")

    conformance = commands.add_parser(
        "conformance", help="whether environments play chess: the suite, and what does not hold"
    )
    conformance.add_argument(
        "names",
        nargs="*",
        default=["rungs"],
        metavar="ENVIRONMENT",
        help="a rung or a peer; rungs (the default) or peers: all that are here; or FILE.py:CLASS",
    )
    conformance.add_argument(
        "--group", dest="groups", action="append", metavar="NAME", help="only these cases"
    )
    conformance.add_argument(
        "--format", default="text", choices=("text", "markdown", "json"), help="default: text"
    )
    conformance.add_argument("--out", type=_path, metavar="FILE", help="write the table there")
    conformance.set_defaults(command=_conformance)

    progress = commands.add_parser("progress", help="which labs are right, and how fast")
    progress.add_argument(
        "--hand-in", type=_path, metavar="FILE", help="write a file with the answers, to hand in"
    )
    progress.set_defaults(command=_progress, extra="course")

    grade = commands.add_parser("grade", help="judge what students handed in: it runs their code")
    grade.add_argument("folder", type=_path, help="of one JSON file a student")
    grade.add_argument("--out", type=_path, required=True, help="the table, a CSV file")
    grade.set_defaults(command=_grade, extra="course")

    for each in (parser, *commands.choices.values()):
        each.add_argument(
            "--debug",
            action="store_true",
            default=argparse.SUPPRESS,  # lest a command without it undo one before the command
            help="show the traceback of an error",
        )
    return parser


def _run(options: argparse.Namespace) -> int:
    from rungs.course import chain, first

    out = options.out or chain.OUT
    if options.resume:
        if options.size or options.only is not None or options.parameters:
            raise ConfigurationError("--resume goes on as the run began: it takes only --out")
        chain.resume(out=out)
    else:
        chain.run(
            size="quick" if options.size is None else options.size,
            only=options.only.split(",") if options.only is not None else None,
            parameters=_parameters(options.parameters, reserved=("size", "out", "figures")),
            out=out,
            before=first.look_aside if options.only is None else None,
        )
    return 0


def _race(options: argparse.Namespace) -> int:
    from rungs.course import first

    first.look()
    return 0


def _book(options: argparse.Namespace) -> int:
    from rungs.course import book, chain

    print(f"Read {book.build(options.out or chain.OUT)}")
    return 0


def _doctor(options: argparse.Namespace) -> int:
    from rungs.doctor import examine, identity

    broken = False
    print(identity(), flush=True)
    for finding in examine():
        says = "works" if finding.works else "BROKEN" if finding.needed else "not here"
        print(f"{says:<10}{finding.what:<26}{finding.detail}", flush=True)
        broken |= finding.needed and not finding.works
    return 1 if broken else 0


def _parameters(texts: list[str], reserved: tuple[str, ...] = ()) -> dict[str, object]:
    """Reads what was given by `-p`.

    Raises:
        ConfigurationError: one is not NAME=VALUE, is given twice, has a reserved name, or a value
            that no notebook or rung takes.
    """
    values = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise ConfigurationError(f"-p {shown(text)} is not NAME=VALUE")
        if name in values:
            raise ConfigurationError(f"-p {name} is given twice")
        if name in reserved:
            raise ConfigurationError(f"-p {name} can't be set: it follows from --size and --out")
        values[name] = _value(name, value)
    return values


def _value(name: str, text: str):
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text
    try:
        json.dumps(value)
    except TypeError:
        raise ConfigurationError(
            f"-p {name}={shown(text)} is not a number, a text, a list or a dict"
        ) from None
    return value


def _perft(options: argparse.Namespace) -> int:
    from rungs.chess.perft import PERFT, read_epd

    if options.depth < 1:
        raise ConfigurationError(f"--depth {options.depth} is not at least 1")
    count = PERFT[options.rung]
    cases = list(read_epd(options.epd))
    if not cases:
        raise ConfigurationError(f"{options.epd} holds no position")
    total, start, wrong = 0, time.perf_counter(), []
    for case in cases:
        depths = [depth for depth in case.leaves if depth <= options.depth]
        if not depths:
            raise ConfigurationError(f"{case.where}: no count for depth {options.depth} or less")
        depth = max(depths)
        began = time.perf_counter()
        try:
            nodes = count(case.fen, depth)
        except InvalidFenError as error:
            raise InvalidFenError(f"{case.where}: {error}") from None
        seconds = time.perf_counter() - began
        total += nodes
        rate = nodes / seconds
        print(f"{case.fen}  depth {depth}: {nodes:,} nodes, {rate:,.0f} nodes/s", flush=True)
        if nodes != case.leaves[depth]:
            wrong.append(case)
            print(
                f"rungs: {case.where}: {case.fen}: depth {depth} has {case.leaves[depth]:,} "
                f"leaves, not {nodes:,}",
                file=sys.stderr,
            )
    seconds = time.perf_counter() - start
    print(f"{total:,} nodes in {seconds:.1f} s, {total / seconds:,.0f} nodes/s")
    return 1 if wrong else 0


def _mpi(options: argparse.Namespace) -> int:
    from rungs.processes.ranks import launch

    how = {"hosts": options.hosts, "module": options.module}
    launch(options.ranks, options.script, options.arguments, **how)
    return 0


def _train(options: argparse.Namespace) -> int:
    from rungs import peers
    from rungs.train import checkpoint
    from rungs.train.training import train

    training = training_of(options, _parameters(options.how))
    if options.resume:
        if training != Training():
            raise ConfigurationError("--resume goes on as the run began: it takes only --out")
        training = checkpoint.load(options.out)["training"]
        if training.opponent != "random" and not options.trust:
            path = options.out / checkpoint.NAME
            raise ConfigurationError(
                f"{path} would run the program {training.opponent!r}: --trust lets it"
            )
    train(training, options.out, resume=options.resume, make=peers.make)
    return 0


def _selfplay(options: argparse.Namespace) -> int:
    from rungs.selfplay import checkpoint
    from rungs.selfplay.training import train

    settings = given(options, SelfPlayTraining)
    if options.resume and settings:
        raise ConfigurationError("--resume goes on as the run began: it takes only --out")
    training = SelfPlayTraining(**settings)
    if options.resume:
        training = checkpoint.load(options.out)["training"]
    train(training, options.out, resume=options.resume)
    return 0


def _compare(options: argparse.Namespace) -> int:
    from rungs.core.atomic import written
    from rungs.core.folder import claimed
    from rungs.measure.compare import FLOOR, compare, read
    from rungs.show.compare import figure, report
    from rungs.show.save import save_figure

    floor = FLOOR if options.floor is None else options.floor
    comparison = compare(read(options.a), read(options.b), floor)
    out = options.out
    with claimed(out, "comparison", ("compare.csv", "compare.png")) as folder:
        folder.note(folder.path / name for name in folder.names)
        save_figure(figure(comparison), out / "compare.png")
        with written(out / "compare.csv") as unfinished:
            comparison.groups.to_csv(unfinished, index=False)
    print(report(comparison))
    print(f"\nAll groups are in {out / 'compare.csv'}, the changes drawn in {out / 'compare.png'}")
    worse = (comparison.groups["verdict"] == "worse").any()
    return 1 if options.fail_on_regression and worse else 0


def _record(options: argparse.Namespace) -> int:
    from rungs.course import recorded
    from rungs.course.chain import OUT
    from rungs.course.record import record

    if options.agents:
        from rungs.selfplay import agents

        print(*(f"Recorded {path}" for path in agents.record(options.agents)), sep="\n")
        return 0
    if options.check:
        folder = options.folder or recorded.here()
        if missing := recorded.check(folder):
            print(
                f"Nothing in {folder} is refused, but it can't be offered yet:", *missing, sep="\n"
            )
            return 1
        print(f"{folder} is complete, unchanged, and of one idle machine")
        return 0
    path = record(options.folder or OUT)
    print(f"Recorded in {path}")
    if path.is_file():
        print("How long its notebooks took: results are recorded of runs of size 'full' only")
    return 0


def _conformance(options: argparse.Namespace) -> int:
    from rungs.conformance import environments, load, report
    from rungs.conformance.run import FAILS, run_aside, unavailable
    from rungs.core.atomic import written

    suite = load()
    if options.groups:
        suite = suite.of_groups(options.groups)
    results = {}
    for name, may_lack in environments.named(options.names).items():
        try:
            results[name] = run_aside(name, suite.cases)
        except UnavailableError as error:
            if not may_lack:
                raise
            results[name] = unavailable(suite.cases, error)
    versions = {name: environments.version(name) for name in results}
    table = report.FORMATS[options.format](suite, results, versions)
    if options.out:
        with written(options.out) as unfinished:
            unfinished.write_text(table, errors="backslashreplace")
    else:
        print(table, end="")
    return int(any(one.status == FAILS for played in results.values() for one in played))


def _progress(options: argparse.Namespace) -> int:
    from rungs.labs import handing_in, record

    if options.hand_in:
        count = handing_in.hand_in(options.hand_in)
        print(f"{options.hand_in} holds your {count} right answers")
        return 0
    table = record.table(record.read())
    print(table.to_string(index=False, na_rep="-", float_format="{:.2f}".format))
    right = table["state"].isin(["right", "target reached"]).sum()
    print(f"{right} of {len(table)} labs are right; kept in {record.path()}")
    return 0


def _grade(options: argparse.Namespace) -> int:
    from rungs.labs import handing_in

    missed = handing_in.grade(options.folder, options.out)
    print(f"The table is {options.out}")
    if missed:
        print(f"rungs: what {missed} of its rows are about was not judged", file=sys.stderr)
    return 1 if missed else 0
