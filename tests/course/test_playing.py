"""Agents in native code, and the server that has them play for a page of this machine alone."""

import contextlib
import http.client
import json
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from rungs._src.native import wasm
from rungs._src.selfplay.agent import load, untrained
from rungs._src.train.cpp_network import flat_weights
from rungs.errors import ConfigurationError, InvalidFenError, InvalidStateError, UnavailableError
from rungs_course import agents
from rungs_course.playing import server as serving
from rungs_course.playing.agent import Agent
from rungs_course.playing.server import Server
from rungs_course.runner import bundle

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
MATE_IN_ONE = "6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1"
RECORDED = agents.recorded_in() / "1.pt"
ASKED = {"agent": "untrained", "fen": START, "actions": [], "milliseconds": 50}


def made(agent=None, **settings):
    weights = flat_weights((agent or untrained()).network).astype(np.float16)
    return Agent(weights, **{"nodes": 2000, "simulations": 512} | settings)


def test_an_agent_finds_a_mate_and_says_so():
    with made() as agent:
        agent.begin(MATE_IN_ONE, [])
        agent.think(200)
        thoughts = agent.thoughts()
        (mate,) = [each for each in agent.tree(3, 0.02) if each["action"] == thoughts["chosen"]]
    assert thoughts["value"] > 0.8
    assert thoughts["line"] == [thoughts["chosen"]]
    first = thoughts["candidates"][0]
    assert (first["action"], first["value"]) == (thoughts["chosen"], 1)
    assert sum(each["visits"] for each in thoughts["candidates"]) == thoughts["simulations"] == 200
    assert sum(each["prior"] for each in thoughts["candidates"]) == pytest.approx(1, abs=1e-5)
    assert mate == {
        "action": first["action"],
        "visits": first["visits"],
        "value": 1,
        "children": [],
    }


def test_a_tree_that_is_full_is_said_to_be_and_goes_on():
    with made(nodes=65, simulations=64) as agent:
        agent.begin(START, [])
        agent.think(20)
        assert not agent.thoughts()["full"]
        agent.think(64)
        agent.think(64)
        thoughts = agent.thoughts()
    assert (thoughts["nodes"], thoughts["full"], thoughts["simulations"]) == (65, True, 148)


def test_what_is_no_position_to_think_of_is_refused():
    with made() as agent:
        with pytest.raises(InvalidFenError):
            agent.begin("no position", [])
        for action in (4000, -1):
            with pytest.raises(ConfigurationError):
                agent.begin(START, [action])
        agent.begin(MATE_IN_ONE, [])
        agent.think(50)
        with pytest.raises(ConfigurationError, match="over"):
            agent.begin(MATE_IN_ONE, [agent.thoughts()["chosen"]])
    with pytest.raises(ConfigurationError, match="num_weights"):
        Agent(np.zeros(7), nodes=2000)


@pytest.mark.system
@pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")
@pytest.mark.skipif(not wasm.FILE.exists(), reason="`make wasm` was not run")
def test_its_thoughts_are_those_of_javascript_bit_for_bit(tmp_path):
    recorded = load(RECORDED)
    (tmp_path / "agent.bin").write_bytes(agents.packed(recorded, []))
    js = Path(bundle.SOURCES).parent
    program = f"""
import {{ readFileSync }} from "node:fs";
import {{ Agent }} from "{js}/agent.js";
import {{ load }} from "{js}/rungs.js";
const rungs = await load(readFileSync("{wasm.FILE}"));
const agent = new Agent(rungs, readFileSync("{tmp_path}/agent.bin"), {{ nodes: 2000 }});
agent.begin("{START}", []);
for (const part of [100, 300]) agent.think(part);
const first = agent.thoughts();
agent.begin("{START}", first.line);
agent.think(300);
console.log(JSON.stringify([first, agent.thoughts(), agent.tree(4, 0.02)]));
"""
    command = ["node", "--input-type=module", "--eval", program]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    theirs = json.loads(done.stdout)
    with made(recorded, march="x86-64-v2") as agent:  # without fused operations
        agent.begin(START, [])
        agent.think(400)
        first = agent.thoughts()
        agent.begin(START, first["line"])
        agent.think(300)
        assert theirs == [first, agent.thoughts(), agent.tree(4, 0.02)]
    assert len(first["line"]) > 2


def corrupt():
    raise InvalidStateError("000040.pt is corrupt")


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A server at work, of a page that the test wrote."""
    page = "<html><head><title>it</title>\n</head>\n<body>here</body></html>"
    monkeypatch.setattr(bundle, "missing", lambda: "")
    monkeypatch.setattr(bundle, "build", lambda out: (out / serving.PAGE).write_text(page))
    with Server(tmp_path, 0, {"untrained": untrained, "</script>": corrupt}) as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def answer(server, body=None, path="/think", method=None, **headers):
    """Returns the status of an answer, and its text."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    with contextlib.closing(connection):
        if body is not None:
            headers = {"Content-Type": "application/json"} | headers
            body = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method or ("GET" if body is None else "POST"), path, body, headers)
        got = connection.getresponse()
        return got.status, got.read().decode()


