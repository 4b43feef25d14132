"""The C++, compiled as this is imported: once, for all processes that `preload`'s server forks."""

from rungs.compile import loader

loader.load()
