"""Memory on cache lines."""

import numpy as np
import pytest

import rungs
from rungs._src.core.memory import CACHE_LINE, whole_lines, zeroed_lines


@pytest.mark.parametrize("num_bytes", [1, 63, 64, 65, 4672])
def test_it_begins_on_a_line_wherever_numpy_puts_it(num_bytes):
    for _ in range(20):
        memory = zeroed_lines(num_bytes)
        assert (len(memory), memory.ctypes.data % CACHE_LINE) == (num_bytes, 0)
        assert not memory.any()
    assert whole_lines(num_bytes) % CACHE_LINE == 0
    assert 0 <= whole_lines(num_bytes) - num_bytes < CACHE_LINE


def test_no_two_outputs_share_any_memory():
    for mask in ("bool", "bits"):
        buffers = rungs.make("chess", "cpp", 3, mask=mask).boards.buffers
        for name, array in vars(buffers).items():
            array.view(np.uint8).fill(1)
            others = [other for each, other in vars(buffers).items() if each != name]
            assert not any(other.view(np.uint8).any() for other in others), name
            array.fill(0)
