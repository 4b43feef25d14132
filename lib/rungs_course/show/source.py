"""The code that a notebook is about, on its page, from the file that runs."""

import ast
import re
from collections.abc import Iterable
from pathlib import Path

from IPython.display import Markdown

from rungs.errors import ConfigurationError
from rungs_course import paths

# JupyterLab wraps the code of outputs at the panel's edge, within words too.
_UNWRAPPED = (
    "<style>div.jp-RenderedMarkdown.jp-OutputArea-output pre, "
    "div.jp-RenderedMarkdown.jp-OutputArea-output pre code "
    "{ white-space: pre; word-break: normal; overflow-x: auto; }</style>"
)
_LANGUAGES = {".hpp": "cpp", ".cpp": "cpp", ".py": "python"}


def source(file: str, *names: str) -> Markdown:
    """Shows functions, classes or structs of a file as they stand there, with what is written above
    them, and a link to the file.

    Args:
        file: from the root of the source tree, "cpp/rungs/batch.hpp" or "lib/rungs/chess.py".
        *names: which, in the order of the page: "step", or "Batch.step" for one inside another; the
            whole file where none is given. Of C++ functions with the same name, all are shown.

    Raises:
        ConfigurationError: no such file, not C++ or Python, or nothing of that name is defined
            there.
    """
    path = paths.ROOT / file
    language = _LANGUAGES.get(path.suffix)
    if not language or not path.is_file():
        raise ConfigurationError(f"no C++ or Python file {file!r} in {paths.ROOT}")
    lines = path.read_text().splitlines()
    find = _in_python if language == "python" else _in_cpp
    parts = [find(lines, name, file) for name in names] or ["\n".join(lines)]
    code = "\n\n".join(parts)
    return Markdown(f"{_UNWRAPPED}\n\n```{language}\n{code}\n```\n\n*{_link(path)}*")


def _link(path: Path) -> str:
    place = path.relative_to(paths.ROOT).as_posix()
    return f"[{place}](../{place})"


def _missing(name: str, file: str) -> ConfigurationError:
    return ConfigurationError(f"{file} defines no {name!r}")


def _in_python(lines: list[str], name: str, file: str) -> str:
    """Returns the lines of a function or class, with its decorators, moved to the left margin."""
    inside: Iterable[ast.AST] = ast.parse("\n".join(lines)).body
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    for part in name.split("."):
        found = [node for node in inside if isinstance(node, kinds) and node.name == part]
        if not found:
            raise _missing(name, file)
        inside = found[0].body
    first = min(node.lineno for node in [found[0], *found[0].decorator_list])
    return _flush(_with_comment(lines, first - 1, "#") + lines[first - 1 : found[0].end_lineno])


def _in_cpp(lines: list[str], name: str, file: str) -> str:
    """Returns the lines of every definition of a name, each from its comment to its last brace."""
    *scopes, own = name.split(".")
    low, high = 0, len(lines)
    for scope in scopes:
        low, high = next(iter(_definitions(lines, scope, low, high)), (0, 0))
    found = list(_definitions(lines, own, low, high))
    if not found:
        raise _missing(name, file)
    parts = []
    for first, end in found:
        while re.match(r"\s*(template|requires|__global__)\b", lines[first - 1]):
            first -= 1
        parts.append(_flush(_with_comment(lines, first, "//") + lines[first:end]))
    return "\n\n".join(parts)


def _definitions(lines: list[str], name: str, low: int, high: int):
    """Yields first line and end of what clang-format's layout shows to be defined."""
    word = re.escape(name)
    function = re.compile(rf"^(?!\s*(?:return\b|else\b|//))[\w:<>,&*\s\[\]\"]*[\s*&]{word}\(")
    kinds = "struct|class|enum class|concept|namespace"
    record = re.compile(rf"^\s*(?:{kinds})\s+(?:alignas\(\w+\)\s+)?{word}\b")
    alias = re.compile(rf"^\s*(?:(?:inline |static )?constexpr\b.*\b{word}\b.*=|using {word} =)")
    at = low
    while at < high:
        if not any(kind.match(lines[at]) for kind in (function, record, alias)):
            at += 1
            continue
        end = _end(lines, at, high)
        if end:
            yield at, end
        at = end or at + 1


def _end(lines: list[str], first: int, high: int) -> int | None:
    """Returns the line after a definition; None where it is but a declaration or a call."""
    depth, opened = 0, False
    for at in range(first, high):
        bare = re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])\'|//.*', "", lines[at])
        depth += sum(bare.count(c) for c in "({[") - sum(bare.count(c) for c in ")}]")
        opened |= "{" in bare or "=" in bare
        if depth == 0 and re.search(r"[;}]\s*$", bare):
            return at + 1 if opened else None
    return None


def _with_comment(lines: list[str], first: int, mark: str) -> list[str]:
    """Returns the lines of the comment that stands right above a line."""
    start = first
    while start and lines[start - 1].strip().startswith(mark):
        start -= 1
    return lines[start:first]


def _flush(lines: list[str]) -> str:
    """Moves lines to the left margin as a whole."""
    margin = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
    return "\n".join(line[margin:] for line in lines)
