"""Compiles an answer's text into functions that can be called."""

import linecache
import os
import re
import traceback
import types
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Protocol

from rungs.devel import cling, paths
from rungs.errors import RungsError, UnavailableError

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_CELL = "cell"  # the file that messages name
_MESSAGE = re.compile(r"(?:[^\s:]+:\d+:\d+: )?(?:fatal )?(error|warning|note): ")  # of the compiler
_SHOWN_ERRORS = 3  # later ones mostly follow from them
# Headers of every answer in C++: within its namespace it can include nothing new.
_HEADERS = ("algorithm", "atomic", "bit", "cstddef", "cstdint", "thread", "unistd.h", "vector")


class Task(Protocol):
    """The part of a lab that compiling an answer needs: see `rungs_course.labs.lab.Lab`."""

    @property
    def name(self) -> str: ...
    @property
    def language(self) -> str: ...
    @property
    def defines(self) -> tuple[str, ...]: ...
    @property
    def harness(self) -> str: ...
    @property
    def headers(self) -> Sequence[str]: ...


class SubmissionError(RungsError):
    """A student's code does not compile, lacks a function or raised; the message names the line."""


def build(lab: Task, codes: dict[str, str], unit: str = "") -> dict[str, Any]:
    """Compiles several answers to a lab, each in a namespace of its own; returns their functions.

    Messages refer to lines of the first. `unit` differs for every call in a process, as C++ can't
    be defined twice.
    """
    answers = _cpp(lab, codes, unit) if lab.language == "cpp" else _python(lab, codes)
    for functions in answers.values():
        for name in lab.defines:
            if not hasattr(functions, name):
                raise _missing_function(name)
    return answers


def included(headers: Sequence[str]) -> str:
    """Returns the lines that include an answer's headers: `headers` are below `cpp/`."""
    names = [f"<{name}>" for name in _HEADERS] + [f'"{paths.CPP / name}"' for name in headers]
    return "".join(f"#include {name}\n" for name in names)


# Comments, strings and characters, whose braces do not count.
_TEXT = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)'(?:\\.|[^'\\\n])*'""",
    re.DOTALL,
)
_BRACES = {"{": 1, "<%": 1, "}": -1, "%>": -1}
_DEFINED = re.compile(r"(?:#|%:)(?:\s|/\*.*?\*/)*define(?:\s|/\*.*?\*/)+(\w+)", re.DOTALL)


class _Functions:
    """The functions that an answer and its harness define, as attributes."""

    def __init__(self, space: Any, defines: Sequence[str]):
        self._space, self._defines = space, defines

    def __getattr__(self, name: str) -> Any:
        return getattr(self._space.answer if name in self._defines else self._space, name)


def _check_stays_inside(cell: str) -> None:
    """Raises SubmissionError if an answer closes the namespace it is in, or leaves one open."""
    code, depth = _TEXT.sub(_blank, cell), 0
    for brace in re.finditer("|".join(map(re.escape, _BRACES)), code):
        depth += _BRACES[brace[0]]
        if depth < 0:
            line = code.count("\n", 0, brace.start()) + 1
            raise SubmissionError(f"{_CELL}:{line}: error: a brace is closed that was not opened")
    if depth:
        raise SubmissionError(f"{_CELL}: error: {depth} brace{'s' * (depth > 1)} not closed")


def _blank(match: re.Match) -> str:
    return "\n" * match[0].count("\n")


def _harnessed(lab: Task, code: str) -> str:
    """Returns an answer followed by the harness, which nothing in the answer can change.

    The answer's namespace is nested in the harness's, and its macros are undefined after it.
    """
    macros = dict.fromkeys(_DEFINED.findall(code.replace("\\\n", "")))
    undone = "".join(f"#undef {name}\n" for name in macros)
    used = "".join(f"using answer::{name};\n" for name in lab.defines)
    return f'{code}\n}}\n{undone}{used}#line 1 "harness"\n{lab.harness}\n'


def _missing_function(name: str) -> SubmissionError:
    return SubmissionError(f"The cell does not define the function {name}.")


