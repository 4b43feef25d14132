"""C++ in a cell: compiled by g++, bound by cppyy, as often as it is run."""

import re
import sys

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from rungs_course import cell_cpp
from rungs_course.cell_cpp import build
from rungs_course.errors import CellError
from tests.processes import succeed

FILLED = """int filled(int threads) {{
  int numbers[64] = {{0}};
#pragma omp parallel for num_threads(threads)
  for (int i = 0; i < 64; ++i) numbers[i] = {number};
  int sum = 0;
  for (int i = 0; i < 64; ++i) sum += numbers[i];
  return sum;
}}
"""


@pytest.fixture(scope="module")
def shell():
    shell = InteractiveShell(config=Config({"HistoryManager": {"enabled": False}}))
    cell_cpp.load_ipython_extension(shell)
    return shell


def test_a_cell_may_be_changed_and_run_again(shell):
    for number in (1, 2, 3, 1):
        shell.run_cell_magic("cpp", "cell", FILLED.format(number=number))
        assert shell.user_ns["cell"].filled(2) == 64 * number


def test_an_error_is_shown_by_the_compilers_words_and_lines_of_the_editor(shell, capsys):
    shell.run_cell("%%cpp cell\nint f(int x) {\n  return y;\n}\n")
    shown = "".join(capsys.readouterr())
    assert "cell:3:10" in shown
    assert not re.search("Traceback|cell_[0-9a-f]{12}", shown)


def test_templates_macros_types_and_flags_belong_to_the_cell():
    for number in (1, 2):
        code = f"""#define NUMBER {number}
const int kNumber = NUMBER;
template <class T> T plus(T value) {{ return value + NUMBER; }}
static int hidden() {{ return 10 * FLAG + NUMBER; }}
int shown() {{ return hidden(); }}
"""
        cell = build("cell", code, [f"-DFLAG={number}"])
        assert (cell.shown(), cell.plus[int](1), cell.kNumber) == (11 * number, 1 + number, number)
        assert not hasattr(cell, "hidden")


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("int f(int x) {\n  return y;\n}\n", 2),
        ("#include <vector>\n\nint f() {\n  return 1\n}\n", 4),
        ('int f();\n\nextern "C" int g() { return 1; }\n', 3),
        ("int f();\n#include <vector>\n", 1),
    ],
)
def test_an_error_names_the_line_of_the_cell(code, line):
    with pytest.raises(CellError, match=rf"my_cell:{line}\b"):
        build("my_cell", code, [])


@pytest.mark.parametrize("line", ["", "-O0", "two-words"])
def test_a_cell_has_a_name(shell, line):
    with pytest.raises(CellError, match=re.escape(f"%%cpp {line}")):
        shell.magics_manager.magics["cell"]["cpp"](line, "int f();\n")


def test_a_pragma_in_cppdef_is_refused(shell):
    import cppyy

    with pytest.raises(CellError, match="%%cpp"):
        cppyy.cppdef(FILLED.format(number=1))
    assert cppyy.cppdef("namespace cell_test { int plain() { return 5; } }")
    assert cppyy.gbl.cell_test.plain() == 5


PROGRAM = """
import numpy as np
import rungs
from rungs_course.cell_cpp import build
CODE = '''#include "chess/bitboard.hpp"
int advances(const std::uint64_t* pawns, std::uint64_t occupied, int n, int threads) {
  int total = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : total)
  for (int i = 0; i < n; ++i) total += rungs::chess::count(pawns[i] << 8 & ~occupied);
  return total;
}
'''
def total(name):
    return build(name, CODE, []).advances(np.full(2000, 0xFF00, np.uint64), 0, 2000, 2)
print(total("before"))
env = rungs.make("chess", "openmp", 300, threads=2, compiler="cling")
_, info = env.reset(seed=1)
env.step(info["action_mask"].argmax(1))
print(total("before"), total("after"))
"""


@pytest.mark.system
def test_the_library_compiled_by_cling_changes_nothing():
    printed = succeed([sys.executable, "-c", PROGRAM], timeout=300)
    assert printed.split() == ["16000"] * 3
