"""Serves the book's pages that run Rungs, and agents in native code to the one to play on.

It answers only this machine, and only pages that it served itself.
"""

import functools
import http.server
import json
import re
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import numpy as np

from rungs._src.core.arguments import shown
from rungs._src.machine.cpu import cpu_features
from rungs._src.native import gpp
from rungs._src.selfplay.agent import Agent as Loaded
from rungs._src.train.cpp_network import flat_weights
from rungs.errors import ConfigurationError, RungsError, UnavailableError
from rungs_course import agents, rating
from rungs_course.playing.agent import Agent
from rungs_course.runner import bundle

PAGE = "play.html"
MAX_MILLISECONDS = 5000  # of a search: the page's longest
NODES = 400_000  # positions of a tree: some 400 MB
_BYTES = 65_536  # of a request
_SLICE, _SHOWS = 0.02, 0.1  # seconds, as in js/thinking.js
_DEPTH, _LEAST = 4, 0.02  # of the tree that is shown, as in js/thinking.js
# What compiled code uses on processors with such features, the best first.
_INSTRUCTIONS = {"avx512bw": "AVX-512", "avx2": "AVX2", "sse4_2": "SSE4.2", "asimd": "NEON"}


def where() -> str:
    """Returns what computes, in words: native code and its vector instructions."""
    features = cpu_features().split()
    return ", ".join(["native", *[_INSTRUCTIONS[n] for n in _INSTRUCTIONS if n in features][:1]])


class Thinkers:
    """Agents by name, which search a position on request.

    Args:
        known: the functions that load them, see `rungs_course.agents.known`.
    """

    def __init__(self, known: dict[str, Callable[[], Loaded]]):
        self._known = known
        self._weights = functools.cache(self._read)
        self._one_at_a_time = threading.Lock()  # to limit memory and time

    def described(self) -> dict[str, Any]:
        """Returns what the page receives: the agents' names and ratings, and what computes."""
        about = [{"name": name, "ratings": rating.recorded(name)} for name in self._known]
        return {"where": where(), "agents": about}

    def think(self, request: Any) -> Generator[dict[str, Any]]:
        """Yields what an agent thinks of a position so far, about ten times a second.

        Args:
            request: from `ServedPlayer` of `js/thinking.js`: `agent`, `fen`, `actions` and
                `milliseconds`.

        Raises:
            ConfigurationError: it is malformed, or its agent is unknown or has no C++.
            InvalidFenError: the FEN is malformed or its position impossible.
            InvalidStateError: the agent's file is corrupt.
            UnavailableError: there is too little memory.
        """
        name, fen, actions, milliseconds = _read_request(request)
        if name not in self._known:
            raise ConfigurationError(f"there is no agent {shown(name)}")
        with self._one_at_a_time, Agent(self._weights(name), nodes=NODES) as agent:
            agent.begin(fen, actions)
            yield from _progress(agent, milliseconds / 1000)

    def _read(self, name: str) -> np.ndarray:
        return flat_weights(self._known[name]().network).astype(np.float16)


def _read_request(request: Any) -> tuple[str, str, list[int], float]:
    """Returns the request's parts; raises ConfigurationError, which names a wrong one."""
    kinds: dict[str, Any] = {
        "agent": str,
        "fen": str,
        "actions": list,
        "milliseconds": (int, float),
    }
    if not isinstance(request, dict) or request.keys() != kinds.keys():
        raise ConfigurationError(f"a request has {', '.join(kinds)}, and nothing else")
    for name, kind in kinds.items():
        if not isinstance(request[name], kind) or isinstance(request[name], bool):
            raise ConfigurationError(f"{name}: {shown(request[name])} is of another type")
    actions, milliseconds = request["actions"], request["milliseconds"]
    for action in actions:
        if type(action) is not int or not 0 <= action < 4672:
            raise ConfigurationError(f"actions: {shown(action)} is not an action")
    if not request["fen"].isascii():
        raise ConfigurationError(f"fen: {shown(request['fen'])} is not a FEN")
    if not 0 < milliseconds <= MAX_MILLISECONDS:
        raise ConfigurationError(f"milliseconds: {milliseconds} is not in (0, {MAX_MILLISECONDS}]")
    return request["agent"], request["fen"], actions, milliseconds


