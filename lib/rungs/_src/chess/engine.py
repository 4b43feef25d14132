"""A UCI engine, such as Stockfish, as the opponent."""

import asyncio
import contextlib
import dataclasses
import math
import os
import re
import signal
import subprocess
import threading
import weakref
from collections.abc import Coroutine, Iterator, Mapping
from typing import Any

import chess
import chess.engine
import numpy as np

from rungs._src.core.arguments import integer, real, shortened, shown
from rungs._src.processes.parent_death import ProcessGroup, signalled_at_parents_death
from rungs._src.programs import find_program, run_program
from rungs.errors import ConfigurationError, EngineError, UnavailableError

_NAME_SECONDS = 10.0  # as `UciEngine.timeout`


@dataclasses.dataclass(frozen=True)
class UciEngine:
    """The engine that plays, and its strength.

    It is given the position alone, with its memory cleared, so its reply depends on nothing else
    and is the same on every rung and in every run, unless its own options make it random.

    Attributes:
        path: the program, or its name, found as `find_program` finds it.
        depth: how many plies it looks ahead, at least 1; None for as many as it likes. It is 1
            where neither `nodes` nor `seconds` is given. Of several limits the first that is
            reached ends its search.
        timeout: seconds it may take to start, and for each move, at least a thousandth.
        options: its own, by name, e.g. {"Hash": 1}, except those that `skill` and `elo` set.
        nodes: how many positions it looks at for a move, at least 1; None for any number.
        seconds: how long it thinks about a move, from a thousandth to less than `timeout`; None for
            as long as it likes. What it replies then depends on the machine.
        skill: Stockfish's "Skill Level", 0 to 20; None for the engine's default.
        elo: the rating that limits it ("UCI_LimitStrength" and "UCI_Elo"); None for no limit. An
            option that it lacks, or a value out of range, is an `EngineError` when it starts.

    Raises:
        ConfigurationError: there is no such program, a value is wrong, or two of them contradict
            each other; the message names it.
    """

    path: str
    depth: int | None = None
    timeout: float = 10.0
    options: Mapping[str, str | int | bool] = dataclasses.field(default_factory=dict)
    _: dataclasses.KW_ONLY
    nodes: int | None = None
    seconds: float | None = None
    skill: int | None = None
    elo: int | None = None

    def __post_init__(self) -> None:
        checked: dict[str, Any] = {
            "path": _program(self.path),
            "timeout": real("engine timeout", self.timeout, 1e-3, math.inf),
            "options": _options(self.options),
        }
        for name, (low, high) in _INTEGERS.items():
            if (value := getattr(self, name)) is not None:
                checked[name] = integer(f"engine {name}", value, low, high)
        if self.seconds is not None:
            checked["seconds"] = real("engine seconds", self.seconds, 1e-3, math.inf)
            if checked["seconds"] >= checked["timeout"]:
                raise ConfigurationError(
                    f"engine seconds={self.seconds} are not less than timeout={self.timeout}"
                )
        if self.depth is self.nodes is self.seconds is None:
            checked["depth"] = 1
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        self._check_no_contradiction()

    def strength(self) -> dict[str, int | bool]:
        """Returns the options that `skill` and `elo` set."""
        options: dict[str, int | bool] = {}
        if self.skill is not None:
            options["Skill Level"] = self.skill
        if self.elo is not None:
            options |= {"UCI_LimitStrength": True, "UCI_Elo": self.elo}
        return options

    def _check_no_contradiction(self) -> None:
        if self.skill is not None and self.elo is not None:
            raise ConfigurationError(f"engine skill={self.skill} and elo={self.elo}: give only one")
        set_here = {name.lower() for name in self.strength()}  # as UCI ignores case
        for name in self.options:
            if name.lower() in set_here:
                raise ConfigurationError(f"engine option {name} is set by skill or elo already")


_INTEGERS = {"depth": (1, 2**31 - 1), "nodes": (1, 2**63 - 1), "skill": (0, 20), "elo": (0, 10_000)}


def engine_name(program: str) -> str:
    """Returns the name and version that a UCI engine reports; an EngineError after 10 s without."""
    try:
        done = run_program([program], _NAME_SECONDS, "uci\nquit\n")
    except UnavailableError as error:
        raise EngineError(f"engine {error}") from None
    named = re.search(r"^id name +(\S.*)", done.stdout, re.MULTILINE)
    if not named:
        raise EngineError(f"engine {program} does not say its name")
    return named[1].rstrip()


def _program(path: Any) -> str:
    program = None
    if isinstance(path, str | os.PathLike):
        path = os.fspath(path)
        with contextlib.suppress(ValueError):  # a NUL, or what the system can't write
            program = isinstance(path, str) and find_program(path)
    if not program:
        raise ConfigurationError(f"engine path={shown(path)} is not a program")
    return path


