"""Tree search in many games at once, with one evaluator for all leaves."""

from rungs._src.search.result import Result, Tree
from rungs._src.search.search import Search, uniform
from rungs._src.search.settings import Gumbel, Puct

__all__ = ["Gumbel", "Puct", "Result", "Search", "Tree", "uniform"]