def test_the_page_is_told_who_thinks(server):
    assert answer(server, path="/")[0] == 302
    status, page = answer(server, path=f"/{serving.PAGE}")
    assert status == 200
    script = page.partition("<script>globalThis.rungsServed = ")[2].partition(";</script>")[0]
    told = json.loads(script)
    assert [each["name"] for each in told["agents"]] == ["untrained", "</script>"]
    assert told["where"].startswith("native")
    assert page.endswith("<body>here</body></html>")


def test_thoughts_come_as_they_are_found_until_the_time_is_over(server):
    began = time.monotonic()
    status, text = answer(server, ASKED | {"milliseconds": 500})
    assert status == 200
    assert time.monotonic() - began >= 0.5
    found = [json.loads(line) for line in text.splitlines()]
    assert [each["done"] for each in found] == [False] * (len(found) - 1) + [True]
    assert len(found) > 1
    counts = [each["simulations"] for each in found]
    assert counts == sorted(counts)
    last = found[-1]
    assert last["milliseconds"] >= 500
    assert last["chosen"] == last["candidates"][0]["action"] == last["line"][0]
    assert len(last["candidates"]) == 20
    assert {"action", "visits", "value", "children"} == last["tree"][0].keys()


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (b"{", "is JSON"),
        (b"[" * 50_000, "is JSON"),
        ([], "a request has agent"),
        ({"agent": "untrained"}, "a request has agent"),
        (ASKED | {"more": 1}, "nothing else"),
        (ASKED | {"agent": "nobody"}, "no agent 'nobody'"),
        (ASKED | {"agent": ["untrained"]}, "agent: .* another type"),
        (ASKED | {"agent": "</script>"}, "000040.pt is corrupt"),
        (ASKED | {"fen": "no position"}, "FEN|fen|position"),
        (ASKED | {"fen": "\ud800"}, "fen"),
        (ASKED | {"actions": [1, True]}, "actions: True"),
        (ASKED | {"actions": [4672]}, "actions: 4672"),
        (ASKED | {"actions": [1.5]}, "actions: 1.5"),
        (ASKED | {"actions": [4000]}, "4000 is not legal"),
        (ASKED | {"milliseconds": 5001}, "milliseconds: 5001"),
        (ASKED | {"milliseconds": 0}, "milliseconds: 0"),
        (ASKED | {"milliseconds": float("nan")}, "milliseconds: nan"),
        (ASKED | {"milliseconds": True}, "milliseconds: True"),
        (b" " * 70_000, "at most 65536 bytes"),
    ],
    ids=str,
)
def test_a_wrong_request_is_refused_with_a_reason(server, asked, why):
    status, text = answer(server, asked)
    assert status == 400
    with pytest.raises(AssertionError, match=why):
        raise AssertionError(json.loads(text)["error"])


def test_only_its_own_pages_are_answered(server):
    own = f"127.0.0.1:{server.server_port}"
    evil = {"Host": f"evil.example:{server.server_port}"}
    assert answer(server, ASKED, Origin=f"http://{own}")[0] == 200
    for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}, evil):
        assert answer(server, ASKED, **headers)[0] == 403
    for method in ("GET", "HEAD"):
        assert answer(server, path=f"/{serving.PAGE}", method=method, **evil)[0] == 403
    assert answer(server, ASKED, Content_Type="text/plain")[0] == 400
    assert answer(server, ASKED, path="/play.html")[0] == 404
    assert answer(server, path="/../../etc/passwd")[0] == 404
    assert server.server_address[0] == "127.0.0.1"


def test_a_search_ends_with_the_page_that_asked_for_it(server):
    body = json.dumps(ASKED | {"milliseconds": 5000})
    head = f"POST /think HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.server_port)) as page:
        page.sendall((head + body).encode())
        page.recv(1)
    began = time.monotonic()
    assert answer(server, ASKED)[0] == 200
    assert time.monotonic() - began < 4


def test_without_pages_or_a_port_it_says_what_is_missing(server, tmp_path, monkeypatch):
    with pytest.raises(UnavailableError, match=f"port {server.server_port}"):
        Server(tmp_path, server.server_port, {})
    monkeypatch.setattr(bundle, "missing", lambda: "`make wasm` has not made it.")
    with pytest.raises(UnavailableError, match="make wasm"):
        Server(tmp_path, 0, {})


@pytest.mark.system
@pytest.mark.skipif(bool(bundle.missing()), reason=bundle.missing())
def test_the_command_prints_its_address_and_ends_quietly():
    command = [sys.executable, "-m", "rungs_course", "play"]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **streams) as process:
        line = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        printed, wrong = process.communicate(timeout=60)
    assert line.startswith("Play at http://127.0.0.1:")
    assert (process.returncode, printed.strip(), wrong) == (0, "", "")
