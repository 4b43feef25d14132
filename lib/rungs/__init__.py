"""Rungs: reinforcement-learning environments that are the same, bit for bit, on every rung."""

import sys

from rungs._src import paths

paths.search_current_folder_last()
paths.refuse_hiding(paths.REQUIRED)
try:
    from rungs._src.listing import list
    from rungs._src.registry import Rung, make, make_async, register, register_rung, rungs_of
    from rungs.version import __version__
except Exception:
    paths.refuse_hiding(sorted(sys.stdlib_module_names))
    raise

__all__ = ["Rung", "__version__", "list", "make", "make_async", "register_rung", "rungs_of"]

register()
