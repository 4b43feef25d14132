"""`python -m rungs …`: training, self-play, UCI, perft, conformance, and scripts on MPI ranks."""

import argparse
import ast
import functools
import io
import json
import os
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from rungs._src import paths
from rungs._src.core import progress
from rungs._src.core.arguments import shortened, shown
from rungs._src.selfplay.settings import SelfPlayTraining
from rungs._src.train import tracking
from rungs._src.train.settings import (
    PpoSettings,
    Training,
    add_options,
    given,
    lengthened,
    training_of,
)
from rungs.errors import (
    CompilerError,
    ConfigurationError,
    InvalidFenError,
    InvalidStateError,
    RungsError,
    UnavailableError,
    install_hint,
)
from rungs.version import __version__


def main(arguments: list[str] | None = None) -> int:
    return run_command("python -m rungs", _add_commands, arguments)


def run_command(
    prog: str,
    add_commands: Callable[[argparse._SubParsersAction], None],
    arguments: list[str] | None = None,
) -> int:
    """Runs a command of `prog`; returns 0, 1 (it failed), 2 (it didn't begin) or 130 (Ctrl-C)."""
    debug, extra = False, ""
    if isinstance(sys.stdout, io.TextIOWrapper):  # a path or a move need not be UTF-8
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        options = _parser(prog, add_commands).parse_args(arguments)
        debug, extra = "debug" in options, options.extra
        status = options.command(options)
        sys.stdout.flush()  # a closed pipe or a full disk fails here
        return status
    except (Exception, KeyboardInterrupt) as error:
        progress.close_bars()
        if debug:
            traceback.print_exception(error)
        status, message = _ending(error, extra)
        line, *more = message.splitlines() or [""]
        print(*more, f"rungs: {line}", sep="\n", file=sys.stderr)
        return status


_WRONG_USE = (ConfigurationError, InvalidFenError, InvalidStateError)
_MISSING = (CompilerError, UnavailableError)


def _ending(error: BaseException, extra: str = "") -> tuple[int, str]:
    """Returns an error's exit status and message; `extra` brings what the command imports."""
    if isinstance(error, RungsError):
        return 2 if isinstance(error, (*_WRONG_USE, *_MISSING)) else 1, str(error)
    if isinstance(error, KeyboardInterrupt):
        return 130, "interrupted"
    if isinstance(error, ModuleNotFoundError) and not paths.is_ours(error.name):
        return 2, f"{error.name} is not installed" + (f": {install_hint(extra)}" if extra else "")
    if isinstance(error, BrokenPipeError):
        # Otherwise Python flushes stdout as it ends, and reports the error again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1, "the reader of the output has closed it"
    if isinstance(error, OSError):
        prefix = f"{error.filename}: " if error.filename else ""
        return 1, f"{prefix}{error.strerror or str(error) or type(error).__name__}"
    if isinstance(error, MemoryError):
        return 1, f"there is too little memory: {error}".removesuffix(": ")
    text = shortened(" ".join(f"{type(error).__name__}: {error}".split()))
    return 1, f"{text} (a bug in Rungs; --debug prints the traceback)"


class _Parser(argparse.ArgumentParser):
    """A parser that raises ConfigurationError, with one line, instead of exiting."""

    def error(self, message: str):
        raise ConfigurationError(f"{shortened(message)} (see {self.prog} --help)")


def _parser(prog: str, add_commands: Callable) -> _Parser:
    parser = _Parser(prog=prog)
    parser.add_argument("--version", action="version", version=f"Rungs {__version__}")
    parser.set_defaults(extra="")  # the one of pyproject.toml that brings what a command imports
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    add_commands(commands)
    for subparser in (parser, *commands.choices.values()):
        subparser.add_argument(
            "--debug",
            action="store_true",
            default=argparse.SUPPRESS,  # or a command's default would reset one before it
            help="show the traceback of an error",
        )
    return parser


def to_path(text: str) -> Path:
    """Returns a command line's word as a path, for argparse's `type`."""
    if "\0" in text:
        raise argparse.ArgumentTypeError(f"{shown(text)} is not a path")
    return Path(text)


def add_run_options(parser: argparse.ArgumentParser, default: Path, more: str = "") -> None:
    """Adds `--out`, a run's folder, `--resume`, whose help ends with `more`, and `--quiet`."""
    text = f"the run's folder (default: {default})"
    parser.add_argument("--out", type=to_path, default=default, help=text)
    parser.add_argument("--resume", action="store_true", help=f"continue the run in --out{more}")
    add_quiet(parser)


def add_quiet(parser: argparse.ArgumentParser) -> None:
    """Adds `--quiet`, with which `options.say` prints nothing: no lines, and no bars."""
    parser.add_argument(
        "--quiet",
        dest="say",
        action="store_const",
        const=progress.silent,
        default=progress.line,
        help="print nothing while it runs",
    )


