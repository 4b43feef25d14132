"""Arrays that begin on a cache line, and host copies of what is on a GPU."""

from rungs._src.core.memory import on_host, zeroed_lines

__all__ = ["on_host", "zeroed_lines"]
