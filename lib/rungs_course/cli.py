"""`python -m rungs_course …`: runs the course, makes its book, records results."""

import argparse
import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rungs.devel.cli import (
    add_conformance,
    add_parameters,
    add_quiet,
    add_run_options,
    parameters,
    play_suite,
    run_command,
    to_path,
)
from rungs.errors import ConfigurationError
from rungs_course import paths

RUN = paths.ROOT / "data" / "run"


def main(arguments: list[str] | None = None) -> int:
    """Runs a command of the course; returns the exit status, see `rungs.devel.cli.run_command`."""
    return run_command("python -m rungs_course", _add_commands, arguments)


def _add_commands(commands: argparse._SubParsersAction) -> None:
    def add(name: str, command: Callable, summary: str, extra: str = "course"):
        parser = commands.add_parser(name, help=summary)
        parser.set_defaults(command=command, extra=extra)
        return parser

    run = add("run", _run, "run the notebooks, each in its own process")
    run.add_argument("--size", help="smoke, quick (the default) or full")
    run.add_argument("--only", metavar="01,03", help="numbers of the notebooks (default: all)")
    add_run_options(run, RUN)
    add_parameters(run, "set a parameter of the notebooks")

    book = add("book", _book, "make a book of a run's notebooks", extra="book")
    place = Path("data/run")
    book.add_argument(
        "--out", type=to_path, default=place, help=f"the run's folder (default: {place})"
    )

    bench = add("bench", _bench, "race any chess environment against ours; writes to data/bench/")
    bench.add_argument(
        "name",
        nargs="?",
        metavar="ENVIRONMENT",
        help="your FILE.py:CLASS or MODULE:CLASS, or a peer; without it only the page is rebuilt",
    )
    bench.add_argument(
        "--boards",
        type=int,
        nargs="+",
        default=[1, 256],
        metavar="N",
        help="numbers of boards; the best counts (default: 1 256)",
    )
    bench.add_argument(
        "--repeats", type=int, default=11, help="turns of each environment (default: 11)"
    )
    bench.add_argument("--seed", type=int, default=0, help="seed of the games (default: 0)")
    bench.add_argument("--out", type=to_path, help="the result's folder (default: data/bench)")
    add_quiet(bench)

    doctor = add("doctor", _doctor, "say what works here, and how to get the rest", extra="")
    doctor.add_argument("--brief", action="store_true", help="a few lines, on what takes no minute")

    record = add("record", _record, "keep the last run's results in data/recorded/")
    record.add_argument(
        "--agents",
        nargs="+",
        type=to_path,
        metavar="PATH",
        help="keep agents instead, earliest first: those of a pool, or a training run's folder",
    )
    record.add_argument(
        "--curves",
        nargs="+",
        type=to_path,
        metavar="RUN",
        help="add runs of self-play that differ only in their seed to the recorded ones instead",
    )
    record.add_argument(
        "--check",
        action="store_true",
        help="keep nothing; check whether the recorded results can be published",
    )
    record.add_argument(
        "folder",
        type=to_path,
        nargs="?",
        help="the run (default: data/run); with --check the record (default: this machine's)",
    )

    progress = add("progress", _progress, "list which labs are right, and how fast")
    progress.add_argument(
        "--hand-in", type=to_path, metavar="FILE", help="write your right answers to this file"
    )

    grade = add("grade", _grade, "judge students' answers in a sandbox")
    grade.add_argument("folder", type=to_path, help="folder of STUDENT.json")
    grade.add_argument("--out", type=to_path, required=True, help="the table, a CSV file")
    grade.add_argument(
        "--trust",
        action="store_true",
        help="run answers without a sandbox: they can do everything you can",
    )
    add_quiet(grade)

    tournament = add(
        "tournament", _tournament, "race students' steps, and let their agents play each other"
    )
    tournament.add_argument("folder", type=to_path, help="folder with steps/*.hpp and agents/*.pt")
    place = Path("data/run/tournament")
    tournament.add_argument(
        "--out",
        type=to_path,
        default=place,
        help=f"folder for tables, games and page (default: {place})",
    )
    tournament.add_argument(
        "--games", type=int, default=20, help="games of each pair (default: 20)"
    )
    tournament.add_argument("--seed", type=int, default=0, help="seed of the openings (default: 0)")
    tournament.add_argument("--trust", action="store_true", help="as for grade")
    add_quiet(tournament)

    rate = add(
        "rate", _rate, "rate an agent by games with Stockfish's levels, or with another agent"
    )
    rate.add_argument(
        "agent", type=to_path, metavar="AGENT", help="a file of a pool, or a training run's folder"
    )
    rate.add_argument(
        "--against", type=to_path, metavar="AGENT", help="play another agent instead of Stockfish"
    )
    rate.add_argument(
        "--control",
        metavar="SECONDS+INCREMENT",
        help="clock of a game (default: 2+0.02; between agents none: equal simulations)",
    )
    rate.add_argument(
        "--simulations",
        type=int,
        metavar="N",
        help="simulations of a move, with a clock at most (default: any, without a clock 32)",
    )
    rate.add_argument(
        "--policy",
        metavar="RULE",
        help="the search's rule: gumbel or puct (default: puct by the clock alone and from 1,024 "
        "simulations on, else gumbel)",
    )
    rate.add_argument("--games", type=int, default=100, help="games of each match (default: 100)")
    rate.add_argument(
        "--sprt",
        metavar="ELO0,ELO1",
        help="end a match with another agent once it decides between two leads",
    )
    rate.add_argument("--seed", type=int, default=0, help="seed of the openings (default: 0)")
    place = Path("data/run/rate")
    rate.add_argument(
        "--out", type=to_path, default=place, help=f"folder for tables and games (default: {place})"
    )
    add_quiet(rate)

    add_conformance(
        commands, "a rung or a peer; rungs (the default) or peers: all that are installed"
    ).set_defaults(command=_conformance)