def add_parameters(parser: argparse.ArgumentParser, meaning: str) -> None:
    """Adds `-p NAME=VALUE`; see `parameters`."""
    parser.add_argument(
        "-p",
        dest="parameters",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help=f"{meaning}; may be given several times",
    )


def add_conformance(commands: argparse._SubParsersAction, names: str) -> argparse.ArgumentParser:
    """Adds the command `conformance`, whose environments are described by `names`."""
    conformance = commands.add_parser(
        "conformance", help="test environments with the conformance suite"
    )
    conformance.add_argument(
        "names",
        nargs="*",
        default=["rungs"],
        metavar="ENVIRONMENT",
        help=f"{names}; or your FILE.py:CLASS or MODULE:CLASS",
    )
    conformance.add_argument(
        "--group", dest="groups", action="append", metavar="NAME", help="only these cases"
    )
    conformance.add_argument(
        "--format", default="text", choices=("text", "markdown", "json"), help="default: text"
    )
    conformance.add_argument("--out", type=to_path, metavar="FILE", help="write the table to FILE")
    return conformance


_LONGER = ", up to its original limit or a higher one: --updates N, --seconds S"


def _add_commands(commands: argparse._SubParsersAction) -> None:
    perft = commands.add_parser("perft", help="count move-tree leaves against published counts")
    positions = perft.add_mutually_exclusive_group(required=True)
    positions.add_argument("--epd", type=to_path, help="lines like 'FEN ;D1 20 ;D2 400'")
    positions.add_argument(
        "--divide", metavar="FEN", help="count each move's leaves of this position"
    )
    perft.add_argument("--depth", type=int, required=True, help="the deepest count, in plies")
    perft.add_argument("--rung", default="cpp", choices=("cpp", "python"))
    perft.add_argument(
        "--threads", type=int, default=1, help="threads of the rung cpp (default: 1)"
    )
    perft.set_defaults(command=_perft)

    list_parser = commands.add_parser(
        "list", help="list environments, rungs, and what is missing for each"
    )
    list_parser.set_defaults(command=_list)

    paths_parser = commands.add_parser(
        "paths", help="print where C programs find the header and the library"
    )
    paths_parser.add_argument(
        "name", nargs="?", choices=("include", "lib", "pkgconfig", "cmake"), help="only this path"
    )
    paths_parser.set_defaults(command=_paths)

    mpi = commands.add_parser("mpi", help="run a script on several MPI ranks")
    mpi.add_argument("-n", dest="ranks", type=int, required=True, help="number of ranks")
    mpi.add_argument("--hosts", default="", help="hosts, separated by commas (default: this one)")
    mpi.add_argument("-m", dest="module", action="store_true", help="SCRIPT is a module's name")
    mpi.add_argument("script")
    mpi.add_argument("arguments", nargs=argparse.REMAINDER, help="the script's arguments")
    mpi.set_defaults(command=_mpi)

    train = commands.add_parser("train", help="train a policy by PPO on any rung")
    add_run_options(train, Path("data/run/train"), _LONGER)
    train.add_argument(
        "--trust", action="store_true", help="let a resumed run start the engine that it names"
    )
    add_parameters(train, "a setting of the rung, such as threads=4")
    add_options(train, Training, PpoSettings)
    train.set_defaults(command=_train, extra="train")

    selfplay = commands.add_parser("selfplay", help="train a policy by search and self-play")
    add_run_options(selfplay, Path("data/run/selfplay"), _LONGER)
    add_options(selfplay, SelfPlayTraining)
    selfplay.set_defaults(command=_selfplay, extra="train")

    for parser in (train, selfplay):
        parser.add_argument(
            "--track",
            choices=tracking.TRACKERS,
            default=tracking.TENSORBOARD,
            help=f"what also gets the numbers of the tables (default: {tracking.TENSORBOARD})",
        )

    uci = commands.add_parser("uci", help="let chess programs play an agent, by the UCI protocol")
    uci.add_argument(
        "agent",
        type=to_path,
        nargs="?",
        metavar="AGENT",
        help="its folder, such as pool/000400, or the name of a recorded agent (default: the "
        "strongest of those)",
    )
    uci.set_defaults(command=_uci, extra="train")

    add_conformance(commands, "a rung; rungs (the default): all that are here").set_defaults(
        command=_conformance
    )


def parameters(texts: list[str]) -> dict[str, object]:
    """Returns the values that were given by `-p`, each NAME=VALUE, as JSON can represent them."""
    values = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise ConfigurationError(f"-p {shown(text)} is not NAME=VALUE")
        if name in values:
            raise ConfigurationError(f"-p {name} is given twice")
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


