"""Labs: the student writes code, and a check finds whether it is right and how fast it is."""

from IPython.display import Code

from rungs_course.labs.judging import check
from rungs_course.labs.lab import find
from rungs_course.labs.submissions import RungMagics, predict, submit

__all__ = ["RungMagics", "check", "predict", "solution", "submit"]


def solution(name: str) -> Code:
    """Shows a lab's best known solution."""
    lab = find(name)
    return Code(lab.code("solution"), language="cpp" if lab.language == "cpp" else "python")
