"""The Universal Chess Interface: reads a controller's lines, and answers them.

The main thread reads, so that `stop` and `isready` are answered while another thread thinks. What
a controller sends wrongly is ignored, with a line `info string` that names it.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, TextIO

import chess

from rungs._src.core.arguments import shown
from rungs._src.core.progress import Say
from rungs._src.selfplay.recorded import agent_path
from rungs._src.uci.request import Game, Limits, Options, game_of, limits_of
from rungs.errors import ConfigurationError, InvalidFenError
from rungs.version import __version__

if TYPE_CHECKING:  # imported when it is needed, as it imports PyTorch
    from rungs._src.uci.thinking import Thinker

_LONGEST: Final = 2**20  # bytes of a line; what is longer is read as several


class Engine:
    """An engine, which a controller talks to.

    Args:
        name: of the agent, for the controller's users.
        load: makes the thinker, which tells the controller lines by the function that it is given.
            It is called when it is first needed: loading takes longer than some controllers wait
            for `uciok`.
        lines: what the controller sends.
        out: what it reads.
    """

    def __init__(self, name: str, load: Callable[[Say], "Thinker"], lines: BinaryIO, out: TextIO):
        self._name, self._load, self._lines, self._out = name, load, lines, out
        self._writing = threading.Lock()
        self._options = Options()
        self._game: Game | None = Game.begin(chess.STARTING_FEN, False)
        self._thinker: Thinker | None = None
        self._thread: threading.Thread | None = None
        self._stopped = threading.Event()
        self._failure: Exception | None = None
        self._commands: dict[str, Callable[[list[str]], None]] = {
            "uci": self._uci,
            "isready": self._isready,
            "setoption": self._setoption,
            "ucinewgame": self._ucinewgame,
            "position": self._position,
            "go": self._go,
            "stop": lambda words: self._stopped.set(),
            "debug": lambda words: None,
            "register": lambda words: None,
        }

    def run(self) -> None:
        """Answers until `quit` or the end of the lines; raises what ended the thinking."""
        try:
            while line := self._lines.readline(_LONGEST):
                words = line.decode(errors="replace").split()
                if words[:1] == ["quit"]:
                    break
                if words:
                    self._commands.get(words[0], self._unknown)(words)
        finally:
            self._stop()

    def _say(self, line: str) -> None:
        with self._writing:
            print(" ".join(line.split()), file=self._out, flush=True)

    @contextlib.contextmanager
    def _refusing(self) -> Iterator[None]:
        """Tells the controller what it has sent wrongly."""
        try:
            yield
        except (ConfigurationError, InvalidFenError) as error:
            self._say(f"info string {error}")

    def _unknown(self, words: list[str]) -> None:
        self._say(f"info string no command {shown(words[0])}")

    def _uci(self, words: list[str]) -> None:
        self._say(f"id name Rungs {__version__} {self._name}")
        self._say("id author the developers of Rungs")
        for line in self._options.declarations():
            self._say(line)
        self._say("uciok")

    def _isready(self, words: list[str]) -> None:
        if not self._thread:
            self._loaded()
        self._say("readyok")

    def _setoption(self, words: list[str]) -> None:
        self._stop()
        with self._refusing():
            self._options = self._options.replaced(words[1:])

    def _ucinewgame(self, words: list[str]) -> None:
        self._stop()
        if self._thinker:
            self._thinker.forget()

    def _position(self, words: list[str]) -> None:
        self._stop()
        before, self._game = self._game, None  # nothing is searched after a wrong position
        with self._refusing():
            self._game = game_of(words[1:], self._options.chess960, before)

    def _go(self, words: list[str]) -> None:
        began = time.perf_counter()
        self._stop()
        if "ponder" in words:
            return self._say("info string go ponder is refused: there is no option Ponder")
        if self._game is None:
            self._say("info string the last position was refused")
            return self._say("bestmove (none)")
        limits, ignored = limits_of(words[1:], self._options, self._game.board.turn)
        for reason in ignored:
            self._say(f"info string {reason}")
        self._stopped.clear()
        arguments = (self._loaded(), self._game, limits, began)
        self._thread = threading.Thread(target=self._think, args=arguments, daemon=True)
        self._thread.start()

    def _think(self, thinker: "Thinker", game: Game, limits: Limits, began: float) -> None:
        try:
            move = thinker.think(game, limits, self._options, began, self._stopped)
            if limits.infinite:
                self._stopped.wait()
            self._say(f"bestmove {move.uci() if move else '(none)'}")
        except Exception as error:  # the main thread raises it when it has read the next line
            self._failure = error
            with contextlib.suppress(OSError):  # that the controller does not read
                self._say(f"info string {type(error).__name__}: {error}")
                self._say("bestmove (none)")

    def _stop(self) -> None:
        """Ends the thinking, if there is any, with its move."""
        self._stopped.set()
        if self._thread:
            self._thread.join()
            self._thread = None
        if self._failure:
            raise self._failure

    def _loaded(self) -> "Thinker":
        self._thinker = self._thinker or self._load(self._say)
        return self._thinker


def serve(agent: Path | None, lines: BinaryIO, out: TextIO) -> None:
    """Lets a controller play with an agent, until it quits or closes the pipe.

    `agent` is as in `rungs.selfplay.load_agent`.

    Raises:
        ConfigurationError: there is no such agent.
        InvalidStateError: the file is corrupt.
        OSError: the controller does not read.
    """
    path = agent_path(agent)

    def load(say: Say) -> "Thinker":
        from rungs._src.uci.thinking import Thinker

        return Thinker.load(path, say)

    Engine(agent.stem if agent else "", load, lines, out).run()