def _paths(options: argparse.Namespace) -> int:
    from rungs._src.native import wheel

    folders = wheel.c_paths()
    if options.name:
        print(folders[options.name])
    else:
        print(*(f"{name:9} {path}" for name, path in folders.items()), sep="\n")
    return 0


def _perft(options: argparse.Namespace) -> int:
    from rungs._src.chess.perft import divide, perft_cpp, perft_python, read_epd

    if options.depth < 1:
        raise ConfigurationError(f"--depth {options.depth} is not at least 1")
    count: Callable[[str, int], int] = perft_python
    if options.rung == "cpp":
        count = functools.partial(perft_cpp, threads=options.threads)
    elif options.threads != 1:
        raise ConfigurationError("--threads is only for the rung cpp")
    if options.divide is not None:
        total = 0
        for move, leaves in divide(options.divide, options.depth, count):
            total += leaves
            print(f"{move}: {leaves}", flush=True)
        print(f"\nNodes searched: {total}")
        return 0
    cases = list(read_epd(options.epd))
    if not cases:
        raise ConfigurationError(f"{options.epd} holds no position")
    total, start, failures = 0, time.perf_counter(), []
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
            failures.append(case)
            print(
                f"rungs: {case.where}: {case.fen}: depth {depth} has {case.leaves[depth]:,} "
                f"leaves, not {nodes:,}",
                file=sys.stderr,
            )
    seconds = time.perf_counter() - start
    print(f"{total:,} nodes in {seconds:.1f} s, {total / seconds:,.0f} nodes/s")
    return 1 if failures else 0


def _list(options: argparse.Namespace) -> int:
    from rungs._src import listing

    print(listing.list())
    return 0


def _mpi(options: argparse.Namespace) -> int:
    from rungs._src.processes.ranks import launch

    launch_settings = {"hosts": options.hosts, "module": options.module}
    launch(options.ranks, options.script, options.arguments, **launch_settings)
    return 0


def _train(options: argparse.Namespace) -> int:
    from rungs._src.native import loader

    loader.prepare()  # before PyTorch is imported, which uses the OpenMP runtime that is there
    from rungs._src.train.runs import CHECKPOINT
    from rungs._src.train.training import checkpoint, train

    rung_settings = parameters(options.parameters)
    if options.resume:
        if rung_settings:
            raise ConfigurationError("--resume continues with the old settings: it takes no -p")
        settings = given(options, Training) | given(options, PpoSettings)
        training = lengthened(checkpoint.load(options.out)["training"], **settings)
        if training.opponent != "random" and not options.trust:
            path = options.out / CHECKPOINT
            raise ConfigurationError(
                f"{path} would run the program {training.opponent!r}: --trust allows it"
            )
    else:
        training = training_of(options, rung_settings)
    train(training, options.out, resume=options.resume, track=options.track, say=options.say)
    return 0


def _selfplay(options: argparse.Namespace) -> int:
    from rungs._src.selfplay.training import checkpoint, train

    settings = given(options, SelfPlayTraining)
    if options.resume:
        training = lengthened(checkpoint.load(options.out)["training"], **settings)
    else:
        training = SelfPlayTraining(**settings)
    train(training, options.out, resume=options.resume, track=options.track, say=options.say)
    return 0


def _uci(options: argparse.Namespace) -> int:
    from rungs._src.uci.protocol import serve

    serve(options.agent, sys.stdin.buffer, sys.stdout)
    return 0


def _conformance(options: argparse.Namespace) -> int:
    from rungs._src.conformance import environments

    return play_suite(options, environments.named(options.names), environments.version)


def play_suite(
    options: argparse.Namespace, chosen: dict[str, tuple[str, bool]], version: Callable[[str], str]
) -> int:
    """Plays the conformance suite and writes its table; returns 1 where a case fails, else 0."""
    from rungs._src.conformance import report
    from rungs._src.conformance.run import FAILS, run_aside, unavailable
    from rungs._src.conformance.suite import load
    from rungs._src.core.atomic import atomic_write

    suite = load()
    if options.groups:
        suite = suite.of_groups(options.groups)
    results = {}
    for name, (environment, may_lack) in chosen.items():
        try:
            results[name] = run_aside(environment, suite.cases)
        except UnavailableError as error:
            if not may_lack:
                raise
            results[name] = unavailable(suite.cases, error)
    versions = {name: version(name) for name in results}
    table = report.FORMATS[options.format](suite, results, versions)
    if options.out:
        with atomic_write(options.out) as unfinished:
            unfinished.write_text(table, errors="backslashreplace")
    else:
        print(table, end="")
    return int(any(one.status == FAILS for played in results.values() for one in played))