def _options(options: object) -> dict[str, str | int | bool]:
    if not isinstance(options, Mapping):
        raise ConfigurationError(f"engine options={shown(options)} are not a dict")
    checked: dict[str, str | int | bool] = {}
    for name, value in options.items():
        if not isinstance(name, str):
            raise ConfigurationError(f"engine option {shown(name)} is not a name")
        label = f"engine option {name}"
        if isinstance(value, str):
            if "\n" in value or "\r" in value:  # the rest would be a command of its own
                raise ConfigurationError(f"{label}={shown(value)} is not one line of text")
            checked[name] = str(value)
        elif isinstance(value, bool | np.bool_):
            checked[name] = bool(value)
        else:
            checked[name] = integer(label, value, -(2**63), 2**63 - 1)
    return checked


class EngineProcess:
    """A running engine, which a failure restarts; `close`, its owner and our process end it."""

    def __init__(self, engine: UciEngine):
        self.engine = engine
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._protocol: chess.engine.UciProtocol | None = None
        self._kill: weakref.finalize | None = None

    def reply(self, position: chess.Board, board: int) -> chess.Move:
        """Returns the engine's move in `position`; an EngineError names `board` and stops it."""
        limit = chess.engine.Limit(
            depth=self.engine.depth, nodes=self.engine.nodes, time=self.engine.seconds
        )
        with self._failing_as(board, position.fen()):
            protocol = self._protocol or self._start()
            # A new game each time: what it remembers of others must not change its move.
            play = protocol.play(position, limit, game=object())
            move = self._wait(play).move
            if not move:  # none, or "0000", which means none
                raise chess.engine.EngineError("it made no move")
            return move

    def close(self) -> None:
        """Stops it; may be called twice."""
        if self._kill:
            self._kill()
        if self._thread:
            self._thread.join()
        self._loop = self._thread = self._protocol = self._kill = None

    def _start(self) -> chess.engine.UciProtocol:
        # In a thread of its own, as a notebook's already runs an event loop.
        self._loop = asyncio.new_event_loop()
        group = ProcessGroup()
        processes: list[tuple] = []
        self._kill = weakref.finalize(self, _stop, self._loop, group, processes)
        self._thread = threading.Thread(target=_run, args=(self._loop,), daemon=True)
        self._thread.start()
        self._protocol = self._wait(_open(self.engine, group, processes))
        return self._protocol

    def _wait(self, coroutine: Coroutine) -> Any:
        assert self._loop is not None  # it was started
        timed = asyncio.wait_for(coroutine, self.engine.timeout)
        return asyncio.run_coroutine_threadsafe(timed, self._loop).result()

    @contextlib.contextmanager
    def _failing_as(self, board: int, fen: str) -> Iterator[None]:
        try:
            yield
        except TimeoutError:
            why = f"did not answer within {self.engine.timeout} s"
        except Exception as error:  # anything that reading its answer raises
            why = f"failed: {shortened(str(error)) or type(error).__name__}"
        except BaseException:  # Ctrl-C leaves it thinking about a move that is not awaited
            self.close()
            raise
        else:
            return
        self.close()
        raise EngineError(f"engine {self.engine.path} {why} (in {fen})", board) from None


async def _open(
    engine: UciEngine, group: ProcessGroup, processes: list
) -> chess.engine.UciProtocol:
    # The process is known to `_stop` from its first moment, even where it never says "uciok".
    transport, protocol = await chess.engine.UciProtocol.popen(
        find_program(engine.path) or engine.path,
        stderr=subprocess.DEVNULL,
        process_group=group.number,
        preexec_fn=signalled_at_parents_death(signal.SIGKILL),
    )
    processes.append((transport, protocol))
    await protocol.initialize()
    await protocol.configure({**engine.options, **engine.strength()})
    return protocol


def _run(loop: asyncio.AbstractEventLoop) -> None:
    loop.run_forever()
    loop.close()


def _stop(loop: asyncio.AbstractEventLoop, group: ProcessGroup, processes: list) -> None:
    # Killed here, as at the end of Python nothing waits for the loop's thread to do it.
    group.kill()
    asyncio.run_coroutine_threadsafe(_shut_down(loop, processes), loop)


async def _shut_down(loop: asyncio.AbstractEventLoop, processes: list) -> None:
    for transport, protocol in processes:
        # A transport that is closed before asyncio has seen the process end collects its exit
        # status itself, which asyncio then misses, and logs.
        if transport.get_returncode() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(transport.get_pid(), signal.SIGKILL)  # where it has left the group
        while transport.get_returncode() is None:
            await asyncio.sleep(0.001)
        transport.close()
        await protocol.returncode
    loop.stop()
