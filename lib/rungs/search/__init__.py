"""Batched tree search: many games at once, each with a tree, and one evaluator for all leaves."""

from rungs.search.evaluators import uniform
from rungs.search.result import Result, Tree
from rungs.search.search import Search
from rungs.search.settings import Gumbel, Puct

__all__ = ["Gumbel", "Puct", "Result", "Search", "Tree", "uniform"]
