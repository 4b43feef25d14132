"""The course's rungs of CartPole: wrong settings."""

import pytest

from rungs.errors import ConfigurationError
from tests.library.cartpole.test_sameness import make


@pytest.mark.parametrize("threads", [0, 1025])
def test_wrong_settings_are_named(threads):
    with pytest.raises(ConfigurationError, match="threads_per_block"):
        make("numba", 2, threads_per_block=threads)
