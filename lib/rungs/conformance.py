"""The conformance suite, which tests whether an environment plays chess, and its runner."""

from rungs._src.conformance.environment import Batch, Environment, Outcome
from rungs._src.conformance.environments import PythonChess
from rungs._src.conformance.run import Result, run
from rungs._src.conformance.suite import Case, Group, Suite, load

__all__ = [
    "Batch",
    "Case",
    "Environment",
    "Group",
    "Outcome",
    "PythonChess",
    "Result",
    "Suite",
    "load",
    "run",
]