def _cpp(lab: Task, codes: dict[str, str], unit: str) -> dict[str, Any]:
    # One text for all: Cling compiles OpenMP's pragmas right only in the first that has any. The
    # cell comes last, so that its macros change nothing but itself. Vectors that are wider than
    # this processor's registers are passed in memory, which Clang warns of.
    cppyy = cling.interpreter()
    spaces = {name: f"lab_{lab.name}_{name}_{unit}" for name in codes}
    first = next(iter(codes))
    cell = codes[first]
    if bad := re.search(r"[\0\ud800-\udfff]", cell):  # Cling would see the end of the text there
        line = cell.count("\n", 0, bad.start()) + 1
        raise SubmissionError(f"{_CELL}:{line}: {bad[0]!a} can't be in C++")
    for name in lab.defines:
        if not re.search(rf"\b{name}\s*\(", cell):
            raise _missing_function(name)  # else the error would be in the harness
    _check_stays_inside(cell)
    text = f'{included(lab.headers)}#pragma clang diagnostic ignored "-Wpsabi"\n' + "\n".join(
        f'namespace {space} {{ namespace answer {{\n#line 1 "{_CELL if name == first else name}"\n'
        f"{_harnessed(lab, codes[name])}}}"
        for name, space in reversed(spaces.items())
    )
    try:
        cppyy.cppdef(text)
    except SyntaxError as error:
        # The compiler's messages about the cell, without the words around them.
        lines = str(error).splitlines()
        begin = next((i for i, line in enumerate(lines) if line.startswith(f"{_CELL}:")), 0)
        messages = [line for line in lines[begin:] if not line.startswith("Failed to parse")]
        if " error: " in str(error) or " warning: " not in str(error):
            raise SubmissionError(_first_errors(messages)) from None
        print("\n".join(messages))  # warnings alone: it is compiled
    return {
        name: _Functions(getattr(cppyy.gbl, space), lab.defines) for name, space in spaces.items()
    }


def _first_errors(lines: list[str]) -> str:
    """Returns a compiler's first errors, each with its line of code, and how many follow."""
    kinds = [(i, match[1]) for i, line in enumerate(lines) if (match := _MESSAGE.match(line))]
    errors = dict.fromkeys(
        "\n".join(lines[begin:end])
        for (begin, kind), (end, _) in pairwise([*kinds, (len(lines), "")])
        if kind == "error"
    )
    if not errors:
        return "\n".join(lines)
    more = len(errors) - _SHOWN_ERRORS
    return "\n".join([*errors][:_SHOWN_ERRORS] + [f"and {more} more errors"] * (more > 0))


def _python(lab: Task, codes: dict[str, str]) -> dict[str, Any]:
    if lab.language == "cuda":
        # Also where there is a GPU, as accesses are counted. Numba reads it when it is imported.
        os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
    modules = {}
    for i, (name, code) in enumerate(codes.items()):
        file = _CELL if i == 0 else name
        linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
        module = types.ModuleType(f"lab_{name}")
        try:
            exec(compile(code, file, "exec"), module.__dict__)
        except Exception as error:
            if i and isinstance(error, ModuleNotFoundError):  # it is not the cell that imports it
                needs = f"lab {lab.name} needs {error.name}: pip install {error.name}"
                raise UnavailableError(needs) from None
            raise SubmissionError(in_cell(error)) from None
        modules[name] = module
    return modules


def in_cell(error: BaseException) -> str:
    """Returns the text of a Python exception, with stack frames of the cell only."""
    trace = traceback.TracebackException.from_exception(error)
    trace.stack = traceback.StackSummary.from_list([f for f in trace.stack if f.filename == _CELL])
    return plain("".join(trace.format()).strip())


def plain(text: str, limit: int = 4000) -> str:
    """Escapes lone surrogates and control characters except tab and newline; shortens long text."""
    if len(text) > limit:
        text = f"{text[: limit // 2]} […] {text[-(limit // 2) :]}"
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)
