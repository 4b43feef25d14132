"""`make explore` and `make lab` start kernels for their reader alone, and not for ever."""

import contextlib
import json
import re
import socket
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.browser import ROOT, free_port, made, printed_token, served

pytest.importorskip("voila")


pytestmark = pytest.mark.system


# What asks for a kernel's channel, as a browser does.
UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "MDEyMzQ1Njc4OWFiY2RlZg==",
}


class Server:
    """A server at work: what it answers, and which kernels it has."""

    def __init__(self, port, process, log):
        self.port, self.process, self.log = port, process, log
        self.token = printed_token(log)

    def answer(self, path, *, method="GET", **headers):
        """Returns status, address and text of an answer; follows no redirection."""
        address = f"http://127.0.0.1:{self.port}{path}"
        data = b"{}" if method == "POST" else None
        request = urllib.request.Request(address, data, headers, method=method)
        try:
            with OPENER.open(request, timeout=120) as answer:
                return answer.status, "", answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.headers.get("Location", ""), error.read().decode()

    def says(self, words, seconds=120):
        """Waits until its log has such words; says whether it has."""
        end = time.monotonic() + seconds
        while words not in self.log.read_text() and time.monotonic() < end:
            time.sleep(0.1)
        return words in self.log.read_text()

    def kernels(self):
        """The process ids of kernels that it has started."""
        found = set()
        for task in Path(f"/proc/{self.process.pid}/task").iterdir():
            found |= set((task / "children").read_text().split())
        return {pid for pid in found if b"ipykernel" in Path(f"/proc/{pid}/cmdline").read_bytes()}


class Unredirected(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


OPENER = urllib.request.build_opener(Unredirected)


@contextlib.contextmanager
def started(home, target, ready, *options):
    port = free_port()
    own = {name: str(home / name) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR")}
    command = made(target, *(option.format(port=port) for option in options))
    answers = f"http://127.0.0.1:{port}{ready}"
    with served(command, answers, home / "log", cwd=ROOT, env=own) as process:
        yield Server(port, process, home / "log")


VOILA = ("explore", "/voila/static/voila.js", "--port={port}", "--Voila.port_retries=0")
LAB = ("lab", "/login", "--no-browser", "--ServerApp.port={port}", "--ServerApp.port_retries=0")


def test_the_dashboard_is_for_who_has_its_token_at_this_machine(tmp_path):
    with started(tmp_path, *VOILA) as server:
        page = f"/?token={server.token}"
        for path, headers in (
            ("/", {}),
            ("/?token=wrong", {}),
            ("/voila/render/explore.ipynb", {}),
        ):
            status, where, _ = server.answer(path, **headers)
            assert (status, where.split("?")[0]) == (302, "/login"), path
        for host in ("evil.example", f"evil.example:{server.port}", "10.0.0.1"):
            assert server.answer(page, Host=host)[0] == 403
        assert not server.kernels()

        status, _, text = server.answer(page, Host=f"localhost:{server.port}")
        assert status == 200
        assert len(server.kernels()) == 1
        (kernel,) = set(re.findall(r'"kernelId": ?"([\w-]+)"', text))
        channels = f"/api/kernels/{kernel}/channels"
        origin = {"Origin": f"http://127.0.0.1:{server.port}"}
        assert server.answer(channels, **UPGRADE, **origin)[0] == 403
        evil = {"Host": "evil.example", "Origin": "http://evil.example"}
        assert server.answer(f"{channels}?token={server.token}", **UPGRADE, **evil)[0] == 403
        assert "Culling kernels with idle durations > 600 seconds" in server.log.read_text()


def test_a_kernel_whose_page_is_gone_is_ended(tmp_path):
    limits = [f"--MappingKernelManager.cull_{what}=1" for what in ("idle_timeout", "interval")]
    with started(tmp_path, *VOILA, *limits) as server:
        with socket.create_connection(("127.0.0.1", server.port)) as page:
            page.sendall(f"GET /?token={server.token} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            assert server.says("Kernel started")
        assert server.says("with 0 connections due to 1 seconds of inactivity")
        end = time.monotonic() + 120
        while server.kernels() and time.monotonic() < end:
            time.sleep(0.1)
        assert not server.kernels()


def test_the_lab_is_for_who_has_its_token_at_this_machine(tmp_path):
    with started(tmp_path, *LAB) as server:
        assert server.answer("/lab")[0] == 302
        assert server.answer("/api/kernels", method="POST")[0] == 403
        token = {"Authorization": f"token {server.token}"}
        evil = server.answer("/api/kernels", method="POST", Host="evil.example", **token)
        assert evil[0] == 403
        assert not server.kernels()
        status, _, text = server.answer("/api/kernels", method="POST", **token)
        assert status == 201
        assert json.loads(text)["id"]
        assert len(server.kernels()) == 1
        assert "Culling kernels with idle durations > 14400 seconds" in server.log.read_text()
