"""Peaks from facts: the paper's own arithmetic, recomputed."""

import numpy as np
import pytest

from rungs_course.machine.roofline import A100, CORRECTED, PAPER, attainable, ridge


@pytest.mark.parametrize(
    ("processor", "single", "double", "bandwidth"),
    [(PAPER[0], 2560e9, 1280e9, 76.8e9), (PAPER[1], 6553.6e9, 3276.8e9, 51.2e9)],
)
def test_the_papers_numbers(processor, single, double, bandwidth):
    assert processor.peak_flops(32) == pytest.approx(single)
    assert processor.peak_flops(64) == pytest.approx(double)
    assert processor.peak_bandwidth() == pytest.approx(bandwidth)


def test_corrected_for_sockets_and_shared_units():
    assert CORRECTED[0].peak_flops(64) == PAPER[0].peak_flops(64)
    assert CORRECTED[0].peak_bandwidth() == 2 * PAPER[0].peak_bandwidth()
    assert CORRECTED[1].peak_flops(64) == PAPER[1].peak_flops(64) / 4
    assert CORRECTED[1].peak_bandwidth() == 4 * PAPER[1].peak_bandwidth()


def test_the_gpus_data_sheet():
    assert A100.peak_flops(32) == pytest.approx(19.5e12, rel=1e-2)
    assert A100.peak_flops(64) == pytest.approx(9.7e12, rel=1e-2)
    assert A100.peak_bandwidth() == pytest.approx(1555e9, rel=1e-2)


def test_memory_bounds_left_of_the_ridge_and_computing_right_of_it():
    at = ridge(100.0, 20.0)
    assert at == 5
    np.testing.assert_array_equal(attainable([at / 5, at, 2 * at], 100.0, 20.0), [20, 100, 100])
