"""Labs: the student writes code, and a check says whether it is right and how fast it is."""

from rungs.labs.check import check
from rungs.labs.hints import hint
from rungs.labs.submissions import submit

__all__ = ["check", "hint", "submit"]
