"""Memory on cache lines."""

import numpy as np

import rungs
from rungs._src.core.memory import CACHE_LINE


def test_no_two_outputs_share_any_memory_and_each_begins_on_a_cache_line():
    for mask in ("bool", "bits"):
        buffers = rungs.make("chess", "cpp", 3, mask=mask).boards.buffers
        for name, array in vars(buffers).items():
            assert array.ctypes.data % CACHE_LINE == 0, name
            array.view(np.uint8).fill(1)
            others = [other for each, other in vars(buffers).items() if each != name]
            assert not any(other.view(np.uint8).any() for other in others), name
            array.fill(0)
