"""`make explore` and `make lab` start kernels for their reader alone, and not for ever."""

import contextlib
import http.client
import json
import re
import socket
from pathlib import Path

import pytest

from tests.browser import ROOT, served
from tests.course import notebooks as tiny
from tests.processes import poll

pytest.importorskip("voila")
pytestmark = pytest.mark.system

# What asks for a kernel's channel, as a browser does.
UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "MDEyMzQ1Njc4OWFiY2RlZg==",
}


def answer(server, path, method="GET", **headers):
    """Returns status, address and text of an answer; follows no redirection."""
    host = server.address.removeprefix("http://")
    with contextlib.closing(http.client.HTTPConnection(host, timeout=120)) as connection:
        connection.request(method, path, b"{}" if method == "POST" else None, headers)
        reply = connection.getresponse()
        return reply.status, reply.getheader("Location", ""), reply.read().decode()


def kernels(server):
    tasks = Path(f"/proc/{server.process.pid}/task").glob("*/children")
    pids = {pid for children in tasks for pid in children.read_text().split()}
    return {pid for pid in pids if b"ipykernel" in Path(f"/proc/{pid}/cmdline").read_bytes()}


def test_the_dashboard_is_for_who_has_its_token_at_this_machine(dashboard):
    before = kernels(dashboard)
    for path in ("/", "/?token=wrong", "/voila/render/explore.ipynb"):
        status, location, _ = answer(dashboard, path)
        assert (status, location.split("?")[0]) == (302, "/login"), path
    page, port = f"/?token={dashboard.token}", dashboard.address.rpartition(":")[2]
    for host in ("evil.example", f"evil.example:{port}", "10.0.0.1"):
        assert answer(dashboard, page, Host=host)[0] == 403
    assert kernels(dashboard) <= before

    status, _, text = answer(dashboard, page, Host=f"localhost:{port}")
    assert status == 200
    assert len(kernels(dashboard) - before) == 1
    (kernel,) = set(re.findall(r'"kernelId": ?"([\w-]+)"', text))
    channels = f"/api/kernels/{kernel}/channels"
    assert answer(dashboard, channels, **UPGRADE, Origin=dashboard.address)[0] == 403
    evil = {"Host": "evil.example", "Origin": "http://evil.example"}
    channels += f"?token={dashboard.token}"
    assert answer(dashboard, channels, **UPGRADE, **evil)[0] == 403


def test_a_kernel_whose_page_is_gone_is_ended(tmp_path):
    tiny.write(tmp_path / "notebooks", "explore")
    (tmp_path / "lib").symlink_to(ROOT / "lib")  # where `make explore` has settings
    limits = [f"--MappingKernelManager.cull_{name}=1" for name in ("idle_timeout", "interval")]
    options = ("--port={port}", *limits)
    with served("explore", "/voila/static/voila.js", tmp_path, *options, cwd=tmp_path) as voila:
        port = int(voila.address.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as page:
            page.sendall(f"GET /?token={voila.token} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            poll(lambda: kernels(voila))
        poll(lambda: not kernels(voila))


def test_the_lab_is_for_who_has_its_token_at_this_machine(lab):
    assert answer(lab, "/lab")[0] == 302
    assert answer(lab, "/api/kernels", "POST")[0] == 403
    token = {"Authorization": f"token {lab.token}"}
    assert answer(lab, "/api/kernels", "POST", Host="evil.example", **token)[0] == 403
    before = kernels(lab)
    status, _, text = answer(lab, "/api/kernels", "POST", **token)
    assert status == 201
    assert len(kernels(lab) - before) == 1
    assert answer(lab, f"/api/kernels/{json.loads(text)['id']}", "DELETE", **token)[0] == 204
