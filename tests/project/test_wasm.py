"""The C API in WebAssembly: what it needs of its host, and that it plays, in Node and in Python."""

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from rungs_course import paths
from rungs_course.runner import bundle
from tests.browser import browser, needs_chromium
from tests.project.test_package import succeed
from tests.proof.anywhere.games import RECORDED
from tests.proof.anywhere.recorded import write_games
from tools import wasm

HERE = Path(__file__).parent
ANYWHERE = HERE.parent / "proof" / "anywhere"
NEEDS_NODE = pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(not importlib.util.find_spec("ziglang"), reason="zig is not installed"),
]


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    file = tmp_path_factory.mktemp("wasm") / "rungs.wasm"
    wasm.build(file)
    return file


@NEEDS_NODE
def test_node_plays_the_recorded_games(module, tmp_path):
    played = succeed(["node", ANYWHERE / "games.mjs", module, *write_games(tmp_path)])
    assert played == RECORDED.read_text()


@needs_chromium
def test_a_page_opened_from_a_folder_plays_the_recorded_games(module, tmp_path, monkeypatch):
    source, out = tmp_path / "source", tmp_path / "out"
    for folder in (source, out):
        folder.mkdir()
    files = {path.name: path.read_bytes for path in write_games(source)}
    monkeypatch.setattr(bundle, "SOURCES", source)
    monkeypatch.setattr(bundle, "FILES", {"rungs.wasm": module.read_bytes} | files)
    scripts = "".join(f'<script src="{name}.js"></script>' for name in bundle.FILES)
    (source / "games.html").write_text(
        f'<title>games</title>{scripts}<script type="module" src="games.js"></script>'
    )
    (source / "games.js").write_text(
        f"""
import {{ file }} from "{paths.ROOT}/js/files.js";
import {{ load }} from "{paths.ROOT}/js/rungs.js";
import {{ play }} from "{ANYWHERE}/played.mjs";

const rungs = await load(await file("rungs.wasm"));
const played = [];
for (const name of {list(files)})
  play(rungs, (await file(name)).buffer, (bytes) => played.push(bytes.slice()));
const digest = await crypto.subtle.digest("SHA-256", await new Blob(played).arrayBuffer());
const pairs = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0"));
document.title = pairs.join("");
""".lstrip()
    )
    bundle.build(out)
    with browser() as chromium:
        page, wrong = chromium.new_page(), []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto((out / "games.html").as_uri())
        page.wait_for_function("document.title.length === 64", timeout=120_000)
        assert page.title() == RECORDED.read_text().strip()
        assert not wrong


@NEEDS_NODE
def test_the_module_of_javascript_does_what_it_says(module):
    command = ["node", "--test", HERE / "rungs_test.mjs"]
    environment = os.environ | {"RUNGS_WASM": str(module)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout
    assert "\n# pass 9\n" in done.stdout


@NEEDS_NODE
def test_the_example_on_the_page_runs(module):
    page = (wasm.ROOT / "docs" / "howto" / "webassembly.md").read_text()
    (code,) = re.findall(r"```js\n(.*?)```", page, re.DOTALL)
    code = code.replace("lib/rungs/compiled/rungs.wasm", str(module))
    printed = succeed(["node", "--input-type=module", "--eval", code], cwd=wasm.ROOT)
    assert re.fullmatch(r"[pnbrqkPNBRQK1-8/]+ [wb] .* \d+ \d+\n", printed)


def test_the_same_sources_make_the_same_file(module, tmp_path):
    wasm.build(tmp_path / "again.wasm")
    again, first = (
        hashlib.sha256(file.read_bytes()).digest() for file in (tmp_path / "again.wasm", module)
    )
    assert again == first


def test_it_is_small_and_asks_its_host_for_a_clock_and_files_alone(module):
    wasmtime = pytest.importorskip("wasmtime")
    made = wasmtime.Module(wasmtime.Engine(), module.read_bytes())
    assert {each.module for each in made.imports} == {"wasi_snapshot_preview1"}
    names = {str(each.name) for each in made.imports}
    assert names <= {"clock_time_get", "fd_close", "fd_seek", "fd_write"}
    exported = {each.name for each in made.exports}
    assert exported == {*wasm.exported(), "memory", "_initialize"}
    assert module.stat().st_size < 1.2e6
