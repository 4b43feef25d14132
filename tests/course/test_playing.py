"""Agents in native code, and the server that has them play for a page of this machine alone."""

import contextlib
import http.client
import json
import threading

import numpy as np
import pytest

from rungs._src.selfplay.agent import untrained
from rungs._src.train.cpp_network import flat_weights
from rungs.errors import ConfigurationError, InvalidFenError
from rungs_course.playing import server as serving
from rungs_course.playing.agent import Agent
from rungs_course.playing.server import Server
from rungs_course.runner import bundle

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
MATE_IN_ONE = "6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1"
REQUEST = {"agent": "untrained", "fen": START, "actions": [], "milliseconds": 20}


@pytest.fixture(scope="module")
def weights():
    return flat_weights(untrained().network).astype(np.float16)


def test_an_agent_finds_a_mate_and_says_so(weights):
    with Agent(weights, nodes=2000, simulations=512) as agent:
        agent.begin(MATE_IN_ONE, [])
        agent.think(200)
        thoughts = agent.thoughts()
        mate = thoughts["candidates"][0]
        assert agent.tree(3, 0.02)[0].keys() == {"action", "visits", "value", "children"}
        with pytest.raises(ConfigurationError, match="over"):
            agent.begin(MATE_IN_ONE, [mate["action"]])
        with pytest.raises(InvalidFenError):
            agent.begin("no position", [])
        for action in (4000, -1):
            with pytest.raises(ConfigurationError, match=str(action)):
                agent.begin(START, [action])
    assert thoughts["line"] == [thoughts["chosen"]] == [mate["action"]]
    assert mate["value"] == 1
    assert sum(move["visits"] for move in thoughts["candidates"]) == thoughts["simulations"] == 200
    assert sum(move["prior"] for move in thoughts["candidates"]) == pytest.approx(1, abs=1e-5)


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A server at work, of a page that the test wrote."""
    page = "<html><head><title>it</title>\n</head>\n<body>here</body></html>"
    monkeypatch.setattr(bundle, "missing", lambda: "")
    monkeypatch.setattr(bundle, "build", lambda out: (out / serving.PAGE).write_text(page))
    with Server(tmp_path, 0, {"untrained": untrained, "</script>": untrained}) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def answer(server, body=None, path="/think", **headers):
    """Returns the status of an answer, and its text."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    with contextlib.closing(connection):
        if body is not None:
            headers = {"Content-Type": "application/json"} | headers
            body = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("GET" if body is None else "POST", path, body, headers)
        response = connection.getresponse()
        return response.status, response.read().decode()


def test_a_page_is_told_who_thinks_and_what_was_thought(server):
    assert answer(server, path="/")[0] == 302
    status, page = answer(server, path=f"/{serving.PAGE}")
    assert status == 200
    script = page.partition("<script>globalThis.rungsServed = ")[2].partition(";</script>")[0]
    names = [agent["name"] for agent in json.loads(script)["agents"]]
    assert names == ["untrained", "</script>"]
    status, text = answer(server, REQUEST)
    assert status == 200
    *progress, last = map(json.loads, text.splitlines())
    assert last["done"]
    assert not any(thoughts["done"] for thoughts in progress)
    assert last["chosen"] == last["candidates"][0]["action"] == last["line"][0]


def test_a_wrong_request_is_refused_with_a_reason(server):
    for request, named in (
        (b"{", "JSON"),
        (b"[" * 50_000, "JSON"),
        ({"agent": "untrained"}, "fen"),
        (REQUEST | {"agent": "nobody"}, "nobody"),
        (REQUEST | {"fen": "\ud800"}, "fen"),
        (REQUEST | {"actions": [4672]}, "4672"),
        (REQUEST | {"actions": [4000]}, "4000"),
        (REQUEST | {"milliseconds": 5001}, "5001"),
        (REQUEST | {"milliseconds": float("nan")}, "nan"),
        (REQUEST | {"milliseconds": True}, "True"),
        (b" " * 70_000, "65536"),
    ):
        status, text = answer(server, request)
        assert status == 400
        assert named in json.loads(text)["error"]


def test_only_its_own_pages_are_answered(server):
    port = server.server_port
    evil = {"Host": f"evil.example:{port}"}
    assert answer(server, REQUEST, Origin=f"http://127.0.0.1:{port}")[0] == 200
    for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}, evil):
        assert answer(server, REQUEST, **headers)[0] == 403
    assert answer(server, path=f"/{serving.PAGE}", **evil)[0] == 403
    assert answer(server, REQUEST, Content_Type="text/plain")[0] == 400
    assert answer(server, path="/../../etc/passwd")[0] == 404
    assert server.server_address[0] == "127.0.0.1"
