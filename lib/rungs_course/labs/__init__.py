"""Labs: the student writes code, and a check says whether it is right and how fast it is."""

from rungs_course.labs.catalogue import solution
from rungs_course.labs.check import check
from rungs_course.labs.submissions import RungMagics, submit

__all__ = ["RungMagics", "check", "solution", "submit"]
