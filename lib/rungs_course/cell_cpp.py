"""C++ in a cell: `%%cpp NAME [FLAG...]` compiles it by g++ and binds its functions by cppyy.

Cling alone can't do this: every unit with OpenMP pragmas calls the loops of the first one in the
process, and nothing can be defined again. Here each text has a library and a namespace of its own.
In a notebook: `%load_ext rungs_course.cell_cpp`.
"""

import functools
import hashlib
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tree_sitter
import tree_sitter_cpp
from IPython.core.interactiveshell import InteractiveShell

from rungs.devel import (
    COMPILING,
    cache,
    cling,
    cpu_features,
    gpp,
    headers,
    openmp,
    paths,
    run_program,
)
from rungs_course.errors import CellError, sentence_alone

FLAGS = "-O3 -march=native -std=c++20 -fopenmp"
# A library calls its own copies of what it includes, not those of an earlier cell.
_LIBRARY = ("-fPIC", "-shared", "-Wl,-Bsymbolic")
_PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_cpp.language()))
_DIRECTIVES = ("preproc_def", "preproc_function_def", "preproc_if", "preproc_ifdef", "preproc_call")


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Registers `%%cpp`, and makes `cppyy.cppdef` refuse OpenMP's pragmas."""

    @sentence_alone()
    def cpp(line: str, cell: str) -> None:
        """Compiles the cell by g++; the variable NAME holds its functions then."""
        name, *flags = line.split() or [""]
        if not name.isidentifier():
            raise CellError(f"%%cpp {line}: first comes the name of a variable, as in %%cpp loops")
        begin = time.perf_counter()
        # Messages count the cell's lines as its editor does, from the magic on.
        shell.user_ns[name] = build(name, f"\n{cell}", flags)
        command = " ".join(["g++", FLAGS, *flags, "-Icpp", *_LIBRARY, f"{name}.cpp"])
        print(f"{command} -o lib{name}.so  # {time.perf_counter() - begin:.1f} s")
        print(f'cppyy.load_library("lib{name}.so"); cppyy.cppdef(its declarations)')

    shell.magics_manager.register_function(cpp, "cell")
    _refuse_pragmas(cling.interpreter())


def build(name: str, code: str, flags: list[str]) -> Any:
    """Compiles C++ by g++ and binds its functions by cppyy; the same text is compiled once.

    The code may include headers below `cpp/`. Its OpenMP loops run in the runtime that the process
    has. Its functions and types are bound, except static functions and what holds a pragma without
    being a function.

    Args:
        name: of the cell, in messages.
        code: the C++; what it includes comes first.
        flags: of g++, after `FLAGS`.

    Returns:
        cppyy's namespace of the code.

    Raises:
        CellError: g++ or Cling refuses the code; the message says which line of the cell.
        CompilerError: there is no g++, or cppyy was imported before Rungs could set its flags.
        UnavailableError: cppyy is not installed, or there is no OpenMP runtime.
    """
    cppyy = cling.interpreter()
    openmp.load(openmp.GCC)
    head, body = _parts(name, code)
    command = [*FLAGS.split(), *flags, f"-I{paths.CPP}", *_LIBRARY]
    identity = (command, code, headers.fingerprint(), gpp.version(), cpu_features())
    space = f"{name}_{hashlib.sha256(repr(identity).encode()).hexdigest()[:12]}"
    if not hasattr(cppyy.gbl, space):
        lines = head.count("\n")
        text = f'#line 1 "{name}"\n{head}namespace {space} {{\n'
        text += f'#line {lines + 1} "{name}"\n{body}\n}}\n'
        try:
            library = cache.built(
                f"lib{name}", identity, functools.partial(_compile, text, command)
            )
        except CellError as error:
            raise CellError(str(error).replace(space, name)) from None
        cppyy.load_library(str(library))
        cppyy.add_include_path(str(paths.CPP))
        declared = f"namespace {space} {{\n{''.join(_declarations(body))}}}\n"
        try:
            cppyy.cppdef(head + declared + "".join(_undefined_macros(code)))
        except SyntaxError as error:
            raise CellError(
                f"{name}: g++ compiles it, but Cling can't declare it: {error}"
            ) from None
    return getattr(cppyy.gbl, space)


def _compile(text: str, options: list[str], library: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "cell.cpp")
        source.write_text(text)
        command = [gpp.COMPILER, *options, str(source), "-o", str(library)]
        result = run_program(command, COMPILING)
    if result.returncode:
        raise CellError(result.stderr.strip())


def _parts(name: str, code: str) -> tuple[str, str]:
    """Returns the lines up to the last that includes a file, and those after it."""
    nodes = _PARSER.parse(code.encode()).root_node.children
    for node in nodes:
        if node.type == "linkage_specification":
            line = node.start_point.row + 1
            raise CellError(f'{name}:{line}: extern "C" names a function once in a process')
    lines = code.splitlines(keepends=True)
    last = max((n.start_point.row for n in nodes if n.type == "preproc_include"), default=-1)
    allowed = ("preproc_include", "comment", *_DIRECTIVES)
    for node in nodes:
        if node.start_point.row < last and node.type not in allowed:
            raise CellError(
                f"{name}:{node.start_point.row + 1}: what the cell includes comes first"
            )
    return "".join(lines[: last + 1]), "".join(lines[last + 1 :])


def _declarations(body: str) -> Iterator[str]:
    """Yields what Cling must know of the code to call it: types, and functions without bodies."""
    for node in _PARSER.parse(body.encode()).root_node.children:
        text = _text(node)
        if node.type == "function_definition":
            block = node.child_by_field_name("body")
            if block and "static" not in map(_text, node.children):
                yield text[: len(text) - len(_text(block))] + ";\n"
        elif "#pragma" not in text and (
            node.type != "declaration" or "const" in text.split("=")[0]
        ):
            yield text + "\n"


def _undefined_macros(code: str) -> Iterator[str]:
    """Yields lines that undefine the code's macros, which Cling would keep for later cells."""
    for node in _PARSER.parse(code.encode()).root_node.children:
        name = node.child_by_field_name("name")
        if name and node.type in ("preproc_def", "preproc_function_def"):
            yield f"#undef {_text(name)}\n"


def _text(node: tree_sitter.Node) -> str:
    return (node.text or b"").decode()


def _refuse_pragmas(cppyy: Any) -> None:
    """Makes `cppyy.cppdef` refuse OpenMP's pragmas, which it would compile to another's loops."""
    if hasattr(cppyy.cppdef, "__wrapped__"):
        return
    cppdef = cppyy.cppdef

    @functools.wraps(cppdef)
    @sentence_alone()
    def checked(text: str) -> bool:
        if "#pragma omp" in text:
            raise CellError("cppyy.cppdef can't compile OpenMP's pragmas: use a cell with %%cpp")
        return cppdef(text)

    cppyy.cppdef = checked