def _progress(agent: Agent, seconds: float) -> Generator[dict[str, Any]]:
    began, simulations = time.perf_counter(), 32
    next_shown = 0.0
    while True:
        before = time.perf_counter()
        agent.think(simulations)
        now = time.perf_counter()
        simulations = min(4096, max(16, round(simulations * _SLICE / (now - before))))
        passed = now - began
        done = passed >= seconds
        if done or passed >= next_shown:
            next_shown = passed + _SHOWS
            found = {"tree": agent.tree(_DEPTH, _LEAST), "milliseconds": 1000 * passed}
            yield agent.thoughts() | found | {"done": done}
        if done:
            return


class Server(http.server.ThreadingHTTPServer):
    """A server for this machine's browsers.

    Args:
        folder: an empty one, for the pages.
        port: of the address; 0 for one that is free.
        known: see `Thinkers`.

    Raises:
        BookError: as `bundle.build`.
        UnavailableError: there is no WebAssembly module, or the port is taken.
        CompilerError: g++ is not installed, or rejects the C++.
    """

    daemon_threads = True

    def __init__(self, folder: Path, port: int, known: dict[str, Callable[[], Loaded]]):
        if why := bundle.missing():
            raise UnavailableError(why)
        gpp.load()  # compiled now, not while somebody waits for a move
        bundle.build(folder)
        self.thinkers = Thinkers(known)
        # A "<" could end the script.
        told = json.dumps(self.thinkers.described()).replace("<", "\\u003c")
        page = folder / PAGE
        script = f"<script>globalThis.rungsServed = {told};</script>\n</head>"
        page.write_text(page.read_text().replace("</head>", script, 1))
        try:
            handler = functools.partial(_Handler, directory=str(folder))
            super().__init__(("127.0.0.1", port), handler)
        except OSError as error:
            raise UnavailableError(f"port {port}: {error.strerror}") from None

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Prints an error, unless a browser has closed the connection."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    @property
    def address(self) -> str:
        """The URL of the page to play on."""
        return f"http://127.0.0.1:{self.server_port}/{PAGE}"


class _Handler(http.server.SimpleHTTPRequestHandler):
    server: Server
    timeout = 10  # seconds that a browser may take over a request, or to read

    def do_GET(self) -> None:
        if self._is_ours():
            if self.path in ("/", "/index.html"):
                self.send_response(302)
                self.send_header("Location", f"/{PAGE}")
                self.end_headers()
            else:
                super().do_GET()

    def do_HEAD(self) -> None:
        if self._is_ours():
            super().do_HEAD()

    def do_POST(self) -> None:
        if not self._is_ours():
            return
        if self.path != "/think":
            return self._refuse(404, "there is nothing to post to but /think")
        if self.headers.get_content_type() != "application/json":
            return self._refuse(400, "a request is of application/json")
        size = self.headers.get("Content-Length", "")
        if not re.fullmatch(r"[0-9]{1,9}", size) or int(size) > _BYTES:
            return self._refuse(400, f"a request has a length, of at most {_BYTES} bytes")
        try:
            request = json.loads(self.rfile.read(int(size)))
        except (ValueError, RecursionError):
            return self._refuse(400, "a request is JSON")
        self._think(request)

    def _think(self, request: Any) -> None:
        progress = self.server.thinkers.think(request)
        try:
            first = next(progress)
        except RungsError as error:
            return self._refuse(400, str(error))
        try:
            self._begin(200)
            self._line(first)
            for found in progress:
                self._line(found)
        except RungsError as error:
            self._line({"error": str(error)})
        except OSError:  # the page has cancelled the request, or is closed
            pass
        finally:
            progress.close()

    def _is_ours(self) -> bool:
        """Returns whether a page of this server asks; else rejects, whatever host name was used."""
        names = [f"{name}:{self.server.server_port}" for name in ("127.0.0.1", "localhost")]
        host, origin = self.headers.get("Host"), self.headers.get("Origin")
        ours = host in names and origin in (None, f"http://{host}")
        if not ours:
            self._refuse(403, "only pages of this server are answered")
        return ours

    def _refuse(self, status: int, why: str) -> None:
        self._begin(status)
        self._line({"error": why})

    def _begin(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()

    def _line(self, content: dict[str, Any]) -> None:
        self.wfile.write(json.dumps(content).encode() + b"\n")
        self.wfile.flush()

    def log_message(self, *_: object) -> None:
        """Prints nothing."""


def serve(port: int) -> None:
    """Serves the pages until Ctrl-C; prints the address first. Raises as `Server`."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Server(Path(folder), port, agents.known()) as server,
    ):
        try:
            print(f"Play at {server.address} ({where()}). Ctrl-C ends it.", flush=True)
            server.serve_forever()
        except KeyboardInterrupt:
            print()
