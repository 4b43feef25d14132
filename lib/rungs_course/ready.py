"""Compiles the C++ when imported: once, for all processes that `preload`'s server forks."""

from rungs.devel import loader

loader.load()
