"""What is said of code that can't be made functions of."""

import pytest

from rungs.errors import UnavailableError
from rungs_course.labs.building import SubmissionError, build
from rungs_course.labs.catalogue import find


def test_a_package_that_the_best_known_solution_needs_is_named():
    lab = find("13")
    with pytest.raises(UnavailableError, match=r"^lab 13 needs no_such_package: pip install"):
        build(lab, {"yours": lab.code("stub"), "solution": "import no_such_package"})


def test_a_package_that_the_cell_needs_is_told_of_at_its_line():
    lab = find("13")
    with pytest.raises(SubmissionError, match="line 2"):
        build(lab, {"yours": "\nimport no_such_package", "solution": lab.code("stub")})
