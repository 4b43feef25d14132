"""Tree search in many games at once, with one evaluator for all leaves."""

from rungs._src.search.result import Result, Tree
from rungs._src.search.search import Search, uniform
from rungs._src.search.settings import Gumbel, Puct, SearchSettings

__all__ = ["Gumbel", "Puct", "Result", "Search", "SearchSettings", "Tree", "uniform"]
