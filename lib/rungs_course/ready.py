"""Compiles the C++ when imported: once, for all processes that `preload`'s server forks."""

from rungs._src.native import loader

loader.load()
