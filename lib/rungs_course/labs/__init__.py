"""Labs: the student writes code, and a check says whether it is right and how fast it is."""

from rungs_course.labs.check import check
from rungs_course.labs.hints import hint
from rungs_course.labs.submissions import RungMagics, submit

__all__ = ["RungMagics", "check", "hint", "submit"]
