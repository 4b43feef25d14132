"""The pages of `js/pages`, made to work from a folder: browsers import no modules over `file://`.

A page's modules are put into it, and what it reads is in scripts next to it, shared by all pages.
"""

import base64
import functools
import gzip
import html
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import chess
import chess.svg

from rungs.devel.selfplay import agent as files
from rungs_course import agents, paths, rating
from rungs_course.errors import BookError
from rungs_course.pages import numbers

SOURCES = paths.ROOT / "js" / "pages"
NEEDED = paths.WASM

_IMPORT = re.compile(r'^import \{([^}]*)\} from "([^"]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function\*?|class|const|let) (\w+)", re.MULTILINE)
_LEFT = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)
_WORKER = re.compile(r'new URL\("([^"]+)", import\.meta\.url\), \{ type: "module" \}')
_SCRIPT = re.compile(r'<script type="module" src="([^"]+)"></script>')
_FILE = re.compile(r'<script src="([^"]+)\.js"></script>')
_TITLE = re.compile("<title>(.*)</title>")
_MENU = "<!-- menu -->"


def _pieces() -> bytes:
    """Returns the pieces as SVG by their letter in a FEN, as JSON."""
    kinds = (chess.Piece(kind, side) for kind in chess.PIECE_TYPES for side in chess.COLORS)
    return json.dumps({piece.symbol(): chess.svg.piece(piece) for piece in kinds}).encode()


def _agent(number: int) -> bytes:
    """Returns a recorded agent as `js/agent.js` reads it, with its recorded ratings."""
    agent = files.load(agents.recorded_in() / str(number))
    return agents.packed(agent, rating.recorded(agent))


# The arguments that `js/files.js` hands a page, by the name of its script.
FILES: dict[str, Callable[[], bytes]] = {
    "rungs.wasm": NEEDED.read_bytes,
    "pieces.json": _pieces,
    "recorded.json": lambda: json.dumps(numbers.raced(paths.ROOT)).encode(),
    "models.json": lambda: json.dumps(numbers.modelled(paths.ROOT)).encode(),
    "agent-0.bin": functools.partial(_agent, 0),
    "agent-1.bin": functools.partial(_agent, 1),
}


def missing() -> str:
    """Returns why there are no pages, in a sentence; "" where they can be made."""
    if NEEDED.exists():
        return ""
    return f"The pages in which Rungs runs are left out: `make wasm` has not made {NEEDED.name}."


def build(out: Path) -> dict[str, str]:
    """Makes the pages in an empty folder, with what they need; returns their titles by their files'
    names, in order.
    """
    sources = {path: path.read_text() for path in sorted(SOURCES.glob("*.html"))}
    titles = {path.name: html.unescape(_TITLE.search(page)[1]) for path, page in sources.items()}  # type: ignore[index]
    for path, page in sources.items():
        for name in _FILE.findall(page):
            _write_file(name, out, path)
        page = _SCRIPT.sub(lambda match, at=path: _inlined(at.parent / match[1]), page)  # type: ignore[misc]
        (out / path.name).write_text(page.replace(_MENU, _menu(titles, path.name)))
    for kind in ("css", "png"):
        for path in SOURCES.glob(f"*.{kind}"):
            shutil.copy(path, out)
    return titles


def bundle(path: Path) -> str:
    """Returns the text of a module with all that it imports, as one text without imports."""
    modules: dict[Path, str] = {}
    text = _collected(path.resolve(), modules, ())
    return "\n".join([*modules.values(), text])


def _collected(path: Path, modules: dict[Path, str], within: tuple[Path, ...]) -> str:
    """Returns a module's text; adds modules that it needs to `modules`, as functions' results."""
    if path in within:
        raise BookError(f"{_name(path)} imports itself, by way of {_name(within[-1])}")

    def imported(match: re.Match) -> str:
        other = (path.parent / match[2]).resolve()
        if other not in modules:
            modules[other] = _wrapped(other, _collected(other, modules, (*within, path)))
        names = " ".join(match[1].replace(" as ", ": ").split())
        return f"const {{ {names} }} = {_variable(other)};\n"

    def worker(match: re.Match) -> str:
        # One script without imports: browsers start no module workers for a page from a folder.
        text = '"use strict";\n' + bundle(path.parent / match[1])
        text = json.dumps(text).replace("</", "<\\/")
        return f'URL.createObjectURL(new Blob([{text}], {{ type: "text/javascript" }}))'

    return _WORKER.sub(worker, _IMPORT.sub(imported, path.read_text()))


def _wrapped(path: Path, text: str) -> str:
    names = [match[2] for match in _EXPORT.finditer(text)]
    text = _EXPORT.sub(r"\1 \2", text)
    if left := _LEFT.search(text):
        raise BookError(f"{_name(path)}: {left[0]!r} is not an import or export of names")
    exports = ", ".join(names)
    return f"const {_variable(path)} = (() => {{\n{text}\nreturn {{ {exports} }};\n}})();\n"


def _variable(path: Path) -> str:
    return f"module_{re.sub(r'[^A-Za-z0-9]', '_', path.stem)}"


def _name(path: Path) -> str:
    return path.relative_to(paths.ROOT).as_posix()


def _inlined(path: Path) -> str:
    text = bundle(path).replace("</script", "<\\/script")
    return f'<script type="module">\n{text}</script>'


def _write_file(name: str, out: Path, page: Path) -> None:
    if name not in FILES:
        raise BookError(f"{_name(page)} asks for {name}, and there are {', '.join(FILES)}")
    if not (script := out / f"{name}.js").exists():
        packed = base64.b64encode(gzip.compress(FILES[name](), mtime=0)).decode()
        script.write_text(f'(globalThis.rungsFiles ??= {{}})["{name}"] = "{packed}";\n')


def _menu(titles: dict[str, str], current_name: str) -> str:
    current = ' aria-current="page"'
    links = [
        f'<a href="{name}"{current if name == current_name else ""}>{html.escape(title)}</a>'
        for name, title in titles.items()
    ]
    return "\n".join(['<a href="../index.html">Rungs</a>', *links])
