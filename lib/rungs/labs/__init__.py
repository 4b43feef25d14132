"""Labs: the student writes code, and a check says whether it is right and how fast it is."""

from rungs.labs.check import check
from rungs.labs.hints import hint
from rungs.labs.submissions import RungMagics, submit

__all__ = ["RungMagics", "check", "hint", "submit"]
