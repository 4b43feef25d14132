"""Tree search in many games at once, with one evaluator for all leaves."""

from rungs._src.search.evaluators import uniform
from rungs._src.search.result import Result, Tree
from rungs._src.search.search import Search
from rungs._src.search.settings import Gumbel, Puct

__all__ = ["Gumbel", "Puct", "Result", "Search", "Tree", "uniform"]