def _of(options: argparse.Namespace, *names: str) -> dict[str, Any]:
    return {name: getattr(options, name) for name in names}


def _run(options: argparse.Namespace) -> int:
    from rungs_course import doctor
    from rungs_course.runner import chain

    if options.resume:
        if options.size or options.only is not None or options.parameters:
            raise ConfigurationError("--resume keeps the run's settings: it accepts only --out")
        chain.resume(out=options.out, say=options.say)
    else:
        chain.run(
            size="quick" if options.size is None else options.size,
            only=options.only.split(",") if options.only is not None else None,
            parameters=parameters(options.parameters),
            out=options.out,
            before=functools.partial(doctor.print_summary_aside, options.say)
            if options.only is None
            else None,
            say=options.say,
        )
    return 0


def _bench(options: argparse.Namespace) -> int:
    from rungs_course import bench
    from rungs_course.pages import bench as page

    failed = False
    if options.name:
        result = bench.measure(options.name, **_of(options, "boards", "repeats", "seed", "say"))
        print(page.bench_in_words(result))
        print(f"The result is {bench.write(result, options.out or bench.FOLDER)}")
        failed = bool(result["conformance"]["failed"])
    if not options.out:
        page.write_bench(paths.ROOT)
    return int(failed)


def _book(options: argparse.Namespace) -> int:
    from rungs_course.runner import book, bundle

    front = book.build(options.out)
    if why := bundle.missing():
        print(why)
    print(f"Read {front}")
    return 0


def _doctor(options: argparse.Namespace) -> int:
    from rungs_course import doctor

    if options.brief:
        text = doctor.summary()
        print(f"{doctor.identity()}\n{text}")
        return 0
    broken = False
    print(doctor.identity(), flush=True)
    for finding in doctor.examine():
        says = "works" if finding.works else "BROKEN" if finding.needed else "not here"
        print(f"{says:<10}{finding.name:<26}{finding.detail}", flush=True)
        broken |= finding.needed and not finding.works
    return 1 if broken else 0


def _record(options: argparse.Namespace) -> int:
    from rungs_course.runner import recorded

    if options.agents:
        from rungs_course import agents, rating

        saved = agents.record(options.agents, ratings=rating.recorded)
        print(*(f"Recorded {folder}" for folder in saved), sep="\n")
        return 0
    if options.curves:
        from rungs_course import rating

        print(f"Recorded {rating.record_curves(options.curves)}")
        return 0
    if options.check:
        folder = options.folder or recorded.here()
        if missing := recorded.check(folder):
            print(f"{folder} has no faults, but can't be published yet:", *missing, sep="\n")
            return 1
        print(f"{folder} is complete, unchanged, and of one idle machine")
        return 0
    path = recorded.record(options.folder or RUN)
    print(f"Recorded in {path}")
    if path.is_file():
        print("How long its notebooks took: results are recorded of runs of size 'full' only")
    return 0


def _progress(options: argparse.Namespace) -> int:
    from rungs_course.labs import record

    if options.hand_in:
        count = record.hand_in(options.hand_in)
        print(f"{options.hand_in} holds your {count} right answers")
        return 0
    table = record.table(record.read())
    print(table.to_string(index=False, na_rep="-", float_format="{:.2f}".format))
    right = table["state"].isin(["right", "target reached"]).sum()
    print(f"{right} of {len(table)} labs are right; kept in {record.path()}")
    return 0


def _grade(options: argparse.Namespace) -> int:
    from rungs_course.labs import grading

    missed = grading.grade(options.folder, options.out, options.say, trust=options.trust)
    options.say(f"The table is {options.out}")
    if missed:
        print(f"rungs: not judged: {missed} of the rows, see the table", file=sys.stderr)
    return 1 if missed else 0


def _tournament(options: argparse.Namespace) -> int:
    from rungs_course import tournament

    settings = _of(options, "games", "seed", "trust")
    page = tournament.hold(options.folder, options.out, options.say, **settings)
    options.say(f"The page is {page}")
    return 0


def _rate(options: argparse.Namespace) -> int:
    from rungs.selfplay import Sprt
    from rungs_course import rating
    from rungs_course.uci_games import Control

    sprt = None
    if options.sprt:
        try:
            elo0, elo1 = map(float, options.sprt.split(","))
        except ValueError:
            raise ConfigurationError(f"--sprt {options.sprt} is not two numbers, as 0,20") from None
        sprt = Sprt(elo0, elo1)
    settings = _of(options, "against", "simulations", "policy", "games", "seed") | {"sprt": sprt}
    control = Control.parsed(options.control) if options.control else None
    rating.rate(options.agent, options.out, options.say, control=control, **settings)
    options.say(f"Tables and games are in {options.out}")
    return 0


def _conformance(options: argparse.Namespace) -> int:
    from rungs_course import peers

    return play_suite(options, peers.to_be_asked(options.names), peers.version)
