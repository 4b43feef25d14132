"""The code that a page shows is the file's."""

import pytest

from rungs.errors import ConfigurationError
from rungs_course import paths
from rungs_course.notebook import source


def code(file, *names):
    shown = source(file, *names).data
    assert shown.endswith(f"*[{file}](../{file})*")
    return shown.split("```")[1].split("\n", 1)[1]


def test_a_cpp_function_from_its_comment_to_its_last_brace():
    shown = code("cpp/rungs/cpu_loops.hpp", "openmp.step")
    assert shown.startswith("// As serial::step.")
    assert "#pragma omp parallel" in shown
    assert shown.endswith("  return illegal < boards ? -1 - illegal : ended;\n}\n")
    assert shown in (paths.ROOT / "cpp/rungs/cpu_loops.hpp").read_text()


def test_a_template_with_all_that_belongs_to_it():
    shown = code("cpp/rungs/cpu_loops.hpp", "openmp.detail.share")
    assert "template <class Body>\ninline void share(" in shown
    assert shown.startswith("// Within a parallel region:")


def test_a_kernel_from_its_comment_on_and_no_call_that_has_braces():
    kernel = code("cpp/rungs/cuda.hpp", "rungs_chess_step")
    assert kernel.startswith("// Plays actions that are all legal")
    assert "__global__ void __launch_bounds__" in kernel
    noted = code("cpp/course/mpi_calls.cpp", "noted")
    assert noted.startswith("template <class Call>\nint noted(")
    assert "MPI_" not in noted


def test_a_method_at_the_left_margin():
    shown = code("cpp/chess/position.hpp", "Position.occupied")
    assert shown.startswith("Bitboard occupied() const {\n  return ")
    assert shown.endswith("\n}\n")


def test_a_method_of_an_aligned_struct():
    shown = code("cpp/course/step_planes.hpp", "memory.Board.write_legal")
    assert shown.startswith("// `mask` begins on a cache line.\nOutcome write_legal(")


def test_a_struct_and_another_in_the_order_of_the_page():
    shown = code("cpp/rungs/cpu_loops.hpp", "openmp.Team", "openmp.Schedule")
    assert shown.index("struct Team {") < shown.index("enum class Schedule")


def test_a_declaration_or_a_call_is_no_definition():
    with pytest.raises(ConfigurationError, match="defines no 'accepts'"):
        source("cpp/rungs/cpu_loops.hpp", "accepts")


def test_python_with_decorators_and_classes():
    assert code("lib/rungs_course/notebook.py", "source").startswith("def source(file: str")
    assert code("lib/rungs_course/nb14_cost_model.py", "Update").startswith(
        "@dataclasses.dataclass("
    )
    method = code("lib/rungs_course/nb14_cost_model.py", "Update.compute")
    assert method.startswith("def compute(self, positions):\n    ")


def test_a_whole_file():
    assert code("cpp/rungs/cpu_loops.hpp") == (paths.ROOT / "cpp/rungs/cpu_loops.hpp").read_text()


@pytest.mark.parametrize("file", ["cpp/none.hpp", "README.md", "cpp/rungs"])
def test_what_is_no_code_is_named(file):
    with pytest.raises(ConfigurationError, match=f"no C\\+\\+ or Python file '{file}'"):
        source(file)


def test_a_name_that_a_python_file_lacks_is_named():
    with pytest.raises(ConfigurationError, match=r"plots.py defines no 'axes.nothing'"):
        source("lib/rungs_course/plots.py", "axes.nothing")
