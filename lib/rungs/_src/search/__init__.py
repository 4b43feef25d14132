"""Batched tree search: many games at once, each with a tree, and one evaluator for all leaves."""
