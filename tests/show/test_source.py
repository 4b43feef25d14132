"""The code that a page shows is the file's."""

import pytest

from rungs import paths
from rungs.errors import ConfigurationError
from rungs.show.source import source


def code(file, *names):
    shown = source(file, *names).data
    assert shown.endswith(f"*[{file}](../{file})*")
    return shown.split("```")[1].split("\n", 1)[1]


@pytest.mark.parametrize(
    ("file", "name", "begins"),
    [
        ("cpp/rungs/openmp.hpp", "step", "// As serial::step."),
        ("cpp/rungs/openmp.hpp", "detail.share", "// Within a parallel region:"),
        ("cpp/rungs/cuda.hpp", "rungs_chess_step", "// Plays actions that are all legal"),
        ("cpp/machine/mpi_calls.cpp", "noted", "template <class Call>\nint noted("),
        ("cpp/chess/position.hpp", "Position.occupied", "Bitboard occupied() const {\n"),
        ("cpp/steps/memory.hpp", "Board.write_legal", "// `mask` begins on a cache line."),
        ("lib/rungs/show/style.py", "axes", "def axes("),
        ("lib/rungs/studies/cost_model.py", "Update", "@dataclasses.dataclass("),
        ("lib/rungs/studies/cost_model.py", "Update.compute", "def compute("),
    ],
)
def test_a_definition_is_shown_whole(file, name, begins):
    shown = code(file, name)
    assert shown.startswith(begins)
    assert shown.rstrip().endswith("}") == file.startswith("cpp")
    lines = [line.strip() for line in (paths.ROOT / file).read_text().splitlines()]
    assert all(line.strip() in lines for line in shown.splitlines())


def test_several_are_shown_in_the_order_of_the_page():
    shown = code("cpp/rungs/openmp.hpp", "Team", "Schedule")
    assert shown.index("struct Team {") < shown.index("enum class Schedule")


def test_a_declaration_or_a_call_is_no_definition():
    with pytest.raises(ConfigurationError, match="defines no 'accepts'"):
        source("cpp/rungs/openmp.hpp", "accepts")


def test_a_whole_file():
    assert code("cpp/rungs/serial.hpp") == (paths.ROOT / "cpp/rungs/serial.hpp").read_text()


@pytest.mark.parametrize("file", ["cpp/none.hpp", "README.md", "cpp/rungs"])
def test_what_is_no_code_is_named(file):
    with pytest.raises(ConfigurationError, match=f"no C\\+\\+ or Python file '{file}'"):
        source(file)


def test_a_name_that_a_python_file_lacks_is_named():
    with pytest.raises(ConfigurationError, match=r"style.py defines no 'axes.nothing'"):
        source("lib/rungs/show/style.py", "axes.nothing")
