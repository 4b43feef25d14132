"""Measured factors in words."""

from rungs_course.measure.noise import factor
from rungs_course.notebook import in_words


def test_a_factor_claims_no_more_than_its_noise_allows():
    assert in_words(factor([1.5, 1.4, 1.6, 1.5, 1.5])) == "1.5× (1.4 to 1.6)"
    noise = in_words(factor([1.1, 0.9, 1.3, 1.1, 1.1]))
    assert noise == "1.1× (0.9 to 1.3), within the noise of this run"
    few = in_words(factor([2, 2]))
    assert few == "2× (2 to 2), too few repeats to tell noise"
