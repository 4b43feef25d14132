"""Whether an environment plays chess: a versioned suite of positions and games, and its results."""

from rungs.conformance.environment import Environment, Outcome
from rungs.conformance.run import Result, run
from rungs.conformance.suite import Case, Group, Suite, load

__all__ = ["Case", "Environment", "Group", "Outcome", "Result", "Suite", "load", "run"]
